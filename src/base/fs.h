/* Files: the only code that opens one. Reading here; writing in atomic_file.h and append_file.h.
 *
 * Paths are UTF-8, NUL-terminated, shorter than 4096 bytes. Not part of the WASM build. A path in an error message is the
 * path as given.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_FS_H
#define PT_BASE_FS_H

#include "base/mem.h"

/* A file, whole, read-only. It must not shrink meanwhile: touching a lost page kills the process
 * (files of this program are replaced, never cut). Mapped where the file is a regular one (pages are loaded when touched
 * and do not count as memory the program asked for), read into memory where it claims no size (as in /proc).
 * A zero-length file gives size 0 and a valid pointer. */
typedef struct pt_file_view {
    const uint8_t *data;
    int64_t size; /* bytes */
    bool mapped;
} pt_file_view;
/* Errors: NOT_FOUND, IO (also for what is no regular file: nobody waits for the writer of a pipe), NO_MEMORY. */
pt_status pt_file_view_open(pt_file_view *out, const char *path, pt_error *err);
/* The same, but a file of up to 1 GB is copied into memory, so that nothing that happens to it later
 * matters: neither shrinking (which kills a reader of a mapping) nor changing. */
pt_status pt_file_view_read(pt_file_view *out, const char *path, pt_error *err);
/* The same, and where a user may mean a pipe or /dev/stdin: those are read to their end. */
pt_status pt_file_view_read_any(pt_file_view *out, const char *path, pt_error *err);
void pt_file_view_close(pt_file_view *view);

/* Small text or JSON: read whole into a fresh NUL-terminated block (release with pt_free). Refuses
 * files above max_bytes, and what is no regular file. */
pt_status pt_fs_read(const char *path, int64_t max_bytes, char **out, int64_t *size, pt_error *err);

/* Hands a regular file to fn front to back, in pieces of at most 64 KiB (for checksums). */
pt_status pt_fs_stream(const char *path, void (*fn)(void *ctx, const void *bytes, size_t n),
                       void *ctx, pt_error *err);

/* The same, of pipes too, and fn may end it: what is not PT_OK is passed on. */
pt_status pt_fs_feed(const char *path,
                     pt_status (*fn)(void *ctx, const void *bytes, size_t n, pt_error *err),
                     void *ctx, pt_error *err);

/* sha256 of a file as lower-case hex. */
pt_status pt_fs_sha256(const char *path, char hex[65], pt_error *err);

/* A regular file that is held open and read a piece at a time, at any place: for data larger than
 * memory, since nothing stays mapped. Another file under the same name changes nothing. Zeroed: closed. */
typedef struct pt_file_reader {
    int handle; /* 0: closed */
    int64_t size;
    int64_t changed_ns; /* as pt_fs_changed_ns, when it was opened */
} pt_file_reader;
/* Errors: NOT_FOUND, IO (also for what is no regular file, or when too many files are open). */
pt_status pt_file_reader_open(pt_file_reader *out, const char *path, pt_error *err);
/* Exactly n bytes from `offset` (>= 0). IO when there are fewer, as in a file that was cut meanwhile. `path` is
 * for the message. */
pt_status pt_file_reader_read(const pt_file_reader *reader, const char *path, int64_t offset,
                              void *bytes, int64_t n, pt_error *err);
void pt_file_reader_close(pt_file_reader *reader);

bool pt_fs_exists(const char *path);
bool pt_fs_is_link(const char *path); /* a symbolic link, also one that leads nowhere */
bool pt_fs_is_folder(const char *path);
/* Bytes of a regular file, -1 if there is none. */
int64_t pt_fs_size(const char *path);
/* When a file was last changed, in ns of the wall clock; 0 if there is none. */
int64_t pt_fs_changed_ns(const char *path);
/* The path from the root, without links, . and ..; false when there is nothing at `path` or it does not fit. */
bool pt_fs_absolute(char *out, size_t cap, const char *path);
/* Makes the folder and its missing parents. A folder that exists is fine. */
pt_status pt_fs_make_folder(const char *path, pt_error *err);
/* Calls fn for each entry name (without . and ..), in byte order of the names; fn may change the
 * folder. `folder` is also true for a symbolic link to one. Errors: NOT_FOUND (also for a file). */
