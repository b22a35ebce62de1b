/* Files in parts, files read in pieces, folders that appear whole. SPDX-License-Identifier: MIT */
#include "base/fs_part.h"

#include "base/test_folder.h"

static pt_error err;

static pt_part_file *open_part(void)
{
    pt_part_file *file = NULL;
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_part_file_open(&file, in_folder("f"), &err), err);
    return file;
}

TEST(a_part_goes_on_where_it_was_left)
{
    fresh_folder();
    pt_part_file *f = open_part();
    CHECK_INT(pt_part_file_size(f), 0);
    CHECK_OK(pt_part_file_write(f, "abc", 3, &err), err);
    pt_part_file_close(f);
    CHECK(!pt_fs_exists(in_folder("f")));
    CHECK_STR(text_of(in_folder("f.part")), "abc");
    f = open_part();
    CHECK_INT(pt_part_file_size(f), 3);
    CHECK_OK(pt_part_file_write(f, "def", 3, &err), err);
    CHECK_OK(pt_part_file_commit(f, true, &err), err);
    CHECK_STR(text_of(in_folder("f")), "abcdef");
    CHECK_INT(n_entries(), 1);
    f = open_part(); /* the next version replaces it */
    CHECK_OK(pt_part_file_write(f, "old", 3, &err), err);
    CHECK_OK(pt_part_file_restart(f, &err), err);
    CHECK_INT(pt_part_file_size(f), 0);
    CHECK_OK(pt_part_file_write(f, "new", 3, &err), err);
    CHECK_OK(pt_part_file_commit(f, true, &err), err);
    CHECK_STR(text_of(in_folder("f")), "new");
}

TEST(a_part_replaces_nothing_unasked)
{
    fresh_folder();
    put_text(in_folder("f"), "mine");
    pt_part_file *f = open_part();
    CHECK_OK(pt_part_file_write(f, "new", 3, &err), err);
    CHECK_INT(pt_part_file_commit(f, false, NULL), PT_EXISTS);
    CHECK_STR(text_of(in_folder("f")), "mine");
    CHECK_STR(text_of(in_folder("f.part")), "new");
    unlink(in_folder("f"));
    CHECK_OK(pt_part_file_commit(open_part(), false, &err), err);
    CHECK_STR(text_of(in_folder("f")), "new");
    CHECK_INT(n_entries(), 1);
}

TEST(an_empty_part_is_not_left_behind)
{
    fresh_folder();
    pt_part_file_close(open_part());
    pt_part_file_close(NULL);
    CHECK_INT(n_entries(), 0);
}

TEST(what_no_part_can_be)
{
    fresh_folder();
    pt_part_file *f = NULL;
    CHECK_INT(pt_part_file_open(&f, in_folder("no/f"), NULL), PT_NOT_FOUND);
    CHECK_OK(pt_fs_make_folder(in_folder("f.part"), &err), err);
    CHECK(pt_part_file_open(&f, in_folder("f"), NULL) != PT_OK);
    CHECK_OK(pt_fs_make_folder(in_folder("g"), &err), err);
    CHECK_OK(pt_part_file_open(&f, in_folder("g"), &err), err);
    CHECK_OK(pt_part_file_write(f, "abc", 3, &err), err);
    CHECK(pt_part_file_commit(f, true, NULL) != PT_OK); /* a folder is not replaced */
    CHECK(pt_fs_is_folder(in_folder("g")));
    CHECK_STR(text_of(in_folder("g.part")), "abc");
}

TEST(a_part_is_not_written_through_a_link)
{
    fresh_folder();
    pt_part_file *f = NULL;
    put_text(in_folder("victim"), "mine");
    const char *const behind[] = {"victim",
                                  "none"}; /* a link to nothing would make a file elsewhere */
    for (int i = 0; i < 2; i++) {
        CHECK(symlink(behind[i], in_folder("f.part")) == 0);
        memset(&err, 0, sizeof err);
        CHECK_INT(pt_part_file_open(&f, in_folder("f"), &err), PT_IO);
        CHECK(!f && strstr(err.message, "f.part' is a link"));
        unlink(in_folder("f.part"));
    }
    CHECK_STR(text_of(in_folder("victim")), "mine");
    memset(&err, 0, sizeof err);
    CHECK(mkfifo(in_folder("f.part"), 0600) == 0);
    CHECK_INT(pt_part_file_open(&f, in_folder("f"), &err), PT_IO);
    CHECK(strstr(err.message, "no regular file"));
    CHECK_INT(n_entries(), 2);
}

