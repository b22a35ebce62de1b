/* Checkpoints.
 *
 * Invariants, in the order in which a save establishes them:
 *  1. A file of a checkpoint appears under its name only when all of its bytes are on disk
 *     (base/atomic_file: temporary file, fsync, rename, fsync of the folder).
 *  2. manifest.json is written after every file it names, with the sizes and checksums read back from them. A
 *     folder without a valid manifest is not a checkpoint.
 *  3. RUN/model.tinygpt changes only after the manifest exists, and in one step: it is always the model of a
 *     complete checkpoint.
 *  4. No file of an older checkpoint is touched by a save.
 * SPDX-License-Identifier: MIT */
#include "io/checkpoint.h"

#include "base/atomic_file.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"

#define PATH_BYTES 1024

struct pt_checkpoint {
    char run[PATH_BYTES], folder[PATH_BYTES], model[PATH_BYTES];
    int64_t step;
    pt_atomic_file *file;
};

static pt_status write_bytes(void *ctx, const void *bytes, int64_t n, pt_error *err)
{
    return pt_atomic_file_write(((pt_checkpoint *)ctx)->file, bytes, n, err);
}

static pt_status patch_bytes(void *ctx, int64_t offset, const void *bytes, int64_t n, pt_error *err)
{
    return pt_atomic_file_patch(((pt_checkpoint *)ctx)->file, offset, bytes, n, err);
}

static pt_status name_files(pt_checkpoint *c, const char *run_folder, pt_error *err)
{
    char name[64];
    pt_format(name, sizeof name, "checkpoints/step-%08lld", (long long)c->step);
    if (pt_format(c->run, PATH_BYTES, "%s", run_folder) < PATH_BYTES &&
        pt_fs_join(c->folder, PATH_BYTES, run_folder, name) &&
        pt_fs_join(c->model, PATH_BYTES, c->folder, "model.tinygpt"))
        return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "the run folder's path is too long");
}

static bool has_manifest(const pt_checkpoint *c)
{
    char manifest[PATH_BYTES];
    return pt_fs_join(manifest, sizeof manifest, c->folder, "manifest.json") &&
           pt_fs_exists(manifest);
}

/* A folder without a manifest is no checkpoint and would only fill the disk. */
static void remove_incomplete(const pt_checkpoint *c)
{
    if (!has_manifest(c) && pt_fs_is_folder(c->folder)) pt_fs_remove(c->folder, NULL);
}

pt_status pt_checkpoint_begin(pt_checkpoint **out, const char *run_folder, int64_t step,
                              pt_sink *sink, pt_error *err)
{
    *out = NULL;
    pt_checkpoint *c = pt_alloc(sizeof *c);
    if (!c) return pt_fail(err, PT_NO_MEMORY, "no memory for a checkpoint");
    c->step = step;
    pt_status s = name_files(c, run_folder, err);
    if (s == PT_OK && has_manifest(c)) /* invariant 4 */
        s = pt_fail(err, PT_EXISTS, "%s is a complete checkpoint already", c->folder);
    if (s) {
        pt_free(c);
        return s;
    }
    s = pt_fs_make_folder(c->folder, err);
    if (s == PT_OK) s = pt_atomic_file_open(&c->file, c->model, true, err);
    if (s) {
        remove_incomplete(c);
        pt_free(c);
        return s;
    }
    *sink = (pt_sink){.write = write_bytes, .patch = patch_bytes, .ctx = c};
    *out = c;
    return PT_OK;
}

typedef struct file_sum {
    uint32_t crc;
    int64_t bytes;
} file_sum;

static void add_to_sum(void *ctx, const void *bytes, size_t n)
{
    file_sum *sum = ctx;
    sum->crc = pt_crc32c(sum->crc, bytes, n);
    sum->bytes += (int64_t)n;
}

/* Reads the file back, so the manifest states what is on disk. */
static pt_status write_manifest(const pt_checkpoint *c, pt_error *err)
{
    char path[PATH_BYTES], crc[16];
    file_sum sum = {0};
    pt_status s = pt_fs_stream(c->model, add_to_sum, &sum, err);
    if (s) return s;
    pt_format(crc, sizeof crc, "%08x", sum.crc);
    pt_strbuf text = {0};
    pt_json_writer w = pt_json_writer_begin(&text, 2);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "format", "posttrain-checkpoint");
    pt_json_i64(&w, "version", 1);
    pt_json_i64(&w, "step", c->step);
    pt_json_begin_array(&w, "files");
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "name", "model.tinygpt");
    pt_json_i64(&w, "bytes", sum.bytes);
    pt_json_string(&w, "crc32c", crc);
    pt_json_end_object(&w);
    pt_json_end_array(&w);
    pt_json_end_object(&w);
    pt_strbuf_putc(&text, '\n');
    if (text.failed || !pt_fs_join(path, sizeof path, c->folder, "manifest.json"))
        s = pt_fail(err, PT_NO_MEMORY, "no memory for a manifest");
    if (s == PT_OK) s = pt_atomic_file_put(path, true, text.data, (int64_t)text.len, err);
    pt_strbuf_deinit(&text);
    return s;
}

pt_status pt_checkpoint_commit(pt_checkpoint *c, pt_error *err)
{
    char newest[PATH_BYTES];
    pt_status s = pt_atomic_file_commit(c->file, err);
    c->file = NULL;
    if (s == PT_OK) s = write_manifest(c, err);
    if (s == PT_OK && !pt_fs_join(newest, sizeof newest, c->run, "model.tinygpt"))
        s = pt_fail(err, PT_BAD_INPUT, "the run folder's path is too long");
    if (s == PT_OK) s = pt_fs_publish(c->model, newest, err);
    if (s) remove_incomplete(c);
    pt_free(c);
    return s;
}

void pt_checkpoint_discard(pt_checkpoint *c)
{
    if (!c) return;
    pt_atomic_file_discard(c->file);
    remove_incomplete(c);
    pt_free(c);
}
