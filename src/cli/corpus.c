/* Corpora on the command line. SPDX-License-Identifier: MIT */
#include "cli/corpus.h"

#include "base/decimal.h"
#include "cli/cli.h"

#define SKIPPED_SHOWN 5

void pt_skip_report_add(void *ctx, const char *path, const char *why)
{
    pt_skip_report *report = ctx;
    if (report->n++ < SKIPPED_SHOWN && !report->quiet) pt_say("left out: %s (%s)\n", path, why);
}

void pt_skip_report_end(const pt_skip_report *report)
{
    if (report->n > SKIPPED_SHOWN && !report->quiet)
        pt_say("left out: %lld more\n", (long long)report->n - SKIPPED_SHOWN);
}

/* "0.7,0.3": how many weights, or 0 when it is nothing like it. */
static int read_mix(const char *at, double weight[PT_SOURCES_MAX])
{
    for (int n = 0; n < PT_SOURCES_MAX; at++) {
        size_t used = pt_decimal_to_double(at, strlen(at), &weight[n]);
        at += used;
        if (!used || (*at && *at != ',')) return 0;
        n++;
        if (!*at) return n;
    }
    return 0;
}

bool pt_mix_is_same(const char *a, const char *b)
{
    double weight[2][PT_SOURCES_MAX];
    int n = read_mix(a, weight[0]);
    return n > 0 && n == read_mix(b, weight[1]) && pt_weights_are_same(weight[0], weight[1], n);
}

bool pt_separator_is_same(const char *a, const char *b)
{
    pt_separator s[2];
    if (pt_separator_parse(&s[0], a, NULL) || pt_separator_parse(&s[1], b, NULL)) return false;
    return s[0].n == s[1].n && memcmp(s[0].bytes, s[1].bytes, (size_t)s[0].n) == 0;
}

/* One weight for each path. */
static pt_status parse_mix(pt_corpus_choice *c, pt_error *err)
{
    int n = read_mix(c->mix, c->weight);
    if (n == 0)
        return pt_fail(err, PT_BAD_INPUT,
                       "--mix is '%s', it must be up to %d numbers with commas between them",
                       c->mix, PT_SOURCES_MAX);
    if (n == c->paths.n) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "--mix has %d number%s, it must have %d: one for each corpus",
                   n, n == 1 ? "" : "s", c->paths.n);
}

pt_status pt_corpus_choice_separator(const pt_corpus_choice *c, pt_separator *out, pt_error *err)
{
    *out = PT_SEPARATOR_DEFAULT;
    return c->separator ? pt_separator_parse(out, c->separator, err) : PT_OK;
}

void pt_corpus_choice_take(pt_corpus_choice *c, const pt_command_line *line)
{
    c->paths.n = line->n_positional;
    memcpy(c->paths.word, line->positional, sizeof line->positional);
}

pt_status pt_corpus_choice_check(const pt_corpus_choice *c, pt_error *err)
{
    if (c->paths.n > 0) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT,
                   "which text? give --corpus FILE (posttrain data get fetches one)");
}

static void set_name(pt_corpus_choice *c)
{
    const pt_word_list *paths = &c->paths;
    if (paths->n == 1) pt_format(c->name, sizeof c->name, "%s", paths->word[0]);
    else pt_format(c->name, sizeof c->name, "%s and %d more", paths->word[0], paths->n - 1);
}

pt_status pt_corpus_choice_open(pt_corpus_choice *c, pt_error *err)
{
    pt_skip_report report = {.quiet = c->quiet};
    pt_corpus_options options = {.path = c->paths.word,
                                 .n = c->paths.n,
                                 .mixed = c->mix != NULL,
                                 .skipped = {pt_skip_report_add, &report}};
    pt_status s = pt_corpus_choice_check(c, err);
    if (s == PT_OK) s = pt_corpus_choice_separator(c, &options.separator, err);
    if (s == PT_OK && c->mix) s = parse_mix(c, err);
    if (s == PT_OK) s = pt_corpus_open(&c->corpus, &options, err);
    pt_skip_report_end(&report);
    if (s) return s;
    c->data.source = pt_corpus_streams(c->corpus, &c->data.n);
    c->data.weight = c->mix ? c->weight : NULL;
    set_name(c);
    c->data.name = c->name;
    return PT_OK;
}

void pt_corpus_choice_close(pt_corpus_choice *c)
{
    pt_corpus_close(c->corpus);
    c->corpus = NULL;
}

const char *pt_corpus_path_words(const char *path)
{
    bool input = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0;
    return input ? "standard input" : path;
}

/* What is held out of all; of texts that are joined it is the last ones, so it says where that begins. */
static void put_held_out(const pt_corpus_choice *c, const pt_mixture *held_out, bool joined,
                         pt_strbuf *text)
{
    char n[32];
    int64_t at = 0;
    if (!held_out->n) pt_strbuf_puts(text, ", too short to hold a part out: no validation loss");
    else pt_strbuf_printf(text, ", the last tenth%s held out", c->mix ? " of each" : "");
    if (!held_out->n || !joined) return;
    const char *path = pt_corpus_locate(c->corpus, 0, held_out->source[0].first, &at);
    pt_strbuf_printf(text, ":\n  %s from byte %s on", pt_corpus_path_words(path),
                     pt_grouped(at, n));
}

static void put_source(const pt_corpus_choice *c, int i, const pt_corpus_source *s, pt_strbuf *text)
{
    char n[32];
    pt_strbuf_printf(text, "%s: %s bytes", pt_corpus_path_words(s->path), pt_grouped(s->tokens, n));
    if (s->n_shards || s->files != 1)
        pt_strbuf_printf(text, " in %s %s%s", pt_grouped(s->files, n),
                         s->n_shards ? "shard" : "file", s->files == 1 ? "" : "s");
    if (s->runs)
        pt_strbuf_printf(text, ", %s run%s left out", pt_grouped(s->runs, n),
                         s->runs == 1 ? "'s folder" : "s' folders");
    if (c->mix) pt_strbuf_printf(text, ", weight %g", c->weight[i]);
}

void pt_corpus_choice_tell(const pt_corpus_choice *c, const pt_mixture *held_out, pt_strbuf *text)
{
    int n = 0;
    char all[32];
    const pt_corpus_source *source = pt_corpus_sources(c->corpus, &n);
    for (int i = 0; i < n; i++) {
        put_source(c, i, &source[i], text);
        if (n > 1) pt_strbuf_putc(text, '\n');
    }
    if (n > 1)
        pt_strbuf_printf(text, "%s: %s bytes", c->mix ? "mixed" : "joined",
                         pt_grouped(pt_corpus_tokens(c->corpus), all));
    bool files = !source[0].n_shards && source[0].files != 1;
    put_held_out(c, held_out, !c->mix && (n > 1 || files), text);
    pt_strbuf_putc(text, '\n');
}

void pt_corpus_choice_say(const pt_corpus_choice *c, const pt_mixture *held_out)
{
    pt_strbuf text = {0};
    pt_corpus_choice_tell(c, held_out, &text);
    pt_say_strbuf(&text);
    pt_strbuf_deinit(&text);
}
