/* Folders of token shards. SPDX-License-Identifier: MIT */
#include "train/shard_folder.h"

#include "base/atomic_file.h"

#define PIECE_BYTES (1 << 20)

static bool is_shard_name(const char *name)
{
    return pt_str_starts(name, "shard-") && pt_str_ends(name, ".bin");
}

static pt_status shard_path(char out[PT_FS_PATH_MAX], const char *folder, int64_t index,
                            pt_error *err)
{
    char name[48];
    pt_format(name, sizeof name, "shard-%05lld.bin", (long long)index);
    return pt_fs_path(out, folder, name, err);
}

/* ---- reading ---- */

static void count_shard(void *ctx, const char *name, bool folder)
{
    if (!folder && is_shard_name(name)) ++*(int64_t *)ctx;
}

bool pt_shard_folder_is(const char *path)
{
    int64_t n = 0;
    return pt_fs_is_folder(path) && pt_fs_list(path, count_shard, &n, NULL) == PT_OK && n > 0;
}

/* Opens shard number out->n. */
static pt_status open_next(pt_shard_folder *out, const char *folder, pt_error *err)
{
    char path[PT_FS_PATH_MAX];
    uint8_t header[PT_SHARD_HEADER_BYTES];
    pt_shard_file *file = &out->file[out->n];
    pt_status s = shard_path(path, folder, out->n, err);
    if (s) return s;
    if (!pt_fs_exists(path))
        return pt_fail(err, PT_CORRUPT,
                       "'%s' is missing, and shards after it are there: put it back, or make the "
                       "shards again",
                       path);
    const char *kept = pt_arena_copy(&out->memory, path, strlen(path));
    if (!kept) return pt_fail(err, PT_NO_MEMORY, "no memory for a list of shards");
    s = pt_open_files_add(out->files, kept, &file->file, err);
    int64_t size = file->file.size, n = pt_min_i64(size, PT_SHARD_HEADER_BYTES);
    if (s == PT_OK) s = pt_open_files_read(out->files, &file->file, 0, header, n, err);
    if (s) return s;
    s = pt_shard_read_header(&file->shard, header, n, size, err);
    const pt_shard *before = out->n > 0 ? &file[-1].shard : NULL;
    if (s == PT_OK) s = pt_shard_check_order(before, &file->shard, err);
    if (s) pt_error_prefix(err, "%s", path);
    out->bytes += size;
    out->n++;
    return s;
}

pt_status pt_shard_folder_open(pt_shard_folder *out, const char *path, pt_open_files *files,
                               pt_error *err)
{
    int64_t n = 0;
    *out = (pt_shard_folder){.files = files};
    if (pt_fs_size(path) >= 0)
        return pt_fail(err, PT_BAD_INPUT, "'%s' is a file: give the folder that holds its shards",
                       path);
    pt_status s = pt_fs_list(path, count_shard, &n, err);
    if (s) return s;
    if (n == 0)
        return pt_fail(err, PT_BAD_INPUT,
                       "'%s' holds no token shards: posttrain data shard makes them", path);
    out->file = pt_arena_array(&out->memory, n, sizeof *out->file);
    if (!out->file) s = pt_fail(err, PT_NO_MEMORY, "no memory for a list of shards");
    while (s == PT_OK && out->n < n) s = open_next(out, path, err);
    if (s == PT_OK) {
        out->last = &out->file[n - 1].shard;
        out->tokens = out->last->first + out->last->n;
        s = pt_shard_check_order(out->last, NULL, err);
        if (s) pt_error_prefix(err, "%s", path);
    }
    if (s) pt_shard_folder_close(out);
    return s;
}

typedef struct verifying {
    pt_open_files *files;
    const pt_job *job;
    pt_sha256 stream;
    uint8_t *piece; /* [PIECE_BYTES] */
    int64_t done;
} verifying;

/* One body: its own checksum, and the stream's up to its end. */
static pt_status verify_file(verifying *v, const pt_shard_file *file, pt_error *err)
{
    uint32_t crc = 0;
    uint8_t digest[32];
    int64_t n = 0, size = file->file.size;
    for (int64_t at = PT_SHARD_HEADER_BYTES; at < size; at += n) {
        n = pt_min_i64(PIECE_BYTES, size - at);
        pt_status s = pt_open_files_read(v->files, &file->file, at, v->piece, n, err);
        if (s) return s;
        crc = pt_crc32c(crc, v->piece, (size_t)n);
        pt_sha256_update(&v->stream, v->piece, (size_t)n);
        v->done += n;
        s = v->job->fn ? v->job->fn(v->job->ctx, v->done, err) : PT_OK;
        if (s) return s;
    }
    pt_sha256 so_far = v->stream;
    pt_sha256_final(&so_far, digest);
    if (crc != file->shard.body_crc32c)
        return pt_fail(err, PT_CORRUPT, "%s: the checksum of its tokens is wrong: it was damaged",
                       file->file.path);
    if (memcmp(digest, file->shard.sha256, sizeof digest) != 0)
        return pt_fail(err, PT_CORRUPT, "%s: it is whole, but of another stream", file->file.path);
    return PT_OK;
}

pt_status pt_shard_folder_verify(const pt_shard_folder *folder, const pt_job *job, pt_error *err)
{
    verifying v = {.files = folder->files, .job = job, .piece = pt_alloc(PIECE_BYTES)};
    if (!v.piece) return pt_fail(err, PT_NO_MEMORY, "no memory to read a shard");
    pt_sha256_init(&v.stream);
    pt_status s = PT_OK;
    for (int64_t i = 0; i < folder->n && s == PT_OK; i++)
        s = verify_file(&v, &folder->file[i], err);
    pt_free(v.piece);
    return s;
}

