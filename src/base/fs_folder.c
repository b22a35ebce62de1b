/* Folders: making, listing, removing. SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs_calls.h"

#define MAX_DEPTH 64 /* of a tree to remove: one open folder per level */

/* ---- making ---- */
/* One folder whose parent exists. */
static int make_one(const char *path)
{
    if (pt_fs_is_folder(path)) return 0;
    int error = pt_fs_call_make_folder(path);
    if (!error) return pt_fs_call_sync_parent(path);
    return error == EEXIST && pt_fs_is_folder(path) ? 0 : error; /* made meanwhile */
}

pt_status pt_fs_make_folder(const char *path, pt_error *err)
{
    char part[PT_FS_PATH_MAX];
    size_t n = strlen(path);
    if (n == 0) return pt_fail(err, PT_BAD_INPUT, "cannot make a folder without a name");
    if (n >= sizeof part) return pt_fs_fail(err, ENAMETOOLONG, "make folder", path);
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (part[i] != '/' && part[i] != '\0') continue;
        if (part[i - 1] == '/') continue;
        char cut = part[i];
        part[i] = '\0';
        int error = make_one(part);
        if (error == EEXIST) error = ENOTDIR; /* something else has the name */
        if (error) return pt_fs_fail(err, error, "make folder", path);
        part[i] = cut;
    }
    return PT_OK;
}

/* The path without slashes at its end: with them, what is beside it would be in it. Returns 0 or errno. */
static int trim(char out[PT_FS_PATH_MAX], const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    if (n >= PT_FS_PATH_MAX) return ENAMETOOLONG;
    memcpy(out, path, n);
    out[n] = '\0';
    return 0;
}

pt_status pt_fs_temp_folder(const char *path, char *out, size_t cap, pt_error *err)
{
    char plain[PT_FS_PATH_MAX], name[PT_FS_PATH_MAX], parent[PT_FS_PATH_MAX];
    int error = trim(plain, path);
    if (!error && !pt_fs_parent(parent, plain)) error = ENAMETOOLONG;
    pt_status s =
        error ? pt_fs_fail(err, error, "make folder", path) : pt_fs_make_folder(parent, err);
    if (s) return s;
    do { /* EEXIST: a leftover of a killed process that had our number */
        bool fits = pt_fs_temp_name(name, plain) && strlen(name) < cap;
        error = fits ? pt_fs_call_make_folder(name) : ENAMETOOLONG;
    } while (error == EEXIST);
    if (error) return pt_fs_fail(err, error, "make folder", path);
    memcpy(out, name, strlen(name) + 1);
    return PT_OK;
}

pt_status pt_fs_place_folder(const char *from, const char *to, pt_error *err)
{
    int error = pt_fs_call_rename(from, to);
    if (error == ENOTEMPTY || error == EEXIST || error == ENOTDIR)
        return pt_fail(err, PT_EXISTS, "'%s' exists already", to);
    if (!error) error = pt_fs_call_sync_parent(to);
    return error ? pt_fs_fail(err, error, "rename folder to", to) : PT_OK;
}

/* ---- listing ---- */
typedef struct name_list {
    char *bytes; /* the names, each with its NUL */
    int64_t used, cap;
    int64_t n;
    const char **sorted; /* [n], into bytes */
} name_list;

static void free_names(name_list *list)
{
    pt_free(list->bytes);
    pt_free(list->sorted);
}

