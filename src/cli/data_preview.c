/* posttrain data preview: what a model will see. SPDX-License-Identifier: MIT */
#include "cli/corpus.h"
#include "cli/data.h"
#include "cli/table.h"

#define INDENT "    "
#define PIECE 4096 /* tokens counted at a time */
#define CTX_MAX (1 << 20)

typedef struct preview {
    pt_corpus_choice from;
    int64_t ctx, n;
    uint64_t seed;
    bool json;

    pt_mixture train, validate;
    bool used[256]; /* byte values that occur */
    int n_used;
    char *window; /* [ctx] */
    int32_t *ids; /* [2 ctx]: ids and targets */
} preview;

/* Where sample g begins, and its bytes in p->window. */
typedef struct shown {
    int64_t g;
    int source;
    const char *path;
    int64_t at; /* byte of the file, or token of the shard */
} shown;

static pt_status count_bytes(preview *p, pt_error *err)
{
    int n = 0;
    int32_t ids[PIECE];
    const pt_tokens *stream = pt_corpus_streams(p->from.corpus, &n);
    for (int i = 0; i < n; i++)
        for (int64_t at = 0; at < stream[i].n; at += PIECE) {
            int64_t some = pt_min_i64(PIECE, stream[i].n - at);
            pt_status s = stream[i].read(stream[i].ctx, at, some, ids, err);
            if (s) return s;
            for (int64_t k = 0; k < some; k++) p->used[ids[k] & 255] = true;
        }
    for (int i = 0; i < 256; i++) p->n_used += p->used[i];
    return PT_OK;
}

static pt_status look_at(preview *p, int64_t g, shown *out, pt_error *err)
{
    int64_t number, start;
    *out = (shown){.g = g, .source = pt_mixture_source(&p->train, g, &number)};
    const pt_windows *w = &p->train.source[out->source];
    start = w->first + pt_windows_start(w, number);
    out->path = pt_corpus_locate(p->from.corpus, out->source, start, &out->at);
    pt_status s = pt_mixture_fill(&p->train, g, 1, p->ids, p->ids + p->ctx, err);
    for (int64_t i = 0; i < p->ctx && s == PT_OK; i++) p->window[i] = (char)p->ids[i];
    return s;
}

/* The window with each separator as ⟨\n\n⟩, where documents are joined. */
static void put_window(const preview *p, const shown *s, pt_strbuf *text)
{
    int n_sources = 0;
    int64_t documents = 0;
    const pt_corpus_source *source = pt_corpus_sources(p->from.corpus, &n_sources);
    for (int i = 0; i < n_sources; i++) documents += source[i].documents;
    const pt_separator *between = &source[s->source].separator;
    size_t n = documents > 1 ? (size_t)between->n : 0, all = (size_t)p->ctx, from = 0;
    for (size_t i = 0; n && i + n <= all;) {
        if (memcmp(p->window + i, between->bytes, n) != 0) {
            i++;
            continue;
        }
        pt_put_safely(text, p->window + from, i - from, INDENT);
        pt_strbuf_puts(text, "⟨");
        pt_separator_print(between, text);
        pt_strbuf_puts(text, "⟩\n" INDENT);
        from = i += n;
    }
    pt_put_safely(text, p->window + from, all - from, INDENT);
}

static void sum_parts(const pt_mixture *m, int64_t *tokens)
{
    *tokens = 0;
    for (int k = 0; k < m->n; k++) *tokens += m->source[k].n;
}

/* "of" tells of what the number is. */
static void put_total(pt_table *t, int64_t row, const char *name, int64_t value, const char *of)
{
    char n[32];
    pt_table_text(t, row, 0, name);
    pt_table_text(t, row, 1, pt_grouped(value, n));
    pt_table_text(t, row, 2, of);
}

static pt_status write_totals(const preview *p, pt_strbuf *text, pt_error *err)
{
    pt_table t = {.rows = 5, .columns = 3, .right = 2, .screen = pt_stdout_columns()};
    int64_t train, validate;
    char window[48];
    pt_status s = pt_table_begin(&t, err);
    if (s) return s;
    sum_parts(&p->train, &train);
    sum_parts(&p->validate, &validate);
    pt_format(window, sizeof window, "of %lld tokens to train", (long long)p->ctx);
    put_total(&t, 0, "tokens", pt_corpus_tokens(p->from.corpus), "");
    put_total(&t, 1, "  to train", train, "");
    put_total(&t, 2, "  to validate", validate, "");
    put_total(&t, 3, "windows", pt_mixture_count(&p->train), window);
    put_total(&t, 4, "byte values", p->n_used, "of 256 are used");
    pt_table_print(&t, text);
    pt_table_end(&t);
    return PT_OK;
}

