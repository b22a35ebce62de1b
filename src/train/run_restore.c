/* Going on with a run: its folder opened again, and the trainer brought to its newest good checkpoint.
 * SPDX-License-Identifier: MIT */
#include "base/fs.h"
#include "train/run_events.h"
#include "train/run_folder_internal.h"

typedef struct link_search {
    const char *folder;
    pt_status status;
    pt_error *err;
} link_search;

static void refuse_link(void *ctx, const char *name, bool folder)
{
    static const char *const ours[] = {"run.json", "log.jsonl", "log.jsonl.torn", "checkpoints",
                                       "report.html"};
    link_search *w = ctx;
    char path[PT_FS_PATH_MAX];
    bool written = pt_str_starts(name, PT_RUN_EVENTS_PREFIX);
    (void)folder;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        written = written || strcmp(name, ours[i]) == 0;
    if (w->status || !written || !pt_fs_join(path, sizeof path, w->folder, name)) return;
    if (pt_fs_is_link(path))
        w->status = pt_fail(w->err, PT_BAD_INPUT,
                            "%s is a link, and a run is not written through one: put the real one "
                            "there",
                            path);
}

/* What a run writes is written into its folder, not through links that lead out of it. A link in place of its
 * model.tinygpt is replaced. */
static pt_status refuse_links(const char *folder, pt_error *err)
{
    link_search w = {folder, PT_OK, err};
    pt_status s = pt_fs_list(folder, refuse_link, &w, err);
    if (s == PT_OK) s = w.status;
    return s ? s : pt_checkpoint_refuse_links(folder, err);
}

pt_status pt_run_folder_open(pt_run_folder **out, const char *path, pt_run_found *found,
                             pt_error *err)
{
    *out = NULL;
    *found = (pt_run_found){0};
    char log[PT_FS_PATH_MAX], json[PT_FS_PATH_MAX];
    pt_run_folder *run = NULL;
    pt_status s = pt_run_folder_make(&run, path, err);
    if (s) return s;
    pt_fs_join(log, sizeof log, path, "log.jsonl");
    pt_fs_join(json, sizeof json, path, "run.json");
    if (!pt_fs_exists(json)) s = pt_fail(err, PT_NOT_FOUND, "%s holds no run: no run.json", path);
    if (s == PT_OK) s = refuse_links(path, err);
    if (s == PT_OK) s = pt_append_file_open(&run->log, log, &found->torn_bytes, err);
    if (s == PT_OK) s = pt_checkpoint_sweep(path, &found->swept, err);
    if (s) pt_run_folder_free(run);
    else *out = run;
    return s;
}

pt_status pt_run_folder_newest(const char *path, int64_t *step, pt_error *err)
{
    pt_checkpoint_file file;
    pt_status s = pt_checkpoint_before(path, INT64_MAX, step, err);
    while (s == PT_OK && *step >= 0 && pt_checkpoint_is_newer(path, *step))
        s = pt_checkpoint_before(path, *step, step, err);
    if (s == PT_OK && *step < 0 && pt_checkpoint_open_published(&file, path, NULL) == PT_OK) {
        *step = pt_tinygpt_get(file.file)->step;
        pt_checkpoint_close(&file);
    }
    *step = pt_max_i64(0, *step);
    return s;
}

/* ---- choosing a checkpoint ---- */

/* The trainer at what a file holds, if that is of this run. */
static pt_status restore_from(pt_trainer *trainer, const pt_tinygpt *file, pt_error *err)
{
    pt_status s = pt_trainer_check_evaluation(trainer, file, err);
    return s ? s : pt_trainer_restore(trainer, file, err);
}

static pt_status try_step(pt_run_folder *run, pt_trainer *trainer, int64_t step, pt_error *err)
{
    pt_checkpoint_file file;
    pt_status s = pt_checkpoint_open(&file, run->path, step, err);
    if (s) return s;
    s = restore_from(trainer, file.file, err);
    pt_checkpoint_close(&file);
    return s;
}

