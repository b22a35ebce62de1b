/* Files that appear whole or not at all. SPDX-License-Identifier: MIT */
#include "base/atomic_file.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/fs_calls.h"
#include "base/test_folder.h"

static pt_status put(const char *name, bool replace, const char *text, pt_error *err)
{
    return pt_atomic_file_put(in_folder(name), replace, text, (int64_t)strlen(text), err);
}

TEST(a_new_file_and_a_replaced_one)
{
    fresh_folder();
    pt_error err = {0};
    CHECK_OK(put("a", false, "one", &err), err);
    CHECK_STR(text_of(in_folder("a")), "one");
    CHECK_OK(put("a", true, "two!", &err), err);
    CHECK_STR(text_of(in_folder("a")), "two!");
    CHECK_OK(put("empty", false, "", &err), err);
    CHECK_INT(pt_fs_size(in_folder("empty")), 0);
    CHECK_INT(n_entries(), 2);
}

TEST(nothing_is_there_before_commit)
{
    fresh_folder();
    pt_error err = {0};
    pt_atomic_file *file;
    put_text(in_folder("a"), "old");
    CHECK_OK(pt_atomic_file_open(&file, in_folder("a"), true, &err), err);
    CHECK_OK(pt_atomic_file_write(file, "new", 3, &err), err);
    CHECK_INT(pt_atomic_file_written(file), 3);
    CHECK_STR(text_of(in_folder("a")), "old");
    CHECK_INT(n_entries(), 2);
    pt_atomic_file_discard(file);
    CHECK_STR(text_of(in_folder("a")), "old");
    CHECK_INT(n_entries(), 1);
    pt_atomic_file_discard(NULL);
}

/* Pieces of every size around the buffer's must come out in order. */
TEST(pieces_of_all_sizes)
{
    fresh_folder();
    static const int64_t sizes[] = {1,     0,     65535, 1,      65536, 65537, 7,
                                    65530, 65536, 3,     200000, 1,     65535, 65535};
    static uint8_t bytes[200000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 31 >> 3);
    pt_error err = {0};
    pt_atomic_file *file;
    int64_t total = 0;
    CHECK_OK(pt_atomic_file_open(&file, in_folder("a"), false, &err), err);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK_OK(pt_atomic_file_write(file, bytes, sizes[i], &err), err);
        total += sizes[i];
        CHECK_INT(pt_atomic_file_written(file), total);
    }
    CHECK_OK(pt_atomic_file_commit(file, &err), err);
    pt_file_view view;
    CHECK_OK(pt_file_view_open(&view, in_folder("a"), &err), err);
    CHECK_INT(view.size, total);
    const uint8_t *at = view.data;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; at += sizes[i++])
        CHECK(memcmp(at, bytes, (size_t)sizes[i]) == 0);
    pt_file_view_close(&view);
}

/* Patches in the buffer, in what has left it, and across the border, with writes after each. */
TEST(patches_land_where_they_should)
{
    static const int64_t places[][3] = {
        /* bytes written before, offset, bytes */
        {10, 0, 10},           {0, 3, 4},           {65526, 0, 8},
        {5, 65530, 11},        {65536, 65500, 100}, {1, 131070, 7},
        {200000, 60000, 5000}, {0, 331077, 1},      {70000, 331070, 30},
        {0, 401077, 1},        {0, 17, 0},
    };
    static uint8_t want[500000], bytes[200000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 13 >> 2 | 1);
    fresh_folder();
    pt_error err = {0};
    pt_atomic_file *file;
    int64_t total = 0;
    CHECK_OK(pt_atomic_file_open(&file, in_folder("a"), false, &err), err);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const int64_t *p = places[i];
        CHECK_OK(pt_atomic_file_write(file, bytes, p[0], &err), err);
        memcpy(want + total, bytes, (size_t)p[0]);
        total += p[0];
        CHECK(p[1] + p[2] <= total);
        CHECK_OK(pt_atomic_file_patch(file, p[1], bytes + 777 + i, p[2], &err), err);
        memcpy(want + p[1], bytes + 777 + i, (size_t)p[2]);
        CHECK_INT(pt_atomic_file_written(file), total);
    }
    CHECK_OK(pt_atomic_file_commit(file, &err), err);
    pt_file_view view;
    CHECK_OK(pt_file_view_open(&view, in_folder("a"), &err), err);
    CHECK_INT(view.size, total);
    CHECK(memcmp(view.data, want, (size_t)total) == 0);
    pt_file_view_close(&view);
}

