/* For tests of files: a fresh folder, removed at exit, and a few shorthands. Hosted only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_TEST_FOLDER_H
#define PT_BASE_TEST_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/test.h"

#ifndef PT_TEST_PLACE /* where the folder is made */
#define PT_TEST_PLACE "/tmp"
#endif

static char test_root[64];
static pid_t test_root_owner;

static inline void test_root_remove(void)
{
    if (getpid() == test_root_owner) pt_fs_remove(test_root, NULL);
}

/* The path of `name` in the test's folder; four results live at a time. */
static inline const char *in_folder(const char *name)
{
    static char paths[4][512];
    static int next;
    if (!test_root[0]) {
        snprintf(test_root, sizeof test_root, "%s/pt_test_XXXXXX", PT_TEST_PLACE);
        if (!mkdtemp(test_root)) abort();
        test_root_owner = getpid();
        atexit(test_root_remove);
    }
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_root, name);
    return path;
}

/* Empties the folder. */
static inline void fresh_folder(void)
{
    in_folder("");
    pt_fs_fail_after(0);
    pt_error err = {0};
    CHECK_OK(pt_fs_remove(test_root, &err), err);
    CHECK_OK(pt_fs_make_folder(test_root, &err), err);
}

static inline void count_entry(void *ctx, const char *name, bool folder)
{
    (void)name, (void)folder;
    ++*(int *)ctx;
}

/* Entries in the test's folder, temporary files included. */
static inline int n_entries(void)
{
    int n = 0;
    pt_error err = {0};
    CHECK_OK(pt_fs_list(test_root, count_entry, &n, &err), err);
    return n;
}

/* The file's text, or "(none)"; valid until the next call. */
static inline const char *text_of(const char *path)
{
    static char text[4096];
    FILE *f = fopen(path, "rb");
    if (!f) return "(none)";
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static inline void put_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    CHECK(f);
    fputs(text, f);
    fclose(f);
}

#endif