static pt_status note_refused(pt_run_folder *run, int64_t step, const pt_error *why,
                              pt_run_restored *r, pt_error *err)
{
    int64_t n = r->n_refused++;
    if (n < PT_RUN_REFUSED_SHOWN) {
        r->refused[n].step = step;
        r->refused[n].newer = why->status == PT_UNSUPPORTED;
        pt_format(r->refused[n].why, sizeof r->refused[n].why, "%s", why->message);
    }
    pt_json_writer w = pt_run_begin_line(run, "refused");
    pt_json_i64(&w, "step", step);
    pt_json_string(&w, "why", why->message);
    return pt_run_end_line(run, &w, err);
}

/* Only once a good one is found: else the next attempt would find nothing and begin anew. Those of a newer program
 * keep their names, for that program, unless what led to them is undone (`all`). */
static pt_status set_aside_after(pt_run_folder *run, int64_t step, bool all, pt_error *err)
{
    for (int64_t later = INT64_MAX;;) {
        pt_status s = pt_checkpoint_before(run->path, later, &later, err);
        if (s || later <= step) return s;
        if (!all && pt_checkpoint_is_newer(run->path, later)) continue;
        s = pt_checkpoint_set_aside(run->path, later, err);
        if (s) return s;
    }
}

/* The best of the checkpoints that count from here on: one from after `step` is to be made again. A best.json that is
 * damaged is written anew. */
static pt_status recall_best(pt_run_folder *run, int64_t step, pt_run_restored *r, pt_error *err)
{
    pt_error why = {0};
    run->saved_step = step;
    run->val_step = -1;
    pt_status s = pt_checkpoint_best(run->path, &run->best_step, &run->best_loss, &why);
    if (run->best_step > step) run->best_step = -1;
    if (s == PT_NO_MEMORY) return pt_fail(err, s, "%s", why.message);
    if (s) pt_format(r->best_why, sizeof r->best_why, "%s", why.message);
    if (!s || run->best_step < 0) return PT_OK;
    return pt_checkpoint_mark_best(run->path, run->best_step, run->best_loss, err);
}

/* Where no checkpoint can be used, RUN/model.tinygpt may be whole: the newest one's file under its second name. One that is
 * there and cannot be used is no reason to begin anew over it. */
static pt_status restore_published(pt_run_folder *run, pt_trainer *trainer, pt_run_restored *r,
                                   pt_error *err)
{
    char path[PT_FS_PATH_MAX];
    pt_checkpoint_file file;
    pt_fs_join(path, sizeof path, run->path, "model.tinygpt");
    if (!pt_fs_exists(path) && !pt_fs_is_link(path)) return PT_OK;
    pt_status s = pt_checkpoint_open_published(&file, run->path, err);
    if (s == PT_OK) {
        s = restore_from(trainer, file.file, err);
        pt_checkpoint_close(&file);
    }
    if (s) {
        pt_error_prefix(err, "%s has no checkpoint, and its model.tinygpt cannot be gone on from",
                        run->path);
        return s;
    }
    r->step = pt_trainer_step(trainer);
    r->from_published = true;
    s = recall_best(run, r->step, r, err);
    run->saved_step = -1; /* its step has no checkpoint */
    if (s) return s;
    return r->n_refused ? set_aside_after(run, -1, false, err) : PT_OK;
}

/* The newest checkpoint before `below` whose step is a multiple of `every`, -1 if there is none. */
static pt_status multiple_before(const pt_run_folder *run, int64_t below, int64_t every,
                                 int64_t *step, pt_error *err)
{
    pt_status s = pt_checkpoint_before(run->path, below, step, err);
    while (s == PT_OK && *step > 0 && *step % every != 0)
        s = pt_checkpoint_before(run->path, *step, step, err);
    return s;
}

/* What cannot be used is noted, so that the one before is tried; OK then. */
static pt_status pass_over(pt_run_folder *run, int64_t step, const pt_error *why,
                           pt_run_restored *r, pt_error *err)
{
    if (why->status == PT_IO) /* it may be whole: whoever may read it is to decide */
        return pt_fail(err, PT_IO,
                       "the checkpoint of step %lld cannot be read (%s): mend that, or move "
                       "it away to go on from the one before",
                       (long long)step, why->message);
    if (why->status == PT_NO_MEMORY || why->status == PT_INTERNAL || why->status == PT_LOST) {
        if (err) *err = *why;
        return why->status;
    }
    return note_refused(run, step, why, r, err);
}

