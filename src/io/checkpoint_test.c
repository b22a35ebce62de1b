/* Checkpoints: complete or not there, and never at the cost of an older one.
 * SPDX-License-Identifier: MIT */
#include "base/hash.h"
#include "base/json.h"
#include "base/test_folder.h"
#include "io/checkpoint.h"

#define PATH 600

static pt_error err;

/* The model "file" of a step: long enough to be written in several pieces. */
static char *content(int64_t step, int64_t *n)
{
    *n = 70000 + 1000 * (step % 50);
    char *bytes = malloc((size_t)*n);
    for (int64_t i = 0; i < *n; i++) bytes[i] = (char)(i * (step + 7) + i / 251);
    return bytes;
}

static pt_status begin(pt_checkpoint **out, int64_t step, pt_sink *sink)
{
    memset(&err, 0, sizeof err);
    return pt_checkpoint_begin(out, in_folder("run"), step, sink, &err);
}

static pt_status put(const pt_sink *sink, int64_t step)
{
    int64_t n;
    char *bytes = content(step, &n);
    pt_status s = sink->write(sink->ctx, "????", 4, &err);
    if (s == PT_OK) s = sink->write(sink->ctx, bytes + 4, n - 4, &err);
    if (s == PT_OK) s = sink->patch(sink->ctx, 0, bytes, 4, &err);
    free(bytes);
    return s;
}

static pt_status save(int64_t step)
{
    pt_checkpoint *c = NULL;
    pt_sink sink;
    pt_status s = begin(&c, step, &sink);
    if (s) return s;
    s = put(&sink, step);
    if (s == PT_OK) return pt_checkpoint_commit(c, &err);
    pt_checkpoint_discard(c);
    return s;
}

static const char *step_path(int64_t step, const char *name)
{
    static char paths[2][PATH];
    static int next;
    char *path = paths[next++ % 2];
    snprintf(path, PATH, "%s/checkpoints/step-%08lld%s%s", in_folder("run"), (long long)step,
             *name ? "/" : "", name);
    return path;
}

static const char *newest(void)
{
    static char path[PATH];
    snprintf(path, sizeof path, "%s/model.tinygpt", in_folder("run"));
    return path;
}

/* Whole and that of `step`. */
static bool file_is(const char *path, int64_t step)
{
    int64_t n;
    char *bytes = content(step, &n);
    pt_file_view view = {0};
    bool same = pt_file_view_open(&view, path, NULL) == PT_OK && view.size == n &&
                memcmp(view.data, bytes, (size_t)n) == 0;
    pt_file_view_close(&view);
    free(bytes);
    return same;
}

static void put_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(bytes, 1, n, f) == n);
    fclose(f);
}

static char model_name[64]; /* as the manifest last looked at names it */

/* There is a manifest, and it tells the truth. */
static bool is_complete(int64_t step)
{
    char *text = NULL;
    int64_t size = 0, value = 0;
    if (pt_fs_read(step_path(step, "manifest.json"), 10000, &text, &size, NULL)) return false;
    pt_arena arena = {0};
    const pt_json *m = NULL;
    CHECK_OK(pt_json_parse(text, (size_t)size, &arena, &m, &err), err);
    CHECK_STR(pt_json_get_string(m, "format"), "posttrain-checkpoint");
    CHECK(pt_json_get_i64(m, "version", &value) && value == 1);
    CHECK(pt_json_get_i64(m, "step", &value) && value == step);
    const pt_json *files = pt_json_get(m, "files");
    CHECK(files && files->n_children == 1);
    snprintf(model_name, sizeof model_name, "%s", pt_json_get_string(files->child, "name"));
    pt_file_view view = {0};
    CHECK_OK(pt_file_view_open(&view, step_path(step, model_name), &err), err);
    char crc[16];
    snprintf(crc, sizeof crc, "%08x", pt_crc32c(0, view.data, (size_t)view.size));
    bool truth = pt_json_get_i64(files->child, "bytes", &value) && value == view.size &&
                 strcmp(pt_json_get_string(files->child, "crc32c"), crc) == 0;
    pt_file_view_close(&view);
    pt_arena_deinit(&arena);
    pt_free(text);
    return truth;
}

static void walk(void *ctx, const char *name, bool folder);

