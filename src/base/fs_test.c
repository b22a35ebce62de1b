/* Files and folders: reading, listing, removing, publishing. SPDX-License-Identifier: MIT */
#include "base/fs.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "base/fs_calls.h"
#include "base/test_folder.h"

/* ---- views ---- */
TEST(a_view_shows_the_file)
{
    fresh_folder();
    put_text(in_folder("a"), "hello");
    pt_error err = {0};
    pt_file_view view;
    CHECK_OK(pt_file_view_open(&view, in_folder("a"), &err), err);
    CHECK_INT(view.size, 5);
    CHECK(view.mapped && memcmp(view.data, "hello", 5) == 0);
    pt_file_view_close(&view);
    CHECK(!view.data);
    pt_file_view_close(&view);
    pt_file_view_close(NULL);
}

TEST(a_view_of_an_empty_file_is_valid)
{
    fresh_folder();
    put_text(in_folder("empty"), "");
    pt_error err = {0};
    pt_file_view view;
    CHECK_OK(pt_file_view_open(&view, in_folder("empty"), &err), err);
    CHECK(view.size == 0 && view.data);
    pt_file_view_close(&view);
}

TEST(views_that_cannot_be)
{
    fresh_folder();
    put_text(in_folder("file"), "x");
    static const struct {
        const char *name;
        pt_status status;
    } cases[] = {{"missing", PT_NOT_FOUND},
                 {"no/such/folder", PT_NOT_FOUND},
                 {"file/below", PT_NOT_FOUND},
                 {".", PT_IO}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pt_error err = {0};
        pt_file_view view;
        const char *path = in_folder(cases[i].name);
        CHECK_INT(pt_file_view_open(&view, path, &err), cases[i].status);
        CHECK(strstr(err.message, path));
        CHECK(!view.data);
    }
    pt_error err = {0};
    pt_file_view view;
    CHECK_INT(pt_file_view_open(&view, "", &err), PT_NOT_FOUND);
}

TEST(a_path_that_is_too_long_keeps_its_reason)
{
    static char path[6000];
    memset(path, 'a', sizeof path - 1);
    for (int i = 0; i < 5999; i += 100) path[i] = '/';
    pt_error err = {0};
    pt_file_view view;
    char *text;
    CHECK_INT(pt_file_view_open(&view, path, &err), PT_IO);
    CHECK(strstr(err.message, "too long"));
    CHECK_INT(pt_fs_read(path, 100, &text, NULL, NULL), PT_IO);
    CHECK_INT(pt_fs_make_folder(path, NULL), PT_IO);
    CHECK_INT(pt_fs_remove(path, NULL), PT_IO);
    CHECK_INT(pt_fs_publish("/dev/null", path, NULL), PT_IO);
    CHECK(!pt_fs_exists(path) && !pt_fs_is_folder(path));
    CHECK_INT(pt_fs_size(path), -1);
    CHECK_INT(pt_fs_free_bytes(path), -1);
}

typedef struct feed {
    const char *path;
    int64_t n;
} feed;

static void *feed_fifo(void *arg)
{
    feed *f = arg;
    int fd = open(f->path, O_WRONLY);
    for (int64_t i = 0; i < f->n; i++) {
        char c = (char)(i % 251);
        if (write(fd, &c, 1) != 1) break;
    }
    close(fd);
    return NULL;
}

TEST(a_fifo_is_read_to_its_end)
{
    fresh_folder();
    feed f = {in_folder("fifo"), 20011};
    CHECK(mkfifo(f.path, 0600) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, feed_fifo, &f) == 0);
    pt_error err = {0};
    pt_file_view view;
    CHECK_OK(pt_file_view_read_any(&view, f.path, &err), err);
    pthread_join(thread, NULL);
    CHECK_INT(view.size, f.n);
    CHECK(!view.mapped);
    for (int64_t i = 0; i < f.n; i++) CHECK_INT(view.data[i], i % 251);
    pt_file_view_close(&view);
}

static void ignore(void *ctx, const void *bytes, size_t n) { (void)ctx, (void)bytes, (void)n; }

