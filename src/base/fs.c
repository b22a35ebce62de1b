/* Files: reading, sizes, sharing under a second name. Folders: fs_folder.c.
 * SPDX-License-Identifier: MIT */
#if defined(__linux__)
#define _XOPEN_SOURCE 700 /* realpath */
#endif
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/fs_calls.h"
#include "base/hash.h"

/* ---- reading ---- */
/* Everything up to the end of fd, into a growing block with a NUL behind it. Returns 0 or errno;
 * EFBIG: there are more than max_bytes. */
static int read_all(int fd, int64_t expected, int64_t max_bytes, char **out, int64_t *size)
{
    int64_t cap = pt_min_i64(pt_max_i64(expected, 4095), max_bytes) + 1, n = 0;
    char *block = pt_alloc((size_t)cap + 1);
    if (!block) return ENOMEM;
    for (;;) {
        /* One byte more than allowed is asked for, to see whether there is one. */
        int64_t got = pt_fs_call_read(fd, block + n, cap - n);
        int error = got < 0 ? (int)-got : n + got > max_bytes ? EFBIG : 0;
        if (error) {
            pt_free(block);
            return error;
        }
        n += got;
        if (got == 0) break;
        if (n < cap) continue;
        int64_t more = pt_min_i64(cap * 2, max_bytes + 1);
        char *bigger = pt_realloc(block, (size_t)cap + 1, (size_t)more + 1);
        if (!bigger) {
            pt_free(block);
            return ENOMEM;
        }
        block = bigger;
        cap = more;
    }
    block[n] = '\0';
    *out = block;
    *size = n;
    return 0;
}

/* Opens a file for reading; a folder is refused, and what else is no regular file unless `any`: a pipe without
 * a writer would be waited for. */
static pt_status open_file(int *out, const char *path, bool any, struct stat *info, pt_error *err)
{
    int fd = pt_fs_call_open(path, any ? O_RDONLY : O_RDONLY | O_NONBLOCK);
    if (fd < 0) return pt_fs_fail(err, -fd, "open", path);
    int error = fstat(fd, info) != 0 ? errno : S_ISDIR(info->st_mode) ? EISDIR : 0;
    *out = fd;
    if (!error && (any || S_ISREG(info->st_mode))) return PT_OK;
    close(fd);
    if (error) return pt_fs_fail(err, error, "open", path);
    return pt_fail(err, PT_IO, "cannot open '%s': it is no regular file", path);
}

typedef pt_status (*feed_fn)(void *ctx, const void *bytes, size_t n, pt_error *err);

static pt_status feed(const char *path, bool any, feed_fn fn, void *ctx, pt_error *err)
{
    struct stat info;
    int fd = -1;
    pt_status s = open_file(&fd, path, any, &info, err);
    if (s) return s;
    char *piece = pt_alloc(64 * 1024);
    int64_t n = piece ? 1 : -ENOMEM;
    while (n > 0 && s == PT_OK) {
        n = pt_fs_call_read(fd, piece, 64 * 1024);
        if (n > 0) s = fn(ctx, piece, (size_t)n, err);
    }
    pt_free(piece);
    close(fd);
    return n < 0 ? pt_fs_fail(err, (int)-n, "read", path) : s;
}

pt_status pt_fs_feed(const char *path,
                     pt_status (*fn)(void *ctx, const void *bytes, size_t n, pt_error *err),
                     void *ctx, pt_error *err)
{
    return feed(path, true, fn, ctx, err);
}

typedef struct plain_feed {
    void (*fn)(void *ctx, const void *bytes, size_t n);
    void *ctx;
} plain_feed;

static pt_status feed_plain(void *ctx, const void *bytes, size_t n, pt_error *err)
{
    (void)err;
    const plain_feed *to = ctx;
    to->fn(to->ctx, bytes, n);
    return PT_OK;
}

pt_status pt_fs_stream(const char *path, void (*fn)(void *ctx, const void *bytes, size_t n),
                       void *ctx, pt_error *err)
{
    plain_feed to = {fn, ctx};
    return feed(path, false, feed_plain, &to, err);
}

static void add_to_hash(void *ctx, const void *bytes, size_t n) { pt_sha256_update(ctx, bytes, n); }

pt_status pt_fs_sha256(const char *path, char hex[65], pt_error *err)
{
    pt_sha256 hash;
    uint8_t digest[32];
    pt_sha256_init(&hash);
    pt_status s = pt_fs_stream(path, add_to_hash, &hash, err);
    pt_sha256_final(&hash, digest);
    pt_hex(digest, sizeof digest, hex);
    return s;
}