static void count_in(const char *path, int counts[2])
{
    void *ctx[2] = {(void *)(uintptr_t)path, counts};
    if (pt_fs_is_folder(path)) CHECK_OK(pt_fs_list(path, walk, ctx, &err), err);
}

/* counts: files, and temporary files among them, in all of a folder. */
static void walk(void *ctx, const char *name, bool folder)
{
    void **both = ctx;
    int *counts = both[1];
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", (const char *)both[0], name);
    if (folder) {
        count_in(path, counts);
        return;
    }
    counts[0]++;
    counts[1] += name[0] == '.';
}

static int n_files(void)
{
    int counts[2] = {0, 0};
    count_in(in_folder("run"), counts);
    CHECK_INT(counts[1], 0); /* never a temporary file left behind */
    return counts[0];
}

TEST(a_checkpoint_is_complete_only_with_its_manifest)
{
    fresh_folder();
    pt_checkpoint *c = NULL;
    pt_sink sink;
    CHECK_OK(begin(&c, 500, &sink), err);
    CHECK_OK(put(&sink, 500), err);
    CHECK(!pt_fs_exists(step_path(500, "model.tinygpt")));
    CHECK(!pt_fs_exists(step_path(500, "manifest.json")));
    CHECK(!pt_fs_exists(newest()));
    CHECK_OK(pt_checkpoint_commit(c, &err), err);
    CHECK(is_complete(500));
    CHECK(file_is(step_path(500, "model.tinygpt"), 500));
    CHECK(file_is(newest(), 500));
    CHECK_INT(n_files(), 3);
}

TEST(the_newest_model_is_that_of_the_last_save_and_older_ones_stay)
{
    fresh_folder();
    static const int64_t steps[] = {1, 20, 123456789, 21};
    for (int i = 0; i < 4; i++) {
        CHECK_OK(save(steps[i]), err);
        CHECK(file_is(newest(), steps[i]));
        for (int k = 0; k <= i; k++) {
            CHECK(is_complete(steps[k]));
            CHECK(file_is(step_path(steps[k], "model.tinygpt"), steps[k]));
        }
    }
    CHECK_INT(n_files(), 2 * 4 + 1);
}

TEST(a_discarded_one_leaves_nothing)
{
    fresh_folder();
    CHECK_OK(save(1), err);
    pt_checkpoint *c = NULL;
    pt_sink sink;
    CHECK_OK(begin(&c, 2, &sink), err);
    CHECK_OK(put(&sink, 2), err);
    pt_checkpoint_discard(c);
    pt_checkpoint_discard(NULL);
    CHECK(!pt_fs_exists(step_path(2, "")));
    CHECK_INT(n_files(), 3);
    CHECK(is_complete(1) && file_is(newest(), 1));
}

TEST(a_step_saved_again_keeps_its_checkpoint_until_the_new_one_is_whole)
{
    fresh_folder();
    CHECK_OK(save(3), err);
    for (int64_t again = 4; again < 7; again++) {
        pt_checkpoint *c = NULL;
        pt_sink sink;
        CHECK_OK(begin(&c, 3, &sink), err);
        CHECK_OK(put(&sink, again), err);
        CHECK(is_complete(3) && file_is(step_path(3, model_name), again - 1));
        CHECK(file_is(newest(), again - 1));
        CHECK_OK(pt_checkpoint_commit(c, &err), err);
        CHECK(is_complete(3) && file_is(step_path(3, model_name), again));
        CHECK(file_is(newest(), again));
        CHECK_INT(n_files(), 3);
    }
}

/* Its name is another program's to use, until the step is saved again; it is never lost. */
TEST(a_newer_programs_checkpoint_stays)
{
    static const char newer[] = "{\"format\":\"posttrain-checkpoint\",\"version\":2}";
    fresh_folder();
    for (int64_t step = 1; step <= 4; step++) CHECK_OK(save(step), err);
    put_text(step_path(2, "manifest.json"), newer);
    put_text(step_path(4, "manifest.json"), newer);
    CHECK(pt_checkpoint_is_newer(in_folder("run"), 4));
    CHECK(!pt_checkpoint_is_newer(in_folder("run"), 3) &&
          !pt_checkpoint_is_newer(in_folder("run"), 9));
    /* of the two that count none is to go; else the newest would have to be proved, and these are no models */
    CHECK_OK(pt_checkpoint_prune(in_folder("run"), 2, 0, &err), err);
    CHECK(file_is(step_path(2, "model.tinygpt"), 2) && file_is(step_path(4, "model.tinygpt"), 4));
    CHECK(is_complete(3) && is_complete(1));
    CHECK_OK(save(4), err);
    CHECK(is_complete(4) && file_is(newest(), 4));
    char aside[PATH];
    snprintf(aside, sizeof aside, "%s.refused-1/manifest.json", step_path(4, ""));
    CHECK_STR(text_of(aside), newer);
    CHECK_INT(n_files(), 5 * 2 + 1);
}

