/* What fs.c, fs_folder.c, atomic_file.c and append_file.c share: the system calls that change
 * something, in one place, so that a test can make the nth one fail (pt_fs_fail_after); temporary
 * names; messages. Internal to base/.
 *
 * The calls return 0 or the errno value of the failure. They repeat themselves after EINTR.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_FS_CALLS_H
#define PT_BASE_FS_CALLS_H

#include "base/fs.h"

/* Writes all n bytes, in as many calls as it takes. *done (may be NULL) is what arrived. */
int pt_fs_call_write(int fd, const void *bytes, int64_t n, int64_t *done);
int pt_fs_call_sync(int fd); /* to the medium, also on macOS */
int pt_fs_call_rename(const char *from, const char *to);
int pt_fs_call_make_folder(const char *path);
int pt_fs_call_link(const char *from, const char *to); /* follows a symbolic link at `from` */
/* fsync of the folder that holds `path`, so that a new name survives a power cut. */
int pt_fs_call_sync_parent(const char *path);

int pt_fs_call_open(const char *path, int flags); /* the fd, or -errno; mode 0666, close-on-exec */
/* Up to n bytes; the number read, 0 at the end, or -errno. */
int64_t pt_fs_call_read(int fd, void *bytes, int64_t n);

/* For tests: to be called before a call that changes something and is none of those above (pt_fs_die_after). */
void pt_fs_call_moment(void);
/* For tests. Each write call takes at most this many bytes, as a signal or a full disk may make it;
 * 0 switches that off. */
void pt_fs_limit_writes(int64_t bytes);

/* The folder that holds path ("." for a plain name) into out[PT_FS_PATH_MAX]; false: too long. */
bool pt_fs_parent(char *out, const char *path);
/* A name for a temporary file beside `path`, .NAME.PID.N.tmp, with a fresh N at each call, into
 * out[PT_FS_PATH_MAX]; false when it does not fit. */
bool pt_fs_temp_name(char *out, const char *path);

/* Gives a temporary file its name; without `replace` EEXIST when that is taken. */
int pt_fs_give_name(const char *temp, const char *target, bool replace);

/* Fails with the status that suits the errno value, as "cannot WHAT 'PATH': reason". */
#define pt_fs_fail(err, error, what, path) \
    pt_fs_fail_at((err), (error), (what), (path), __FILE__, __LINE__)
pt_status pt_fs_fail_at(pt_error *err, int error, const char *what, const char *path,
                        const char *file, int line);

#endif