TEST(a_fifo_is_not_waited_for)
{
    fresh_folder();
    const char *path = in_folder("fifo");
    CHECK(mkfifo(path, 0600) == 0);
    pt_file_view view;
    char *text, hex[65];
    pt_error err = {0};
    CHECK_INT(pt_fs_read(path, 100, &text, NULL, &err), PT_IO);
    CHECK(strstr(err.message, "it is no regular file"));
    CHECK_INT(pt_file_view_open(&view, path, NULL), PT_IO);
    CHECK_INT(pt_file_view_read(&view, path, NULL), PT_IO);
    CHECK_INT(pt_fs_stream(path, ignore, NULL, NULL), PT_IO);
    CHECK_INT(pt_fs_sha256(path, hex, NULL), PT_IO);
}

TEST(files_that_claim_size_zero_are_read)
{
    pt_file_view view;
    if (!pt_fs_exists("/proc/self/stat")) SKIP("no /proc");
    CHECK_INT(pt_file_view_open(&view, "/proc/self/stat", NULL), PT_OK);
    CHECK(view.size > 10 && !view.mapped);
    pt_file_view_close(&view);
}

TEST(a_view_without_memory)
{
    fresh_folder();
    put_text(in_folder("empty"), "");
    pt_file_view view;
    pt_alloc_fail_after(1);
    CHECK_INT(pt_file_view_open(&view, in_folder("empty"), NULL), PT_NO_MEMORY);
    CHECK(!view.data);
}

/* ---- reading ---- */
TEST(read_gives_terminated_text_up_to_the_limit)
{
    fresh_folder();
    put_text(in_folder("a"), "12345678");
    char *text;
    int64_t size;
    pt_error err = {0};
    CHECK_OK(pt_fs_read(in_folder("a"), 8, &text, &size, &err), err);
    CHECK_STR(text, "12345678");
    CHECK_INT(size, 8);
    pt_free(text);
    CHECK_OK(pt_fs_read(in_folder("a"), INT64_MAX, &text, NULL, &err), err);
    CHECK_STR(text, "12345678");
    pt_free(text);
    CHECK_INT(pt_fs_read(in_folder("a"), 7, &text, &size, &err), PT_BAD_INPUT);
    CHECK(!text && size == 0 && strstr(err.message, "7 bytes"));
    put_text(in_folder("a"), "");
    CHECK_INT(pt_fs_read(in_folder("a"), 0, &text, &size, NULL), PT_OK);
    CHECK_STR(text, "");
    pt_free(text);
    CHECK_INT(pt_fs_read(in_folder("b"), 9, &text, NULL, NULL), PT_NOT_FOUND);
    CHECK_INT(pt_fs_read(in_folder("."), 9, &text, NULL, NULL), PT_IO);
    CHECK_INT(pt_fs_read("/dev/zero", 100000, &text, NULL, NULL), PT_IO);
}

/* ---- questions ---- */
TEST(questions_about_paths)
{
    fresh_folder();
    put_text(in_folder("a"), "123");
    CHECK(symlink("nowhere", in_folder("dangling")) == 0);
    CHECK(pt_fs_exists(in_folder("a")) && pt_fs_exists(in_folder(".")));
    CHECK(!pt_fs_exists(in_folder("b")) && !pt_fs_exists(in_folder("dangling")));
    CHECK(pt_fs_is_folder(in_folder(".")) && !pt_fs_is_folder(in_folder("a")));
    CHECK_INT(pt_fs_size(in_folder("a")), 3);
    CHECK_INT(pt_fs_size(in_folder("b")), -1);
    CHECK_INT(pt_fs_size(in_folder(".")), -1);
    int64_t here = pt_fs_free_bytes(in_folder("."));
    CHECK(here > 0);
    int64_t below = pt_fs_free_bytes(in_folder("not/there/yet"));
    CHECK(below > here / 2 && below < here * 2);
    CHECK(pt_fs_free_bytes(in_folder("a/below")) > 0);
    CHECK(pt_fs_free_bytes("plain-name-that-is-not-there") > 0);
    CHECK(pt_fs_free_bytes("") > 0);
}

TEST(join)
{
    char out[8];
    CHECK(pt_fs_join(out, sizeof out, "abc", "def"));
    CHECK_STR(out, "abc/def");
    CHECK(!pt_fs_join(out, sizeof out, "abcd", "def"));
    CHECK(pt_fs_join(out, sizeof out, "/", "a"));
    CHECK_STR(out, "/a");
    CHECK(pt_fs_join(out, sizeof out, "a/", "b"));
    CHECK_STR(out, "a/b");
    CHECK(pt_fs_join(out, sizeof out, "", "b"));
    CHECK_STR(out, "b");
}