static bool add_name(name_list *list, const char *name)
{
    int64_t len = (int64_t)strlen(name) + 1;
    if (list->used + len > list->cap) {
        int64_t cap = pt_max_i64(4096, 2 * (list->used + len));
        char *bytes = pt_realloc(list->bytes, (size_t)list->cap, (size_t)cap);
        if (!bytes) return false;
        list->bytes = bytes;
        list->cap = cap;
    }
    memcpy(list->bytes + list->used, name, (size_t)len);
    list->used += len;
    list->n++;
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int sort_names(name_list *list)
{
    list->sorted = pt_alloc((size_t)list->n * sizeof *list->sorted);
    if (!list->sorted) return ENOMEM;
    const char *at = list->bytes;
    for (int64_t i = 0; i < list->n; i++, at += strlen(at) + 1) list->sorted[i] = at;
    if (list->n) qsort(list->sorted, (size_t)list->n, sizeof *list->sorted, compare_names);
    return 0;
}

/* All names in the folder, sorted. The list is taken whole before anything is done with it, since
 * reading a folder that changes is undefined. Returns 0 or errno. */
static int read_names(int fd, name_list *list)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    DIR *dir = own < 0 ? NULL : fdopendir(own);
    if (!dir) {
        int error = errno;
        if (own >= 0) close(own);
        return error;
    }
    int error = 0;
    struct dirent *entry;
    while (!error && (errno = 0, entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (!add_name(list, entry->d_name)) error = ENOMEM;
    }
    if (!error) error = errno;
    closedir(dir);
    return error ? error : sort_names(list);
}

pt_status pt_fs_list(const char *path, void (*fn)(void *ctx, const char *name, bool folder),
                     void *ctx, pt_error *err)
{
    int fd = pt_fs_call_open(path, O_RDONLY | O_DIRECTORY);
    if (fd < 0) return pt_fs_fail(err, -fd, "list", path);
    name_list list = {0};
    int error = read_names(fd, &list);
    for (int64_t i = 0; !error && i < list.n; i++) {
        struct stat info;
        bool folder = fstatat(fd, list.sorted[i], &info, 0) == 0 && S_ISDIR(info.st_mode);
        fn(ctx, list.sorted[i], folder);
    }
    free_names(&list);
    close(fd);
    return error ? pt_fs_fail(err, error, "list", path) : PT_OK;
}

static void note_entry(void *ctx, const char *name, bool folder)
{
    (void)name, (void)folder;
    *(bool *)ctx = false;
}

pt_status pt_fs_is_empty(const char *path, bool *empty, pt_error *err)
{
    *empty = true;
    pt_status s = pt_fs_list(path, note_entry, empty, err);
    if (s) *empty = false;
    return s;
}

/* ---- removing ---- */
/* Removes `name` in the folder `parent`. Symbolic links are removed, never followed: each level is
 * opened relative to the one above, so a tree that is changed meanwhile leads nowhere else. */
static int remove_at(int parent, const char *name, int depth)
{
    struct stat info;
    if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? 0 : errno;
    pt_fs_call_moment();
    if (!S_ISDIR(info.st_mode))
        return unlinkat(parent, name, 0) == 0 || errno == ENOENT ? 0 : errno;
    if (depth == MAX_DEPTH) return ELOOP;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return errno;
    name_list list = {0};
    int error = read_names(fd, &list);
    for (int64_t i = 0; !error && i < list.n; i++) error = remove_at(fd, list.sorted[i], depth + 1);
    free_names(&list);
    close(fd);
    if (error) return error;
    pt_fs_call_moment();
    return unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : errno;
}

pt_status pt_fs_remove(const char *path, pt_error *err)
{
    char plain[PT_FS_PATH_MAX];
    /* With a slash behind it, the name of a link would mean the folder it points to. */
    if (trim(plain, path)) return pt_fs_fail(err, ENAMETOOLONG, "remove", path);
    const char *slash = strrchr(plain, '/'), *name = slash ? slash + 1 : plain;
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return pt_fail(err, PT_BAD_INPUT, "refusing to remove '%s': give the name itself", path);
    int error = remove_at(AT_FDCWD, plain, 0);
    if (error == ENOTDIR) error = 0; /* below a file there is nothing */
    return error ? pt_fs_fail(err, error, "remove", path) : PT_OK;
}

pt_status pt_fs_remove_empty(const char *path, pt_error *err)
{
    pt_fs_call_moment();
    if (rmdir(path) == 0 || errno == ENOTEMPTY || errno == EEXIST || errno == ENOENT) return PT_OK;
    return pt_fs_fail(err, errno, "remove", path);
}

/* ---- sweeping ---- */
/* The PID in ".NAME.PID.N.tmp" and the length of ".NAME"; 0 for any other name. */
static pid_t owner_of(const char *name, size_t *named)
{
    size_t n = strlen(name), digits[2];
    if (name[0] != '.' || n < 8 || strcmp(name + n - 4, ".tmp") != 0) return 0;
    n -= 4;
    for (int i = 1; i >= 0; i--) { /* N, then PID */
        size_t end = n;
        while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9') n--;
        digits[i] = n;
        if (n == end || end - n > 10 || n < 2 || name[n - 1] != '.') return 0;
        n--;
    }
    *named = n;
    long pid = strtol(name + digits[0], NULL, 10);
    return pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

typedef struct sweep {
    const char *folder;
    const char *
        like; /* folders too, and only what stands beside the path that this name is made of; or NULL */
    int64_t *swept;
    pt_status status;
    pt_error *err;
} sweep;

static void sweep_one(void *ctx, const char *name, bool folder)
{
    sweep *w = ctx;
    char path[PT_FS_PATH_MAX];
    size_t n = 0, n_like = 0;
    pid_t pid = owner_of(name, &n);
    if (!pid || w->status || !pt_fs_join(path, sizeof path, w->folder, name)) return;
    if (w->like)
        if (!owner_of(w->like, &n_like) || n != n_like || memcmp(name, w->like, n) != 0) return;
    if (folder && (!w->like || pt_fs_is_link(path))) return;
    if (pid != getpid() && (kill(pid, 0) == 0 || errno != ESRCH)) return;
    w->status = pt_fs_remove(path, w->err);
    *w->swept += w->status == PT_OK;
}

pt_status pt_fs_sweep(const char *folder, int64_t *swept, pt_error *err)
{
    sweep w = {.folder = folder, .swept = swept, .err = err};
    pt_status s = pt_fs_list(folder, sweep_one, &w, err);
    return s ? s : w.status;
}

pt_status pt_fs_sweep_beside(const char *path, int64_t *swept, pt_error *err)
{
    char plain[PT_FS_PATH_MAX], name[PT_FS_PATH_MAX], parent[PT_FS_PATH_MAX];
    if (trim(plain, path) || !pt_fs_parent(parent, plain) || !pt_fs_temp_name(name, plain))
        return pt_fs_fail(err, ENAMETOOLONG, "list the folder of", path);
    const char *slash = strrchr(name, '/');
    sweep w = {.folder = parent, .like = slash ? slash + 1 : name, .swept = swept, .err = err};
    pt_status s = pt_fs_list(parent, sweep_one, &w, err);
    return s ? s : w.status;
}

pt_status pt_fs_rename(const char *from, const char *to, pt_error *err)
{
    if (pt_fs_exists(to)) return pt_fs_fail(err, EEXIST, "rename to", to);
    int error = pt_fs_call_rename(from, to);
    if (!error) error = pt_fs_call_sync_parent(to);
    return error ? pt_fs_fail(err, error, "rename", from) : PT_OK;
}
