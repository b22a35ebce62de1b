/* A file that appears whole or not at all: temporary file in the same folder, write, fsync, rename, fsync
 * of the folder. The only way to write a file (logs: append_file.h).
 *
 * A symbolic link at the path stays, and the file it points to is replaced. Only regular files are
 * replaced, never a device, pipe or folder. The new file has mode 0666 without the umask's bits,
 * whatever the old one had. A process killed in between leaves `.NAME.PID.N.tmp` beside the target
 * and nothing else; such files, and folders of such names (pt_fs_temp_folder), may be deleted once no
 * process with that PID runs, as pt_fs_sweep and pt_fs_sweep_beside do.
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
/* Overwrites n bytes at `offset`, all of them written before (else INTERNAL, and the file is as it
 * was). Later writes append as if nothing had happened; after a failed patch the file can only be
 * discarded. */
pt_status pt_atomic_file_patch(pt_atomic_file *file, int64_t offset, const void *bytes, int64_t n,
                               pt_error *err);
int64_t pt_atomic_file_written(const pt_atomic_file *file);
/* Makes the file appear under its name and frees `file`, also on failure. Then nothing appears,
 * except when only the last step failed, the fsync of the folder: the file is there and whole, but
 * its name may not survive a power cut, and the message says so. */
pt_status pt_atomic_file_commit(pt_atomic_file *file, pt_error *err);
/* Frees `file` and leaves nothing behind. NULL is fine. */
void pt_atomic_file_discard(pt_atomic_file *file);

/* Open, write, commit. */
pt_status pt_atomic_file_put(const char *path, bool replace, const void *bytes, int64_t n,
                             pt_error *err);

#endif
