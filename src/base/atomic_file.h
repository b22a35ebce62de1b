/* A file that appears whole or not at all: temporary file in the same folder, write, fsync, rename, fsync
 * of the folder. The only way to write a file (logs: append_file.h).
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_ATOMIC_FILE_H
#define PT_BASE_ATOMIC_FILE_H

#include "base/mem.h"

typedef struct pt_atomic_file pt_atomic_file;

/* Starts writing `path`. replace = false refuses an existing path (EXISTS), now and at commit.
 * Errors: NOT_FOUND (no such folder), EXISTS, IO. */
pt_status pt_atomic_file_open(pt_atomic_file **out, const char *path, bool replace, pt_error *err);
/* Buffered. After a failed write the file can only be discarded. */
pt_status pt_atomic_file_write(pt_atomic_file *file, const void *bytes, int64_t n, pt_error *err);
int64_t pt_atomic_file_written(const pt_atomic_file *file);
/* Makes the file appear under its name and frees `file`, also on failure (then nothing appears). */
pt_status pt_atomic_file_commit(pt_atomic_file *file, pt_error *err);
/* Frees `file` and leaves nothing behind. NULL is fine. */
void pt_atomic_file_discard(pt_atomic_file *file);

/* Open, write, commit. */
pt_status pt_atomic_file_put(const char *path, bool replace, const void *bytes, int64_t n,
                             pt_error *err);

#endif