TEST(parents_and_temporary_names)
{
    static const char *const cases[][2] = {{"a", "."},      {"a/b", "a"}, {"/a", "/"},  {"/", "/"},
                                           {"/a/b/", "/a"}, {"", "."},    {"a//b", "a"}};
    char out[PT_FS_PATH_MAX], again[PT_FS_PATH_MAX], want[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(pt_fs_parent(out, cases[i][0]));
        CHECK_STR(out, cases[i][1]);
    }
    CHECK(pt_fs_temp_name(out, "x/y.bin") && pt_fs_temp_name(again, "x/y.bin"));
    snprintf(want, sizeof want, "x/.y.bin.%ld.", (long)getpid());
    CHECK(strncmp(out, want, strlen(want)) == 0);
    CHECK_STR(out + strlen(out) - 4, ".tmp");
    CHECK(strcmp(out, again) != 0);
    /* A name of the longest length there is: cut, and not inside a character. */
    char name[256] = "";
    for (int i = 0; i < 85; i++) memcpy(name + 3 * i, "\xe2\x82\xac", 4);
    CHECK(pt_fs_temp_name(out, name));
    CHECK(strlen(out) < 255);
    CHECK((out[1 + 198] & 0xff) == '.');
}

/* ---- folders ---- */
TEST(make_folder_makes_parents)
{
    fresh_folder();
    pt_error err = {0};
    CHECK_OK(pt_fs_make_folder(in_folder("a/b//c/"), &err), err);
    CHECK(pt_fs_is_folder(in_folder("a/b/c")));
    CHECK_OK(pt_fs_make_folder(in_folder("a/b/c"), &err), err);
    CHECK_OK(pt_fs_make_folder("/", &err), err);
    CHECK_OK(pt_fs_make_folder(".", &err), err);
    put_text(in_folder("file"), "x");
    CHECK_INT(pt_fs_make_folder(in_folder("file"), &err), PT_NOT_FOUND);
    CHECK(strstr(err.message, in_folder("file")));
    CHECK_INT(pt_fs_make_folder(in_folder("file/below"), NULL), PT_NOT_FOUND);
    CHECK_INT(pt_fs_make_folder("", NULL), PT_BAD_INPUT);
    CHECK_STR(text_of(in_folder("file")), "x");
    if (pt_fs_exists("/proc/self")) CHECK(pt_fs_make_folder("/proc/pt_no", NULL) != PT_OK);
}

typedef struct listing {
    char text[512];
} listing;

static void add_entry(void *ctx, const char *name, bool folder)
{
    listing *l = ctx;
    size_t n = strlen(l->text);
    snprintf(l->text + n, sizeof l->text - n, "%s%s ", name, folder ? "/" : "");
}

TEST(list_is_sorted_and_knows_folders)
{
    fresh_folder();
    static const char *const names[] = {"b", "a", "B", "\xc3\xa9", "a.b", "-", "z"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) put_text(in_folder(names[i]), "");
    pt_error err = {0};
    CHECK_OK(pt_fs_make_folder(in_folder("m"), &err), err);
    CHECK(symlink("m", in_folder("link")) == 0 && symlink("no", in_folder("dead")) == 0);
    listing l = {""};
    CHECK_OK(pt_fs_list(in_folder("."), add_entry, &l, &err), err);
    CHECK_STR(l.text, "- B a a.b b dead link/ m/ z \xc3\xa9 ");
    l.text[0] = '\0';
    CHECK_OK(pt_fs_list(in_folder("m"), add_entry, &l, &err), err);
    CHECK_STR(l.text, "");
    CHECK_INT(pt_fs_list(in_folder("none"), add_entry, &l, &err), PT_NOT_FOUND);
    CHECK_INT(pt_fs_list(in_folder("a"), add_entry, &l, NULL), PT_NOT_FOUND);
    for (int nth = 1; nth <= 2; nth++) {
        pt_alloc_fail_after(nth);
        CHECK_INT(pt_fs_list(in_folder("."), add_entry, &l, NULL), PT_NO_MEMORY);
    }
}

