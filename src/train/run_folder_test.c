/* The run folder: its files, its log line by line, and writes that fail.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/test_folder.h"
#include "train/run_folder.h"

static pt_error err;

static const char *run_path(void) { return in_folder("run"); }
static const char *file_path(const char *name)
{
    static char paths[2][600];
    static int next;
    char *path = paths[next++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", run_path(), name);
    return path;
}

static pt_run_folder *new_run(void)
{
    pt_run_folder *run = NULL;
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_run_folder_new(&run, run_path(), &err), err);
    return run;
}

static const uint8_t corpus[] = "It was a bright cold day in April.";

static pt_status begin(pt_run_folder *run, const char *preset)
{
    char sha256[65];
    pt_sha256_hex(corpus, sizeof corpus - 1, sha256);
    pt_run_description d = {.command = "posttrain train --data \"my book.txt\"",
                            .preset = preset,
                            .corpus_path = "my \"book\".txt",
                            .corpus_bytes = sizeof corpus - 1,
                            .corpus_sha256 = sha256,
                            .device = "cpu",
                            .isa = "avx2",
                            .threads = 3};
    pt_model_config config = {.n_layers = 2, .d_model = 48, .n_heads = 3, .ctx = 32};
    pt_model_config_complete(&config);
    pt_train_options options = pt_train_defaults();
    options.steps = 250;
    options.batch = 8;
    options.accum = 2;
    options.lr = 1e-3;
    options.min_lr = 1e-5;
    options.warmup = 10;
    options.schedule = PT_SCHEDULE_COSINE;
    options.seed = UINT64_MAX; /* beyond any double and any int64 */
    return pt_run_folder_begin(run, &d, &config, &options, 123456, &err);
}

/* ---- reading JSON back ---- */

static pt_arena arena;

static const pt_json *parse(const char *text, size_t n)
{
    const pt_json *json = NULL;
    CHECK_OK(pt_json_parse(text, n, &arena, &json, &err), err);
    CHECK(json->type == PT_JSON_OBJECT);
    return json;
}

/* Line `index` of the log (from 0); NULL when there is none. Each line must end in a newline. */
static const pt_json *log_line(int index)
{
    const char *text = text_of(file_path("log.jsonl")), *at = text;
    for (const char *end; (end = strchr(at, '\n')); at = end + 1, index--)
        if (index == 0) return parse(at, (size_t)(end - at));
    CHECK(*at == '\0');
    return NULL;
}

static void check_number(const pt_json *json, const char *key, double want)
{
    double got = 0;
    if (!pt_json_get_double(json, key, &got)) printf("no number %s\n", key);
    CHECK(pt_json_get_double(json, key, &got));
    if (got != want) printf("%s\n", key);
    CHECK_CLOSE(got, want, 0);
}

static void check_text(const pt_json *json, const char *key, const char *want)
{
    const char *got = pt_json_get_string(json, key);
    if (!got || strcmp(got, want) != 0) printf("%s\n", key);
    CHECK_STR(got, want);
}

/* The type, a plausible time, and no other keys than those. */
static void check_keys(const pt_json *line, const char *type, const char *const *keys)
{
    double t = 0;
    CHECK(line);
    check_text(line, "type", type);
    CHECK(pt_json_get_double(line, "t", &t));
    CHECK(t > 1.6e9 && t < 1e10);
    int64_t n = 2;
    for (; *keys; keys++, n++) {
        if (!pt_json_get(line, *keys)) printf("no key %s\n", *keys);
        CHECK(pt_json_get(line, *keys));
    }
    CHECK_INT(line->n_children, n);
}

static void end_test(pt_run_folder *run)
{
    pt_run_folder_free(run);
    pt_arena_deinit(&arena);
    arena = (pt_arena){0};
}

/* ---- files ---- */

