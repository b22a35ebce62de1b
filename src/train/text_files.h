/* The text files that a list of paths names: files, and folders with all that is in them.
 *
 * A file that is named is taken whatever it holds. In a folder, names are taken in byte order, folders
 * where their name comes, and these are left out: names that begin with a dot, links to folders, what is no regular file, what
 * is no text: its first 64 KiB hold a zero byte or are not UTF-8; and folders of runs (pt_run_folder_is), so that a run
 * may be made beside its text and gone on with. So is an empty file.
 * "-" is standard input. Not part of the WASM build (it opens files).
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_TEXT_FILES_H
#define PT_TRAIN_TEXT_FILES_H

#include "base/arena.h"

typedef struct pt_text_file {
    const char *path; /* "/dev/stdin" for "-" */
    int64_t bytes;    /* when it was listed; -1: unknown, as of a pipe or a named empty file */
} pt_text_file;

/* Who is told about what was left out, and why ("it is empty"). */
typedef struct pt_skipped {
    void (*fn)(void *ctx, const char *path, const char *why); /* or NULL */
    void *ctx;
} pt_skipped;

typedef struct pt_text_files {
    pt_text_file *file; /* [n] */
    int64_t n, cap;
    int64_t runs; /* folders of runs that were left out */
    pt_arena names;
    pt_skipped skipped;
} pt_text_files;

/* Adds what `path` names to a list that begins zeroed. Errors: NOT_FOUND, IO, NO_MEMORY; BAD_INPUT for a
 * token shard, whose folder is to be given, and for standard input twice. The list is to be released in any case. */
pt_status pt_text_files_add(pt_text_files *files, const char *path, pt_error *err);
void pt_text_files_deinit(pt_text_files *files);

#endif