TEST(list_of_many)
{
    fresh_folder();
    for (int i = 0; i < 1500; i++) {
        char name[64];
        snprintf(name, sizeof name, "a-rather-long-name-for-a-file-%d", i);
        put_text(in_folder(name), "");
    }
    CHECK_INT(n_entries(), 1500);
}

TEST(remove_takes_trees_but_follows_no_link)
{
    fresh_folder();
    pt_error err = {0};
    CHECK_OK(pt_fs_make_folder(in_folder("keep"), &err), err);
    put_text(in_folder("keep/file"), "precious");
    CHECK_OK(pt_fs_make_folder(in_folder("tree/a/b"), &err), err);
    put_text(in_folder("tree/a/b/c"), "x");
    CHECK(symlink("../keep", in_folder("tree/link")) == 0);
    CHECK_OK(pt_fs_remove(in_folder("tree"), &err), err);
    CHECK(!pt_fs_exists(in_folder("tree")));
    CHECK(symlink("keep", in_folder("link")) == 0);
    CHECK_OK(pt_fs_remove(in_folder("link/"), &err), err);
    CHECK_STR(text_of(in_folder("keep/file")), "precious");
    CHECK_OK(pt_fs_remove(in_folder("keep/file"), &err), err);
    CHECK_OK(pt_fs_remove(in_folder("keep/file"), &err), err);
    CHECK_OK(pt_fs_remove(in_folder("not/there"), &err), err);
    put_text(in_folder("f"), "x");
    CHECK_OK(pt_fs_remove(in_folder("f/below"), &err), err);
    CHECK_INT(n_entries(), 2);
    static const char *const refused[] = {"", "/", "///", ".", "..", "keep/.", "/tmp/..", "./"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK_INT(pt_fs_remove(refused[i], NULL), PT_BAD_INPUT);
    if (pt_fs_exists("/proc/self/stat")) CHECK(pt_fs_remove("/proc/self/stat", NULL) != PT_OK);
}

TEST(remove_stops_at_a_depth_no_tree_of_ours_has)
{
    fresh_folder();
    char path[512];
    size_t n = (size_t)snprintf(path, sizeof path, "%s", in_folder("deep"));
    for (int i = 0; i < 70; i++) n += (size_t)snprintf(path + n, sizeof path - n, "/d");
    CHECK_INT(pt_fs_make_folder(path, NULL), PT_OK);
    CHECK_INT(pt_fs_remove(in_folder("deep"), NULL), PT_IO);
    CHECK(pt_fs_is_folder(path));
    CHECK_INT(pt_fs_remove(in_folder("deep/d/d/d/d/d/d/d/d/d/d"), NULL), PT_OK);
}

TEST(a_path_fits_or_is_refused)
{
    pt_error err = {0};
    char out[PT_FS_PATH_MAX], folder[PT_FS_PATH_MAX + 9];
    CHECK_OK(pt_fs_path(out, "a/b/", "c", &err), err);
    CHECK_STR(out, "a/b/c");
    memset(folder, 'f', sizeof folder);
    folder[PT_FS_PATH_MAX - 3] = 0;
    CHECK_OK(pt_fs_path(out, folder, "c", &err), err);
    CHECK_INT(strlen(out), PT_FS_PATH_MAX - 1);
    CHECK_INT(pt_fs_path(out, folder, "cc", &err), PT_BAD_INPUT);
    CHECK(strstr(err.message, "too long, it may have 4095 bytes: that of cc in "));
}

TEST(only_an_empty_folder_is_removed_as_one)
{
    pt_error err = {0};
    fresh_folder();
    CHECK_OK(pt_fs_make_folder(in_folder("a/b"), &err), err);
    CHECK_OK(pt_fs_remove_empty(in_folder("a"), &err), err);
    CHECK(pt_fs_is_folder(in_folder("a/b")));
    CHECK_OK(pt_fs_remove_empty(in_folder("a/b"), &err), err);
    CHECK_OK(pt_fs_remove_empty(in_folder("a/b"), &err), err);
    CHECK_OK(pt_fs_remove_empty(in_folder("a"), &err), err);
    CHECK(!pt_fs_exists(in_folder("a")));
    put_text(in_folder("file"), "kept");
    CHECK_INT(pt_fs_remove_empty(in_folder("file"), &err), PT_NOT_FOUND);
    CHECK(strstr(err.message, "file") && pt_fs_exists(in_folder("file")));
}

/* ---- publishing ---- */
TEST(publish_shares_and_replaces)
{
    fresh_folder();
    pt_error err = {0};
    put_text(in_folder("a"), "new");
    put_text(in_folder("b"), "old");
    CHECK_OK(pt_fs_publish(in_folder("a"), in_folder("b"), &err), err);
    CHECK_STR(text_of(in_folder("b")), "new");
    CHECK_OK(pt_fs_publish(in_folder("a"), in_folder("c"), &err), err);
    CHECK_STR(text_of(in_folder("c")), "new");
    /* Once more: both names are one file already, and rename would leave the temporary name. */
    CHECK_OK(pt_fs_publish(in_folder("a"), in_folder("b"), &err), err);
    CHECK_OK(pt_fs_publish(in_folder("a"), in_folder("a"), &err), err);
    CHECK_INT(n_entries(), 3);
    struct stat a, b;
    CHECK(stat(in_folder("a"), &a) == 0 && stat(in_folder("b"), &b) == 0);
    CHECK(a.st_ino == b.st_ino);
}

TEST(publish_through_links)
{
    fresh_folder();
    pt_error err = {0};
    put_text(in_folder("a"), "new");
    put_text(in_folder("other"), "other");
    CHECK(symlink("a", in_folder("la")) == 0 && symlink("other", in_folder("lo")) == 0);
    CHECK_OK(pt_fs_publish(in_folder("la"), in_folder("lo"), &err), err);
    CHECK_STR(text_of(in_folder("lo")), "new");
    CHECK_STR(text_of(in_folder("other")), "other");
    CHECK_OK(pt_fs_remove(in_folder("la"), &err), err);
    CHECK_STR(text_of(in_folder("lo")), "new"); /* the file itself, not a link to the link */
}

TEST(publish_copies_across_file_systems)
{
    fresh_folder();
    struct stat here, there;
    CHECK(stat(in_folder("."), &here) == 0);
    if (stat("/dev/shm", &there) != 0 || access("/dev/shm", W_OK) != 0 ||
        here.st_dev == there.st_dev)
        SKIP("no second file system");
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/pt_test_%ld", (long)getpid());
    put_text(path, "from afar");
    pt_error err = {0};
    pt_status status = pt_fs_publish(path, in_folder("b"), &err);
    unlink(path);
    CHECK_OK(status, err);
    CHECK_STR(text_of(in_folder("b")), "from afar");
    CHECK_INT(n_entries(), 1);
}

TEST(publish_refuses)
{
    fresh_folder();
    pt_error err = {0};
    put_text(in_folder("a"), "new");
    CHECK_OK(pt_fs_make_folder(in_folder("dir"), &err), err);
    CHECK_INT(pt_fs_publish(in_folder("none"), in_folder("b"), NULL), PT_NOT_FOUND);
    CHECK_INT(pt_fs_publish(in_folder("dir"), in_folder("b"), NULL), PT_IO);
    CHECK_INT(pt_fs_publish(in_folder("a"), in_folder("dir"), NULL), PT_IO);
    CHECK_INT(pt_fs_publish(in_folder("a"), in_folder("no/b"), NULL), PT_NOT_FOUND);
    CHECK(mkfifo(in_folder("fifo"), 0600) == 0);
    CHECK_INT(pt_fs_publish(in_folder("a"), in_folder("fifo"), NULL), PT_IO);
    CHECK_INT(n_entries(), 3);
}

TEST(publish_fails_whole_at_every_call)
{
    fresh_folder();
    for (int nth = 1;; nth++) {
        put_text(in_folder("a"), "new");
        pt_fs_remove(in_folder("b"), NULL); /* not to write through a link */
        put_text(in_folder("b"), "old");
        pt_error err = {0};
        pt_fs_fail_after(nth);
        pt_status status = pt_fs_publish(in_folder("a"), in_folder("b"), &err);
        pt_fs_fail_after(0);
        CHECK_INT(n_entries(), 2);
        CHECK_STR(text_of(in_folder("a")), "new");
        const char *text = text_of(in_folder("b"));
        CHECK(strcmp(text, "old") == 0 || strcmp(text, "new") == 0);
        if (status == PT_OK) {
            CHECK_STR(text, "new");
            CHECK_INT(nth, 4); /* link, rename, fsync of the folder */
            return;
        }
        CHECK_INT(status, PT_IO);
        CHECK(strstr(err.message, "disk is full"));
        CHECK(nth == 3 || strcmp(text, "old") == 0);
    }
}

/* ---- the write call ---- */
static void on_alarm(int signal_number) { (void)signal_number; }

static void *drain(void *arg)
{
    int fd = *(int *)arg;
    uint8_t bytes[777];
    int64_t n = 0;
    for (ssize_t got; (got = read(fd, bytes, sizeof bytes)) > 0;) {
        for (ssize_t i = 0; i < got; i++)
            if (bytes[i] != (uint8_t)((n + i) % 253)) return "wrong bytes";
        n += got;
        struct timespec t = {0, 100000};
        nanosleep(&t, NULL);
    }
    return n == 1000003 ? NULL : "wrong length";
}

/* A full pipe and a timer without SA_RESTART: short writes and EINTR as they really come. */
TEST(temporary_files_of_dead_processes_are_swept)
{
    /* the PID of our child is free once it was waited for */
    fresh_folder();
    pid_t child = fork();
    if (child == 0) _exit(0);
    CHECK(waitpid(child, NULL, 0) == child);
    static const char *const stay[] = {
        ".tmp",        "a.1.2.tmp",   ".a..1.tmp",           ".a.1..tmp",
        ".a.x.1.tmp",  ".a.1.x.tmp",  ".a.0.1.tmp",          ".1.2.tmp",
        ".a.1.2.tmp~", ".a.-5.1.tmp", ".a.99999999999.1.tmp"};
    char name[100];
    for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++) put_text(in_folder(stay[i]), "x");
    snprintf(name, sizeof name, ".b.%ld.0.tmp", (long)getppid());
    put_text(in_folder(name), "of one that runs");
    snprintf(name, sizeof name, ".model.tinygpt.%ld.17.tmp", (long)child);
    put_text(in_folder(name), "left behind");
    snprintf(name, sizeof name, ".1.%ld.0.tmp", (long)getpid());
    put_text(in_folder(name), "of a process that had our number");
    snprintf(name, sizeof name, ".folder.%ld.0.tmp", (long)child);
    pt_error err = {0};
    CHECK_OK(pt_fs_make_folder(in_folder(name), &err), err);
    int before = n_entries();
    int64_t swept = 5;
    CHECK_OK(pt_fs_sweep(in_folder("."), &swept, &err), err);
    CHECK_INT(swept, 5 + 2);
    CHECK_INT(n_entries(), before - 2);
    CHECK(pt_fs_is_folder(in_folder(name)));
    CHECK_INT(pt_fs_sweep(in_folder("none"), &swept, NULL), PT_NOT_FOUND);
}