TEST(a_patch_outside_what_is_written_is_refused)
{
    static const int64_t bad[][2] = {{-1, 1}, {0, -1},        {3, 1},
                                     {0, 4},  {INT64_MAX, 1}, {2, INT64_MAX}};
    fresh_folder();
    pt_error err = {0};
    pt_atomic_file *file;
    CHECK_OK(pt_atomic_file_open(&file, in_folder("a"), false, &err), err);
    CHECK_OK(pt_atomic_file_write(file, "abc", 3, &err), err);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_INT(pt_atomic_file_patch(file, bad[i][0], "x", bad[i][1], NULL), PT_INTERNAL);
    CHECK_OK(pt_atomic_file_patch(file, 2, "d", 1, &err), err);
    CHECK_OK(pt_atomic_file_commit(file, &err), err);
    CHECK_STR(text_of(in_folder("a")), "abd");
}

TEST(after_a_failed_patch_nothing_appears)
{
    fresh_folder();
    pt_error err = {0};
    pt_atomic_file *file;
    static char bytes[70000];
    put_text(in_folder("a"), "old");
    CHECK_OK(pt_atomic_file_open(&file, in_folder("a"), true, &err), err);
    CHECK_OK(pt_atomic_file_write(file, bytes, sizeof bytes, &err), err);
    pt_fs_fail_after(1);
    CHECK_INT(pt_atomic_file_patch(file, 4, "x", 1, &err), PT_IO);
    CHECK(strstr(err.message, "full"));
    CHECK_INT(pt_atomic_file_patch(file, 4, "x", 1, NULL), PT_IO);
    CHECK_INT(pt_atomic_file_commit(file, NULL), PT_IO);
    CHECK_STR(text_of(in_folder("a")), "old");
    CHECK_INT(n_entries(), 1);
}

TEST(replace_false_refuses_at_open_and_at_commit)
{
    fresh_folder();
    pt_error err = {0};
    pt_atomic_file *file;
    put_text(in_folder("a"), "old");
    CHECK_INT(pt_atomic_file_open(&file, in_folder("a"), false, &err), PT_EXISTS);
    CHECK(!file && strstr(err.message, in_folder("a")));
    CHECK(symlink("nowhere", in_folder("dangling")) == 0);
    CHECK_INT(put("dangling", false, "x", NULL), PT_EXISTS);
    err = (pt_error){0};
    CHECK_OK(pt_atomic_file_open(&file, in_folder("b"), false, &err), err);
    put_text(in_folder("b"), "somebody else's");
    CHECK_INT(pt_atomic_file_commit(file, &err), PT_EXISTS);
    CHECK_STR(text_of(in_folder("a")), "old");
    CHECK_STR(text_of(in_folder("b")), "somebody else's");
    CHECK_INT(n_entries(), 3);
}

