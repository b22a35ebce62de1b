/* A file that only grows: one record per write call, so a crash can tear only the last record. Records are
 * lines, or binary ones that tell themselves where they end.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_APPEND_FILE_H
#define PT_BASE_APPEND_FILE_H

#include "base/mem.h"

typedef struct pt_append_file pt_append_file;

/* Opens or makes `path` for appending lines. A last line without its newline (torn by a crash) is
 * moved to the end of `path`.torn, as a line, and *torn_bytes (may be NULL) says how many bytes that
 * were. One writer per log: EXISTS while another process has it open; its lock ends with it, however
 * it ends. BAD_INPUT when path or `path`.torn is a symbolic link, whose target is not ours to write; IO when it is
 * no regular file. */
pt_status pt_append_file_open(pt_append_file **out, const char *path, int64_t *torn_bytes,
                              pt_error *err);
/* The same for binary records. whole(bytes, n) says how many of the file's n bytes are whole records; the
 * torn rest is cut off, since nobody can read half a binary record. */
pt_status pt_append_file_open_records(pt_append_file **out, const char *path,
                                      int64_t (*whole)(const uint8_t *bytes, int64_t n),
                                      int64_t *torn_bytes, pt_error *err);
/* Whether a living process has it open for appending. It is asked by taking the lock for a moment, so a writer that
 * opens the file in that very moment is refused. False where there is no such file or no locks. */
bool pt_append_file_is_open(const char *path);
/* One record, a line's with its newline, in one write. On failure the log is as it was; where
 * even that could not be had, further writes are refused. Errors: BAD_INPUT, IO. */
pt_status pt_append_file_write(pt_append_file *file, const char *record, int64_t n, pt_error *err);
/* Whether its path still leads to it: false once it, or a folder above, was moved or deleted. */
bool pt_append_file_is_in_place(const pt_append_file *file);
pt_status pt_append_file_sync(pt_append_file *file, pt_error *err);
/* NULL is fine. */
void pt_append_file_close(pt_append_file *file);

#endif
