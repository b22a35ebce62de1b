/* System calls that change files, with injected failures. SPDX-License-Identifier: MIT */
#include "base/fs_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITE_MAX (1 << 30) /* macOS refuses a single write of 2 GiB or more */

static _Atomic int64_t fail_countdown; /* 1 = the next call fails, 0 = off */
static _Atomic int64_t die_countdown;  /* 1 = the process dies before the next call, 0 = off */
static _Atomic int64_t stop_countdown; /* 1 = it stops there */
static _Atomic int64_t write_limit;    /* 0 = none */

void pt_fs_fail_after(int64_t nth) { atomic_store(&fail_countdown, nth); }
void pt_fs_limit_writes(int64_t bytes) { atomic_store(&write_limit, bytes); }

void pt_fs_die_after(int64_t nth) { atomic_store(&die_countdown, nth); }
void pt_fs_stop_after(int64_t nth) { atomic_store(&stop_countdown, nth); }

/* Counts down to 0; true when this was the last one. */
static bool counts_out(_Atomic int64_t *countdown)
{
    int64_t left = atomic_load(countdown);
    while (left > 0)
        if (atomic_compare_exchange_weak(countdown, &left, left - 1)) return left == 1;
    return false;
}

void pt_fs_call_moment(void)
{
    if (counts_out(&die_countdown)) raise(SIGKILL);
    if (counts_out(&stop_countdown)) raise(SIGSTOP);
}

static bool must_fail(void)
{
    pt_fs_call_moment();
    return counts_out(&fail_countdown);
}

int pt_fs_call_write(int fd, const void *bytes, int64_t n, int64_t *done)
{
    const char *at = bytes;
    int64_t left = n, limit = atomic_load(&write_limit);
    int error = 0;
    if (limit <= 0 || limit > WRITE_MAX) limit = WRITE_MAX;
    while (left > 0 && !error) {
        if (must_fail()) {
            error = ENOSPC;
            break;
        }
        ssize_t wrote = write(fd, at, (size_t)pt_min_i64(left, limit));
        if (wrote > 0) at += wrote, left -= wrote;
        else if (wrote == 0) error = EIO; /* never seen; but a loop must end */
        else if (errno != EINTR) error = errno;
    }
    if (done) *done = n - left;
    return error;
}

static int sync_once(int fd)
{
#if defined(F_FULLFSYNC) /* macOS: fsync alone leaves the data in the drive's cache */
    if (fcntl(fd, F_FULLFSYNC) == 0) return 0;
#endif
    return fsync(fd);
}

int pt_fs_call_sync(int fd)
{
    if (must_fail()) return ENOSPC;
    while (sync_once(fd) != 0)
        if (errno != EINTR) return errno;
    return 0;
}

int pt_fs_call_rename(const char *from, const char *to)
{
    if (must_fail()) return ENOSPC;
    return rename(from, to) == 0 ? 0 : errno;
}

int pt_fs_call_make_folder(const char *path)
{
    if (must_fail()) return ENOSPC;
    return mkdir(path, 0777) == 0 ? 0 : errno;
}

int pt_fs_call_link(const char *from, const char *to)
{
    if (must_fail()) return ENOSPC;
    return linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

int pt_fs_call_sync_parent(const char *path)
{
    char folder[PT_FS_PATH_MAX];
    if (!pt_fs_parent(folder, path)) return ENAMETOOLONG;
    int fd = pt_fs_call_open(folder, O_RDONLY | O_DIRECTORY);
    if (fd < 0) return fd == -EACCES ? 0 : -fd; /* a folder we may write to but not read */
    int error = pt_fs_call_sync(fd);
    close(fd);
    /* Some network and FUSE file systems cannot sync a folder; they have no more to offer. */
    return error == EINVAL || error == ENOTSUP ? 0 : error;
}

int pt_fs_call_open(const char *path, int flags)
{
    for (;;) {
        int fd = open(path, flags | O_CLOEXEC, 0666);
        if (fd >= 0) return fd;
        if (errno != EINTR) return -errno;
    }
}

int64_t pt_fs_call_read(int fd, void *bytes, int64_t n)
{
    for (;;) {
        ssize_t got = read(fd, bytes, (size_t)pt_min_i64(n, WRITE_MAX));
        if (got >= 0) return got;
        if (errno != EINTR) return -errno;
    }
}

bool pt_fs_parent(char *out, const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    while (n > 0 && path[n - 1] != '/') n--;
    while (n > 1 && path[n - 1] == '/') n--;
    if (n == 0) path = ".", n = 1;
    if (n >= PT_FS_PATH_MAX) return false;
    memcpy(out, path, n);
    out[n] = '\0';
    return true;
}

bool pt_fs_temp_name(char *out, const char *path)
{
    static atomic_uint next;
    const int name_max = 200; /* file systems allow 255 bytes for the whole */
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int folder_len = (int)(name - path), name_len = (int)strlen(name);
    if (name_len > name_max) {
        name_len = name_max;
        while (name_len > 0 && ((unsigned char)name[name_len] & 0xc0) == 0x80) name_len--;
    }
    int n = snprintf(out, PT_FS_PATH_MAX, "%.*s.%.*s.%ld.%u.tmp", folder_len, path, name_len, name,
                     (long)getpid(), atomic_fetch_add(&next, 1));
    return n > 0 && n < PT_FS_PATH_MAX;
}

int pt_fs_give_name(const char *temp, const char *target, bool replace)
{
    if (replace) return pt_fs_call_rename(temp, target);
    int error = pt_fs_call_link(temp, target);
    if (!error) {
        unlink(temp);
        return 0;
    }
    if (error != EPERM && error != ENOTSUP && error != ENOSYS && error != EOPNOTSUPP) return error;
    /* No hard links here (FAT, some network shares). Then a file that somebody else makes between
     * these two calls is lost; nothing better exists everywhere. */
    struct stat info;
    if (lstat(target, &info) == 0) return EEXIST;
    return pt_fs_call_rename(temp, target);
}

static pt_status status_of(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR: return PT_NOT_FOUND;
    case EEXIST: return PT_EXISTS;
    case ENOMEM: return PT_NO_MEMORY;
    default: return PT_IO;
    }
}

/* Common reasons in words that say what to do; the system's words for the rest. */
static const char *reason_of(int error, char *buffer, size_t cap)
{
    switch (error) {
    case ENOENT: return "no such file or folder";
    case ENOTDIR: return "a part of the path is not a folder";
    case EISDIR: return "it is a folder";
    case EEXIST: return "it exists already";
    case ENOSPC: return "the disk is full; free some space and try again";
    case EACCES:
    case EPERM: return "permission denied";
    case EROFS: return "the file system is read-only";
    case ENAMETOOLONG: return "the path or a name in it is too long";
    default: break;
    }
    if (strerror_r(error, buffer, cap) != 0) snprintf(buffer, cap, "error %d", error);
    return buffer;
}

pt_status pt_fs_fail_at(pt_error *err, int error, const char *what, const char *path,
                        const char *file, int line)
{
    char buffer[80];
    const size_t shown = 120; /* of a long path its end, which tells more, so the reason fits too */
    size_t n = strlen(path);
    pt_fail_at(err, status_of(error), -1, file, line, "cannot %s '%s%s': %s", what,
               n > shown ? "..." : "", n > shown ? path + n - shown : path,
               reason_of(error, buffer, sizeof buffer));
    return status_of(error);
}