/* ---- failures ---- */
/* Writes 200000 bytes in pieces, so that the buffer, the direct path and the last flush are used. */
static pt_status put_large(const char *name, bool replace, pt_error *err)
{
    static char bytes[100000];
    memset(bytes, 'n', sizeof bytes);
    pt_atomic_file *file;
    pt_status status = pt_atomic_file_open(&file, in_folder(name), replace, err);
    if (status) return status;
    static const int64_t sizes[] = {50000, 100000, 49000, 1000};
    for (int i = 0; i < 4; i++) {
        status = pt_atomic_file_write(file, bytes, sizes[i], err);
        if (!status) continue;
        CHECK_INT(pt_atomic_file_write(file, "more", 4, NULL), PT_IO);
        if (i % 2) CHECK_INT(pt_atomic_file_commit(file, NULL), PT_IO);
        else pt_atomic_file_discard(file);
        return status;
    }
    return pt_atomic_file_commit(file, err);
}

static void sweep(bool replace, int64_t write_limit, int at_least)
{
    for (int nth = 1;; nth++) {
        fresh_folder();
        if (replace) put_text(in_folder("a"), "old");
        pt_error err = {0};
        pt_fs_limit_writes(write_limit);
        pt_fs_fail_after(nth);
        pt_status status = put_large("a", replace, &err);
        pt_fs_fail_after(0);
        pt_fs_limit_writes(0);
        int64_t size = pt_fs_size(in_folder("a"));
        CHECK_INT(n_entries(), size >= 0);
        if (status == PT_OK) {
            CHECK_INT(size, 200000);
            CHECK(nth > at_least);
            return;
        }
        CHECK_INT(status, PT_IO);
        CHECK(strstr(err.message, "disk is full"));
        if (size == 200000) CHECK(strstr(err.message, "in place"));
        else if (replace) CHECK_STR(text_of(in_folder("a")), "old");
        else CHECK_INT(size, -1);
    }
}

TEST(every_call_may_fail_when_replacing) { sweep(true, 0, 6); }
TEST(every_call_may_fail_when_new) { sweep(false, 0, 6); }
TEST(every_call_may_fail_with_short_writes) { sweep(true, 9999, 23); }

TEST(without_memory_nothing_happens)
{
    fresh_folder();
    pt_alloc_fail_after(1);
    CHECK_INT(put("a", true, "x", NULL), PT_NO_MEMORY);
    CHECK_INT(n_entries(), 0);
}

/* A limit of the kernel: the write that crosses it comes back short, the next one fails. */
TEST(a_real_short_write)
{
    fresh_folder();
    put_text(in_folder("a"), "old");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {120000, 120000};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit)) _exit(3);
        pt_error err = {0};
        _exit(put_large("a", true, &err) == PT_IO ? 0 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    CHECK_STR(text_of(in_folder("a")), "old");
    CHECK_INT(n_entries(), 1);
}

typedef struct search {
    const char *prefix;
    bool *found;
} search;

static void find_prefix(void *ctx, const char *name, bool folder)
{
    (void)folder;
    search *s = ctx;
    if (strncmp(name, s->prefix, strlen(s->prefix)) == 0) *s->found = true;
}