TEST(a_full_disk_loses_nothing_of_a_part)
{
    for (int nth = 1; nth <= 4; nth++) {
        fresh_folder();
        pt_part_file *f = open_part();
        pt_fs_fail_after(nth);
        pt_status s = pt_part_file_write(f, "abc", 3, NULL);
        if (s) pt_part_file_close(f);
        else s = pt_part_file_commit(f, true, NULL);
        pt_fs_fail_after(0);
        CHECK_INT(s, PT_IO);
        const char *left = text_of(in_folder(nth == 4 ? "f" : "f.part"));
        CHECK_STR(left, nth == 1 ? "(none)" : "abc");
    }
}

TEST(pieces_of_a_file)
{
    fresh_folder();
    char bytes[8] = "";
    pt_file_reader r;
    put_text(in_folder("f"), "0123456789");
    CHECK_OK(pt_file_reader_open(&r, in_folder("f"), &err), err);
    CHECK_INT(r.size, 10);
    CHECK_OK(pt_file_reader_read(&r, "f", 3, bytes, 4, &err), err);
    CHECK_STR(bytes, "3456");
    CHECK_OK(pt_file_reader_read(&r, "f", 10, bytes, 0, &err), err);
    CHECK_INT(pt_file_reader_read(&r, "name", 8, bytes, 4, &err), PT_IO);
    CHECK(strstr(err.message, "name") && strstr(err.message, "byte 10"));
    pt_file_reader_close(&r);
    pt_file_reader_close(&r);
    CHECK_INT(pt_file_reader_open(&r, in_folder("none"), NULL), PT_NOT_FOUND);
    CHECK_INT(pt_file_reader_open(&r, in_folder("."), NULL), PT_IO);
    CHECK(mkfifo(in_folder("pipe"), 0600) == 0);
    CHECK_INT(pt_file_reader_open(&r, in_folder("pipe"), NULL), PT_IO); /* without waiting */
    CHECK(symlink("f", in_folder("link")) == 0);
    CHECK(pt_fs_is_link(in_folder("link")) && !pt_fs_is_link(in_folder("f")));
    CHECK(!pt_fs_is_link(in_folder("none")));
}

static pt_status count_three(void *ctx, const void *bytes, size_t n, pt_error *e)
{
    (void)bytes;
    int64_t *total = ctx;
    *total += (int64_t)n;
    return *total > 100000 ? pt_fail(e, PT_INTERRUPTED, "enough") : PT_OK;
}

TEST(feeding_can_be_ended)
{
    fresh_folder();
    FILE *f = fopen(in_folder("f"), "wb");
    for (int i = 0; i < 400000; i++) fputc('x', f);
    fclose(f);
    int64_t total = 0;
    memset(&err, 0, sizeof err);
    CHECK_INT(pt_fs_feed(in_folder("f"), count_three, &total, &err), PT_INTERRUPTED);
    CHECK_INT(total, 2 * 65536);
    CHECK_STR(err.message, "enough");
}

TEST(a_folder_is_placed_whole)
{
    fresh_folder();
    char temp[512];
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_fs_temp_folder(in_folder("a/b/new/"), temp, sizeof temp, &err), err);
    CHECK(pt_fs_is_folder(temp) && strstr(temp, "/a/b/.new."));
    CHECK_OK(pt_fs_place_folder(temp, in_folder("a/b/new"), &err), err);
    CHECK(pt_fs_is_folder(in_folder("a/b/new")) && !pt_fs_exists(temp));
    put_text(in_folder("a/b/new/x"), "x");
    CHECK_OK(pt_fs_temp_folder(in_folder("a/b/new"), temp, sizeof temp, &err), err);
    CHECK_INT(pt_fs_place_folder(temp, in_folder("a/b/new"), NULL), PT_EXISTS);
    CHECK_INT(pt_fs_place_folder(temp, in_folder("a/b/new/x"), NULL), PT_EXISTS);
    CHECK_STR(text_of(in_folder("a/b/new/x")), "x");
    CHECK(pt_fs_temp_folder(in_folder("a"), temp, 5, NULL) != PT_OK);
}

PT_TEST_MAIN
