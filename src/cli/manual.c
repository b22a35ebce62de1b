/* Manual pages: the help tables as man(7). Source: groff_man(7), mandoc's man(7).
 * SPDX-License-Identifier: MIT */
#include "cli/manual.h"

#include "base/version.h"
#include "cli/build.h"

/* ---- text ---- */

static bool is_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

/* One character beyond ASCII as \[uXXXX]; returns its bytes. */
static size_t put_wide(pt_strbuf *out, const char *text, size_t n)
{
    int bytes = pt_utf8_char(text, n);
    if (bytes < 1) {
        pt_strbuf_putc(out, '?');
        return (size_t)-bytes;
    }
    unsigned code = (unsigned char)text[0] & (bytes == 1 ? 0x7fu : 0xffu >> (bytes + 1));
    for (int i = 1; i < bytes; i++) code = code << 6 | ((unsigned char)text[i] & 0x3fu);
    pt_strbuf_printf(out, "\\[u%04X]", code);
    return (size_t)bytes;
}

/* A dash between letters is a hyphen, elsewhere (options, numbers, file names) what a reader types. */
static void put_text(pt_strbuf *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        char c = text[i];
        bool first = out->len == 0 || out->data[out->len - 1] == '\n';
        bool hyphen = i > 0 && i + 1 < n && is_letter(text[i - 1]) && is_letter(text[i + 1]);
        if ((unsigned char)c >= 128) {
            i += put_wide(out, text + i, n - i);
            continue;
        }
        if (first && (c == '.' || c == '\'')) pt_strbuf_puts(out, "\\&");
        if (c == '\\') pt_strbuf_puts(out, "\\e");
        else if (c == '-' && !hyphen) pt_strbuf_puts(out, "\\-");
        else if (c == '`') pt_strbuf_puts(out, "\\(ga");
        else if (c == '^') pt_strbuf_puts(out, "\\(ha");
        else if (c == '~') pt_strbuf_puts(out, "\\(ti");
        else if (c == '\'') pt_strbuf_puts(out, "\\(aq");
        else pt_strbuf_putc(out, c);
        i++;
    }
}

/* Bytes of the last line so far. */
static size_t column(const pt_strbuf *out)
{
    size_t n = 0;
    while (n < out->len && out->data[out->len - 1 - n] != '\n') n++;
    return n;
}

/* Words of running text, in lines that an editor shows whole. */
static void put_filled(pt_strbuf *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t word = i;
        while (word < n && text[word] != ' ') word++;
        size_t at = column(out);
        if (at) pt_strbuf_putc(out, at + word - i > 72 ? '\n' : ' ');
        put_text(out, text + i, word - i);
        i = word + 1;
    }
    pt_strbuf_putc(out, '\n');
}

static bool after_heading(const pt_strbuf *out)
{
    size_t n = out->len ? 1 : 0;
    while (n < out->len && out->data[out->len - 1 - n] != '\n') n++;
    return n > 3 && pt_str_starts(out->data + out->len - n, ".SH");
}

static void put_words(pt_strbuf *out, const char *text) { put_text(out, text, strlen(text)); }

/* A help text as a sentence: a capital letter and a stop. */
static void put_sentence(pt_strbuf *out, const char *text)
{
    size_t n = strlen(text);
    const char *end = text;
    while (*end >= 'a' && *end <= 'z') end++;
    bool plain = end > text && strchr(" ,-", *end) != NULL;
    if (plain) pt_strbuf_putc(out, (char)(*text - 32));
    put_text(out, text + plain, n - plain);
    if (n && text[n - 1] != '.') pt_strbuf_putc(out, '.');
}

/* The line at *text, without its end; moves on to the next. */
static size_t next_line(const char **text, const char **line)
{
    *line = *text;
    size_t n = strcspn(*text, "\n");
    *text += n + ((*text)[n] == '\n');
    return n;
}

/* Paragraphs: blank lines part them, indented lines stand as they are, others are filled. Stops before
 * "Example:" and returns what follows that line, or NULL. */
static const char *put_paragraphs(pt_strbuf *out, const char *text)
{
    enum { NOTHING, FILLED, VERBATIM } state = NOTHING;
    const char *line;
    while (text && *text) {
        size_t n = next_line(&text, &line);
        bool verbatim = n > 0 && line[0] == ' ';
        if (state == VERBATIM && !verbatim) {
            pt_strbuf_puts(out, ".EE\n.RE\n");
            state = FILLED;
        }
        if (n && (pt_str_starts(line, "Example:\n") || pt_str_starts(line, "Examples:\n")))
            return text;
        if (n == 0) {
            state = NOTHING;
            continue;
        }
        if (state == NOTHING && !after_heading(out)) pt_strbuf_puts(out, ".PP\n");
        if (verbatim && state != VERBATIM) pt_strbuf_puts(out, ".RS 4\n.EX\n");
        state = verbatim ? VERBATIM : FILLED;
        if (!verbatim) {
            put_filled(out, line, n);
            continue;
        }
        size_t skip = strspn(line, " ");
        for (size_t i = 2; i < skip; i++) pt_strbuf_putc(out, ' ');
        put_text(out, line + skip, n - skip);
        pt_strbuf_putc(out, '\n');
    }
    if (state == VERBATIM) pt_strbuf_puts(out, ".EE\n.RE\n");
    return NULL;
}