/* A temporary folder as a killed process leaves it. */
static void leave_folder(const char *name, pid_t pid, int n)
{
    char path[200];
    pt_error err = {0};
    snprintf(path, sizeof path, ".%s.%ld.%d.tmp/below", name, (long)pid, n);
    CHECK_OK(pt_fs_make_folder(in_folder(path), &err), err);
}

TEST(temporary_folders_of_dead_processes_are_swept)
{
    fresh_folder();
    pt_error err = {0};
    pid_t child = fork();
    if (child == 0) _exit(0);
    CHECK(waitpid(child, NULL, 0) == child);
    leave_folder("out", child, 0);
    leave_folder("out", getpid(), 12345); /* of a process that had our number */
    leave_folder("out", getppid(), 0);    /* of one that runs */
    leave_folder("out.txt", child, 0);    /* of another name */
    leave_folder("ou", child, 0);
    char name[100];
    snprintf(name, sizeof name, ".out.%ld.7.tmp", (long)child);
    put_text(in_folder(name), "a file");
    snprintf(name, sizeof name, ".out.%ld.8.tmp", (long)child);
    CHECK_OK(pt_fs_make_folder(in_folder("mine/below"), &err), err);
    CHECK(symlink("mine", in_folder(name)) == 0); /* none that we make */
    int before = n_entries();
    int64_t swept = 1;
    CHECK_OK(pt_fs_sweep_beside(in_folder("out/"), &swept, &err), err);
    CHECK_INT(swept, 1 + 3);
    CHECK_INT(n_entries(), before - 3);
    CHECK(pt_fs_is_folder(in_folder("mine/below")));
    CHECK_INT(pt_fs_sweep_beside(in_folder("none/out"), &swept, NULL), PT_NOT_FOUND);
    static char path[6000];
    memset(path, 'a', sizeof path - 1);
    CHECK_INT(pt_fs_sweep_beside(path, &swept, NULL), PT_IO);
}

