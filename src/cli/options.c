/* Command-line options. SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include <float.h>

#include "base/decimal.h"
#include "train/run_folder.h"

#define MAX_WORDS 128

const char *pt_nearest(const char *word, const char *const *words, int n)
{
    const char *best = NULL;
    int least = 1 + (int)strlen(word) / 2;
    if (least > 4) least = 4;
    for (int i = 0; i < n; i++) {
        int distance = pt_str_distance(word, words[i]);
        bool begins = strlen(word) >= 3 && pt_str_starts(words[i], word);
        if (begins) distance = 0;
        if (distance >= least) continue;
        least = distance;
        best = words[i];
    }
    return best;
}

/* "none, cheap or block" */
static void put_choices(pt_strbuf *out, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        pt_strbuf_printf(out, "%s%s", i == 0 ? "" : i < n - 1 ? ", " : " or ", words[i]);
}

pt_status pt_words_check(const char *what, const char *words, const char *value, pt_error *err)
{
    char list[256], *at = list;
    const char *word[MAX_WORDS];
    int n = 0;
    pt_format(list, sizeof list, "%s", words);
    while (at && n < MAX_WORDS) {
        word[n++] = at;
        at = strchr(at, '|');
        if (at) *at++ = 0;
    }
    for (int i = 0; i < n; i++)
        if (strcmp(value, word[i]) == 0) return PT_OK;
    const char *near = pt_nearest(value, word, n);
    pt_strbuf choices = {0};
    put_choices(&choices, word, n);
    (void)pt_fail(err, PT_BAD_INPUT, "%s is '%s'%s%s; it must be %s", what, value,
                  near ? ", did you mean " : "", near ? near : "",
                  choices.failed ? words : choices.data);
    pt_strbuf_deinit(&choices);
    return PT_BAD_INPUT;
}

static pt_option *find(const pt_command_line *line, const char *name, size_t n)
{
    for (int i = 0; i < line->n_options; i++) {
        pt_option *o = &line->options[i];
        if (o->kind == PT_OPTION_HEADING) continue;
        if (strlen(o->name) == n && memcmp(o->name, name, n) == 0) return o;
    }
    return NULL;
}

bool pt_option_is_set(const pt_command_line *line, const char *name)
{
    const pt_option *o = find(line, name, strlen(name));
    return o && o->set;
}

/* A whole number with an optional k (thousand), m, g. */
static bool parse_count(const char *text, int64_t *out)
{
    static const char units[] = "kmg";
    uint64_t value = 0, scale = 1;
    const char *p = text;
    bool negative = *p == '-';
    if (negative) p++;
    if (*p < '0' || *p > '9') return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (value > (INT64_MAX - 9) / 10) return false;
        value = value * 10 + (uint64_t)(*p - '0');
    }
    const char *unit = *p ? strchr(units, *p) : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++) scale *= 1000;
        p++;
    }
    if (*p || value > INT64_MAX / scale) return false;
    *out = negative ? -(int64_t)(value * scale) : (int64_t)(value * scale);
    return true;
}