static void put_examples(pt_strbuf *out, const char *text)
{
    if (!text) return;
    pt_strbuf_puts(out, ".SH EXAMPLES\n");
    put_paragraphs(out, text);
}

/* ---- sections ---- */

/* `name` as in a file name: "posttrain-train". */
static void put_title(pt_strbuf *out, const char *name, const char *summary)
{
    pt_strbuf_puts(out, ".\\\" Made by posttrain help --man.\n.TH ");
    for (const char *p = name; *p; p++) {
        if (*p == '-') pt_strbuf_puts(out, "\\-");
        else pt_strbuf_putc(out, *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p);
    }
    pt_strbuf_printf(out, " 1 \"%s\" \"posttrain %s\" \"User commands\"\n", pt_build_info.date,
                     PT_VERSION);
    pt_strbuf_puts(out, ".SH NAME\n");
    put_words(out, name);
    pt_strbuf_puts(out, " \\- ");
    put_words(out, summary);
    pt_strbuf_putc(out, '\n');
}

/* "posttrain eval MODEL --corpus FILE [options]": what is typed bold, what is put in italic. */
static void put_usage(pt_strbuf *out, const char *usage)
{
    while (*usage) {
        if (*usage == '\n') { /* a second form */
            pt_strbuf_puts(out, "\n.br\n");
            usage += 1 + strspn(usage + 1, " ");
        }
        size_t n = strcspn(usage, " []|\"\n");
        bool name = *usage >= 'A' && *usage <= 'Z';
        bool options = pt_str_starts(usage, "options");
        if (n) {
            pt_strbuf_puts(out, name || options ? "\\fI" : "\\fB");
            put_text(out, usage, n);
            pt_strbuf_puts(out, "\\fR");
        } else put_text(out, usage, n = 1);
        usage += n;
    }
    pt_strbuf_putc(out, '\n');
}

static void put_option(pt_strbuf *out, const pt_option *o)
{
    char value[64];
    if (o->kind == PT_OPTION_HEADING) {
        size_t n = strlen(o->help);
        pt_strbuf_puts(out, ".SS ");
        put_text(out, o->help, n - (n > 0 && o->help[n - 1] == ':'));
        pt_strbuf_putc(out, '\n');
        return;
    }
    pt_strbuf_puts(out, ".TP\n\\fB\\-\\-");
    for (const char *p = o->name; *p; p++)
        if (*p == '-') pt_strbuf_puts(out, "\\-");
        else pt_strbuf_putc(out, *p);
    pt_strbuf_puts(out, "\\fR");
    if (o->value) {
        bool words = strchr(o->value, '|') != NULL;
        pt_strbuf_puts(out, words ? " \\fB" : " \\fI");
        put_words(out, o->value);
        pt_strbuf_puts(out, "\\fR");
    }
    pt_strbuf_putc(out, '\n');
    put_sentence(out, o->help);
    if (o->kind == PT_OPTION_LIST) pt_strbuf_puts(out, "\nMay be given again.");
    if (*pt_option_default(o, value)) {
        pt_strbuf_puts(out, "\nDefault: ");
        put_words(out, value);
        pt_strbuf_putc(out, '.');
    }
    pt_strbuf_putc(out, '\n');
}

/* Lines "NAME: what it holds". */
static void put_entries(pt_strbuf *out, const char *heading, const char *text)
{
    const char *line;
    if (!text) return;
    pt_strbuf_printf(out, ".SH %s\n", heading);
    while (*text) {
        size_t n = next_line(&text, &line), name = strcspn(line, ":");
        if (name + 2 > n) continue;
        pt_strbuf_puts(out, ".TP\n\\fI");
        put_text(out, line, name);
        pt_strbuf_puts(out, "\\fR\n");
        put_text(out, line + name + 2, n - name - 2);
        pt_strbuf_putc(out, '\n');
    }
}

void pt_manual_of_verb(const pt_verb *verb, const pt_command_line *line, pt_strbuf *out)
{
    char page[64], name[80];
    pt_strbuf list = {0};
    pt_format(name, sizeof name, "posttrain-%s", pt_verb_page(verb->name, page));
    put_title(out, name, verb->summary);
    pt_strbuf_puts(out, ".SH SYNOPSIS\n");
    put_usage(out, verb->usage);
    bool described = verb->manual || (verb->details && !pt_str_starts(verb->details, "Example"));
    if (described) pt_strbuf_puts(out, ".SH DESCRIPTION\n");
    put_paragraphs(out, verb->manual);
    const char *examples = put_paragraphs(out, verb->details);
    if (line->n_options) pt_strbuf_puts(out, ".SH OPTIONS\n");
    for (int i = 0; i < line->n_options; i++) put_option(out, &line->options[i]);
    if (verb->list) {
        pt_strbuf_puts(out, ".SH CHOICES\n");
        verb->list(&list);
        put_paragraphs(out, list.data);
        pt_strbuf_deinit(&list);
    }
    put_entries(out, "FILES", verb->files);
    put_examples(out, examples);
}