/* In a container every process may have the same number, and its temporary names begin anew. */
TEST(a_leftover_with_our_number_is_in_nobodys_way)
{
    fresh_folder();
    pt_error err = {0};
    char temp[PT_FS_PATH_MAX];
    CHECK(pt_fs_temp_name(temp, "x"));
    const char *n = strstr(temp, ".tmp");
    while (n[-1] != '.') n--;
    int next = (int)strtol(n, NULL, 10) + 1;
    leave_folder("out", getpid(), next);
    leave_folder("out", getpid(), next + 1);
    CHECK_OK(pt_fs_temp_folder(in_folder("out"), temp, sizeof temp, &err), err);
    CHECK(pt_fs_is_folder(temp) && n_entries() == 3);
    bool empty = false;
    CHECK_OK(pt_fs_is_empty(temp, &empty, &err), err);
    CHECK(empty);
    pt_fs_fail_after(1);
    CHECK_INT(pt_fs_temp_folder(in_folder("out"), temp, sizeof temp, NULL), PT_IO);
    pt_fs_fail_after(0);
    CHECK_INT(n_entries(), 3);
}

TEST(empty_folders)
{
    fresh_folder();
    pt_error err = {0};
    bool empty = true;
    CHECK_INT(pt_fs_is_empty(in_folder("none"), &empty, NULL), PT_NOT_FOUND);
    CHECK(!empty);
    CHECK_OK(pt_fs_is_empty(in_folder("."), &empty, &err), err);
    CHECK(empty);
    put_text(in_folder(".hidden"), "");
    CHECK_OK(pt_fs_is_empty(in_folder("."), &empty, &err), err);
    CHECK(!empty);
}