TEST(run_json_repeats_the_run)
{
    fresh_folder();
    pt_run_folder *run = new_run();
    CHECK_OK(begin(run, "small"), err);
    const char *text = text_of(file_path("run.json"));
    const pt_json *json = parse(text, strlen(text));
    check_text(json, "format", "posttrain-run");
    check_number(json, "version", 1);
    CHECK_INT(strlen(pt_json_get_string(json, "started")), strlen("2026-01-02T03:04:05.678Z"));
    const pt_json *program = pt_json_get(json, "program"), *model = pt_json_get(json, "model");
    const pt_json *train = pt_json_get(json, "train"), *data = pt_json_get(json, "corpus");
    check_text(program, "command", "posttrain train --data \"my book.txt\"");
    check_text(program, "device", "cpu");
    check_text(program, "isa", "avx2");
    check_number(program, "threads", 3);
    CHECK_INT(strlen(pt_json_get_string(program, "binary_sha256")), 64);
    check_number(model, "layers", 2);
    check_number(model, "d_model", 48);
    check_number(model, "d_mlp", 192);
    check_number(model, "vocab", 256);
    check_text(model, "gelu", "erf");
    check_number(model, "params", 123456);
    check_number(train, "steps", 250);
    check_number(train, "lr", 1e-3);
    check_number(train, "min_lr", 1e-5);
    check_text(train, "schedule", "cosine");
    check_text(train, "seed", "18446744073709551615");
    check_number(train, "ctx", 32);
    check_text(data, "path", "my \"book\".txt");
    check_number(data, "bytes", sizeof corpus - 1);
    char hex[65];
    pt_sha256_hex(corpus, sizeof corpus - 1, hex);
    check_text(data, "sha256", hex);
    end_test(run);
}

TEST(a_folder_that_is_used_is_refused)
{
    fresh_folder();
    CHECK_OK(pt_run_folder_check(run_path(), &err), err); /* not there */
    CHECK_OK(pt_fs_make_folder(run_path(), &err), err);
    CHECK_OK(pt_run_folder_check(run_path(), &err), err); /* empty */
    pt_run_folder *run = new_run(), *second = (pt_run_folder *)&second;
    CHECK_INT(pt_run_folder_new(&second, run_path(), &err), PT_EXISTS); /* the log is ours */
    CHECK(!second && strstr(err.message, "another process"));
    memset(&err, 0, sizeof err);
    pt_run_folder_free(run); /* as if killed before it began: nothing but an empty log */
    put_text(file_path(".run.json.1.0.tmp"), "{");
    CHECK_OK(pt_run_folder_check(run_path(), &err), err);
    run = new_run();
    put_text(file_path("notes.txt"), "a file of the user's");
    CHECK_INT(pt_run_folder_check(run_path(), &err), PT_EXISTS);
    CHECK(strstr(err.message, "not empty"));
    CHECK_OK(pt_fs_remove(file_path("notes.txt"), NULL), err);
    memset(&err, 0, sizeof err);
    CHECK_OK(begin(run, NULL), err);
    CHECK_INT(pt_run_folder_check(run_path(), &err), PT_EXISTS);
    CHECK(strstr(err.message, "already holds a run"));
    end_test(run);
    fresh_folder();
    put_text(run_path(), "a file of the user's");
    memset(&err, 0, sizeof err);
    CHECK_INT(pt_run_folder_check(run_path(), &err), PT_EXISTS);
    CHECK(strstr(err.message, "--out"));
    CHECK_INT(pt_run_folder_new(&second, run_path(), NULL), PT_EXISTS);
    CHECK_STR(text_of(run_path()), "a file of the user's");
    pt_run_folder_free(NULL);
}

