/* Checkpoints.
 *
 * Invariants, in the order in which a save establishes them; tests/fault/ breaks in between:
 *  I1. A file of a checkpoint appears under its name only when all of its bytes are on disk
 *      (base/atomic_file: temporary file, fsync, rename, fsync of the folder).
 *  I2. manifest.json is written after the file it names, with the size and checksum read back from it, and it is
 *      replaced in one step. A folder without a manifest is no checkpoint; one whose manifest does not tell the
 *      truth is refused, with the reason, and the one before it is used. A sweep gives a folder that holds a whole
 *      model of its step, and no manifest, one.
 *  I3. RUN/model.tinygpt changes only after the manifest exists, and in one step: it is always the model of a
 *      complete checkpoint. When a run goes on from an older one, a model that only it holds gets another name.
 *  I4. Until then no file of another checkpoint is touched. A step that is saved again gets a second model file
 *      and then a manifest that names it, so the first one stays good until the second one is.
 *  I5. Checkpoints are deleted only after the newest one was read back and its checksums hold, the manifest
 *      first; never the newest, never the best. One of a newer program is not ours to judge: it counts as none of
 *      them, is never deleted, and keeps its name until its step is saved again, when it is set aside.
 *  I6. best.json (checkpoint_best.c) is replaced in one step and names a checkpoint that was complete then. One that
 *      cannot be read is not taken for none: the best is then told from the newest checkpoint's header.
 * SPDX-License-Identifier: MIT */
#include "io/checkpoint.h"

#include "base/atomic_file.h"
#include "base/fs.h"
#include "base/hash.h"
#include "io/note.h"

#define VERSION 1
#define ANY_STEP (-1)

static const char *const model_names[] = {"model.tinygpt", "model-2.tinygpt"};

struct pt_checkpoint {
    char run[PT_FS_PATH_MAX], folder[PT_FS_PATH_MAX], model[PT_FS_PATH_MAX];
    const char *name; /* of the model's file in the folder */
    int64_t step;
    pt_atomic_file *file;
};

/* What a manifest says. */
typedef struct manifest {
    int64_t step, bytes;
    uint32_t crc;
    const char *name; /* one of model_names */
} manifest;

/* ---- names ---- */

static void step_name(char out[40], int64_t step)
{
    pt_format(out, 40, "step-%08lld", (long long)step);
}

static pt_status step_folder(char out[PT_FS_PATH_MAX], const char *run_folder, int64_t step,
                             pt_error *err)
{
    char name[40], path[64];
    step_name(name, step);
    pt_format(path, sizeof path, "checkpoints/%s", name);
    return pt_fs_path(out, run_folder, path, err);
}

static bool has_manifest(const char *folder)
{
    char path[PT_FS_PATH_MAX];
    return pt_fs_join(path, sizeof path, folder, "manifest.json") && pt_fs_exists(path);
}

/* Behind a link may stand what is not the run's. */
static pt_status fail_link(const char *path, pt_error *err)
{
    return pt_fail(err, PT_BAD_INPUT, "%s is a link: put the folder itself there", path);
}

/* The step of "step-00000500", -1 for any other name, as of a folder that only looks like one of ours. */
static int64_t step_of(const char *name)
{
    int64_t step = 0;
    char ours[40];
    if (!pt_str_starts(name, "step-") || strlen(name) > 23) return -1;
    for (const char *p = name + 5; *p; p++) {
        if (*p < '0' || *p > '9') return -1;
        step = step * 10 + (*p - '0');
    }
    step_name(ours, step);
    return strcmp(name, ours) == 0 ? step : -1;
}

/* ---- the manifest ---- */

static const pt_note_kind manifest_kind = {"posttrain-checkpoint", VERSION, "manifest.json"};

static bool parse_crc(const char *text, uint32_t *out)
{
    return text && strlen(text) == 8 && pt_unhex_u32(text, out);
}