static pt_status write_text(preview *p, pt_strbuf *text, pt_error *err)
{
    char n[32];
    pt_status s = write_totals(p, text, err);
    for (int64_t g = 0; g < p->n && s == PT_OK; g++) {
        shown sample;
        s = look_at(p, g, &sample, err);
        if (s) break;
        pt_strbuf_printf(text, "\nsample %lld: %s from byte %s\n" INDENT, (long long)g,
                         pt_corpus_path_words(sample.path), pt_grouped(sample.at, n));
        put_window(p, &sample, text);
        pt_strbuf_putc(text, '\n');
    }
    return s;
}

static pt_status write_json(preview *p, pt_strbuf *text, pt_error *err)
{
    int64_t train, validate;
    sum_parts(&p->train, &train);
    sum_parts(&p->validate, &validate);
    pt_json_writer w = pt_json_writer_begin(text, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_i64(&w, "tokens", pt_corpus_tokens(p->from.corpus));
    pt_json_i64(&w, "train_tokens", train);
    pt_json_i64(&w, "validate_tokens", validate);
    pt_json_i64(&w, "train_windows", pt_mixture_count(&p->train));
    pt_json_i64(&w, "ctx", p->ctx);
    pt_json_i64(&w, "byte_values", p->n_used);
    pt_json_string(&w, "sha256", pt_corpus_sha256(p->from.corpus));
    pt_corpus_write_json(p->from.corpus, p->from.data.weight, &w);
    pt_json_begin_array(&w, "samples");
    pt_status s = PT_OK;
    for (int64_t g = 0; g < p->n && s == PT_OK; g++) {
        shown sample;
        s = look_at(p, g, &sample, err);
        if (s) return s;
        pt_json_begin_object(&w, NULL);
        pt_json_i64(&w, "sample", g);
        pt_json_i64(&w, "source", sample.source);
        pt_json_string(&w, "path", sample.path);
        pt_json_i64(&w, "at", sample.at);
        pt_json_string_n(&w, "text", p->window, (size_t)p->ctx);
        pt_json_end_object(&w);
    }
    pt_json_end_array(&w);
    pt_json_end_object(&w);
    pt_strbuf_putc(text, '\n');
    return s;
}

static pt_status show(preview *p, pt_error *err)
{
    pt_strbuf text = {0};
    pt_status s = pt_corpus_choice_open(&p->from, err);
    if (s) return s;
    s = pt_data_split(&p->from.data, p->ctx, p->seed, &p->train, &p->validate, err);
    if (s == PT_OK) s = count_bytes(p, err);
    p->window = pt_alloc((size_t)p->ctx);
    p->ids = pt_alloc(2 * (size_t)p->ctx * sizeof *p->ids);
    if (s == PT_OK && (!p->window || !p->ids))
        s = pt_fail(err, PT_NO_MEMORY, "no memory for a window of %lld tokens", (long long)p->ctx);
    if (s == PT_OK && !p->json) pt_corpus_choice_tell(&p->from, &p->validate, &text);
    if (s == PT_OK) s = p->json ? write_json(p, &text, err) : write_text(p, &text, err);
    if (s == PT_OK) s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    pt_free(p->window);
    pt_free(p->ids);
    return s;
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    preview p = {.ctx = 256, .n = 3, .seed = 42};
    pt_option options[] = {
        {"ctx", PT_OPTION_COUNT, &p.ctx, "T", "context in tokens", NULL, false},
        {"n", PT_OPTION_COUNT, &p.n, "N", "samples to show", NULL, false},
        {"seed", PT_OPTION_SEED, &p.seed, "K", "of the run", NULL, false},
        PT_SEPARATOR_OPTION(&p.from),
        {"mix", PT_OPTION_TEXT, &p.from.mix, "W,W", "mix the sources by weight", "join", false},
        PT_JSON_OPTION(&p.json),
    };
    pt_command_line line = {.options = options,
                            .n_options = sizeof options / sizeof options[0],
                            .most_positional = PT_WORDS_MAX,
                            .missing = "which data? give what train takes as --corpus"};
    bool done = false;
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    if (p.ctx < 1 || p.ctx > CTX_MAX)
        return pt_fail(err, PT_BAD_INPUT, "--ctx is %lld, it must be 1 to %d", (long long)p.ctx,
                       CTX_MAX);
    if (p.n < 0 || p.n > 1000)
        return pt_fail(err, PT_BAD_INPUT, "--n is %lld, it must be 0 to 1000", (long long)p.n);
    pt_corpus_choice_take(&p.from, &line);
    s = show(&p, err);
    pt_corpus_choice_close(&p.from);
    return s;
}

const pt_verb pt_verb_data_preview = {
    .name = "data preview",
    .summary = "what a model will see: totals, split, first windows",
    .usage = "posttrain data preview SOURCE… [options]",
    .details = "The samples are the first of a run with that seed and context. Where documents are "
               "joined,\n"
               "what looks like a separator is shown as ⟨\\n\\n⟩.\n\n"
               "Example:\n  posttrain data preview books/ --ctx 256 --n 2\n",
    .run = run,
};
