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

void pt_corpus_choice_say(const pt_corpus_choice *c, bool held_out)
{
    int n = 0;
    const pt_corpus_source *source = pt_corpus_sources(c->corpus, &n);
    const char *held = held_out ? ", the last tenth held out"
                                : ", too short to hold a part out: no validation loss";
    for (int i = 0; i < n; i++) {
        const pt_corpus_source *s = &source[i];
        char tokens[32], files[32], more[96] = "", weight[48] = "";
        if (s->n_shards)
            pt_format(more, sizeof more, " in %s shard%s", pt_grouped(s->files, files),
                      s->files == 1 ? "" : "s");
        else if (s->files != 1)
            pt_format(more, sizeof more, " in %s files", pt_grouped(s->files, files));
        if (c->mix) pt_format(weight, sizeof weight, ", weight %g", c->weight[i]);
        pt_say("%s: %s bytes%s%s%s\n", s->path, pt_grouped(s->tokens, tokens), more, weight,
               n == 1 ? held : "");
    }
    char all[32];
    if (n > 1)
        pt_say("%s: %s bytes%s\n", c->mix ? "mixed" : "joined",
               pt_grouped(pt_corpus_tokens(c->corpus), all),
               c->mix && held_out ? ", the last tenth of each held out" : held);
}
