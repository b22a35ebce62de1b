/* Many files that are read a piece at a time, of which a few are open: the ones read last. A process may have a thousand
 * descriptors or so, a corpus more files.
 *
 * A file that stays open is the one that was opened, whatever happens to its name. One that was closed meanwhile is opened
 * again, and refused if its size or time of change is another. One thread at a time. Not part of the WASM build (it
 * opens files).
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_OPEN_FILES_H
#define PT_TRAIN_OPEN_FILES_H

#include "base/fs.h"

#define PT_OPEN_FILES_MAX 64

/* A file as it was when it was opened first. A plain value. */
typedef struct pt_open_file {
    const char *path; /* borrowed */
    int64_t size;     /* bytes */
    int64_t changed_ns;
    int64_t number; /* from 1, of its pt_open_files; 0: none */
} pt_open_file;

/* Begins zeroed. */
typedef struct pt_open_files {
    struct {
        pt_file_reader reader;
        int64_t number; /* of the file that is open here; 0: none */
        int64_t used;   /* when it was read last */
    } slot[PT_OPEN_FILES_MAX];
    int64_t n, reads; /* so far */
} pt_open_files;

/* Opens a regular file. Errors: those of pt_file_reader_open. */
pt_status pt_open_files_add(pt_open_files *files, const char *path, pt_open_file *out,
                            pt_error *err);
/* Exactly n bytes from `offset`. Errors: those of pt_file_reader_open and pt_file_reader_read; IO for a file that was
 * changed while it was not open. */
pt_status pt_open_files_read(pt_open_files *files, const pt_open_file *file, int64_t offset,
                             void *bytes, int64_t n, pt_error *err);
void pt_open_files_close(pt_open_files *files);

#endif