TEST(a_run_that_never_began_takes_back_what_it_made_and_nothing_else)
{
    fresh_folder();
    pt_run_folder *run = new_run(); /* makes the folder */
    CHECK_OK(begin(run, NULL), err);
    pt_run_folder_discard(run);
    CHECK(!pt_fs_exists(run_path()));
    CHECK_OK(pt_fs_make_folder(run_path(), &err), err); /* the user's, empty */
    pt_run_folder_discard(new_run());
    CHECK(pt_fs_is_folder(run_path()) && !pt_fs_exists(file_path("log.jsonl")));
    CHECK_OK(pt_fs_remove(run_path(), &err), err);
    run = new_run();
    CHECK_OK(pt_fs_make_folder(file_path("notes"), &err), err);
    put_text(file_path("notes/kept.txt"), "a file of the user's");
    put_text(file_path("run.json"), "somebody else's");
    pt_run_folder_discard(run);
    CHECK_STR(text_of(file_path("notes/kept.txt")), "a file of the user's");
    CHECK_STR(text_of(file_path("run.json")), "somebody else's");
    CHECK(!pt_fs_exists(file_path("log.jsonl")));
    pt_run_folder_discard(NULL);
}

TEST(a_path_that_is_too_long_is_refused)
{
    char path[5000];
    pt_run_folder *run = (pt_run_folder *)&run;
    memset(path, 'a', sizeof path);
    for (size_t n = 4096 - 128; n < sizeof path; n += 31) {
        path[n] = '\0';
        memset(&err, 0, sizeof err);
        CHECK_INT(pt_run_folder_new(&run, path, &err), PT_BAD_INPUT);
        CHECK(!run && strstr(err.message, "too long"));
        path[n] = 'a';
    }
}

/* ---- the log ---- */

TEST(lines_have_the_documented_keys)
{
    fresh_folder();
    pt_run_folder *run = new_run();
    CHECK_OK(begin(run, "small"), err);
    pt_step_report report = {
        .step = 7, .loss = 5.5, .grad_norm = 0.25, .lr = 0.5, .seconds = 0.125};
    CHECK_OK(pt_run_folder_step(run, &report, &err), err);
    CHECK_OK(pt_run_folder_evaluated(run, 7, 4.75, &err), err);
    CHECK_OK(pt_run_folder_sampled(run, 7, "Call me\n\"\0\xff\xe2\x82", 13, &err), err);
    pt_sink sink;
    CHECK_OK(pt_run_folder_save_begin(run, 7, &sink, &err), err);
    CHECK_OK(sink.write(sink.ctx, "model", 5, &err), err);
    CHECK_OK(pt_run_folder_save_end(run, 7, false, &err), err);
    CHECK_OK(pt_run_folder_end(run, 7, PT_OK, "finished", &err), err);

    const pt_json *meta = log_line(0);
    check_keys(meta, "meta",
               (const char *const[]){"preset", "params", "batch", "ctx", "total_steps", "max_lr",
                                     "min_lr", "warmup", "lr_schedule", "seed", "accum", NULL});
    check_text(meta, "preset", "small");
    check_text(meta, "seed", "18446744073709551615");
    check_text(meta, "lr_schedule", "cosine");
    check_number(meta, "params", 123456);
    check_number(meta, "total_steps", 250);
    check_number(meta, "ctx", 32);
    const pt_json *step = log_line(1);
    check_keys(step, "step",
               (const char *const[]){"step", "loss", "lr", "grad_norm", "seconds", NULL});
    check_number(step, "step", 7);
    check_number(step, "loss", 5.5);
    check_number(step, "lr", 0.5);
    check_number(step, "grad_norm", 0.25);
    check_number(step, "seconds", 0.125);
    check_keys(log_line(2), "val", (const char *const[]){"step", "val_loss", NULL});
    check_number(log_line(2), "val_loss", 4.75);
    check_keys(log_line(3), "sample", (const char *const[]){"step", "text", NULL});
    const pt_json *text = pt_json_get(log_line(3), "text");
    CHECK_INT(text->text_len, 10 + 3 + 3); /* each of two malformed pieces is a U+FFFD */
    CHECK(memcmp(text->text, "Call me\n\"\0\xef\xbf\xbd\xef\xbf\xbd", 16) == 0);
    check_keys(log_line(4), "save", (const char *const[]){"step", NULL});
    check_keys(log_line(5), "end",
               (const char *const[]){"step", "status", "how", "peak_rss_bytes", NULL});
    check_text(log_line(5), "status", "OK");
    check_text(log_line(5), "how", "finished");
    CHECK(!log_line(6));
    end_test(run);
}

