/* posttrain data shard, and data verify. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "cli/corpus.h"
#include "cli/data.h"
#include "cli/job_line.h"

/* ---- making ---- */

typedef struct sharding {
    pt_corpus_choice from;
    const char *out;
    int64_t shard_tokens;
    bool json;

    pt_text_files files;
    pt_shard_maker *maker;
    pt_job_line line;
    int64_t bytes;
    double started;
} sharding;

static pt_status list_files(sharding *sh, pt_skip_report *report, pt_error *err)
{
    pt_status s = PT_OK;
    sh->files.skipped = (pt_skipped){pt_skip_report_add, report};
    for (int i = 0; i < sh->from.paths.n && s == PT_OK; i++) {
        const char *path = sh->from.paths.word[i];
        if (pt_shard_folder_is(path))
            return pt_fail(err, PT_BAD_INPUT, "'%s' holds shards already: give text", path);
        s = pt_text_files_add(&sh->files, path, err);
    }
    return s;
}

static pt_status put_piece(void *ctx, const void *bytes, size_t n, pt_error *err)
{
    sharding *sh = ctx;
    sh->bytes += (int64_t)n;
    pt_status s = pt_shard_maker_put(sh->maker, bytes, (int64_t)n, err);
    return s ? s : pt_job_line_show(&sh->line, sh->bytes, err);
}

static pt_status put_files(sharding *sh, pt_skip_report *report, pt_error *err)
{
    int64_t total = 0;
    bool known = true;
    for (int64_t i = 0; i < sh->files.n; i++) {
        known = known && sh->files.file[i].bytes >= 0;
        total += pt_max_i64(0, sh->files.file[i].bytes);
    }
    pt_status s = PT_OK;
    sh->line = pt_job_line_begin("sharding", known ? total : 0, sh->from.quiet);
    for (int64_t i = 0; i < sh->files.n && s == PT_OK; i++) {
        int64_t before = sh->bytes;
        pt_shard_maker_document(sh->maker);
        s = pt_fs_feed(sh->files.file[i].path, put_piece, sh, err);
        if (s == PT_OK && sh->bytes == before)
            pt_skip_report_add(report, sh->files.file[i].path, "it is empty");
    }
    pt_job_line_end(&sh->line);
    return s;
}

