/* Files that appear whole or not at all.
 *
 *   1. `.NAME.PID.N.tmp` is made in the target's folder, written and fsynced.
 *   2. It gets its name: rename when it may replace, else link, which refuses a taken name.
 *   3. The folder is fsynced, so that the name survives a power cut.
 * Before step 2 the target is as it was; after it, it is the new file. There is no state between.
 * SPDX-License-Identifier: MIT */
#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs_calls.h"

#define BUFFER_BYTES 65536
#define MAX_LINKS 40 /* the kernel's own limit for one path */

struct pt_atomic_file {
    char path[PT_FS_PATH_MAX];   /* as given, for messages */
    char target[PT_FS_PATH_MAX]; /* where the file goes: path with symbolic links followed */
    char temp[PT_FS_PATH_MAX];
    int fd;
    bool replace;
    bool failed;
    int64_t written;  /* bytes accepted */
    int64_t buffered; /* of them still in buffer */
    char buffer[BUFFER_BYTES];
};

/* Replaces `path` by what the symbolic link there points to. Returns 0 or errno. */
static int follow_link(char *path)
{
    char to[PT_FS_PATH_MAX], folder[PT_FS_PATH_MAX];
    ssize_t n = readlink(path, to, sizeof to);
    if (n < 0) return errno;
    if (n == (ssize_t)sizeof to || !pt_fs_parent(folder, path)) return ENAMETOOLONG;
    to[n] = '\0';
    if (to[0] == '/') folder[0] = '\0';
    return pt_fs_join(path, PT_FS_PATH_MAX, folder, to) ? 0 : ENAMETOOLONG;
}

/* Follows links in place, and says what is there. Also a link that leads nowhere yet is followed,
 * as fopen would. Only regular files may be replaced: a rename over /dev/null would destroy it. */
static int resolve(char *target, bool replace)
{
    struct stat info;
    for (int i = 0; i < MAX_LINKS; i++) {
        if (lstat(target, &info) != 0) return errno == ENOENT ? 0 : errno;
        if (!replace) return EEXIST;
        if (S_ISDIR(info.st_mode)) return EISDIR;
        if (S_ISREG(info.st_mode)) return 0;
        if (!S_ISLNK(info.st_mode)) return EINVAL;
        int error = follow_link(target);
        if (error) return error;
    }
    return ELOOP;
}

/* Makes the temporary file. EEXIST: a leftover of a killed process that had our number. */
static int make_temp(pt_atomic_file *file)
{
    do {
        if (!pt_fs_temp_name(file->temp, file->target)) return ENAMETOOLONG;
        file->fd = pt_fs_call_open(file->temp, O_WRONLY | O_CREAT | O_EXCL);
    } while (file->fd == -EEXIST);
    return file->fd < 0 ? -file->fd : 0;
}

pt_status pt_atomic_file_open(pt_atomic_file **out, const char *path, bool replace, pt_error *err)
{
    *out = NULL;
    size_t n = strlen(path);
    if (n == 0 || path[n - 1] == '/')
        return pt_fail(err, PT_BAD_INPUT, "cannot write '%s': it names no file", path);
    if (n >= PT_FS_PATH_MAX) return pt_fs_fail(err, ENAMETOOLONG, "write", path);
    pt_atomic_file *file = pt_alloc(sizeof *file);
    if (!file) return pt_fail(err, PT_NO_MEMORY, "no memory to write '%s'", path);
    memcpy(file->path, path, n + 1);
    memcpy(file->target, path, n + 1);
    file->replace = replace;
    int error = resolve(file->target, replace);
    pt_status status = PT_OK;
    if (error == EINVAL)
        status = pt_fail(err, PT_IO, "cannot write '%s': it is not a regular file", path);
    if (!error) error = make_temp(file);
    if (error && !status) status = pt_fs_fail(err, error, "write", path);
    if (status) pt_free(file);
    else *out = file;
    return status;
}

static pt_status write_out(pt_atomic_file *file, const void *bytes, int64_t n, pt_error *err)
{
    int error = pt_fs_call_write(file->fd, bytes, n, NULL);
    if (!error) return PT_OK;
    file->failed = true;
    return pt_fs_fail(err, error, "write", file->path);
}