static bool parse_seed(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    if (!*text) return false;
    for (const char *p = text; *p; p++) {
        if (*p < '0' || *p > '9') return false;
        uint64_t digit = (uint64_t)(*p - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static bool parse_real(const char *text, double *out)
{
    size_t n = strlen(text);
    return n && pt_decimal_to_double(text, n, out) == n && *out >= -DBL_MAX && *out <= DBL_MAX;
}

static pt_status add_word(const pt_option *o, const char *word, pt_error *err)
{
    pt_word_list *list = o->target;
    if (list->n == PT_WORDS_MAX)
        return pt_fail(err, PT_BAD_INPUT, "--%s is given more than %d times", o->name,
                       PT_WORDS_MAX);
    list->word[list->n++] = word;
    return PT_OK;
}

static pt_status check_text(const pt_option *o, const char *value, pt_error *err)
{
    char what[64];
    pt_format(what, sizeof what, "--%s", o->name);
    if (strchr(o->value, '|')) return pt_words_check(what, o->value, value, err);
    return PT_OK;
}

static pt_status set_value(pt_option *o, const char *value, pt_error *err)
{
    const char *wanted = "a whole number";
    pt_status s = PT_OK;
    bool ok = true;
    switch (o->kind) {
    case PT_OPTION_TEXT:
        s = check_text(o, value, err);
        if (s == PT_OK) *(const char **)o->target = value;
        break;
    case PT_OPTION_LIST: s = add_word(o, value, err); break;
    case PT_OPTION_COUNT:
        wanted = "a whole number below 9.2e18, which may end in k, m or g";
        ok = parse_count(value, o->target);
        break;
    case PT_OPTION_SEED:
        wanted = "a whole number from 0";
        ok = parse_seed(value, o->target);
        break;
    case PT_OPTION_REAL:
        wanted = "a number";
        ok = parse_real(value, o->target);
        break;
    case PT_OPTION_SWITCH: *(bool *)o->target = true; break;
    case PT_OPTION_HEADING: break;
    }
    if (!ok) return pt_fail(err, PT_BAD_INPUT, "--%s needs %s, not '%s'", o->name, wanted, value);
    o->set = true;
    return s;
}

static pt_status unknown_option(const pt_command_line *line, const char *word, pt_error *err)
{
    const char *names[MAX_WORDS];
    int n = 0;
    char bare[64];
    const char *end = strchr(word, '=');
    pt_format(bare, sizeof bare, "%.*s", end ? (int)(end - word) : 63, word);
    for (int i = 0; i < line->n_options && n < MAX_WORDS; i++)
        if (line->options[i].kind != PT_OPTION_HEADING) names[n++] = line->options[i].name;
    const char *near = pt_nearest(bare, names, n);
    if (near)
        return pt_fail(err, PT_BAD_INPUT, "unknown option --%s: did you mean --%s?", bare, near);
    return pt_fail(err, PT_BAD_INPUT, "unknown option --%s: see posttrain %s --help", bare,
                   line->verb);
}

/* One "--name[=value]" at argv[i]; *used is how many words it took. */
static pt_status parse_option(pt_command_line *line, char **argv, int argc, int *used,
                              pt_error *err)
{
    const char *name = argv[0] + 2;
    const char *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    pt_option *o = find(line, name, n);
    *used = 1;
    if (!o) return unknown_option(line, name, err);
    if (o->kind == PT_OPTION_SWITCH) {
        if (equals) return pt_fail(err, PT_BAD_INPUT, "--%s takes no value", o->name);
        return set_value(o, "", err);
    }
    if (equals) return set_value(o, equals + 1, err);
    if (argc < 2)
        return pt_fail(err, PT_BAD_INPUT, "--%s needs a value: --%s %s", o->name, o->name,
                       o->value);
    *used = 2;
    return set_value(o, argv[1], err);
}

static pt_help_form help_form(const char *word)
{
    static const struct {
        const char *word;
        pt_help_form form;
    } known[] = {{"--help", PT_HELP_SHORT},     {"-h", PT_HELP_SHORT},
                 {"--help-all", PT_HELP_ALL},   {"--help=man", PT_HELP_MAN},
                 {"--help=bash", PT_HELP_BASH}, {"--help=zsh", PT_HELP_ZSH},
                 {"--help=fish", PT_HELP_FISH}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(word, known[i].word) == 0) return known[i].form;
    return PT_HELP_NONE;
}

static pt_status check_first(const pt_command_line *line, pt_error *err)
{
    char what[64];
    if (!line->first || !strchr(line->first, '|') || !line->n_positional) return PT_OK;
    pt_format(what, sizeof what, "the word after %s", line->verb);
    return pt_words_check(what, line->first, line->positional[0], err);
}

/* A second word after a list option is most likely meant for it. */
static pt_status too_many(const pt_command_line *line, const char *before, const char *word,
                          pt_error *err)
{
    for (int i = 0; before && i < line->n_options; i++) {
        const pt_option *o = &line->options[i];
        const pt_word_list *list = o->kind == PT_OPTION_LIST ? o->target : NULL;
        if (list && list->n && list->word[list->n - 1] == before)
            return pt_fail(err, PT_BAD_INPUT,
                           "'%s' is one word too many: give --%s again for each, --%s %s --%s %s",
                           word, o->name, o->name, before, o->name, word);
    }
    return pt_fail(err, PT_BAD_INPUT, "'%s' is one word too many: see posttrain %s --help", word,
                   line->verb);
}

pt_status pt_options_parse(pt_command_line *line, int argc, char **argv, pt_error *err)
{
    bool only_words = false;
    for (int i = 0; i < argc;) {
        const char *word = argv[i];
        if (!only_words && strcmp(word, "--") == 0) {
            only_words = true;
            i++;
        } else if (!only_words && help_form(word)) {
            line->help = help_form(word);
            return PT_OK;
        } else if (!only_words && pt_str_starts(word, "--")) {
            int used = 1;
            pt_status s = parse_option(line, argv + i, argc - i, &used, err);
            if (s) return s;
            i += used;
        } else if (!only_words && word[0] == '-' && word[1]) {
            return pt_fail(err, PT_BAD_INPUT, "unknown option %s: options begin with --", word);
        } else if (line->n_positional == line->most_positional) {
            return too_many(line, i ? argv[i - 1] : NULL, word, err);
        } else {
            line->positional[line->n_positional++] = word;
            i++;
        }
    }
    return check_first(line, err);
}

static bool is_text(const pt_json *value)
{
    return value->type == PT_JSON_STRING && strlen(value->text) == value->text_len;
}

/* [0.7, 0.3] as a text, "0.7,0.3"; NULL when it is something else. */
static pt_status join_numbers(const pt_option *o, const pt_json *value, pt_arena *arena,
                              const char **out, pt_error *err)
{
    bool numbers = o->kind == PT_OPTION_TEXT && strcmp(o->value, "W,W") == 0 &&
                   value->type == PT_JSON_ARRAY && value->child;
    for (const pt_json *v = value->child; numbers && v; v = v->next)
        numbers = v->type == PT_JSON_NUMBER;
    *out = NULL;
    if (!numbers) return PT_OK;
    pt_strbuf text = {0};
    for (const pt_json *v = value->child; v; v = v->next)
        pt_strbuf_printf(&text, "%s%s", v == value->child ? "" : ",", v->text);
    if (!text.failed) *out = pt_arena_copy(arena, text.data, text.len);
    pt_strbuf_deinit(&text);
    return *out ? PT_OK : pt_fail(err, PT_NO_MEMORY, "no memory for the options");
}

/* Names key and value, the latter as it stands in the file. */
static pt_status wrong_value(const pt_option *o, const pt_json *value, const char *path,
                             pt_error *err)
{
    pt_strbuf text = {0};
    pt_json_writer w = pt_json_writer_begin(&text, 0);
    pt_json_value(&w, NULL, value);
    (void)pt_fail(err, PT_BAD_INPUT, "%s: '%s' is %.60s, which is nothing that --%s takes", path,
                  value->key, text.failed || !text.len ? "?" : text.data, o->name);
    pt_strbuf_deinit(&text);
    return PT_BAD_INPUT;
}

static pt_status set_from_json(pt_option *o, const pt_json *value, const char *path,
                               pt_arena *arena, pt_error *err)
{
    const char *joined = NULL;
    pt_status joining = join_numbers(o, value, arena, &joined, err);
    if (joining) return joining;
    if (joined) return set_value(o, joined, err);
    bool text = is_text(value), texts = o->kind == PT_OPTION_LIST && value->type == PT_JSON_ARRAY;
    for (const pt_json *v = value->child; texts && v; v = v->next) texts = is_text(v);
    if (texts) {
        pt_status s = PT_OK;
        for (const pt_json *v = value->child; v && s == PT_OK; v = v->next)
            s = set_value(o, v->text, err);
        return s;
    }
    if (o->kind == PT_OPTION_SWITCH && value->type == PT_JSON_BOOL) {
        *(bool *)o->target = value->boolean;
        o->set = true;
        return PT_OK;
    }
    if (o->kind != PT_OPTION_SWITCH && (text || value->type == PT_JSON_NUMBER)) {
        pt_status s = set_value(o, value->text, err);
        if (s) pt_error_prefix(err, "%s", path);
        return s;
    }
    return wrong_value(o, value, path, err);
}

pt_status pt_options_config(pt_command_line *line, const pt_json *json, const char *path,
                            pt_arena *arena, pt_error *err)
{
    const char *format = pt_json_get_string(json, "format");
    if (format && strcmp(format, PT_RUN_FORMAT) == 0) {
        json = pt_json_get(json, "arguments");
        if (!json) return pt_fail(err, PT_BAD_INPUT, "%s: it has no arguments", path);
    }
    if (json->type != PT_JSON_OBJECT)
        return pt_fail(err, PT_BAD_INPUT, "%s: must hold one JSON object", path);
    for (const pt_json *m = json->child; m; m = m->next) {
        char name[64];
        pt_format(name, sizeof name, "%s", m->key);
        for (char *p = name; *p; p++)
            if (*p == '_') *p = '-';
        pt_option *o = find(line, name, strlen(name));
        pt_status s = PT_OK;
        if (strlen(m->key) != m->key_len || strcmp(name, "config") == 0)
            return pt_fail(err, PT_BAD_INPUT, "%s: '%s' is no option here", path, m->key);
        if (!o) {
            s = unknown_option(line, name, err);
            pt_error_prefix(err, "%s", path);
        } else if (!o->set) s = set_from_json(o, m, path, arena, err);
        if (s) return s;
    }
    return PT_OK;
}

/* "eval-every" as a key: eval_every. */
static const char *key_of(const char *name, char out[64])
{
    pt_format(out, 64, "%s", name);
    for (char *p = out; *p; p++)
        if (*p == '-') *p = '_';
    return out;
}

static void record_list(const pt_word_list *list, const char *key, pt_json_writer *w)
{
    if (!list->n) return;
    pt_json_begin_array(w, key);
    for (int i = 0; i < list->n; i++) pt_json_string(w, NULL, list->word[i]);
    pt_json_end_array(w);
}

static void record_value(const pt_option *o, pt_json_writer *w)
{
    char key[64], seed[32];
    key_of(o->name, key);
    switch (o->kind) {
    case PT_OPTION_TEXT:
        if (*(const char **)o->target) pt_json_string(w, key, *(const char **)o->target);
        break;
    case PT_OPTION_LIST: record_list(o->target, key, w); break;
    case PT_OPTION_COUNT: pt_json_i64(w, key, *(const int64_t *)o->target); break;
    case PT_OPTION_SEED: /* a string, as it has 64 bits */
        pt_format(seed, sizeof seed, "%llu", (unsigned long long)*(const uint64_t *)o->target);
        pt_json_string(w, key, seed);
        break;
    case PT_OPTION_REAL: pt_json_double(w, key, *(const double *)o->target); break;
    case PT_OPTION_SWITCH: pt_json_bool(w, key, *(const bool *)o->target); break;
    case PT_OPTION_HEADING: break;
    }
}

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

static const char *how_to_record(const pt_option *o)
{
    if (strcmp(o->name, "separator") == 0) return "write its bytes as \\xHH";
    return o->kind == PT_OPTION_LIST ? "rename it, or name a link to it" : "give it in UTF-8";
}

/* JSON holds no other text: other bytes would be read back from the record. */
static pt_status check_recordable(const pt_option *o, pt_error *err)
{
    bool list = o->kind == PT_OPTION_LIST;
    if (!list && o->kind != PT_OPTION_TEXT) return PT_OK;
    const pt_word_list *words = o->target;
    const char *const *text = list ? words->word : o->target;
    int n = list ? words->n : *text != NULL;
    for (int i = 0; i < n; i++)
        if (!pt_utf8_valid(text[i], strlen(text[i])))
            return pt_fail(err, PT_BAD_INPUT, "--%s is not UTF-8, so run.json cannot record it: %s",
                           o->name, how_to_record(o));
    return PT_OK;
}

pt_status pt_options_record(const pt_command_line *line, const char *const *except, pt_arena *arena,
                            const pt_json **out, pt_error *err)
{
    pt_strbuf text = {0};
    pt_json_writer w = pt_json_writer_begin(&text, 0);
    pt_status s = PT_OK;
    pt_json_begin_object(&w, NULL);
    for (int i = 0; i < line->n_options && s == PT_OK; i++) {
        if (is_among(line->options[i].name, except)) continue;
        s = check_recordable(&line->options[i], err);
        record_value(&line->options[i], &w);
    }
    pt_json_end_object(&w);
    if (s == PT_OK && text.failed) s = pt_fail(err, PT_NO_MEMORY, "no memory for the options");
    if (s == PT_OK) s = pt_json_parse(text.data, text.len, arena, out, err);
    pt_strbuf_deinit(&text);
    return s;
}

const pt_json *pt_option_recorded(const pt_json *record, const char *name)
{
    char key[64];
    return pt_json_get(record, key_of(name, key));
}

#define HELP_COLUMN 28
#define HELP_WIDTH 80

/* Blanks and line breaks part words. */
static void put_filled(pt_strbuf *out, size_t indent, const char *text, size_t n)
{
    size_t column = indent;
    for (const char *end = text + n; text < end; text += strspn(text, " \n")) {
        size_t word = strcspn(text, " \n");
        if (column > indent && column + 1 + word > HELP_WIDTH) {
            pt_strbuf_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            pt_strbuf_putc(out, ' ');
            column++;
        }
        pt_strbuf_append(out, text, word);
        column += word;
        text += word;
    }
}

void pt_put_wrapped(pt_strbuf *out, size_t indent, const char *text)
{
    put_filled(out, indent, text, strlen(text));
}

void pt_put_prose(pt_strbuf *out, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (n && *text != ' ') { /* a paragraph: up to a line that is empty or indented */
            while (text[n] && !strchr(" \n", text[n + 1])) n += 1 + strcspn(text + n + 1, "\n");
            put_filled(out, 0, text, n);
        } else pt_strbuf_append(out, text, n);
        pt_strbuf_putc(out, '\n');
        text += n + (text[n] == '\n');
    }
}

const char *pt_option_default(const pt_option *o, char out[64])
{
    char real[PT_DECIMAL_MAX];
    out[0] = 0;
    if (o->fallback) pt_format(out, 64, "%s", o->fallback);
    else if (o->kind == PT_OPTION_COUNT)
        pt_format(out, 64, "%lld", (long long)*(const int64_t *)o->target);
    else if (o->kind == PT_OPTION_SEED)
        pt_format(out, 64, "%llu", (unsigned long long)*(const uint64_t *)o->target);
    else if (o->kind == PT_OPTION_REAL) {
        pt_double_to_shortest(*(const double *)o->target, real);
        pt_format(out, 64, "%s", real);
    }
    return out;
}

static void help_line(const pt_option *o, pt_strbuf *out)
{
    if (o->kind == PT_OPTION_HEADING) {
        pt_strbuf_printf(out, "\n%s\n", o->help);
        return;
    }
    char left[128], text[320], value[64];
    const char *again = o->kind == PT_OPTION_LIST ? " (may be given again)" : "";
    size_t n = pt_format(left, sizeof left, "  --%s %s", o->name, o->value ? o->value : "");
    pt_strbuf_puts(out, left);
    if (n + 1 > HELP_COLUMN) {
        pt_strbuf_putc(out, '\n');
        n = 0;
    }
    pt_strbuf_printf(out, "%*s", (int)(HELP_COLUMN - n), "");
    pt_option_default(o, value);
    pt_format(text, sizeof text, "%s%s%s%s%s", o->help, again, *value ? " [" : "", value,
              *value ? "]" : "");
    pt_put_wrapped(out, HELP_COLUMN, text);
    pt_strbuf_putc(out, '\n');
}

void pt_options_help(const pt_command_line *line, pt_strbuf *out)
{
    int i = 0;
    for (; i < line->n_options; i++) {
        if (line->options[i].kind == PT_OPTION_HEADING && line->help != PT_HELP_ALL) break;
        help_line(&line->options[i], out);
    }
    if (i == line->n_options) return;
    pt_strbuf more = {0};
    pt_strbuf_puts(&more, "More with --help-all:");
    for (; i < line->n_options; i++)
        if (line->options[i].kind != PT_OPTION_HEADING)
            pt_strbuf_printf(&more, " %s", line->options[i].name);
    pt_put_wrapped(out, 0, more.data ? more.data : "");
    out->failed |= more.failed;
    pt_strbuf_deinit(&more);
    pt_strbuf_putc(out, '\n');
}
