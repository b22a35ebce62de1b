/* Finding runs, the index that remembers them, sorting. SPDX-License-Identifier: MIT */
#include "factory/runs.h"

#include "base/append_file.h"
#include "base/test_folder.h"
#include "factory/runs_db.h"

static void put_run(const char *name, const char *preset, double val, const char *how)
{
    char path[600], text[2048];
    pt_error err = {0};
    CHECK_OK(pt_fs_make_folder(in_folder(name), &err), err);
    snprintf(path, sizeof path, "%s/log.jsonl", in_folder(name));
    snprintf(text, sizeof text,
             "{\"type\":\"meta\",\"preset\":\"%s\",\"params\":1000,\"batch\":2,\"accum\":1,"
             "\"ctx\":8,\"total_steps\":4,\"t\":100}\n"
             "{\"type\":\"step\",\"step\":4,\"loss\":2.5,\"seconds\":0.5,\"t\":101}\n"
             "{\"type\":\"val\",\"step\":4,\"val_loss\":%g,\"t\":102}\n"
             "{\"type\":\"end\",\"step\":4,\"how\":\"%s\",\"t\":103}\n",
             preset, val, how);
    put_text(path, text);
}

static pt_runs runs;

/* Finds all of the test's folder anew; returns how many had to be read. */
static int64_t find(const char *index)
{
    pt_error err = {0};
    pt_runs_deinit(&runs);
    CHECK_OK(pt_runs_find(&runs, in_folder("all"), index, &err), err);
    CHECK_OK(pt_runs_sort(&runs, "name", &err), err);
    return runs.n_read;
}

static void three_runs(void)
{
    fresh_folder();
    put_run("all/a", "tiny", 2.25, "finished");
    put_run("all/deep/er/b", "small", 1.5, "stopped");
    put_run("all/c", "tiny", 3, "disk full");
    put_run("all/a/checkpoints/not-a-run", "x", 1, "finished");
    put_run("all/.hidden", "x", 1, "finished");
    put_run("all/1/2/3/too-deep", "x", 1, "finished");
}

static const char *index_path(void) { return in_folder("data/posttrain/runs.db"); }

static bool have_index(void)
{
    pt_runs_db *db = pt_runs_db_open(in_folder("try.db"));
    pt_runs_db_close(db);
    return db != NULL;
}

static void check_three(void)
{
    CHECK_INT(runs.n, 3);
    CHECK_STR(runs.items[0].path, in_folder("all/a"));
    CHECK_STR(runs.items[1].path, in_folder("all/c"));
    CHECK_STR(runs.items[2].path, in_folder("all/deep/er/b"));
    CHECK_STR(runs.items[0].preset, "tiny");
    CHECK_STR(runs.items[0].state, "finished");
    CHECK_STR(runs.items[1].state, "failed");
    CHECK_STR(runs.items[2].state, "stopped");
    CHECK_STR(runs.items[2].verdict, "too short");
    CHECK_CLOSE(runs.items[2].best_val, 1.5, 0);
    CHECK_CLOSE(runs.items[2].train_loss, 2.5, 0);
    CHECK_INT(runs.items[2].best_step, 4);
    CHECK_INT(runs.items[2].params, 1000);
    CHECK_CLOSE(runs.items[2].seconds, 3, 0);
    CHECK(pt_is_nan(runs.items[2].speed)); /* one step tells nothing */
}

TEST(runs_are_found_without_an_index)
{
    three_runs();
    CHECK_INT(find(NULL), 3);
    check_three();
    pt_error err = {0};
    CHECK_INT(pt_runs_find(&runs, in_folder("none"), NULL, &err), PT_NOT_FOUND);
    CHECK(strstr(err.message, "none") != NULL);
    pt_runs_deinit(&runs);
    err = (pt_error){0};
    CHECK_OK(pt_runs_find(&runs, in_folder("all/a"), NULL, &err), err); /* a run itself */
    CHECK_INT(runs.n, 1);
}

TEST(the_index_remembers)
{
    three_runs();
    if (!have_index()) SKIP("no SQLite");
    CHECK_INT(find(index_path()), 3);
    check_three();
    CHECK(pt_fs_size(index_path()) > 0);
    CHECK_INT(find(index_path()), 0);
    check_three();
    put_run("all/c", "tiny", 3.125, "finished"); /* changed: read again */
    CHECK_INT(find(index_path()), 1);
    CHECK_CLOSE(runs.items[1].best_val, 3.125, 0);
    CHECK_INT(find(index_path()), 0);
    CHECK_CLOSE(runs.items[1].best_val, 3.125, 0);
}

TEST(a_run_that_a_process_writes_is_running)
{
    three_runs();
    put_text(in_folder("all/c/log.jsonl"), "{\"type\":\"step\",\"step\":1,\"loss\":2}\n");
    const char *index = have_index() ? index_path() : NULL;
    pt_append_file *log = NULL;
    pt_error err = {0};
    find(index);
    CHECK_STR(runs.items[1].state, "unfinished");
    CHECK_OK(pt_append_file_open(&log, in_folder("all/c/log.jsonl"), NULL, &err), err);
    for (int i = 0; i < 2; i++) {
        find(index);
        CHECK_STR(runs.items[1].state, "running");
    }
    CHECK_STR(runs.items[0].state, "finished");
    pt_append_file_close(log);
    find(index);
    CHECK_STR(runs.items[1].state, "unfinished");
    CHECK(!pt_append_file_is_open(in_folder("all")) && !pt_append_file_is_open("none"));
}

static bool is_remembered(const char *path, const pt_run_stamp *stamp)
{
    pt_run_summary summary;
    pt_runs_db *db = pt_runs_db_open(index_path());
    bool found = pt_runs_db_get(db, path, stamp, &summary);
    pt_runs_db_close(db);
    return found;
}

