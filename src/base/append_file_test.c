/* Logs that only grow. SPDX-License-Identifier: MIT */
#include "base/append_file.h"

#include <fcntl.h>

#include "base/fs_calls.h"
#include "base/test_folder.h"

static pt_append_file *open_log(const char *name, int64_t *torn)
{
    pt_error err = {0};
    pt_append_file *file;
    CHECK_OK(pt_append_file_open(&file, in_folder(name), torn, &err), err);
    return file;
}

static pt_status add(pt_append_file *file, const char *record, pt_error *err)
{
    return pt_append_file_write(file, record, (int64_t)strlen(record), err);
}

TEST(records_are_appended_across_openings)
{
    fresh_folder();
    int64_t torn = -1;
    pt_error err = {0};
    pt_append_file *log = open_log("log", &torn);
    CHECK_INT(torn, 0);
    CHECK_OK(add(log, "one\n", &err), err);
    CHECK_STR(text_of(in_folder("log")), "one\n"); /* there at once, not buffered */
    CHECK_OK(add(log, "two\n", &err), err);
    CHECK_OK(pt_append_file_sync(log, &err), err);
    pt_append_file_close(log);
    log = open_log("log", NULL);
    CHECK_OK(add(log, "three\nand four\n", &err), err);
    pt_append_file_close(log);
    pt_append_file_close(NULL);
    CHECK_STR(text_of(in_folder("log")), "one\ntwo\nthree\nand four\n");
    CHECK_INT(n_entries(), 1);
}

TEST(a_record_must_end_in_a_newline)
{
    fresh_folder();
    pt_append_file *log = open_log("log", NULL);
    CHECK_INT(add(log, "no end", NULL), PT_BAD_INPUT);
    CHECK_INT(add(log, "", NULL), PT_BAD_INPUT);
    pt_append_file_close(log);
    CHECK_STR(text_of(in_folder("log")), "");
}