#define READ_MAX \
    ((int64_t)1 << 30) /* bytes copied into memory: larger files are mapped, larger pipes refused */

static pt_status open_view(pt_file_view *out, const char *path, bool copy, bool any, pt_error *err)
{
    *out = (pt_file_view){0};
    struct stat info;
    int fd = -1, error = 0;
    pt_status s = open_file(&fd, path, any, &info, err);
    if (s) return s;
    void *map = MAP_FAILED;
    /* Files under /proc and /sys say size 0 and have bytes, so those are read. */
    bool regular = S_ISREG(info.st_mode) && info.st_size > 0;
    if (regular && (!copy || info.st_size > READ_MAX) && (uintmax_t)info.st_size <= PTRDIFF_MAX)
        map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map != MAP_FAILED) {
        *out = (pt_file_view){.data = map, .size = info.st_size, .mapped = true};
    } else {
        char *block = NULL;
        int64_t most = regular ? PTRDIFF_MAX / 4 : READ_MAX;
        error = read_all(fd, regular ? (int64_t)info.st_size : 0, most, &block, &out->size);
        out->data = (const uint8_t *)block;
    }
    close(fd);
    if (error == EFBIG)
        return pt_fail(err, PT_BAD_INPUT,
                       "'%s' gives more than %lld bytes: save it to a file first", path,
                       (long long)READ_MAX);
    return error ? pt_fs_fail(err, error, "read", path) : PT_OK;
}

pt_status pt_file_view_open(pt_file_view *out, const char *path, pt_error *err)
{
    return open_view(out, path, false, false, err);
}

pt_status pt_file_view_read(pt_file_view *out, const char *path, pt_error *err)
{
    return open_view(out, path, true, false, err);
}

pt_status pt_file_view_read_any(pt_file_view *out, const char *path, pt_error *err)
{
    return open_view(out, path, true, true, err);
}

void pt_file_view_close(pt_file_view *view)
{
    if (!view) return;
    void *data = (void *)(uintptr_t)view->data;
    if (view->mapped) munmap(data, (size_t)view->size);
    else pt_free(data);
    *view = (pt_file_view){0};
}

pt_status pt_fs_read(const char *path, int64_t max_bytes, char **out, int64_t *size, pt_error *err)
{
    *out = NULL;
    if (size) *size = 0;
    max_bytes = pt_max_i64(0, pt_min_i64(max_bytes, PTRDIFF_MAX / 4));
    struct stat info;
    int fd = -1;
    pt_status s = open_file(&fd, path, false, &info, err);
    if (s) return s;
    int64_t expected = (int64_t)info.st_size, n = 0;
    int error = expected > max_bytes ? EFBIG : read_all(fd, expected, max_bytes, out, &n);
    close(fd);
    if (error == EFBIG)
        return pt_fail(err, PT_BAD_INPUT, "'%s' is larger than the %lld bytes allowed here", path,
                       (long long)max_bytes);
    if (error) return pt_fs_fail(err, error, "read", path);
    if (size) *size = n;
    return PT_OK;
}