void pt_shard_folder_close(pt_shard_folder *folder)
{
    pt_arena_deinit(&folder->memory);
    *folder = (pt_shard_folder){0};
}

/* ---- making ---- */

struct pt_shard_maker {
    char path[PT_FS_PATH_MAX],
        folder[PT_FS_PATH_MAX]; /* what it will be called; where it is made */
    pt_shard_writer writer;
    pt_atomic_file *file; /* the shard under way, or NULL */
    int64_t shard_tokens;
    uint8_t separator[PT_SHARD_SEPARATOR_MAX];
    bool new_document;
};

pt_status pt_shard_maker_new(pt_shard_maker **out, const char *path, int64_t shard_tokens,
                             const pt_shard *like, pt_error *err)
{
    *out = NULL;
    int64_t swept = 0;
    bool empty = true;
    if (shard_tokens < 1)
        return pt_fail(err, PT_BAD_INPUT, "shards of %lld tokens: at least 1 is needed",
                       (long long)shard_tokens);
    if (pt_fs_exists(path) && !pt_fs_is_folder(path))
        return pt_fail(err, PT_EXISTS, "'%s' is a file: choose another --out", path);
    pt_shard_maker *m = pt_alloc(sizeof *m);
    if (!m) return pt_fail(err, PT_NO_MEMORY, "no memory to make shards");
    m->shard_tokens = shard_tokens;
    pt_status s = PT_OK;
    if (pt_fs_exists(path)) s = pt_fs_is_empty(path, &empty, err);
    if (s == PT_OK && !empty)
        s = pt_fail(err, PT_EXISTS, "'%s' is not empty: choose another --out", path);
    if (s == PT_OK) s = pt_shard_writer_init(&m->writer, like, err);
    for (int i = 0; i < like->n_separator; i++) m->separator[i] = (uint8_t)like->separator[i];
    if (s == PT_OK && pt_format(m->path, sizeof m->path, "%s", path) >= PT_FS_PATH_MAX - 64)
        s = pt_fail(err, PT_BAD_INPUT, "the path of --out is too long");
    /* What a killed process left there; where it cannot be removed, it is in nobody's way. */
    if (s == PT_OK) (void)pt_fs_sweep_beside(path, &swept, NULL);
    if (s == PT_OK) s = pt_fs_temp_folder(path, m->folder, sizeof m->folder, err);
    if (s) pt_free(m);
    else *out = m;
    return s;
}

void pt_shard_maker_document(pt_shard_maker *m) { m->new_document = true; }

static pt_status begin_shard(pt_shard_maker *m, pt_error *err)
{
    char path[PT_FS_PATH_MAX];
    pt_status s = shard_path(path, m->folder, m->writer.shard.index, err);
    if (s == PT_OK) s = pt_atomic_file_open(&m->file, path, false, err);
    if (s) return s;
    pt_sink sink = pt_sink_to_file(m->file);
    return pt_shard_writer_begin(&m->writer, &sink, err);
}

static pt_status end_shard(pt_shard_maker *m, bool last, pt_error *err)
{
    pt_status s = pt_shard_writer_end(&m->writer, last, err);
    if (s) return s;
    s = pt_atomic_file_commit(m->file, err);
    m->file = NULL;
    return s;
}

/* A shard with room for a token. A full one stays open until then, as it may be the last. */
static pt_status make_room(pt_shard_maker *m, pt_error *err)
{
    pt_status s = PT_OK;
    if (m->file && m->writer.shard.n == m->shard_tokens) s = end_shard(m, false, err);
    return s == PT_OK && !m->file ? begin_shard(m, err) : s;
}

static pt_status put_tokens(pt_shard_maker *m, const uint8_t *bytes, int64_t n, pt_error *err)
{
    while (n > 0) {
        pt_status s = make_room(m, err);
        int64_t some = pt_min_i64(n, m->shard_tokens - m->writer.shard.n);
        if (s == PT_OK) s = pt_shard_writer_put(&m->writer, bytes, some, err);
        if (s) return s;
        bytes += some;
        n -= some;
    }
    return PT_OK;
}

pt_status pt_shard_maker_put(pt_shard_maker *m, const void *bytes, int64_t n, pt_error *err)
{
    if (n > 0 && m->new_document) {
        pt_shard *shard = &m->writer.shard;
        pt_status s = PT_OK;
        if (shard->documents) s = put_tokens(m, m->separator, shard->n_separator, err);
        if (s == PT_OK) s = make_room(m, err); /* it begins in the shard that counts it */
        if (s) return s;
        shard->documents++;
        m->new_document = false;
    }
    return put_tokens(m, bytes, n, err);
}

pt_status pt_shard_maker_end(pt_shard_maker *m, pt_shard *total, pt_error *err)
{
    pt_status s = m->file ? end_shard(m, true, err)
                          : pt_fail(err, PT_BAD_INPUT, "there is no text to make shards of");
    if (s == PT_OK) s = pt_fs_place_folder(m->folder, m->path, err);
    *total = m->writer.shard;
    if (s) pt_shard_maker_discard(m);
    else pt_free(m);
    return s;
}

void pt_shard_maker_discard(pt_shard_maker *m)
{
    if (!m) return;
    pt_atomic_file_discard(m->file);
    pt_fs_remove(m->folder, NULL);
    pt_free(m);
}