static pt_status parse_manifest(const pt_json *json, manifest *m, pt_error *err)
{
    const pt_json *files = pt_json_get(json, "files");
    if (!files || files->type != PT_JSON_ARRAY || files->n_children != 1)
        return pt_fail(err, PT_CORRUPT, "manifest.json: files must hold one file");
    const char *name = pt_json_get_string(files->child, "name");
    m->name = NULL;
    for (int i = 0; i < 2 && name; i++)
        if (strcmp(name, model_names[i]) == 0) m->name = model_names[i];
    if (!m->name)
        return pt_fail(err, PT_CORRUPT, "manifest.json: files names '%s', it must be %s",
                       name ? name : "nothing", model_names[0]);
    if (!pt_json_get_i64(json, "step", &m->step) ||
        !pt_json_get_i64(files->child, "bytes", &m->bytes) ||
        !parse_crc(pt_json_get_string(files->child, "crc32c"), &m->crc))
        return pt_fail(err, PT_CORRUPT, "manifest.json: it lacks step, bytes or crc32c");
    return PT_OK;
}

static pt_status read_manifest(const char *folder, manifest *m, pt_error *err)
{
    char path[PT_FS_PATH_MAX];
    pt_arena arena = {0};
    const pt_json *json = NULL;
    pt_status s = pt_fs_path(path, folder, "manifest.json", err);
    if (s) return s;
    s = pt_note_read(path, &manifest_kind, &arena, &json, err);
    if (s == PT_OK) s = parse_manifest(json, m, err);
    if (s == PT_BAD_INPUT) s = PT_CORRUPT; /* it is ours, so it was whole once */
    if (err && s) err->status = s;
    pt_arena_deinit(&arena);
    return s;
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

/* The bytes are those of the manifest. Read rather than mapped, so that a bad disk is an error. */
static pt_status check_bytes(const char *path, const manifest *m, pt_error *err)
{
    file_sum sum = {0};
    if (!pt_fs_exists(path)) return pt_fail(err, PT_CORRUPT, "%s is missing", m->name);
    pt_status s = pt_fs_stream(path, add_to_sum, &sum, err);
    if (s) return s;
    if (sum.bytes != m->bytes)
        return pt_fail(err, PT_CORRUPT, "%s has %lld bytes, the manifest says %lld", m->name,
                       (long long)sum.bytes, (long long)m->bytes);
    if (sum.crc != m->crc)
        return pt_fail(err, PT_CORRUPT,
                       "%s is damaged: its checksum is %08x, the manifest says %08x", m->name,
                       sum.crc, m->crc);
    return PT_OK;
}

/* ---- of a newer program ---- */

static bool model_is_newer(const char *path)
{
    pt_file_view view = {0};
    pt_tinygpt *file = NULL;
    pt_status s = pt_file_view_open(&view, path, NULL);
    if (s == PT_OK) s = pt_tinygpt_open(&file, view.data, view.size, NULL);
    pt_tinygpt_close(file);
    pt_file_view_close(&view);
    return s == PT_UNSUPPORTED;
}

/* The manifest says so; else a model does, which is as the manifest says, or has none. */
static bool is_newer(const char *folder)
{
    char path[PT_FS_PATH_MAX];
    manifest m = {.name = NULL};
    pt_status s = has_manifest(folder) ? read_manifest(folder, &m, NULL) : PT_NOT_FOUND;
    if (s == PT_UNSUPPORTED) return true;
    for (int i = 0; i < 2; i++) {
        if (m.name && m.name != model_names[i]) continue;
        if (!pt_fs_join(path, sizeof path, folder, model_names[i]) || !model_is_newer(path))
            continue;
        if (s || check_bytes(path, &m, NULL) == PT_OK) return true;
    }
    return false;
}

bool pt_checkpoint_is_newer(const char *run_folder, int64_t step)
{
    char folder[PT_FS_PATH_MAX];
    return step_folder(folder, run_folder, step, NULL) == PT_OK && is_newer(folder);
}

/* ---- writing a manifest ---- */

/* Of the file `name` in a folder. Reads it back, so the manifest states what is on disk. */
static pt_status write_manifest(const char *folder, int64_t step, const char *name, pt_error *err)
{
    char path[PT_FS_PATH_MAX], crc[16];
    file_sum sum = {0};
    if (!pt_fs_join(path, sizeof path, folder, name))
        return pt_fail(err, PT_BAD_INPUT, "the run folder's path is too long");
    pt_status s = pt_fs_stream(path, add_to_sum, &sum, err);
    if (s) return s;
    pt_format(crc, sizeof crc, "%08x", sum.crc);
    pt_strbuf text = {0};
    pt_json_writer w = pt_json_writer_begin(&text, 2);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "format", manifest_kind.format);
    pt_json_i64(&w, "version", VERSION);
    pt_json_i64(&w, "step", step);
    pt_json_begin_array(&w, "files");
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "name", name);
    pt_json_i64(&w, "bytes", sum.bytes);
    pt_json_string(&w, "crc32c", crc);
    pt_json_end_object(&w);
    pt_json_end_array(&w);
    pt_json_end_object(&w);
    pt_strbuf_putc(&text, '\n');
    if (text.failed) s = pt_fail(err, PT_NO_MEMORY, "no memory for a manifest");
    if (s == PT_OK) s = pt_fs_path(path, folder, "manifest.json", err);
    if (s == PT_OK) s = pt_atomic_file_put(path, true, text.data, (int64_t)text.len, err);
    pt_strbuf_deinit(&text);
    return s;
}