/* Someone's copy of a checkpoint under a name that we would not give is theirs. */
TEST(only_names_that_we_give_are_steps)
{
    static const char *const others[] = {
        "step-000000000009", "step-0000009",  "step-",
        "step-00000009 ",    "step--0000009", "step-99999999999999999999"};
    char path[PATH];
    int64_t step = 0, swept = 0;
    fresh_folder();
    CHECK_OK(save(8), err);
    CHECK_OK(save(123456789), err);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        snprintf(path, sizeof path, "%s/checkpoints/%s", in_folder("run"), others[i]);
        CHECK_OK(pt_fs_make_folder(path, &err), err);
        snprintf(path, sizeof path, "%s/checkpoints/%s/manifest.json", in_folder("run"), others[i]);
        put_text(path, "{}");
    }
    int files = n_files();
    CHECK_OK(pt_checkpoint_sweep(in_folder("run"), &swept, &err), err);
    CHECK(swept == 0 && n_files() == files);
    CHECK_OK(pt_checkpoint_before(in_folder("run"), INT64_MAX, &step, &err), err);
    CHECK_INT(step, 123456789);
    CHECK_OK(pt_checkpoint_before(in_folder("run"), step, &step, &err), err);
    CHECK_INT(step, 8);
    CHECK_OK(pt_checkpoint_before(in_folder("run"), step, &step, &err), err);
    CHECK_INT(step, -1);
}

/* What says so is the model: its manifest is of our version, or missing, as after a kill. */
TEST(a_newer_programs_model_stays)
{
    static const char model[] = "TGPT\3\0\0\0\2\0\0\0{}\1\0\0\0";
    char manifest[200];
    int64_t swept = 0;
    fresh_folder();
    CHECK_OK(save(1), err);
    CHECK_OK(save(2), err);
    CHECK_OK(pt_fs_remove(newest(), &err), err);
    put_bytes(step_path(1, "model.tinygpt"), model, sizeof model - 1);
    CHECK(!pt_checkpoint_is_newer(in_folder("run"), 1)); /* it is not as its manifest says */
    snprintf(manifest, sizeof manifest,
             "{\"format\":\"posttrain-checkpoint\",\"version\":1,\"step\":1,\"files\":[{\"name\":"
             "\"model.tinygpt\",\"bytes\":%d,\"crc32c\":\"%08x\"}]}",
             (int)sizeof model - 1, pt_crc32c(0, model, sizeof model - 1));
    put_text(step_path(1, "manifest.json"), manifest);
    for (int i = 0; i < 2; i++) {
        CHECK(pt_checkpoint_is_newer(in_folder("run"), 1));
        CHECK_OK(pt_checkpoint_prune(in_folder("run"), 1, 0, &err), err);
        CHECK_OK(pt_checkpoint_sweep(in_folder("run"), &swept, &err), err);
        CHECK_INT(pt_fs_size(step_path(1, "model.tinygpt")), sizeof model - 1);
        if (i == 0) CHECK_OK(pt_fs_remove(step_path(1, "manifest.json"), &err), err);
    }
    CHECK_INT(swept, 0);
    CHECK_OK(save(1), err);
    CHECK(is_complete(1));
    char aside[PATH];
    snprintf(aside, sizeof aside, "%s.refused-1/model.tinygpt", step_path(1, ""));
    CHECK_INT(pt_fs_size(aside), sizeof model - 1);
}

/* Saves step nth + 1 with the nth call failing, for every nth of a save and a few more. Whatever a
 * failed save says, the checkpoints before it are whole, and model.tinygpt is that of one of them. */
