/* Logs that only grow. SPDX-License-Identifier: MIT */
#include "base/append_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs_calls.h"

#define CHUNK_BYTES 65536

struct pt_append_file {
    char path[PT_FS_PATH_MAX];
    int fd;
    bool failed; /* ends in a part of a record that could not be taken back */
    int64_t (*whole)(const uint8_t *bytes, int64_t n); /* of binary records; NULL: lines */
};

static int read_at(int fd, char *bytes, int64_t n, int64_t offset)
{
    while (n > 0) {
        ssize_t got = pread(fd, bytes, (size_t)n, (off_t)offset);
        if (got == 0) return EIO; /* shorter than it was */
        if (got < 0 && errno != EINTR) return errno;
        if (got > 0) bytes += got, offset += got, n -= got;
    }
    return 0;
}

/* Where the last line that has its newline ends. */
static int whole_end(int fd, int64_t size, char *chunk, int64_t *end)
{
    for (int64_t to = size; to > 0;) {
        int64_t from = pt_max_i64(0, to - CHUNK_BYTES);
        int error = read_at(fd, chunk, to - from, from);
        if (error) return error;
        for (int64_t i = to - from; i > 0; i--) {
            if (chunk[i - 1] != '\n') continue;
            *end = from + i;
            return 0;
        }
        to = from;
    }
    *end = 0;
    return 0;
}

static int truncate_to(int fd, int64_t size)
{
    pt_fs_call_moment();
    while (ftruncate(fd, (off_t)size) != 0)
        if (errno != EINTR) return errno;
    return 0;
}

static int copy_range(int from_fd, int64_t from, int64_t to, int to_fd, char *chunk)
{
    while (from < to) {
        int64_t n = pt_min_i64(CHUNK_BYTES, to - from);
        int error = read_at(from_fd, chunk, n, from);
        if (!error) error = pt_fs_call_write(to_fd, chunk, n, NULL);
        if (error) return error;
        from += n;
    }
    return pt_fs_call_write(to_fd, "\n", 1, NULL);
}

/* The name of what is torn off; false when it does not fit. */
static bool torn_name(char out[PT_FS_PATH_MAX], const char *path)
{
    size_t n = strlen(path);
    if (n + sizeof ".torn" > PT_FS_PATH_MAX) return false;
    memcpy(out, path, n);
    memcpy(out + n, ".torn", sizeof ".torn");
    return true;
}

/* The fd, or -errno. What is written must not lie behind a link, and nobody waits for the reader of a pipe. */
static int open_regular(const char *path, int flags, struct stat *info)
{
    int fd = pt_fs_call_open(path, flags | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return fd;
    int error = fstat(fd, info) != 0 ? errno : S_ISREG(info->st_mode) ? 0 : EINVAL;
    if (!error) return fd;
    close(fd);
    return -error;
}

/* Says in words what open_regular refuses. */
static pt_status check_regular(const char *path, pt_error *err)
{
    struct stat info;
    if (lstat(path, &info) != 0 || S_ISREG(info.st_mode)) return PT_OK;
    if (S_ISLNK(info.st_mode))
        return pt_fail(err, PT_BAD_INPUT, "'%s' is a link: put the file itself there", path);
    if (S_ISDIR(info.st_mode)) return pt_fs_fail(err, EISDIR, "append to", path);
    return pt_fail(err, PT_IO, "cannot append to '%s': it is no regular file", path);
}

/* Appends bytes [from, to) of the log and a newline to `path`.torn, and makes that durable. On
 * failure .torn is as long as it was. */
static int keep_torn(const pt_append_file *file, int64_t from, int64_t to, char *chunk)
{
    char name[PT_FS_PATH_MAX];
    struct stat before;
    if (!torn_name(name, file->path)) return ENAMETOOLONG;
    int fd = open_regular(name, O_WRONLY, &before);
    if (fd < 0) return -fd;
    int error = copy_range(file->fd, from, to, fd, chunk);
    if (!error) error = pt_fs_call_sync(fd);
    if (!error) error = pt_fs_call_sync_parent(name);
    if (error) truncate_to(fd, before.st_size);
    close(fd);
    return error;
}

/* The torn part leaves the log only once it is safe elsewhere. */
static int set_torn_aside(pt_append_file *file, int64_t size, int64_t *torn_bytes)
{
    char *chunk = pt_alloc(CHUNK_BYTES);
    if (!chunk) return ENOMEM;
    int64_t end = 0;
    int error = whole_end(file->fd, size, chunk, &end);
    if (!error && end < size) {
        error = keep_torn(file, end, size, chunk);
        if (!error) error = truncate_to(file->fd, end);
        if (!error) error = pt_fs_call_sync(file->fd);
        if (!error) *torn_bytes = size - end;
    }
    pt_free(chunk);
    return error;
}

/* One writer: the lock is the descriptor's, so it ends with the process, however that ends. File systems
 * without locks have no more to offer. */
static int lock(int fd)
{
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return EWOULDBLOCK;
        if (errno != EINTR) return 0;
    }
    return 0;
}