/* ---- saving ---- */

static pt_status write_bytes(void *ctx, const void *bytes, int64_t n, pt_error *err)
{
    return pt_atomic_file_write(((pt_checkpoint *)ctx)->file, bytes, n, err);
}

static pt_status patch_bytes(void *ctx, int64_t offset, const void *bytes, int64_t n, pt_error *err)
{
    return pt_atomic_file_patch(((pt_checkpoint *)ctx)->file, offset, bytes, n, err);
}

/* The folder, and a name that the folder's manifest, if it has one, does not use (I4). */
static pt_status name_files(pt_checkpoint *c, const char *run_folder, pt_error *err)
{
    manifest old = {.name = NULL};
    pt_status s = step_folder(c->folder, run_folder, c->step, err);
    if (s) return s;
    if (pt_fs_is_link(c->folder)) return fail_link(c->folder, err);
    if (is_newer(c->folder)) s = pt_checkpoint_set_aside(run_folder, c->step, err);
    else if (has_manifest(c->folder)) s = read_manifest(c->folder, &old, err);
    if (s) {
        pt_error_prefix(err, "%s", c->folder);
        return s;
    }
    c->name = old.name == model_names[0] ? model_names[1] : model_names[0];
    pt_format(c->run, sizeof c->run, "%s", run_folder); /* shorter than the folder in it */
    return pt_fs_path(c->model, c->folder, c->name, err);
}

/* Deletes a checkpoint, the manifest first: what is left of a deletion cut short is then none. What we did
 * not put there stays. */
static pt_status delete_ours(const char *folder, pt_error *err)
{
    const char *const names[] = {"manifest.json", model_names[0], model_names[1]};
    char path[PT_FS_PATH_MAX];
    pt_status s = PT_OK;
    for (int i = 0; i < 3 && s == PT_OK; i++)
        if (pt_fs_join(path, sizeof path, folder, names[i])) s = pt_fs_remove(path, err);
    return s ? s : pt_fs_remove_empty(folder, err);
}

/* A folder without a manifest is no checkpoint and would only fill the disk; nor is a model that the manifest
 * does not name of any use, as long as the one that it names is there. */
static void remove_useless(const char *folder)
{
    char path[PT_FS_PATH_MAX];
    manifest m;
    if (!pt_fs_is_folder(folder)) return;
    if (!has_manifest(folder)) {
        delete_ours(folder, NULL);
        return;
    }
    if (read_manifest(folder, &m, NULL) || !pt_fs_join(path, sizeof path, folder, m.name) ||
        !pt_fs_exists(path))
        return;
    for (int i = 0; i < 2; i++)
        if (model_names[i] != m.name && pt_fs_join(path, sizeof path, folder, model_names[i]))
            pt_fs_remove(path, NULL);
}

pt_status pt_checkpoint_begin(pt_checkpoint **out, const char *run_folder, int64_t step,
                              pt_sink *sink, pt_error *err)
{
    *out = NULL;
    pt_checkpoint *c = pt_alloc(sizeof *c);
    if (!c) return pt_fail(err, PT_NO_MEMORY, "no memory for a checkpoint");
    c->step = step;
    pt_status s = name_files(c, run_folder, err);
    if (s) {
        pt_free(c);
        return s;
    }
    s = pt_fs_make_folder(c->folder, err);
    if (s == PT_OK) s = pt_atomic_file_open(&c->file, c->model, true, err);
    if (s) {
        remove_useless(c->folder);
        pt_free(c);
        return s;
    }
    *sink = (pt_sink){.write = write_bytes, .patch = patch_bytes, .ctx = c};
    *out = c;
    return PT_OK;
}