TEST(losses_have_nine_digits_and_what_is_not_finite_is_null)
{
    static const struct {
        double loss;
        const char *text;
    } cases[] = {{5.545177444479562, "\"loss\":5.54517744,"},
                 {0.1, "\"loss\":0.1"},
                 {1234.56789012345, "\"loss\":1234.56789,"},
                 {PT_NAN, "\"loss\":null,"},
                 {PT_INF, "\"loss\":null,"}};
    fresh_folder();
    pt_run_folder *run = new_run();
    for (int i = 0; i < 5; i++) {
        pt_step_report report = {.step = i + 1, .loss = cases[i].loss, .grad_norm = -PT_INF};
        CHECK_OK(pt_run_folder_step(run, &report, &err), err);
        CHECK_OK(pt_run_folder_evaluated(run, i + 1, cases[i].loss, &err), err);
        if (!strstr(text_of(file_path("log.jsonl")), cases[i].text)) printf("%s\n", cases[i].text);
        CHECK(strstr(text_of(file_path("log.jsonl")), cases[i].text));
        CHECK(pt_json_get(log_line(2 * i), "grad_norm")->type == PT_JSON_NULL);
    }
    /* nine digits tell any two neighbouring floats apart */
    float x = 3.4567891F;
    for (int i = 0; i < 20; i++, x = nextafterf(x, 9)) {
        pt_step_report report = {.step = 1, .loss = (double)x};
        double got = 0;
        CHECK_OK(pt_run_folder_step(run, &report, &err), err);
        CHECK(pt_json_get_double(log_line(10 + i), "loss", &got));
        CHECK((float)got == x);
    }
    end_test(run);
}

TEST(a_step_allocates_nothing)
{
    fresh_folder();
    pt_run_folder *run = new_run();
    CHECK_OK(begin(run, NULL), err);
    pt_step_report report = {.step = 1};
    CHECK_OK(pt_run_folder_step(run, &report, &err), err);
    int64_t before = pt_alloc_count();
    report = (pt_step_report){.step = INT64_MAX,
                              .loss = -1.23456789123e-300,
                              .grad_norm = -1.23456789123e-300,
                              .lr = (double)1.23456789e-30F,
                              .seconds = 1.23456789e-10};
    for (int i = 0; i < 20; i++) {
        CHECK_OK(pt_run_folder_step(run, &report, &err), err);
        CHECK_OK(pt_run_folder_evaluated(run, i, report.loss, &err), err);
    }
    CHECK_INT(pt_alloc_count(), before);
    end_test(run);
}

/* ---- what fails ---- */

TEST(a_failing_write_is_reported_and_the_log_stays_whole)
{
    fresh_folder();
    pt_run_folder *run = new_run();
    pt_step_report report = {.step = 1, .loss = 2};
    CHECK_OK(pt_run_folder_step(run, &report, &err), err);
    for (int kind = 0; kind < 4; kind++) {
        memset(&err, 0, sizeof err);
        pt_fs_fail_after(1);
        pt_status s = kind == 0   ? pt_run_folder_step(run, &report, &err)
                      : kind == 1 ? pt_run_folder_evaluated(run, 1, 2, &err)
                      : kind == 2 ? pt_run_folder_sampled(run, 1, "x", 1, &err)
                                  : pt_run_folder_end(run, 1, PT_INTERRUPTED, "stopped", &err);
        pt_fs_fail_after(0);
        CHECK_INT(s, PT_IO);
        CHECK(strstr(err.message, "log.jsonl"));
        CHECK(log_line(0) && !log_line(1));
    }
    memset(&err, 0, sizeof err);
    report.step = 2;
    CHECK_OK(pt_run_folder_step(run, &report, &err), err);
    check_number(log_line(1), "step", 2);
    end_test(run);
    for (int64_t nth = 1; nth <= 3; nth++) { /* write, fsync, … of run.json */
        fresh_folder();
        run = new_run();
        pt_fs_fail_after(nth);
        CHECK_INT(begin(run, NULL), PT_IO);
        pt_fs_fail_after(0);
        CHECK(!pt_fs_exists(file_path("run.json")) || nth > 2);
        end_test(run);
    }
}