TEST(a_failing_call_harms_no_older_checkpoint)
{
    int failures = 0, late = 0, successes_in_a_row = 0;
    int64_t last = 1, published = 1, nth = 1; /* last: the newest complete step */
    fresh_folder();
    CHECK_OK(save(1), err);
    for (; successes_in_a_row < 2; nth++) {
        int64_t step = nth + 1, files = n_files();
        CHECK(nth < 40);
        pt_fs_fail_after(nth);
        pt_status s = save(step);
        pt_fs_fail_after(0);
        successes_in_a_row = s ? 0 : successes_in_a_row + 1;
        failures += s != PT_OK;
        CHECK(s == PT_OK || (s == PT_IO && err.message[0]));
        CHECK(is_complete(1) && file_is(step_path(1, "model.tinygpt"), 1));
        CHECK(is_complete(last) && file_is(step_path(last, "model.tinygpt"), last));
        if (is_complete(step)) {
            CHECK(file_is(step_path(step, "model.tinygpt"), step));
            CHECK(file_is(newest(), step) || (s && file_is(newest(), published)));
            if (file_is(newest(), step)) published = step;
            CHECK_INT(n_files(), files + 2);
            late += s != PT_OK;
            last = step;
        } else { /* not a checkpoint: then nothing of it stays to fill the disk */
            CHECK(s != PT_OK && file_is(newest(), published));
            CHECK(!pt_fs_exists(step_path(step, "")));
            CHECK_INT(n_files(), files);
        }
    }
    /* writes, fsync, rename and folder of the model and of the manifest; then the publishing */
    CHECK(failures >= 9 && late >= 1);
}

/* Of one step saved again and again there is always a complete checkpoint, the old or the new one. */
TEST(a_failing_call_in_a_second_save_of_a_step_leaves_a_checkpoint)
{
    int64_t old = 1, published = 1, failures = 0;
    fresh_folder();
    CHECK_OK(save(1), err);
    for (int64_t nth = 1; nth <= 16; nth++) {
        pt_checkpoint *c = NULL;
        pt_sink sink;
        pt_fs_fail_after(nth);
        pt_status s = begin(&c, 1, &sink);
        if (s == PT_OK && (s = put(&sink, nth + 1)) == PT_OK) s = pt_checkpoint_commit(c, &err);
        else pt_checkpoint_discard(c);
        pt_fs_fail_after(0);
        failures += s != PT_OK;
        CHECK(is_complete(1));
        bool replaced = file_is(step_path(1, model_name), nth + 1);
        CHECK(replaced || (s && file_is(step_path(1, model_name), old)));
        if (replaced) old = nth + 1;
        if (file_is(newest(), nth + 1)) published = nth + 1;
        CHECK(file_is(newest(), published) && (s || published == nth + 1));
        CHECK_INT(n_files(), 3);
    }
    CHECK(failures >= 9);
}

TEST(every_failing_allocation_is_reported)
{
    int64_t nth = 1;
    for (pt_status s = PT_NO_MEMORY; s; nth++) {
        fresh_folder();
        CHECK_OK(save(1), err);
        pt_alloc_fail_after(nth);
        s = save(2);
        pt_alloc_fail_after(0);
        CHECK(s == PT_OK || s == PT_NO_MEMORY);
        CHECK(is_complete(1));
        CHECK(s == PT_OK ? is_complete(2) : !pt_fs_exists(step_path(2, "manifest.json")));
        n_files();
    }
    CHECK(nth > 3);
}

TEST(a_path_that_is_too_long_or_no_folder_is_refused)
{
    fresh_folder();
    pt_checkpoint *c = (pt_checkpoint *)&c;
    pt_sink sink;
    char path[1100];
    memset(path, 'a', sizeof path);
    for (size_t n = 980; n < sizeof path; n += 7) {
        memset(&err, 0, sizeof err);
        path[0] = '/';
        char cut = path[n];
        path[n] = 0;
        CHECK(pt_checkpoint_begin(&c, path, 1, &sink, &err) != PT_OK);
        CHECK(!c && err.message[0]);
        path[n] = cut;
    }
    put_text(in_folder("run"), "a file");
    CHECK(begin(&c, 1, &sink) != PT_OK);
    CHECK(!c && err.message[0]);
    CHECK_STR(text_of(in_folder("run")), "a file");
}

PT_TEST_MAIN