static pt_status publish(const char *run_folder, const char *model, pt_error *err)
{
    char newest[PT_FS_PATH_MAX];
    pt_status s = pt_fs_path(newest, run_folder, "model.tinygpt", err);
    return s ? s : pt_fs_publish(model, newest, err);
}

pt_status pt_checkpoint_commit(pt_checkpoint *c, pt_error *err)
{
    pt_status s = pt_atomic_file_commit(c->file, err);
    c->file = NULL;
    if (s == PT_OK) s = write_manifest(c->folder, c->step, c->name, err);
    if (s == PT_OK) s = publish(c->run, c->model, err);
    remove_useless(c->folder);
    pt_free(c);
    return s;
}

void pt_checkpoint_discard(pt_checkpoint *c)
{
    if (!c) return;
    pt_atomic_file_discard(c->file);
    remove_useless(c->folder);
    pt_free(c);
}

/* ---- finding and reading ---- */

typedef struct search {
    const char *checkpoints;
    int64_t below, found;
} search;

static void consider(void *ctx, const char *name, bool folder)
{
    search *find = ctx;
    char path[PT_FS_PATH_MAX];
    int64_t step = folder ? step_of(name) : -1;
    if (step <= find->found || step >= find->below) return;
    if (pt_fs_join(path, sizeof path, find->checkpoints, name) && !pt_fs_is_link(path) &&
        has_manifest(path))
        find->found = step;
}

bool pt_checkpoint_is(const char *run_folder, int64_t step)
{
    char folder[PT_FS_PATH_MAX];
    return step_folder(folder, run_folder, step, NULL) == PT_OK && has_manifest(folder);
}

pt_status pt_checkpoint_before(const char *run_folder, int64_t below, int64_t *step, pt_error *err)
{
    char folder[PT_FS_PATH_MAX];
    search find = {folder, below, -1};
    *step = -1;
    pt_status s = pt_fs_path(folder, run_folder, "checkpoints", err);
    if (s || !pt_fs_is_folder(folder)) return s;
    s = pt_fs_list(folder, consider, &find, err);
    *step = find.found;
    return s;
}

static pt_status open_model(pt_checkpoint_file *out, const char *path, int64_t step, pt_error *err)
{
    pt_status s = pt_file_view_open(&out->view, path, err);
    if (s == PT_OK) s = pt_tinygpt_open(&out->file, out->view.data, out->view.size, err);
    if (s == PT_OK) s = pt_tinygpt_verify(out->file, err);
    if (s == PT_OK && step != ANY_STEP && pt_tinygpt_get(out->file)->step != step)
        s = pt_fail(err, PT_CORRUPT, "it is of step %lld",
                    (long long)pt_tinygpt_get(out->file)->step);
    if (s) pt_checkpoint_close(out);
    return s;
}

pt_status pt_checkpoint_open(pt_checkpoint_file *out, const char *run_folder, int64_t step,
                             pt_error *err)
{
    char folder[PT_FS_PATH_MAX], path[PT_FS_PATH_MAX];
    manifest m;
    *out = (pt_checkpoint_file){0};
    pt_status s = step_folder(folder, run_folder, step, err);
    if (s == PT_OK) s = read_manifest(folder, &m, err);
    if (s) return s;
    if (m.step != step)
        return pt_fail(err, PT_CORRUPT, "manifest.json is of step %lld", (long long)m.step);
    s = pt_fs_path(path, folder, m.name, err);
    if (s == PT_OK) s = check_bytes(path, &m, err);
    return s ? s : open_model(out, path, step, err);
}

pt_status pt_checkpoint_open_published(pt_checkpoint_file *out, const char *run_folder,
                                       pt_error *err)
{
    char path[PT_FS_PATH_MAX];
    *out = (pt_checkpoint_file){0};
    pt_status s = pt_fs_path(path, run_folder, "model.tinygpt", err);
    return s ? s : open_model(out, path, ANY_STEP, err);
}