bool pt_append_file_is_open(const char *path)
{
    struct stat info;
    int fd = pt_fs_size(path) >= 0 ? pt_fs_call_open(path, O_RDONLY | O_NONBLOCK) : -1;
    if (fd < 0) return false;
    bool open = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return open;
}

/* A file whose name was taken away before it was locked is nobody's log. */
static bool still_named(const char *path, const struct stat *open)
{
    struct stat named;
    return stat(path, &named) == 0 && named.st_dev == open->st_dev && named.st_ino == open->st_ino;
}

bool pt_append_file_is_in_place(const pt_append_file *file)
{
    struct stat open;
    return fstat(file->fd, &open) == 0 && still_named(file->path, &open);
}

static int cut_torn(pt_append_file *file, int64_t *torn_bytes)
{
    pt_file_view view;
    pt_error reason = {0};
    if (pt_file_view_open(&view, file->path, &reason))
        return reason.status == PT_NO_MEMORY ? ENOMEM : EIO;
    int64_t end = file->whole(view.data, view.size), size = view.size;
    pt_file_view_close(&view);
    if (end == size) return 0;
    int error = truncate_to(file->fd, end);
    if (!error) error = pt_fs_call_sync(file->fd);
    if (!error) *torn_bytes = size - end;
    return error;
}

static int open_log(pt_append_file *file, int64_t *torn_bytes)
{
    bool is_new = !pt_fs_exists(file->path);
    struct stat info;
    file->fd = open_regular(file->path, O_RDWR, &info);
    if (file->fd < 0) return -file->fd;
    int error = lock(file->fd);
    /* its size is what the last writer left, so it is asked for once nobody else can write */
    if (!error) error = fstat(file->fd, &info) == 0 ? 0 : errno;
    if (!error && !still_named(file->path, &info)) error = EWOULDBLOCK;
    if (!error)
        error = file->whole ? cut_torn(file, torn_bytes)
                            : set_torn_aside(file, info.st_size, torn_bytes);
    if (!error && is_new) error = pt_fs_call_sync_parent(file->path);
    if (error) close(file->fd);
    return error;
}

pt_status pt_append_file_open(pt_append_file **out, const char *path, int64_t *torn_bytes,
                              pt_error *err)
{
    return pt_append_file_open_records(out, path, NULL, torn_bytes, err);
}

pt_status pt_append_file_open_records(pt_append_file **out, const char *path,
                                      int64_t (*whole)(const uint8_t *bytes, int64_t n),
                                      int64_t *torn_bytes, pt_error *err)
{
    int64_t torn = 0;
    char aside[PT_FS_PATH_MAX];
    *out = NULL;
    size_t n = strlen(path);
    if (n >= PT_FS_PATH_MAX) return pt_fs_fail(err, ENAMETOOLONG, "append to", path);
    pt_status s = check_regular(path, err);
    if (s == PT_OK && !whole && torn_name(aside, path)) s = check_regular(aside, err);
    if (s) return s;
    pt_append_file *file = pt_alloc(sizeof *file);
    if (!file) return pt_fail(err, PT_NO_MEMORY, "no memory to open '%s'", path);
    memcpy(file->path, path, n + 1);
    file->whole = whole;
    int error = open_log(file, &torn);
    if (torn_bytes) *torn_bytes = torn;
    if (error) {
        pt_free(file);
        if (error == EWOULDBLOCK)
            return pt_fail(err, PT_EXISTS, "'%s' is being written by another process", path);
        return pt_fs_fail(err, error, "append to", path);
    }
    *out = file;
    return PT_OK;
}

/* A record of which only `done` bytes arrived is taken back, so that the next one does not continue
 * it; unless the file is longer than that explains: then somebody else writes too. */
static void take_back(pt_append_file *file, int64_t before, int64_t done)
{
    struct stat info;
    if (done == 0) return;
    file->failed = fstat(file->fd, &info) != 0 || info.st_size != before + done ||
                   truncate_to(file->fd, before) != 0;
}

pt_status pt_append_file_write(pt_append_file *file, const char *record, int64_t n, pt_error *err)
{
    if (!file->whole && (n <= 0 || record[n - 1] != '\n'))
        return pt_fail(err, PT_BAD_INPUT, "a record for '%s' must end in a newline", file->path);
    if (file->failed)
        return pt_fail(err, PT_IO, "cannot append to '%s': it ends in half a record; open it again",
                       file->path);
    struct stat info;
    if (fstat(file->fd, &info) != 0) return pt_fs_fail(err, errno, "append to", file->path);
    int64_t done = 0;
    int error = pt_fs_call_write(file->fd, record, n, &done);
    if (!error) return PT_OK;
    take_back(file, info.st_size, done);
    return pt_fs_fail(err, error, "append to", file->path);
}

pt_status pt_append_file_sync(pt_append_file *file, pt_error *err)
{
    int error = pt_fs_call_sync(file->fd);
    return error ? pt_fs_fail(err, error, "fsync", file->path) : PT_OK;
}

void pt_append_file_close(pt_append_file *file)
{
    if (!file) return;
    close(file->fd);
    pt_free(file);
}