TEST(a_killed_writer_leaves_the_target_and_one_temporary_file)
{
    fresh_folder();
    put_text(in_folder("a"), "old");
    int ends[2];
    CHECK(pipe(ends) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        pt_atomic_file *file;
        static char bytes[100000];
        if (pt_atomic_file_open(&file, in_folder("a"), true, NULL)) _exit(1);
        if (pt_atomic_file_write(file, bytes, sizeof bytes, NULL)) _exit(1);
        if (write(ends[1], "x", 1) != 1) _exit(1);
        pause();
    }
    char ready;
    CHECK(read(ends[0], &ready, 1) == 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    CHECK_STR(text_of(in_folder("a")), "old");
    CHECK_INT(n_entries(), 2);
    char prefix[64];
    snprintf(prefix, sizeof prefix, ".a.%ld.", (long)child);
    bool found = false;
    pt_error err = {0};
    CHECK_OK(pt_fs_list(in_folder("."), find_prefix, &(search){prefix, &found}, &err), err);
    CHECK(found);
    CHECK_OK(put("a", true, "new", &err), err); /* not in the way of the next one */
    CHECK_INT(n_entries(), 2);
}

/* ---- places ---- */
TEST(places_that_cannot_be_written)
{
    fresh_folder();
    put_text(in_folder("file"), "x");
    CHECK_INT(pt_fs_make_folder(in_folder("dir"), NULL), PT_OK);
    CHECK(mkfifo(in_folder("fifo"), 0600) == 0);
    static const struct {
        const char *name;
        pt_status status;
    } cases[] = {{"no/such/folder", PT_NOT_FOUND},
                 {"file/below", PT_NOT_FOUND},
                 {"dir", PT_IO},
                 {"dir/", PT_BAD_INPUT},
                 {"fifo", PT_IO}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pt_error err = {0};
        CHECK_INT(put(cases[i].name, true, "x", &err), cases[i].status);
        CHECK(strstr(err.message, in_folder(cases[i].name)));
    }
    CHECK_INT(pt_atomic_file_put("", true, "x", 1, NULL), PT_BAD_INPUT);
    CHECK_INT(n_entries(), 3);
    if (pt_fs_exists("/proc/self")) CHECK(pt_atomic_file_put("/proc/x", true, "x", 1, NULL));
    CHECK_INT(pt_atomic_file_put("/dev/null", true, "x", 1, NULL), PT_IO);
    CHECK_INT(pt_fs_size("/dev/null"), -1); /* still a device */
}

TEST(long_names)
{
    fresh_folder();
    char name[300];
    pt_error err = {0};
    memset(name, 'n', sizeof name);
    name[255] = '\0'; /* the longest a file system takes: the temporary name must not be longer */
    CHECK_OK(put(name, true, "x", &err), err);
    CHECK_STR(text_of(in_folder(name)), "x");
    name[255] = 'n', name[256] = '\0';
    CHECK_INT(put(name, true, "x", &err), PT_IO);
    CHECK(strstr(err.message, "too long"));
    static char path[6000];
    memset(path, 'a', sizeof path - 1);
    CHECK_INT(pt_atomic_file_put(path, true, "x", 1, NULL), PT_IO);
    CHECK_INT(n_entries(), 1);
}

TEST(a_link_stays_and_its_file_is_replaced)
{
    fresh_folder();
    pt_error err = {0};
    CHECK_OK(pt_fs_make_folder(in_folder("far"), &err), err);
    put_text(in_folder("far/file"), "old");
    CHECK(symlink("far/file", in_folder("link")) == 0);
    CHECK(symlink(in_folder("link"), in_folder("link2")) == 0);
    CHECK_OK(put("link2", true, "new", &err), err);
    CHECK_STR(text_of(in_folder("far/file")), "new");
    CHECK(symlink("far/fresh", in_folder("dangling")) == 0);
    CHECK_OK(put("dangling", true, "made", &err), err);
    CHECK_STR(text_of(in_folder("far/fresh")), "made");
    struct stat info;
    CHECK(lstat(in_folder("link2"), &info) == 0 && S_ISLNK(info.st_mode));
    CHECK(symlink("loop", in_folder("loop")) == 0);
    CHECK_INT(put("loop", true, "x", NULL), PT_IO);
    CHECK(symlink("far", in_folder("to-folder")) == 0);
    CHECK_INT(put("to-folder", true, "x", NULL), PT_IO);
    CHECK(symlink("/dev/null", in_folder("to-device")) == 0);
    CHECK_INT(put("to-device", true, "x", NULL), PT_IO);
    CHECK_INT(n_entries(), 7);
}

TEST(the_mode_follows_the_umask)
{
    fresh_folder();
    mode_t old = umask(027);
    pt_status status = put("a", true, "x", NULL);
    umask(old);
    CHECK_INT(status, PT_OK);
    struct stat info;
    CHECK(stat(in_folder("a"), &info) == 0);
    CHECK_INT(info.st_mode & 07777, 0640);
}

PT_TEST_MAIN