void pt_checkpoint_close(pt_checkpoint_file *file)
{
    pt_tinygpt_close(file->file);
    pt_file_view_close(&file->view);
    *file = (pt_checkpoint_file){0};
}

/* ---- housekeeping ---- */

pt_status pt_checkpoint_publish(const char *run_folder, int64_t step, pt_error *err)
{
    char folder[PT_FS_PATH_MAX], path[PT_FS_PATH_MAX];
    manifest m;
    pt_status s = step_folder(folder, run_folder, step, err);
    if (s == PT_OK) s = read_manifest(folder, &m, err);
    if (s == PT_OK) s = pt_fs_path(path, folder, m.name, err);
    return s ? s : publish(run_folder, path, err);
}

pt_status pt_checkpoint_set_aside(const char *run_folder, int64_t step, pt_error *err)
{
    char folder[PT_FS_PATH_MAX], aside[PT_FS_PATH_MAX];
    pt_status s = step_folder(folder, run_folder, step, err);
    for (int n = 1; s == PT_OK && n < 1000; n++) {
        if (pt_format(aside, sizeof aside, "%s.refused-%d", folder, n) >= sizeof aside) break;
        if (!pt_fs_exists(aside)) return pt_fs_rename(folder, aside, err);
    }
    return s ? s : pt_fail(err, PT_IO, "no name left to set %s aside", folder);
}

typedef struct holders {
    const char *checkpoints;
    file_sum model;
    bool found;
} holders;

/* Any folder will do, also one that was set aside. */
static void look_in(void *ctx, const char *name, bool folder)
{
    holders *look = ctx;
    char path[PT_FS_PATH_MAX], file[64];
    for (int i = 0; folder && i < 2 && !look->found; i++) {
        file_sum sum = {0};
        if (strlen(name) + strlen(model_names[i]) + 2 > sizeof file) return;
        pt_format(file, sizeof file, "%s/%s", name, model_names[i]);
        if (!pt_fs_join(path, sizeof path, look->checkpoints, file) ||
            pt_fs_size(path) != look->model.bytes)
            continue;
        look->found = pt_fs_stream(path, add_to_sum, &sum, NULL) == PT_OK &&
                      sum.crc == look->model.crc && sum.bytes == look->model.bytes;
    }
}

/* Whether a folder of the run holds the same file. */
static pt_status is_held(const char *run_folder, const char *model, bool *held, pt_error *err)
{
    char folder[PT_FS_PATH_MAX];
    holders look = {.checkpoints = folder};
    pt_status s = pt_fs_path(folder, run_folder, "checkpoints", err);
    if (s == PT_OK) s = pt_fs_stream(model, add_to_sum, &look.model, err);
    if (s == PT_OK && pt_fs_is_folder(folder)) s = pt_fs_list(folder, look_in, &look, err);
    *held = look.found;
    return s;
}

static bool may_be_written_over(const char *run_folder, int64_t step)
{
    pt_checkpoint_file file;
    pt_status s = pt_checkpoint_open_published(&file, run_folder, NULL);
    bool older = s == PT_OK && pt_tinygpt_get(file.file)->step <= step;
    if (s == PT_OK) pt_checkpoint_close(&file);
    return s == PT_OK ? older : s != PT_UNSUPPORTED;
}

pt_status pt_checkpoint_keep_published(const char *run_folder, int64_t step,
                                       char name[PT_CHECKPOINT_ASIDE], pt_error *err)
{
    char model[PT_FS_PATH_MAX], aside[PT_FS_PATH_MAX];
    bool held = false;
    *name = 0;
    pt_status s = pt_fs_path(model, run_folder, "model.tinygpt", err);
    if (s || !pt_fs_exists(model) || may_be_written_over(run_folder, step)) return s;
    s = is_held(run_folder, model, &held, err);
    for (int n = 1; s == PT_OK && !held && n < 1000; n++) {
        pt_format(name, PT_CHECKPOINT_ASIDE, "model.refused-%d.tinygpt", n);
        s = pt_fs_path(aside, run_folder, name, err);
        if (s == PT_OK && !pt_fs_exists(aside)) return pt_fs_rename(model, aside, err);
    }
    return s || held ? s : pt_fail(err, PT_IO, "no name left to set %s aside", model);
}