pt_status pt_fs_list(const char *path, void (*fn)(void *ctx, const char *name, bool folder),
                     void *ctx, pt_error *err);
/* Whether a folder holds nothing, hidden files included. Errors: those of pt_fs_list. */
pt_status pt_fs_is_empty(const char *path, bool *empty, pt_error *err);
/* Removes one file, or one folder with all in it (64 levels). Missing is fine. Symbolic links are
 * removed, not followed. Errors: BAD_INPUT for /, . and .. . */
pt_status pt_fs_remove(const char *path, pt_error *err);
/* Removes a folder that holds nothing, in one call; one that holds something stays, and none is fine. */
pt_status pt_fs_remove_empty(const char *path, pt_error *err);
/* Removes the temporary files (.NAME.PID.N.tmp, see atomic_file.h) in a folder, not below it, whose process is no more,
 * and adds their number to *swept. Our own number counts as no more: call it before writing there. Folders of such names
 * stay. */
pt_status pt_fs_sweep(const char *folder, int64_t *swept, pt_error *err);
/* The same for what was to become `path` alone, beside it, in a folder that may be anybody's: files, and folders
 * (pt_fs_temp_folder) with all in them. Errors: NOT_FOUND (no such folder), IO. */
pt_status pt_fs_sweep_beside(const char *path, int64_t *swept, pt_error *err);
/* Gives a file or folder another name on the same file system, durably; `to` must not exist. */
pt_status pt_fs_rename(const char *from, const char *to, pt_error *err);
/* Makes `to` name the same file as `from`, replacing `to` in one atomic step (a hard link and a
 * rename; a copy where links are refused). `from` is never modified afterwards by this program,
 * so the sharing is invisible. A symbolic link at `to` is replaced. On failure `to` is as it was, or,
 * when only the fsync of its folder failed, new. */
pt_status pt_fs_publish(const char *from, const char *to, pt_error *err);
/* Makes an empty folder beside `path` for what will become `path`, and writes its name, .NAME.PID.N.tmp, into out.
 * Missing parents are made. A process killed meanwhile leaves it behind: pt_fs_sweep_beside removes it.
 * Errors: NOT_FOUND, IO (also for a name too long). */
pt_status pt_fs_temp_folder(const char *path, char *out, size_t cap, pt_error *err);
/* Gives the folder `from` the name `to` in one step. An empty folder at `to` is replaced; EXISTS when
 * anything else is there. */
pt_status pt_fs_place_folder(const char *from, const char *to, pt_error *err);
/* Free bytes for this user on the file system that holds path (or its nearest existing parent); -1 unknown. */
int64_t pt_fs_free_bytes(const char *path);
#define PT_FS_PATH_MAX 4096 /* bytes with the NUL; Linux's own limit */
/* The folder that relative paths begin at; false where it cannot be told. */
bool pt_fs_working_folder(char path[PT_FS_PATH_MAX]);
/* dir + "/" + name; BAD_INPUT when it does not fit. */
pt_status pt_fs_path(char out[PT_FS_PATH_MAX], const char *dir, const char *name, pt_error *err);
/* The same for any room; false when it does not fit. */
bool pt_fs_join(char *out, size_t cap, const char *dir, const char *name);

/* Call first in main. A descriptor from 0 to 2 that the caller closed would go to the first file that is
 * opened, and messages would end up in it; this puts /dev/null there, for reading, so that writing
 * to it fails instead. */
void pt_fs_keep_standard_descriptors(void);

/* For tests: the nth write, fsync, rename, link or mkdir call from now (1 = next) fails with ENOSPC, once; 0 switches off. */
void pt_fs_fail_after(int64_t nth);
/* For tests: the process dies (SIGKILL) before the nth call from now that changes a file or folder; 0 switches off. */
void pt_fs_die_after(int64_t nth);
/* The same, and it stops (SIGSTOP) until it is continued: what another process does meanwhile comes in between. */
void pt_fs_stop_after(int64_t nth);

#endif
