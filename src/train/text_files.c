/* Finding text files. SPDX-License-Identifier: MIT */
#include "train/text_files.h"

#include "base/fs.h"
#include "base/strings.h"
#include "io/shard.h"
#include "train/run_folder.h"

#define LOOK_BYTES (64 * 1024) /* of a file that decide whether it is text */
#define MAX_DEPTH 64           /* of folders */
#define STDIN_PATH "/dev/stdin"

typedef struct walk {
    pt_text_files *files;
    const char *folder;
    int depth;
    pt_status status;
    pt_error *err;
} walk;

static void skip(const pt_text_files *files, const char *path, const char *why)
{
    if (files->skipped.fn) files->skipped.fn(files->skipped.ctx, path, why);
}

static pt_status append(pt_text_files *files, const char *path, int64_t bytes, pt_error *err)
{
    size_t size = sizeof *files->file;
    if (files->n == files->cap) {
        int64_t cap = pt_max_i64(64, 2 * files->cap);
        void *more = pt_realloc(files->file, (size_t)files->cap * size, (size_t)cap * size);
        if (more) files->file = more;
        if (more) files->cap = cap;
    }
    const char *kept = pt_arena_copy(&files->names, path, strlen(path));
    if (!kept || files->n == files->cap)
        return pt_fail(err, PT_NO_MEMORY, "no memory for a list of %lld files",
                       (long long)files->n);
    files->file[files->n++] = (pt_text_file){kept, bytes};
    return PT_OK;
}

/* The begin of a file that is open: NULL when it is text, else why not. */
static pt_status look(const pt_file_reader *reader, const char *path, const char **why,
                      pt_error *err)
{
    int64_t n = pt_min_i64(LOOK_BYTES, reader->size);
    char *begin = pt_alloc(LOOK_BYTES);
    if (!begin) return pt_fail(err, PT_NO_MEMORY, "no memory to look into '%s'", path);
    pt_status s = pt_file_reader_read(reader, path, 0, begin, n, err);
    size_t whole = n < reader->size ? pt_utf8_complete(begin, (size_t)n) : (size_t)n;
    *why = NULL;
    if (s == PT_OK && memchr(begin, 0, (size_t)n)) *why = "it is no text: it holds a zero byte";
    else if (s == PT_OK && !pt_utf8_valid(begin, whole)) *why = "it is no text in UTF-8";
    pt_free(begin);
    return s;
}

/* A file in a folder. */
static pt_status add_found(pt_text_files *files, const char *path, pt_error *err)
{
    const char *why = NULL;
    int64_t bytes = pt_fs_size(path);
    if (bytes < 0) why = "it is no regular file";
    else if (bytes == 0) why = "it is empty";
    pt_file_reader reader = {0};
    pt_status s = why ? PT_OK : pt_file_reader_open(&reader, path, err);
    if (s == PT_OK && !why) s = look(&reader, path, &why, err);
    pt_file_reader_close(&reader);
    if (s || !why) return s ? s : append(files, path, bytes, err);
    skip(files, path, why);
    return PT_OK;
}

static pt_status add_folder(pt_text_files *files, const char *path, int depth, pt_error *err);

/* A folder in a folder. What a run writes grows while it learns: were it a part of the text, the run could never go on. */
static pt_status add_below(walk *w, const char *path)
{
    if (!pt_run_folder_is(path)) return add_folder(w->files, path, w->depth + 1, w->err);
    w->files->runs++;
    skip(w->files, path, "it is the folder of a run");
    return PT_OK;
}

static void visit(void *ctx, const char *name, bool folder)
{
    walk *w = ctx;
    char path[PT_FS_PATH_MAX];
    if (w->status == PT_OK) w->status = pt_fs_path(path, w->folder, name, w->err);
    if (w->status) return;
    if (name[0] == '.') skip(w->files, path, "its name begins with a dot");
    else if (!folder) w->status = add_found(w->files, path, w->err);
    else if (pt_fs_is_link(path)) skip(w->files, path, "it is a link to a folder");
    else w->status = add_below(w, path);
}

static pt_status add_folder(pt_text_files *files, const char *path, int depth, pt_error *err)
{
    walk w = {.files = files, .folder = path, .depth = depth, .err = err};
    if (depth > MAX_DEPTH)
        return pt_fail(err, PT_BAD_INPUT, "'%s' is more than %d folders deep", path, MAX_DEPTH);
    pt_status s = pt_fs_list(path, visit, &w, err);
    return s ? s : w.status;
}

/* A file that was named. */
static pt_status add_named(pt_text_files *files, const char *path, pt_error *err)
{
    pt_file_reader reader = {0};
    uint8_t begin[8];
    int64_t bytes = pt_fs_size(path), n = pt_min_i64((int64_t)sizeof begin, bytes);
    /* A pipe has no size, and files under /proc say 0: what is in them is seen when they are read. */
    if (bytes <= 0 && pt_fs_exists(path)) return append(files, path, -1, err);
    pt_status s = pt_file_reader_open(&reader, path, err);
    if (s == PT_OK) s = pt_file_reader_read(&reader, path, 0, begin, n, err);
    pt_file_reader_close(&reader);
    if (s) return s;
    if (pt_shard_is(begin, n))
        return pt_fail(err, PT_BAD_INPUT, "'%s' is one token shard: give the folder of all", path);
    return append(files, path, bytes, err);
}

pt_status pt_text_files_add(pt_text_files *files, const char *path, pt_error *err)
{
    if (strcmp(path, "-") != 0)
        return pt_fs_is_folder(path) ? add_folder(files, path, 0, err)
                                     : add_named(files, path, err);
    for (int64_t i = 0; i < files->n; i++)
        if (strcmp(files->file[i].path, STDIN_PATH) == 0)
            return pt_fail(err, PT_BAD_INPUT, "standard input (-) can be given once only");
    return append(files, STDIN_PATH, -1, err);
}

void pt_text_files_deinit(pt_text_files *files)
{
    pt_free(files->file);
    pt_arena_deinit(&files->names);
    *files = (pt_text_files){0};
}
