/* TensorBoard's event file of a run. SPDX-License-Identifier: MIT */
#include "train/run_events.h"

#include "base/append_file.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/platform.h"
#include "io/tfevents.h"

#define MAX_TIME 9999999999 /* of ten digits: names sort as their times do */

struct pt_run_events {
    pt_append_file *file;
    pt_strbuf record; /* grown once, reused: no allocation in a step */
    int64_t tokens_per_step;
};

static double now(void) { return (double)pt_clock_unix_ms() / 1000.0; }

static pt_status end_record(pt_run_events *e, pt_error *err)
{
    if (e->record.failed) return pt_fail(err, PT_NO_MEMORY, "no memory for TensorBoard's events");
    pt_status s = pt_append_file_write(e->file, e->record.data, (int64_t)e->record.len, err);
    pt_strbuf_clear(&e->record);
    return s;
}

static const char prefix[] = PT_RUN_EVENTS_PREFIX;

/* The largest time in a name of an event file. */
static void note_time(void *ctx, const char *name, bool folder)
{
    int64_t *newest = ctx, t = 0;
    if (folder || !pt_str_starts(name, prefix)) return;
    for (const char *p = name + sizeof prefix - 1; *p >= '0' && *p <= '9' && t < MAX_TIME; p++)
        t = 10 * t + (*p - '0');
    if (t < MAX_TIME) *newest = pt_max_i64(*newest, t);
}

/* TensorBoard reads the files of a run in the order of their names, so a sitting's name comes after those of the
 * sittings before it, whatever the clock says. */
static int64_t time_of_sitting(const char *run)
{
    int64_t newest = -1;
    (void)pt_fs_list(run, note_time, &newest, NULL); /* what cannot be listed has none */
    return pt_max_i64(pt_clock_unix_ms() / 1000, newest + 1);
}

pt_status pt_run_events_open(pt_run_events **out, const char *run, bool resumed, int64_t step,
                             int64_t tokens_per_step, pt_error *err)
{
    char process[96], name[160], path[PT_FS_PATH_MAX];
    *out = NULL;
    pt_platform_process_name(process, sizeof process);
    pt_format(name, sizeof name, "%s%010lld.%s.0", prefix, (long long)time_of_sitting(run),
              process);
    pt_status s = pt_fs_path(path, run, name, err);
    if (s) return s;
    pt_run_events *e = pt_alloc(sizeof *e);
    if (!e) return pt_fail(err, PT_NO_MEMORY, "no memory for TensorBoard's events");
    e->tokens_per_step = tokens_per_step;
    bool is_new = pt_fs_size(path) <= 0;
    s = pt_append_file_open_records(&e->file, path, pt_tfevents_whole, NULL, err);
    if (is_new) pt_tfevents_version(&e->record, now());
    if (resumed) pt_tfevents_start(&e->record, now(), step + 1);
    if (s == PT_OK && e->record.len) s = end_record(e, err);
    if (s) pt_run_events_close(e);
    else *out = e;
    return s;
}

pt_status pt_run_events_step(pt_run_events *events, const pt_step_report *report, pt_error *err)
{
    if (!events) return PT_OK;
    pt_tfevents_scalar scalars[4] = {
        {"loss", report->loss}, {"lr", report->lr}, {"grad_norm", report->grad_norm}};
    int n = 3;
    if (report->seconds > 0)
        scalars[n++] = (pt_tfevents_scalar){"tokens_per_second",
                                            (double)events->tokens_per_step / report->seconds};
    pt_tfevents_scalars(&events->record, now(), report->step, scalars, n);
    return end_record(events, err);
}

pt_status pt_run_events_evaluated(pt_run_events *events, int64_t step, double val_loss,
                                  pt_error *err)
{
    if (!events) return PT_OK;
    pt_tfevents_scalars(&events->record, now(), step, &(pt_tfevents_scalar){"val_loss", val_loss},
                        1);
    return end_record(events, err);
}

pt_status pt_run_events_sampled(pt_run_events *events, int64_t step, const char *bytes, int64_t n,
                                pt_error *err)
{
    if (!events) return PT_OK;
    pt_tfevents_text(&events->record, now(), step, "sample", bytes, (size_t)n);
    return end_record(events, err);
}

pt_status pt_run_events_went_back(pt_run_events *events, int64_t step, pt_error *err)
{
    if (!events) return PT_OK;
    pt_tfevents_start(&events->record, now(), step + 1);
    return end_record(events, err);
}

void pt_run_events_close(pt_run_events *events)
{
    if (!events) return;
    pt_append_file_close(events->file);
    pt_strbuf_deinit(&events->record);
    pt_free(events);
}
