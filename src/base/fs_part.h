/* A file that arrives in parts, perhaps over several runs of the program: it grows as PATH.part, and gets its name
 * when it is whole. What was written stays when the program ends, so that the next run goes on behind it. Whether it is
 * what was wanted, the caller must know (a checksum). One writer at a time.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_FS_PART_H
#define PT_BASE_FS_PART_H

#include "base/fs.h"

typedef struct pt_part_file pt_part_file;

/* Opens PATH.part, or makes it empty. Errors: NOT_FOUND (no such folder), IO (also when it is a link or no
 * regular file: what is behind one is not ours to write). */
pt_status pt_part_file_open(pt_part_file **out, const char *path, pt_error *err);
const char *pt_part_file_path(const pt_part_file *file); /* of the .part */
int64_t pt_part_file_size(const pt_part_file *file);
/* Appends. After a failure what arrived stays. */
pt_status pt_part_file_write(pt_part_file *file, const void *bytes, int64_t n, pt_error *err);
/* Throws away what is there. */
pt_status pt_part_file_restart(pt_part_file *file, pt_error *err);
/* Gives the file its name and frees it; on failure the part stays. Only with `replace` a regular file of that name is
 * replaced, else EXISTS. */
pt_status pt_part_file_commit(pt_part_file *file, bool replace, pt_error *err);
/* Frees and keeps what is there, unless it is empty. NULL is fine. */
void pt_part_file_close(pt_part_file *file);

#endif