/* ---- what all pages share ---- */

bool pt_exit_codes(int i, char codes[32], const char **words)
{
    static const pt_status shown[] = {PT_OK,       PT_BAD_INPUT,   PT_NO_MEMORY, PT_IO,
                                      PT_CORRUPT,  PT_UNSUPPORTED, PT_NOT_FOUND, PT_EXISTS,
                                      PT_DIVERGED, PT_LOST,        PT_INTERNAL};
    const int n = sizeof shown / sizeof shown[0];
    if (i < n) {
        pt_format(codes, 32, "%d", pt_status_exit_code(shown[i]));
        *words = shown[i] == PT_OK ? "done" : pt_status_words(shown[i]);
    } else {
        pt_format(codes, 32, "%d, %d, %d", pt_status_exit_code(PT_HUNG_UP),
                  pt_status_exit_code(PT_INTERRUPTED), pt_status_exit_code(PT_TERMINATED));
        *words =
            "stopped by a signal: at the first everything is saved, a second one stops at once";
    }
    return i <= n;
}

static void put_exit_status(pt_strbuf *out)
{
    char codes[32];
    const char *words;
    pt_strbuf_puts(out, ".SH EXIT STATUS\n");
    for (int i = 0; pt_exit_codes(i, codes, &words); i++) {
        pt_strbuf_printf(out, ".TP\n.B %s\n", codes);
        put_sentence(out, words);
        pt_strbuf_putc(out, '\n');
    }
}

/* ".BR posttrain\-data\-get (1)" */
static void put_reference(pt_strbuf *out, const char *begin, const char *verb)
{
    char page[64];
    pt_strbuf_printf(out, ".BR %sposttrain\\-", begin);
    for (const char *p = pt_verb_page(verb, page); *p; p++)
        if (*p == '-') pt_strbuf_puts(out, "\\-");
        else pt_strbuf_putc(out, *p);
    pt_strbuf_puts(out, " (1)");
}

static void put_see_also(const char *own, pt_strbuf *out)
{
    const pt_verb *v;
    pt_strbuf_puts(out, ".SH SEE ALSO\n");
    if (own) pt_strbuf_puts(out, ".BR posttrain (1)");
    bool first = !own;
    for (int i = 0; (v = pt_verb_at(i)); i++) {
        if (own && strcmp(v->name, own) == 0) continue;
        if (!first) pt_strbuf_puts(out, ",\n");
        put_reference(out, "\\%", v->name);
        first = false;
    }
    pt_strbuf_putc(out, '\n');
}

void pt_manual_end(const char *name, pt_strbuf *out)
{
    put_exit_status(out);
    pt_strbuf_puts(out, ".SH ENVIRONMENT\n"
                        ".TP\n.B NO_COLOR\nIf set, progress on a terminal has no colours.\n"
                        ".TP\n.B TERM\nIf it is \\fBdumb\\fR, progress is plain lines.\n"
                        ".TP\n.B POSTTRAIN_WEBGPU\nThe library through which a GPU is used.\n");
    put_see_also(name, out);
}

static const char about[] =
    "posttrain trains a small GPT from a text, measures whether it learned, and lets it write. The "
    "same "
    "seed, text and program give the same model, bit for bit, with any number of threads.\n"
    "\n"
    "Each verb has a page of its own. posttrain VERB --help prints the same options in short, "
    "--help-all all of them. Options are written --name VALUE or --name=VALUE, whole numbers also "
    "as "
    "4k or 2m; -- ends them.\n"
    "\n"
    "Results go to standard output, everything else to standard error. A file appears whole or not "
    "at "
    "all, and none is replaced unless an option says so. An error is one line that names what is "
    "wrong.\n";

void pt_manual_of_program(pt_strbuf *out)
{
    put_title(out, "posttrain", "small language models, from scratch, on your own machine");
    pt_strbuf_puts(out, ".SH SYNOPSIS\n");
    put_usage(out, "posttrain VERB [options]");
    pt_strbuf_puts(out, ".br\n");
    put_usage(out, "posttrain --version [--json]");
    pt_strbuf_puts(out, ".SH DESCRIPTION\n");
    put_paragraphs(out, about);
    pt_strbuf_puts(out, ".SH VERBS\n");
    const pt_verb *v;
    for (int i = 0; (v = pt_verb_at(i)); i++) {
        pt_strbuf_puts(out, ".TP\n");
        put_reference(out, "", v->name);
        pt_strbuf_putc(out, '\n');
        put_sentence(out, v->summary);
        pt_strbuf_putc(out, '\n');
    }
    put_entries(out, "FILES",
                "MODEL.tinygpt: A model: a JSON header and the weights.\n"
                "RUN/: The folder of a training run; see posttrain-train(1).\n");
    put_examples(out, pt_overview_examples);
}