static pt_status print_totals(const sharding *sh, const pt_shard *last, int64_t skipped,
                              pt_error *err)
{
    char bytes[32], documents[32], tokens[32], shards[32], rate[32], hex[65];
    double seconds = pt_clock_seconds() - sh->started;
    pt_strbuf text = {0};
    pt_hex(last->sha256, sizeof last->sha256, hex);
    if (sh->json) {
        pt_json_writer w = pt_json_writer_begin(&text, 0);
        pt_json_begin_object(&w, NULL);
        pt_json_string(&w, "out", sh->out);
        pt_json_i64(&w, "bytes", sh->bytes);
        pt_json_i64(&w, "documents", last->documents);
        pt_json_i64(&w, "tokens", last->first);
        pt_json_i64(&w, "shards", last->index);
        pt_json_i64(&w, "left_out", skipped);
        pt_json_string(&w, "sha256", hex);
        pt_json_double(&w, "seconds", seconds);
        pt_json_i64(&w, "peak_rss_bytes", pt_peak_rss());
        pt_json_end_object(&w);
        pt_strbuf_putc(&text, '\n');
    } else {
        pt_strbuf_printf(
            &text,
            "%s: %s bytes in %s document%s, %s tokens in %s shard%s\nsha256 %s\n%.1f s, %s/s\n",
            sh->out, pt_grouped(sh->bytes, bytes), pt_grouped(last->documents, documents),
            last->documents == 1 ? "" : "s", pt_grouped(last->first, tokens),
            pt_grouped(last->index, shards), last->index == 1 ? "" : "s", hex, seconds,
            pt_megabytes((int64_t)((double)sh->bytes / (seconds > 1e-9 ? seconds : 1)), rate));
    }
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

static pt_status make_shards(sharding *sh, pt_error *err)
{
    pt_skip_report report = {.quiet = sh->from.quiet};
    pt_separator separator;
    pt_shard like = {.tokenizer = "bytes", .width = 1, .vocab = 256}, last = {0};
    sh->started = pt_clock_seconds();
    pt_status s = pt_corpus_choice_separator(&sh->from, &separator, err);
    if (s) return s;
    like.n_separator = separator.n;
    for (int i = 0; i < separator.n; i++) like.separator[i] = separator.bytes[i];
    s = list_files(sh, &report, err);
    if (s == PT_OK) s = pt_shard_maker_new(&sh->maker, sh->out, sh->shard_tokens, &like, err);
    if (s == PT_OK) s = put_files(sh, &report, err);
    pt_skip_report_end(&report);
    if (s) {
        pt_shard_maker_discard(sh->maker);
        return s;
    }
    s = pt_shard_maker_end(sh->maker, &last, err);
    return s ? s : print_totals(sh, &last, report.n, err);
}

static pt_status run_shard(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    sharding sh = {.shard_tokens = 100000000};
    pt_option options[] = {
        {"out", PT_OPTION_TEXT, &sh.out, "DIR", "the folder of shards; must be new", NULL, false},
        {"shard-size", PT_OPTION_COUNT, &sh.shard_tokens, "N", "tokens of a shard", "100m", false},
        PT_SEPARATOR_OPTION(&sh.from),
        {"json", PT_OPTION_SWITCH, &sh.json, NULL, "the totals as JSON on stdout", NULL, false},
        PT_QUIET_OPTION(&sh.from.quiet),
    };
    pt_command_line line = {.options = options,
                            .n_options = sizeof options / sizeof options[0],
                            .most_positional = PT_WORDS_MAX,
                            .missing = "which text? give files, folders, or - for its input"};
    bool done = false;
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    if (!sh.out) return pt_fail(err, PT_BAD_INPUT, "where to? give --out DIR for the shards");
    if (sh.shard_tokens < 1)
        return pt_fail(err, PT_BAD_INPUT, "--shard-size is %lld, it must be 1 or more",
                       (long long)sh.shard_tokens);
    pt_corpus_choice_take(&sh.from, &line);
    s = make_shards(&sh, err);
    pt_text_files_deinit(&sh.files);
    return s;
}

const pt_verb pt_verb_data_shard = {
    .name = "data shard",
    .summary = "text to token shards, for corpora larger than memory",
    .usage = "posttrain data shard INPUT… --out DIR [options]",
    .details = "Inputs are texts, folders of texts, and - for standard input. A file is a "
               "document; between\n"
               "two stands the separator. A model trained on the shards is the one trained on the\n"
               "text, bit for bit, whatever the size of a shard.\n\n"
               "Example:\n  posttrain data shard books/ --out books.shards\n"
               "  posttrain train --corpus books.shards --out runs/books\n",
    .run = run_shard,
};

/* ---- verifying ---- */

static pt_status print_verified(const char *path, const pt_shard_folder *folder, bool json,
                                pt_error *err)
{
    char tokens[32], shards[32], hex[65];
    pt_strbuf text = {0};
    pt_hex(folder->last->sha256, sizeof folder->last->sha256, hex);
    if (json) {
        pt_json_writer w = pt_json_writer_begin(&text, 0);
        pt_json_begin_object(&w, NULL);
        pt_json_string(&w, "path", path);
        pt_json_string(&w, "tokenizer", folder->last->tokenizer);
        pt_json_i64(&w, "documents", folder->last->documents);
        pt_json_i64(&w, "tokens", folder->tokens);
        pt_json_i64(&w, "shards", folder->n);
        pt_json_string(&w, "sha256", hex);
        pt_json_end_object(&w);
        pt_strbuf_putc(&text, '\n');
    } else {
        pt_strbuf_printf(&text, "%s: whole; %s tokens of '%s' in %s shard%s\nsha256 %s\n", path,
                         pt_grouped(folder->tokens, tokens), folder->last->tokenizer,
                         pt_grouped(folder->n, shards), folder->n == 1 ? "" : "s", hex);
    }
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

static pt_status verify(const char *path, bool json, bool quiet, pt_error *err)
{
    pt_shard_folder folder;
    pt_open_files files = {0};
    pt_status s = pt_shard_folder_open(&folder, path, &files, err);
    if (s == PT_OK) {
        pt_job_line progress = pt_job_line_begin("verifying", folder.bytes, quiet);
        pt_job job = {pt_job_line_show, &progress};
        s = pt_shard_folder_verify(&folder, &job, err);
        pt_job_line_end(&progress);
    }
    if (s == PT_OK) s = print_verified(path, &folder, json, err);
    pt_shard_folder_close(&folder);
    pt_open_files_close(&files);
    return s;
}

static pt_status run_verify(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    bool json = false, quiet = false, done = false;
    pt_option options[] = {
        PT_JSON_OPTION(&json),
        PT_QUIET_OPTION(&quiet),
    };
    pt_command_line line = {.options = options,
                            .n_options = 2,
                            .most_positional = 1,
                            .first = "DIR",
                            .missing = "which shards? give the folder that holds them"};
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    return verify(line.positional[0], json, quiet, err);
}

const pt_verb pt_verb_data_verify = {
    .name = "data verify",
    .summary = "reads token shards whole and checks them",
    .usage = "posttrain data verify DIR [options]",
    .details = "Training checks the headers of shards only, since that takes no time. This reads "
               "all of their\n"
               "tokens. Exits 5 and names the shard when one is damaged.\n\n"
               "Example:\n  posttrain data verify books.shards\n",
    .run = run_verify,
};
