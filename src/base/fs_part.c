/* Files that arrive in parts. SPDX-License-Identifier: MIT */
#include "base/fs_part.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs_calls.h"

struct pt_part_file {
    char path[PT_FS_PATH_MAX], part[PT_FS_PATH_MAX];
    int fd;
    int64_t size;
};

pt_status pt_part_file_open(pt_part_file **out, const char *path, pt_error *err)
{
    *out = NULL;
    struct stat info;
    size_t n = strlen(path);
    if (n + sizeof ".part" > PT_FS_PATH_MAX) return pt_fs_fail(err, ENAMETOOLONG, "open", path);
    pt_part_file *f = pt_alloc(sizeof *f);
    if (!f) return pt_fail(err, PT_NO_MEMORY, "no memory for a file");
    memcpy(f->path, path, n + 1);
    memcpy(f->part, path, n);
    memcpy(f->part + n, ".part", sizeof ".part");
    f->fd = pt_fs_call_open(f->part, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK);
    int error = f->fd < 0 ? -f->fd : fstat(f->fd, &info) != 0 ? errno : 0;
    if (!error && !S_ISREG(info.st_mode)) error = EINVAL;
    if (error) {
        if (f->fd >= 0) close(f->fd);
        pt_status s = pt_fs_fail(err, error, "write", f->part);
        pt_free(f);
        return s;
    }
    f->size = (int64_t)info.st_size;
    *out = f;
    return PT_OK;
}

const char *pt_part_file_path(const pt_part_file *f) { return f->part; }
int64_t pt_part_file_size(const pt_part_file *f) { return f->size; }

pt_status pt_part_file_write(pt_part_file *f, const void *bytes, int64_t n, pt_error *err)
{
    int64_t done = 0;
    int error = pt_fs_call_write(f->fd, bytes, n, &done);
    f->size += done;
    return error ? pt_fs_fail(err, error, "write", f->part) : PT_OK;
}

pt_status pt_part_file_restart(pt_part_file *f, pt_error *err)
{
    if (ftruncate(f->fd, 0) != 0) return pt_fs_fail(err, errno, "empty", f->part);
    f->size = 0;
    return PT_OK;
}

pt_status pt_part_file_commit(pt_part_file *f, bool replace, pt_error *err)
{
    struct stat info;
    int error = lstat(f->path, &info) == 0 && !S_ISREG(info.st_mode) ? EEXIST : 0;
    if (!error) error = pt_fs_call_sync(f->fd);
    if (!error) error = pt_fs_give_name(f->part, f->path, replace);
    if (!error) error = pt_fs_call_sync_parent(f->path);
    pt_status s = error ? pt_fs_fail(err, error, "write", f->path) : PT_OK;
    pt_part_file_close(f);
    return s;
}

void pt_part_file_close(pt_part_file *f)
{
    if (!f) return;
    close(f->fd);
    if (f->size == 0) unlink(f->part);
    pt_free(f);
}