/* ---- pieces of a file ---- */
static int64_t changed_ns(const struct stat *info)
{
#if defined(__APPLE__)
    return (int64_t)info->st_mtimespec.tv_sec * 1000000000 + info->st_mtimespec.tv_nsec;
#else
    return (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
#endif
}

pt_status pt_file_reader_open(pt_file_reader *out, const char *path, pt_error *err)
{
    *out = (pt_file_reader){0};
    struct stat info;
    int fd = -1;
    pt_status s = open_file(&fd, path, false, &info, err);
    if (s) return s;
    *out = (pt_file_reader){fd + 1, (int64_t)info.st_size, changed_ns(&info)};
    return PT_OK;
}

pt_status pt_file_reader_read(const pt_file_reader *reader, const char *path, int64_t offset,
                              void *bytes, int64_t n, pt_error *err)
{
    char *at = bytes;
    while (n > 0) {
        ssize_t got = pread(reader->handle - 1, at, (size_t)n, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return pt_fs_fail(err, errno, "read", path);
        if (got == 0)
            return pt_fail(err, PT_IO, "'%s' ends at byte %lld: it was cut while it was in use",
                           path, (long long)offset);
        at += got, offset += got, n -= got;
    }
    return PT_OK;
}

void pt_file_reader_close(pt_file_reader *reader)
{
    if (reader->handle) close(reader->handle - 1);
    *reader = (pt_file_reader){0};
}

/* ---- questions ---- */
bool pt_fs_working_folder(char path[PT_FS_PATH_MAX])
{
    return getcwd(path, PT_FS_PATH_MAX) != NULL;
}

bool pt_fs_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

bool pt_fs_is_link(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

bool pt_fs_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int64_t pt_fs_size(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) ? (int64_t)info.st_size : -1;
}

int64_t pt_fs_changed_ns(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? changed_ns(&info) : 0;
}

bool pt_fs_absolute(char *out, size_t cap, const char *path)
{
    char *whole = realpath(path, NULL);
    bool fits = whole && strlen(whole) < cap;
    if (fits) memcpy(out, whole, strlen(whole) + 1);
    free(whole);
    return fits;
}

int64_t pt_fs_free_bytes(const char *path)
{
    char at[PT_FS_PATH_MAX], parent[PT_FS_PATH_MAX];
    struct statvfs info;
    if ((size_t)snprintf(at, sizeof at, "%s", *path ? path : ".") >= sizeof at) return -1;
    while (statvfs(at, &info) != 0) {
        if (errno != ENOENT && errno != ENOTDIR) return -1;
        if (!pt_fs_parent(parent, at) || strcmp(parent, at) == 0) return -1;
        memcpy(at, parent, strlen(parent) + 1);
    }
    int64_t bytes;
    bool fits = pt_mul_i64((int64_t)info.f_bavail, (int64_t)info.f_frsize, &bytes);
    return fits ? bytes : INT64_MAX;
}

bool pt_fs_join(char *out, size_t cap, const char *dir, const char *name)
{
    size_t n = strlen(dir);
    const char *between = n == 0 || dir[n - 1] == '/' ? "" : "/";
    int len = snprintf(out, cap, "%s%s%s", dir, between, name);
    return len >= 0 && (size_t)len < cap;
}

pt_status pt_fs_path(char out[PT_FS_PATH_MAX], const char *dir, const char *name, pt_error *err)
{
    if (pt_fs_join(out, PT_FS_PATH_MAX, dir, name)) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT,
                   "a path is too long, it may have %d bytes: that of %s in '%s'",
                   PT_FS_PATH_MAX - 1, name, dir);
}

/* ---- publishing ---- */
static pt_status publish_copy(const char *from, const char *to, pt_error *err)
{
    pt_file_view view;
    pt_status status = pt_file_view_open(&view, from, err);
    if (status) return status;
    status = pt_atomic_file_put(to, true, view.data, view.size, err);
    pt_file_view_close(&view);
    return status;
}

/* The file system, or the kernel's protection of other people's files, has no hard link for us. */
static bool links_refused(int error)
{
    return error == EXDEV || error == EPERM || error == EMLINK || error == ENOTSUP ||
           error == ENOSYS || error == EOPNOTSUPP;
}

pt_status pt_fs_publish(const char *from, const char *to, pt_error *err)
{
    char temp[PT_FS_PATH_MAX];
    struct stat info;
    if (stat(from, &info) != 0) return pt_fs_fail(err, errno, "publish", from);
    if (!S_ISREG(info.st_mode)) return pt_fs_fail(err, EISDIR, "publish", from);
    if (pt_fs_is_folder(to)) return pt_fs_fail(err, EISDIR, "replace", to);
    if (lstat(to, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))
        return pt_fail(err, PT_IO, "cannot replace '%s': it is not a regular file", to);
    int error;
    do { /* EEXIST: a leftover of a killed process that had our number */
        if (!pt_fs_temp_name(temp, to)) return pt_fs_fail(err, ENAMETOOLONG, "make", to);
        error = pt_fs_call_link(from, temp);
    } while (error == EEXIST);
    if (links_refused(error)) return publish_copy(from, to, err);
    if (error) return pt_fs_fail(err, error, "make a link beside", to);
    error = pt_fs_call_rename(temp, to);
    /* Also after success: renaming a file over another name of itself does nothing at all. */
    pt_fs_call_moment();
    unlink(temp);
    if (error) return pt_fs_fail(err, error, "replace", to);
    error = pt_fs_call_sync_parent(to);
    return error ? pt_fs_fail(err, error, "sync the folder of", to) : PT_OK;
}

void pt_fs_keep_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDONLY) != fd) return;
}