TEST(sha256_of_a_file)
{
    fresh_folder();
    pt_error err = {0};
    char hex[65];
    put_text(in_folder("a"), "abc");
    CHECK_OK(pt_fs_sha256(in_folder("a"), hex, &err), err);
    CHECK_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK_INT(pt_fs_sha256(in_folder("none"), hex, NULL), PT_NOT_FOUND);
}

TEST(renaming_takes_no_name_that_is_taken)
{
    fresh_folder();
    pt_error err = {0};
    CHECK_OK(pt_fs_make_folder(in_folder("a/b"), &err), err);
    put_text(in_folder("c"), "c");
    CHECK_INT(pt_fs_rename(in_folder("a"), in_folder("c"), &err), PT_EXISTS);
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_fs_rename(in_folder("a"), in_folder("d"), &err), err);
    CHECK(pt_fs_is_folder(in_folder("d/b")) && !pt_fs_exists(in_folder("a")));
    CHECK_INT(pt_fs_rename(in_folder("a"), in_folder("e"), NULL), PT_NOT_FOUND);
    pt_fs_fail_after(1);
    CHECK_INT(pt_fs_rename(in_folder("d"), in_folder("e"), NULL), PT_IO);
    pt_fs_fail_after(0);
    CHECK(pt_fs_is_folder(in_folder("d")));
}

TEST(write_survives_signals_and_short_writes)
{
    static uint8_t bytes[1000003];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i % 253);
    int ends[2];
    CHECK(pipe(ends) == 0);
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL); /* for the new thread: all alarms come to us */
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, drain, &ends[0]) == 0);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, 500}, {0, 500}}, off = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    int64_t done = 0;
    int error = pt_fs_call_write(ends[1], bytes, sizeof bytes, &done);
    setitimer(ITIMER_REAL, &off, NULL);
    close(ends[1]);
    void *complaint;
    pthread_join(thread, &complaint);
    close(ends[0]);
    CHECK_INT(error, 0);
    CHECK_INT(done, sizeof bytes);
    CHECK_STR(complaint ? complaint : "", "");
}

PT_TEST_MAIN