TEST(runs_that_were_deleted_leave_the_index)
{
    three_runs();
    if (!have_index()) SKIP("no SQLite");
    CHECK_INT(find(index_path()), 3);
    char path[1024];
    const char *log = in_folder("all/c/log.jsonl");
    pt_run_stamp stamp = {0, -1, pt_fs_changed_ns(log), pt_fs_size(log)};
    CHECK(pt_fs_absolute(path, sizeof path, in_folder("all/c")));
    CHECK(is_remembered(path, &stamp));
    CHECK_INT(pt_fs_remove(in_folder("all/c/log.jsonl"), NULL), PT_OK);
    CHECK_INT(find(index_path()), 0);
    CHECK_INT(runs.n, 2);
    CHECK(!is_remembered(path, &stamp));
}

TEST(a_missing_or_damaged_index_is_made_anew)
{
    three_runs();
    if (!have_index()) SKIP("no SQLite");
    CHECK_INT(find(index_path()), 3);
    pt_fs_remove(index_path(), NULL);
    CHECK_INT(find(index_path()), 3);
    put_text(index_path(), "this is no database, but long enough to be taken for one........"
                           "................................................................");
    CHECK_INT(find(index_path()), 3);
    check_three();
    CHECK_INT(find(index_path()), 0);
    check_three();
}

/* The version is the big-endian word at byte 60 of an SQLite file. */
TEST(an_index_of_another_version_is_made_anew)
{
    three_runs();
    if (!have_index()) SKIP("no SQLite");
    static const unsigned char others[] = {1, 2, 12, 18, 255};
    for (size_t i = 0; i < sizeof others; i++) {
        find(index_path());
        CHECK_INT(find(index_path()), 0);
        FILE *f = fopen(index_path(), "r+b");
        CHECK(f && fseek(f, 63, SEEK_SET) == 0 && fputc(others[i], f) == others[i]);
        fclose(f);
        CHECK_INT(find(index_path()), 3);
        check_three();
    }
}

/* Any byte of the file changed, or its end lost: every run is listed all the same. */
TEST(damage_anywhere_in_the_index)
{
    three_runs();
    if (!have_index()) SKIP("no SQLite");
    find(index_path());
    char *bytes = NULL;
    int64_t n = 0;
    pt_error err = {0};
    CHECK_OK(pt_fs_read(index_path(), 1 << 20, &bytes, &n, &err), err);
    for (int64_t at = 0; at < n; at += at < 200 ? 7 : 911) {
        FILE *f = fopen(index_path(), "wb");
        CHECK(f);
        bytes[at] = (char)(bytes[at] ^ 0x5a);
        CHECK(fwrite(bytes, 1, (size_t)(at % 2 ? n : n - n / 3), f) > 0); /* cut short, too */
        bytes[at] = (char)(bytes[at] ^ 0x5a);
        fclose(f);
        find(index_path());
        check_three();
        find(index_path());
        check_three();
    }
    pt_free(bytes);
}

/* SQLite tells a value with a flipped bit as if it were what was written. */
TEST(a_flipped_bit_in_a_row_is_noticed)
{
    static const char *const words[] = {"finished", "stopped", "too short"};
    three_runs();
    if (!have_index()) SKIP("no SQLite");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char *bytes = NULL;
        int64_t n = 0, at = 0, length = (int64_t)strlen(words[i]);
        pt_error err = {0};
        pt_fs_remove(index_path(), NULL);
        find(index_path());
        CHECK_OK(pt_fs_read(index_path(), 1 << 20, &bytes, &n, &err), err);
        while (at + length < n && memcmp(bytes + at, words[i], (size_t)length) != 0) at++;
        CHECK(at + length < n);
        FILE *f = fopen(index_path(), "r+b");
        CHECK(f && fseek(f, (long)(at + length - 1), SEEK_SET) == 0);
        CHECK(fputc(bytes[at + length - 1] ^ 1, f) != EOF);
        fclose(f);
        pt_free(bytes);
        CHECK_INT(find(index_path()), 1);
        check_three();
        CHECK_INT(find(index_path()), 0);
        check_three();
    }
}

TEST(an_index_out_of_reach_is_done_without)
{
    three_runs();
    CHECK_OK(pt_fs_make_folder(in_folder("folder"), NULL), (pt_error){0});
    CHECK_INT(find(in_folder("folder")), 3);
    check_three();
    CHECK(pt_fs_is_folder(in_folder("folder")));
    put_text(in_folder("file"), "x");
    CHECK_INT(find(in_folder("file/runs.db")), 3);
    CHECK_STR(text_of(in_folder("file")), "x");
}

TEST(sorting)
{
    three_runs();
    find(NULL);
    pt_error err = {0};
    CHECK_OK(pt_runs_sort(&runs, "val", &err), err);
    CHECK_CLOSE(runs.items[0].best_val, 1.5, 0);
    CHECK_CLOSE(runs.items[2].best_val, 3, 0);
    runs.items[0].best_val = PT_NAN;
    snprintf(runs.items[1].started, sizeof runs.items[1].started, "2026-02-01");
    CHECK_OK(pt_runs_sort(&runs, "val", &err), err);
    CHECK(pt_is_nan(runs.items[2].best_val));
    CHECK_OK(pt_runs_sort(&runs, "started", &err), err);
    CHECK_STR(runs.items[0].started, "2026-02-01");
    CHECK_INT(pt_runs_sort(&runs, "colour", &err), PT_BAD_INPUT);
    CHECK(strstr(err.message, "colour") && strstr(err.message, "speed"));
    pt_runs_deinit(&runs);
}

PT_TEST_MAIN