static pt_status flush(pt_atomic_file *file, pt_error *err)
{
    int64_t n = file->buffered;
    file->buffered = 0;
    return n ? write_out(file, file->buffer, n, err) : PT_OK;
}

pt_status pt_atomic_file_write(pt_atomic_file *file, const void *bytes, int64_t n, pt_error *err)
{
    if (file->failed)
        return pt_fail(err, PT_IO, "cannot write '%s': an earlier write failed", file->path);
    if (n <= 0) return PT_OK;
    pt_status status = PT_OK;
    if (file->buffered + n > BUFFER_BYTES) status = flush(file, err);
    if (!status && n >= BUFFER_BYTES) {
        status = write_out(file, bytes, n, err);
    } else if (!status) {
        memcpy(file->buffer + file->buffered, bytes, (size_t)n);
        file->buffered += n;
    }
    if (!status) file->written += n;
    return status;
}

/* Writes at `offset` of what has left the buffer, and comes back to the end. */
static pt_status overwrite(pt_atomic_file *file, int64_t offset, const void *bytes, int64_t n,
                           pt_error *err)
{
    int error = lseek(file->fd, offset, SEEK_SET) < 0 ? errno : 0;
    if (!error) error = pt_fs_call_write(file->fd, bytes, n, NULL);
    if (!error && lseek(file->fd, 0, SEEK_END) < 0) error = errno;
    if (!error) return PT_OK;
    file->failed = true;
    return pt_fs_fail(err, error, "write", file->path);
}

pt_status pt_atomic_file_patch(pt_atomic_file *file, int64_t offset, const void *bytes, int64_t n,
                               pt_error *err)
{
    if (file->failed)
        return pt_fail(err, PT_IO, "cannot write '%s': an earlier write failed", file->path);
    if (offset < 0 || n < 0 || n > file->written || offset > file->written - n)
        return pt_fail(err, PT_INTERNAL, "'%s': patch of %lld bytes at %lld of %lld", file->path,
                       (long long)n, (long long)offset, (long long)file->written);
    if (n == 0) return PT_OK;
    int64_t out = file->written - file->buffered; /* bytes that have left the buffer */
    if (offset < out) {
        int64_t before = pt_min_i64(n, out - offset);
        pt_status status = overwrite(file, offset, bytes, before, err);
        if (status) return status;
        offset += before;
        n -= before;
        bytes = (const char *)bytes + before;
    }
    memcpy(file->buffer + (offset - out), bytes, (size_t)n);
    return PT_OK;
}

int64_t pt_atomic_file_written(const pt_atomic_file *file) { return file->written; }

pt_status pt_atomic_file_commit(pt_atomic_file *file, pt_error *err)
{
    pt_status status = PT_OK;
    int error = 0;
    if (file->failed)
        status = pt_fail(err, PT_IO, "cannot finish '%s': an earlier write failed", file->path);
    if (!status) status = flush(file, err);
    if (!status && (error = pt_fs_call_sync(file->fd)))
        status = pt_fs_fail(err, error, "fsync", file->path);
    int closed = close(file->fd); /* network file systems report a full disk only here */
    if (!status && closed != 0 && errno != EINTR)
        status = pt_fs_fail(err, errno, "close", file->path);
    if (!status && (error = pt_fs_give_name(file->temp, file->target, file->replace)))
        status = pt_fs_fail(err, error, "put in place", file->path);
    if (status) unlink(file->temp);
    else if ((error = pt_fs_call_sync_parent(file->target)))
        status = pt_fs_fail(err, error, "(it is in place, but) fsync the folder of", file->path);
    pt_free(file);
    return status;
}

void pt_atomic_file_discard(pt_atomic_file *file)
{
    if (!file) return;
    close(file->fd);
    unlink(file->temp);
    pt_free(file);
}

pt_status pt_atomic_file_put(const char *path, bool replace, const void *bytes, int64_t n,
                             pt_error *err)
{
    pt_atomic_file *file;
    pt_status status = pt_atomic_file_open(&file, path, replace, err);
    if (status) return status;
    status = pt_atomic_file_write(file, bytes, n, err);
    if (!status) return pt_atomic_file_commit(file, err);
    pt_atomic_file_discard(file);
    return status;
}