static pt_status restore_before(pt_run_folder *run, pt_trainer *trainer, int64_t below,
                                int64_t every, pt_run_restored *r, pt_error *err)
{
    *r = (pt_run_restored){.step = -1};
    pt_error first = {0};
    for (int64_t step = below;;) {
        pt_status s = multiple_before(run, step, every, &step, err);
        if (s) return s;
        if (step < 0) break;
        pt_error why = {0};
        if (try_step(run, trainer, step, &why) == PT_OK) {
            r->step = step;
            s = set_aside_after(run, step, below < INT64_MAX, err);
            if (s == PT_OK) s = recall_best(run, step, r, err);
            if (s == PT_OK) s = pt_checkpoint_keep_published(run->path, step, r->kept, err);
            return s ? s : pt_checkpoint_publish(run->path, step, err);
        }
        if (!r->n_refused) first = why;
        s = pass_over(run, step, &why, r, err);
        if (s) return s;
    }
    pt_error why = {0};
    pt_status s = PT_OK;
    if (below == INT64_MAX) s = restore_published(run, trainer, r, r->n_refused ? &why : err);
    if (!r->n_refused || r->step >= 0) return s;
    return pt_fail(err, first.status, "no checkpoint of %s can be used; the newest, step %lld: %s",
                   run->path, (long long)r->refused[0].step, first.message);
}

pt_status pt_run_folder_restore(pt_run_folder *run, pt_trainer *trainer, pt_run_restored *r,
                                pt_error *err)
{
    return restore_before(run, trainer, INT64_MAX, 1, r, err);
}

static pt_json_writer begin_resumed(pt_run_folder *run, const pt_run_restored *r)
{
    pt_json_writer w = pt_run_begin_line(run, "resumed");
    pt_json_i64(&w, "step", pt_max_i64(0, r->step));
    pt_json_bool(&w, "checkpoint", r->step >= 0);
    return w;
}

pt_status pt_run_folder_resumed(pt_run_folder *run, const pt_run_restored *r,
                                const pt_run_found *found, const char *command, pt_error *err)
{
    pt_json_writer w = begin_resumed(run, r);
    pt_json_i64(&w, "torn_bytes", found->torn_bytes);
    pt_json_i64(&w, "swept", found->swept);
    pt_json_string(&w, "command", command);
    pt_status s = pt_run_end_line(run, &w, err);
    /* to what is kept now */
    return s ? s : pt_checkpoint_prune(run->path, run->keep, run->back_every, err);
}

pt_status pt_run_folder_regained(pt_run_folder *run, const pt_run_restored *r, int64_t lost_at,
                                 const char *why, pt_error *err)
{
    pt_json_writer w = begin_resumed(run, r);
    pt_json_i64(&w, "lost_at", lost_at);
    pt_json_string(&w, "why", why);
    return pt_run_end_line(run, &w, err);
}

pt_status pt_run_folder_roll_back(pt_run_folder *run, pt_trainer *trainer, int64_t from,
                                  double lr_scale, pt_error *err)
{
    pt_run_restored r;
    int64_t earlier = -1, every = pt_max_i64(1, run->back_every);
    /* where the first step after a checkpoint goes bad, the harm may be in the checkpoint */
    pt_status s = multiple_before(run, from - 1, every, &earlier, err);
    if (s == PT_OK) s = restore_before(run, trainer, earlier < 0 ? from : from - 1, every, &r, err);
    if (s) return s;
    if (r.step < 0)
        return pt_fail(
            err, PT_NOT_FOUND,
            "step %lld is to be rolled back, and %s has no checkpoint of the start or of "
            "--save-every",
            (long long)from, run->path);
    pt_json_writer w = pt_run_begin_line(run, "rollback");
    pt_json_i64(&w, "step", from);
    pt_json_i64(&w, "to", r.step);
    pt_json_double(&w, "lr_scale", lr_scale);
    return pt_run_end_line(run, &w, err);
}
