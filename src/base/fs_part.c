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

/* What is there grows and may be emptied, so it must be a part of ours and not a way to another file. */
static pt_status open_part(pt_part_file *f, pt_error *err)
{
    struct stat info;
    bool there = lstat(f->part, &info) == 0;
    if (there && !S_ISREG(info.st_mode))
        return pt_fail(err, PT_IO, "'%s' is %s: move it away", f->part,
                       S_ISLNK(info.st_mode) ? "a link" : "no regular file");
    f->fd = pt_fs_call_open(f->part, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOFOLLOW);
    if (f->fd < 0) return pt_fs_fail(err, -f->fd, "write", f->part);
    int error = fstat(f->fd, &info) != 0 ? errno : S_ISREG(info.st_mode) ? 0 : EINVAL;
    f->size = (int64_t)info.st_size;
    if (!error) return PT_OK;
    close(f->fd);
    return pt_fs_fail(err, error, "write", f->part);
}

pt_status pt_part_file_open(pt_part_file **out, const char *path, pt_error *err)
{
    *out = NULL;
    size_t n = strlen(path);
    if (n + sizeof ".part" > PT_FS_PATH_MAX) return pt_fs_fail(err, ENAMETOOLONG, "open", path);
    pt_part_file *f = pt_alloc(sizeof *f);
    if (!f) return pt_fail(err, PT_NO_MEMORY, "no memory for a file");
    memcpy(f->path, path, n + 1);
    memcpy(f->part, path, n);
    memcpy(f->part + n, ".part", sizeof ".part");
    pt_status s = open_part(f, err);
    if (s) {
        pt_free(f);
        return s;
    }
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