TEST(a_failed_save_leaves_no_checkpoint_and_no_line)
{
    fresh_folder();
    pt_run_folder *run = new_run();
    pt_sink sink;
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_run_folder_save_begin(run, 3, &sink, &err), err);
    CHECK_OK(sink.write(sink.ctx, "half a mod", 10, &err), err);
    CHECK_OK(pt_run_folder_save_end(run, 3, true, &err), err);
    CHECK(!pt_fs_exists(file_path("checkpoints/step-00000003")));
    CHECK(!pt_fs_exists(file_path("model.tinygpt")));
    CHECK(!log_line(0));
    /* nor does one that the end of the program interrupts */
    CHECK_OK(pt_run_folder_save_begin(run, 4, &sink, &err), err);
    CHECK_OK(sink.write(sink.ctx, "half a mod", 10, &err), err);
    end_test(run);
    CHECK(!pt_fs_exists(file_path("checkpoints/step-00000004")));
    /* a commit that fails is the caller's to know */
    fresh_folder();
    run = new_run();
    CHECK_OK(pt_run_folder_save_begin(run, 5, &sink, &err), err);
    CHECK_OK(sink.write(sink.ctx, "a model", 7, &err), err);
    pt_fs_fail_after(1);
    CHECK_INT(pt_run_folder_save_end(run, 5, false, &err), PT_IO);
    pt_fs_fail_after(0);
    CHECK(!pt_fs_exists(file_path("model.tinygpt")) && !log_line(0));
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_run_folder_save_begin(run, 6, &sink, &err), err);
    CHECK_OK(sink.write(sink.ctx, "a model", 7, &err), err);
    CHECK_OK(pt_run_folder_save_end(run, 6, false, &err), err);
    CHECK_STR(text_of(file_path("model.tinygpt")), "a model");
    CHECK(pt_fs_exists(file_path("checkpoints/step-00000006/manifest.json")));
    end_test(run);
}

TEST(nothing_is_saved_where_the_folder_was)
{
    fresh_folder();
    pt_run_folder *run = new_run();
    pt_sink sink;
    char moved[600];
    memset(&err, 0, sizeof err);
    snprintf(moved, sizeof moved, "%s", in_folder("moved"));
    CHECK(rename(file_path(""), moved) == 0);
    CHECK_INT(pt_run_folder_save_begin(run, 3, &sink, &err), PT_NOT_FOUND);
    CHECK(strstr(err.message, "was moved or deleted while the run went on: step 3 cannot"));
    pt_run_folder_free(run);
}

TEST(every_failing_allocation_is_reported)
{
    int64_t nth = 1;
    for (pt_status s = PT_NO_MEMORY; s; nth++) {
        fresh_folder();
        pt_run_folder *run = NULL;
        memset(&err, 0, sizeof err);
        pt_alloc_fail_after(nth);
        s = pt_run_folder_new(&run, run_path(), &err);
        if (s == PT_OK) s = begin(run, "small");
        pt_alloc_fail_after(0);
        CHECK(s == PT_OK || (s == PT_NO_MEMORY && err.message[0]));
        pt_run_folder_free(run);
    }
    CHECK(nth > 4);
}

PT_TEST_MAIN