static pt_status verify_step(const char *run_folder, int64_t step, pt_error *err)
{
    pt_checkpoint_file file;
    pt_status s = pt_checkpoint_open(&file, run_folder, step, err);
    if (s) pt_error_prefix(err, "checkpoint of step %lld, the newest", (long long)step);
    else pt_checkpoint_close(&file);
    return s;
}

pt_status pt_checkpoint_prune(const char *run_folder, int64_t keep, int64_t every, pt_error *err)
{
    char folder[PT_FS_PATH_MAX];
    int64_t step = -1, newest = -1, best = -1, below = INT64_MAX, multiples = 0;
    double loss = 0;
    bool verified = false;
    pt_status s = PT_OK;
    if (keep <= 0) return PT_OK;
    /* told without best.json where that cannot be read */
    if (pt_checkpoint_best(run_folder, &best, &loss, NULL) == PT_NO_MEMORY)
        return pt_fail(err, PT_NO_MEMORY, "no memory to tell the best checkpoint");
    for (int64_t n = 0; s == PT_OK; below = step) {
        s = pt_checkpoint_before(run_folder, below, &step, err);
        if (s || step < 0) break;
        if (pt_checkpoint_is_newer(run_folder, step)) continue;
        if (n == 0) newest = step;
        bool multiple = every && step % every == 0;
        multiples += multiple;
        if (n++ < keep || step == best || (multiple && multiples <= keep)) continue;
        if (!verified) s = verify_step(run_folder, newest, err); /* I5 */
        verified = s == PT_OK;
        if (s == PT_OK) s = step_folder(folder, run_folder, step, err);
        if (s == PT_OK) s = delete_ours(folder, err);
    }
    return s;
}

typedef struct sweeping {
    const char *checkpoints;
    int64_t *swept;
    pt_status status;
    pt_error *err;
} sweeping;

static void note_temporary(void *ctx, const char *name, bool folder)
{
    if (!folder && name[0] == '.') *(bool *)ctx = true;
}

/* A model that is whole, without a manifest: the process was killed in between, or somebody deleted that. It
 * is what a checkpoint is made of, so it becomes one. */
static pt_status adopt(const char *folder, int64_t step, pt_error *err)
{
    char path[PT_FS_PATH_MAX];
    pt_checkpoint_file file = {0};
    for (int i = 0; i < 2; i++) {
        if (!pt_fs_join(path, sizeof path, folder, model_names[i])) continue;
        pt_status s = open_model(&file, path, step, NULL);
        pt_checkpoint_close(&file);
        if (s == PT_OK) return write_manifest(folder, step, model_names[i], err);
    }
    return PT_OK;
}

static void sweep_step(void *ctx, const char *name, bool folder)
{
    sweeping *w = ctx;
    char path[PT_FS_PATH_MAX];
    bool in_use = false;
    if (w->status || !folder || step_of(name) < 0) return;
    if (!pt_fs_join(path, sizeof path, w->checkpoints, name)) return;
    w->status = pt_fs_is_link(path) ? fail_link(path, w->err) : pt_fs_sweep(path, w->swept, w->err);
    if (w->status == PT_OK) w->status = pt_fs_list(path, note_temporary, &in_use, w->err);
    if (w->status || in_use) return;
    if (!has_manifest(path)) w->status = adopt(path, step_of(name), w->err);
    if (w->status || is_newer(path)) return;
    *w->swept += !has_manifest(path);
    remove_useless(path);
}

pt_status pt_checkpoint_sweep(const char *run_folder, int64_t *swept, pt_error *err)
{
    char folder[PT_FS_PATH_MAX];
    sweeping w = {folder, swept, PT_OK, err};
    pt_status s = pt_fs_path(folder, run_folder, "checkpoints", err);
    if (s == PT_OK) s = pt_fs_sweep(run_folder, swept, err);
    if (s || !pt_fs_is_folder(folder)) return s;
    s = pt_fs_sweep(folder, swept, err);
    if (s == PT_OK) s = pt_fs_list(folder, sweep_step, &w, err);
    return s ? s : w.status;
}