TEST(a_torn_line_is_set_aside)
{
    static const struct {
        const char *before, *after;
        int torn;
    } cases[] = {{"", "", 0},
                 {"a\n", "a\n", 0},
                 {"a\nhalf", "a\n", 4},
                 {"half", "", 4},
                 {"\n\nx", "\n\n", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh_folder();
        put_text(in_folder("log"), cases[i].before);
        int64_t torn = -1;
        pt_append_file *log = open_log("log", &torn);
        CHECK_INT(torn, cases[i].torn);
        CHECK_STR(text_of(in_folder("log")), cases[i].after);
        CHECK_INT(n_entries(), cases[i].torn ? 2 : 1);
        CHECK_INT(add(log, "next\n", NULL), PT_OK);
        pt_append_file_close(log);
        if (!cases[i].torn) continue;
        char want[64];
        snprintf(want, sizeof want, "%s\n", cases[i].before + strlen(cases[i].after));
        CHECK_STR(text_of(in_folder("log.torn")), want);
    }
}

TEST(several_torn_lines_are_all_kept)
{
    fresh_folder();
    put_text(in_folder("log"), "a\nfirst");
    pt_append_file_close(open_log("log", NULL));
    put_text(in_folder("log"), "a\nb\nsecond");
    pt_append_file_close(open_log("log", NULL));
    CHECK_STR(text_of(in_folder("log.torn")), "first\nsecond\n");
    CHECK_STR(text_of(in_folder("log")), "a\nb\n");
}

/* Torn parts longer than the chunk the search goes back by, and a tail of zeros as a power cut
 * leaves it. */
TEST(long_torn_lines)
{
    static const int64_t tails[] = {65535, 65536, 65537, 300001};
    static char bytes[300001];
    for (int i = 0; i < 4; i++)
        for (int first = 0; first < 2; first++) {
            fresh_folder();
            FILE *f = fopen(in_folder("log"), "wb");
            CHECK(f);
            if (first) fputs("line\n", f);
            CHECK(fwrite(bytes, 1, (size_t)tails[i], f) == (size_t)tails[i]);
            fclose(f);
            int64_t torn;
            pt_append_file_close(open_log("log", &torn));
            CHECK_INT(torn, tails[i]);
            CHECK_INT(pt_fs_size(in_folder("log")), first * 5);
            CHECK_INT(pt_fs_size(in_folder("log.torn")), tails[i] + 1);
        }
}

/* Records of a length byte and as many bytes. */
static int64_t whole_records(const uint8_t *bytes, int64_t n)
{
    int64_t at = 0;
    while (at < n && at + 1 + bytes[at] <= n) at += 1 + bytes[at];
    return at;
}

TEST(a_torn_binary_tail_is_cut)
{
    static const char *const before[] = {"", "\2ab", "\2ab\3x", "\5\n\n"};
    static const int torn_bytes[] = {0, 0, 2, 3};
    for (int i = 0; i < 4; i++) {
        fresh_folder();
        put_text(in_folder("log"), before[i]);
        int64_t torn = -1;
        pt_error err = {0};
        pt_append_file *log;
        CHECK_OK(pt_append_file_open_records(&log, in_folder("log"), whole_records, &torn, &err),
                 err);
        CHECK_INT(torn, torn_bytes[i]);
        CHECK_OK(add(log, "\1z", &err), err); /* no newline needed */
        pt_append_file_close(log);
        CHECK_STR(text_of(in_folder("log")), torn_bytes[i] == 3 || i == 0 ? "\1z" : "\2ab\1z");
        CHECK_INT(n_entries(), 1);
    }
}

TEST(setting_aside_loses_nothing_whatever_call_fails)
{
    for (int nth = 1;; nth++) {
        fresh_folder();
        put_text(in_folder("log"), "a\nhalf");
        put_text(in_folder("log.torn"), "older\n");
        pt_error err = {0};
        pt_append_file *log;
        int64_t torn;
        pt_fs_fail_after(nth);
        pt_status status = pt_append_file_open(&log, in_folder("log"), &torn, &err);
        pt_fs_fail_after(0);
        const char *kept = text_of(in_folder("log.torn"));
        bool aside = strcmp(kept, "older\nhalf\n") == 0;
        CHECK(aside || strcmp(kept, "older\n") == 0);
        bool cut = strcmp(text_of(in_folder("log")), "a\n") == 0;
        CHECK(cut || strcmp(text_of(in_folder("log")), "a\nhalf") == 0);
        CHECK(aside || !cut);
        if (status == PT_OK) {
            pt_append_file_close(log);
            CHECK(cut && aside && torn == 4);
            CHECK(nth > 5);
            return;
        }
        CHECK_INT(status, PT_IO);
        CHECK(!log && strstr(err.message, "disk is full"));
    }
}

TEST(opening_without_memory)
{
    fresh_folder();
    put_text(in_folder("log"), "half");
    for (int nth = 1; nth <= 2; nth++) {
        pt_append_file *log;
        pt_alloc_fail_after(nth);
        CHECK_INT(pt_append_file_open(&log, in_folder("log"), NULL, NULL), PT_NO_MEMORY);
        CHECK_STR(text_of(in_folder("log")), "half");
    }
}

TEST(a_failed_record_leaves_no_half)
{
    fresh_folder();
    pt_append_file *log = open_log("log", NULL);
    CHECK_INT(add(log, "first\n", NULL), PT_OK);
    for (int nth = 1; nth <= 4; nth++) {
        pt_error err = {0};
        pt_fs_limit_writes(3); /* "a record\n" takes three calls */
        pt_fs_fail_after(nth);
        pt_status status = add(log, "a record\n", &err);
        pt_fs_fail_after(0);
        pt_fs_limit_writes(0);
        CHECK_INT(status, nth <= 3 ? PT_IO : PT_OK);
        CHECK_STR(text_of(in_folder("log")), nth <= 3 ? "first\n" : "first\na record\n");
    }
    CHECK_INT(add(log, "last\n", NULL), PT_OK);
    pt_fs_fail_after(1);
    CHECK_INT(pt_append_file_sync(log, NULL), PT_IO);
    pt_append_file_close(log);
    CHECK_STR(text_of(in_folder("log")), "first\na record\nlast\n");
}

TEST(a_full_disk_is_named)
{
    fresh_folder();
    pt_error err = {0};
    pt_append_file *log = open_log("log", NULL);
    pt_fs_fail_after(1);
    CHECK_INT(add(log, "x\n", &err), PT_IO);
    pt_append_file_close(log);
    CHECK(strstr(err.message, in_folder("log")) && strstr(err.message, "disk is full"));
}

static void check_refused(const char *path, pt_status status, const char *words)
{
    pt_error err = {0};
    pt_append_file *log = NULL;
    CHECK_INT(pt_append_file_open(&log, path, NULL, &err), status);
    if (!strstr(err.message, words)) printf("%s\n", err.message);
    CHECK(!log && strstr(err.message, words));
}

/* What is behind a link is not ours to write, and nobody reads a pipe that has the name of a log. */
TEST(links_and_pipes_are_refused)
{
    static const char *const names[] = {"log", "log.torn"};
    for (int i = 0; i < 2; i++) {
        fresh_folder();
        put_text(in_folder("log"), "a line\nhalf");
        put_text(in_folder("outside"), "theirs");
        (void)remove(in_folder(names[i]));
        CHECK(symlink("outside", in_folder(names[i])) == 0);
        check_refused(in_folder("log"), PT_BAD_INPUT, "is a link");
        CHECK_STR(text_of(in_folder("outside")), "theirs");
        CHECK(remove(in_folder("outside")) == 0);
        check_refused(in_folder("log"), PT_BAD_INPUT, "is a link");
        CHECK(!pt_fs_exists(in_folder("outside")));
        CHECK(remove(in_folder(names[i])) == 0 && mkfifo(in_folder(names[i]), 0600) == 0);
        check_refused(in_folder("log"), PT_IO, "no regular file");
    }
    if (pt_fs_exists("/dev/full")) check_refused("/dev/full", PT_IO, "no regular file");
}

TEST(a_log_has_one_writer)
{
    fresh_folder();
    pt_append_file *log = open_log("log", NULL), *second = (pt_append_file *)&second;
    CHECK_INT(add(log, "{1}\n{2", NULL), PT_BAD_INPUT);
    CHECK_INT(add(log, "{1}\n", NULL), PT_OK);
    pt_error err = {0};
    CHECK_INT(pt_append_file_open(&second, in_folder("log"), NULL, &err), PT_EXISTS);
    CHECK(!second && strstr(err.message, "log' is being written by another process"));
    CHECK_INT(add(log, "{2}\n", NULL), PT_OK);
    CHECK_STR(text_of(in_folder("log")), "{1}\n{2}\n");
    pt_append_file_close(log);
    pt_append_file_close(open_log("log", NULL)); /* the lock went with it */
}

TEST(places_that_cannot_be_opened)
{
    fresh_folder();
    put_text(in_folder("file"), "x");
    pt_append_file *log;
    pt_error err = {0};
    CHECK_INT(pt_append_file_open(&log, in_folder("no/log"), NULL, &err), PT_NOT_FOUND);
    CHECK(!log && strstr(err.message, in_folder("no/log")));
    CHECK_INT(pt_append_file_open(&log, in_folder("file/log"), NULL, NULL), PT_NOT_FOUND);
    CHECK_INT(pt_append_file_open(&log, in_folder("."), NULL, NULL), PT_IO);
    CHECK_INT(pt_append_file_open(&log, "", NULL, NULL), PT_NOT_FOUND);
    static char path[6000];
    memset(path, 'a', sizeof path - 1);
    CHECK_INT(pt_append_file_open(&log, path, NULL, NULL), PT_IO);
    CHECK_INT(n_entries(), 1);
}

PT_TEST_MAIN
