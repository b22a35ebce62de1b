/* Which checkpoint is the best. SPDX-License-Identifier: MIT */
#include "base/atomic_file.h"
#include "io/checkpoint.h"
#include "io/note.h"

static const pt_note_kind kind = {"posttrain-best", 1, "best.json"};

static pt_status note_path(char out[PT_FS_PATH_MAX], const char *run_folder, pt_error *err)
{
    return pt_fs_path(out, run_folder, "checkpoints/best.json", err);
}

/* ---- marking ---- */

/* What a newer program recorded may be more than we know to write. */
static bool is_newer(const char *path)
{
    pt_arena arena = {0};
    const pt_json *json = NULL;
    pt_status s = pt_note_read(path, &kind, &arena, &json, NULL);
    pt_arena_deinit(&arena);
    return s == PT_UNSUPPORTED;
}

pt_status pt_checkpoint_mark_best(const char *run_folder, int64_t step, double val_loss,
                                  pt_error *err)
{
    char path[PT_FS_PATH_MAX];
    pt_status s = note_path(path, run_folder, err);
    if (s || is_newer(path)) return s;
    pt_strbuf text = {0};
    pt_json_writer w = pt_json_writer_begin(&text, 2);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "format", kind.format);
    pt_json_i64(&w, "version", kind.version);
    pt_json_i64(&w, "step", step);
    pt_json_double(&w, "val_loss", val_loss);
    pt_json_end_object(&w);
    pt_strbuf_putc(&text, '\n');
    s = text.failed ? pt_fail(err, PT_NO_MEMORY, "no memory for best.json")
                    : pt_atomic_file_put(path, true, text.data, (int64_t)text.len, err);
    pt_strbuf_deinit(&text);
    return s;
}

/* ---- telling ---- */

typedef struct best {
    const char *run;
    int64_t step;
    double loss;
} best;

/* A point of the history, where its step has a checkpoint. */
static void consider(best *b, const pt_json *point, const char *key)
{
    int64_t step = -1;
    double loss = 0;
    if (!pt_json_get_i64(point, "step", &step) || !pt_json_get_double(point, key, &loss)) return;
    if ((b->step < 0 || loss < b->loss) && pt_checkpoint_is(b->run, step))
        *b = (best){b->run, step, loss};
}

/* The header's best is exact; but that step may have no checkpoint, while others of the history have one. */
static void consider_header(best *b, const pt_json *header)
{
    consider(b, pt_json_get(header, "bestVal"), "loss");
    if (b->step >= 0) return;
    const pt_json *history = pt_json_get(header, "lossHistory");
    for (const pt_json *p = history ? history->child : NULL; p; p = p->next) consider(b, p, "val");
}

/* From the newest checkpoint that is good. */
static void recall(best *b)
{
    pt_checkpoint_file file;
    int64_t step = INT64_MAX;
    while (pt_checkpoint_before(b->run, step, &step, NULL) == PT_OK && step >= 0) {
        if (pt_checkpoint_open(&file, b->run, step, NULL)) continue;
        consider_header(b, pt_tinygpt_get(file.file)->header);
        pt_checkpoint_close(&file);
        return;
    }
}

static pt_status read_note(best *b, const char *path, pt_error *err)
{
    pt_arena arena = {0};
    const pt_json *json = NULL;
    pt_status s = pt_note_read(path, &kind, &arena, &json, err);
    if (s == PT_OK && !(pt_json_get_i64(json, "step", &b->step) &&
                        pt_json_get_double(json, "val_loss", &b->loss)))
        s = pt_fail(err, PT_CORRUPT, "best.json: it lacks step or val_loss");
    pt_arena_deinit(&arena);
    return s;
}

pt_status pt_checkpoint_best(const char *run_folder, int64_t *step, double *val_loss, pt_error *err)
{
    char path[PT_FS_PATH_MAX];
    best b = {.run = run_folder, .step = -1};
    pt_status s = note_path(path, run_folder, err);
    if (s == PT_OK && pt_fs_exists(path)) s = read_note(&b, path, err);
    if (s) {
        b.step = -1;
        recall(&b);
    }
    if (!pt_checkpoint_is(run_folder, b.step)) b.step = -1;
    *step = b.step;
    *val_loss = b.loss;
    return s;
}
