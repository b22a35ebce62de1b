/* What the trainer does about a loss spike, and about steps that may not count.
 *
 * The limit is uploaded before a step (pt_trainer_set_limit), so that the device itself leaves a spiking step out;
 * the host learns of it when it reads the step's result, and decides what follows.
 * SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "train/trainer_internal.h"

double pt_trainer_lr(const pt_trainer *t, int64_t step)
{
    return t->lr_scale * pt_schedule_lr(&t->schedule, step);
}

/* What is done about a spike at this step. To go back again for one that a rollback was for would come to the same
 * data and the same spike: that step is left out. */
static pt_on_spike on_spike_at(const pt_trainer *t, int64_t step)
{
    pt_on_spike on = t->options.on_spike;
    for (int64_t i = 0; i < t->rollbacks && on == PT_SPIKE_ROLLBACK; i++)
        if (t->went_bad[i] == step) on = PT_SPIKE_SKIP;
    return on;
}

void pt_trainer_set_limit(pt_trainer *t, int64_t step)
{
    pt_on_spike on = on_spike_at(t, step);
    t->optimizer.spike_limit = on >= PT_SPIKE_SKIP ? pt_spikes_limit(&t->spikes, step) : 0;
    t->optimizer.spike_halts = on > PT_SPIKE_SKIP;
}

double pt_trainer_note_loss(pt_trainer *t, int64_t step, double loss)
{
    double limit = pt_spikes_limit(&t->spikes, step);
    bool spike = t->options.on_spike != PT_SPIKE_OFF && pt_spikes_add(&t->spikes, step, loss);
    return spike ? limit : 0;
}

static pt_status tell(pt_trainer *t, const pt_spike_report *report, pt_error *err)
{
    t->n_spikes++;
    return t->events.spiked ? t->events.spiked(t->events.ctx, report, err) : PT_OK;
}

pt_status pt_trainer_tell_spike(pt_trainer *t, int64_t step, double loss, double limit,
                                pt_error *err)
{
    return tell(t, &(pt_spike_report){step, loss, limit, on_spike_at(t, step), NULL}, err);
}

/* Either back to a checkpoint, or the run ends before step bad_step with `failure`. */
static void go_back_or_end(pt_trainer *t, const pt_error *failure)
{
    bool back = t->options.on_spike == PT_SPIKE_ROLLBACK && t->saver && t->events.roll_back &&
                t->rollbacks < PT_MAX_ROLLBACKS;
    t->step = t->reported;
    t->phase = back ? PHASE_ROLLBACK : PHASE_DUE;
    if (!back) t->failure = *failure;
}

static pt_status tell_halt(pt_trainer *t, double loss, double limit, const char *bad, pt_error *err)
{
    pt_on_spike did = t->phase == PHASE_ROLLBACK ? PT_SPIKE_ROLLBACK : PT_SPIKE_STOP;
    return tell(t, &(pt_spike_report){t->bad_step, loss, limit, did, bad}, err);
}

pt_status pt_trainer_halt_at_spike(pt_trainer *t, double loss, pt_error *err)
{
    double limit = pt_spikes_limit(&t->spikes, t->bad_step);
    const char *where = t->saver ? "saved as" : "still";
    char after[40] = "";
    pt_error failure = {0};
    if (t->rollbacks)
        pt_format(after, sizeof after, " after %lld rollbacks", (long long)t->rollbacks);
    (void)pt_fail(&failure, PT_DIVERGED,
                  "step %lld%s: a loss of %.4g is a spike, above %.4g (%g times the mean of %d "
                  "steps). The weights are %s those of step %lld; try a lower --lr, or --on-spike "
                  "skip",
                  (long long)t->bad_step, after, loss, limit, PT_SPIKE_FACTOR, PT_SPIKE_WINDOW,
                  where, (long long)t->reported);
    go_back_or_end(t, &failure);
    return tell_halt(t, loss, limit, NULL, err);
}

pt_status pt_trainer_halt_at_bad(pt_trainer *t, const char *bad, pt_error *err)
{
    const char *where = t->saver ? "saved as" : "still";
    pt_error failure = {0};
    (void)pt_fail(
        &failure, PT_DIVERGED,
        "step %lld went to infinity or NaN; first bad tensor: %s. The weights are %s those of "
        "step %lld; try a lower --lr",
        (long long)t->bad_step, bad, where, (long long)t->reported);
    go_back_or_end(t, &failure);
    return t->phase == PHASE_ROLLBACK ? tell_halt(t, PT_NAN, 0, bad, err) : PT_OK;
}

pt_status pt_trainer_roll_back(pt_trainer *t, pt_error *err)
{
    double scale = t->lr_scale / 2;
    int64_t rollbacks = t->rollbacks, went_bad[PT_MAX_ROLLBACKS];
    memcpy(went_bad, t->went_bad, sizeof went_bad);
    went_bad[rollbacks++] = t->bad_step;
    t->phase = PHASE_DUE; /* between steps: a file may be restored */
    t->due = 0;
    pt_status s = t->events.roll_back(t->events.ctx, t->bad_step, scale, err);
    if (s) return s;
    if (t->step >= t->bad_step)
        return pt_fail(err, PT_INTERNAL, "the rollback of step %lld came to step %lld",
                       (long long)t->bad_step, (long long)t->step);
    t->lr_scale = scale; /* the file knows only of the rollbacks before it */
    t->rollbacks = rollbacks;
    memcpy(t->went_bad, went_bad, sizeof went_bad);
    return PT_OK;
}

void pt_trainer_write_spikes(const pt_trainer *t, pt_json_writer *w)
{
    if (t->options.on_spike != PT_SPIKE_OFF) pt_spikes_write(&t->spikes, w, "spikes");
    if (!t->rollbacks && t->lr_scale == 1) return;
    pt_json_double(w, "lrScale", t->lr_scale);
    pt_json_i64(w, "rollbacks", t->rollbacks);
    pt_json_begin_array(w, "rolledBackFrom");
    for (int64_t i = 0; i < t->rollbacks; i++) pt_json_i64(w, NULL, t->went_bad[i]);
    pt_json_end_array(w);
}

void pt_trainer_read_spikes(pt_trainer *t, const pt_json *posttrain)
{
    pt_spikes_read(&t->spikes, pt_json_get(posttrain, "spikes"), t->step);
    t->lr_scale = 1;
    t->rollbacks = 0;
    memset(t->went_bad, 0, sizeof t->went_bad); /* no step */
    double scale = 1;
    int64_t rollbacks = 0;
    if (!pt_json_get_double(posttrain, "lrScale", &scale) || !(scale > 0 && scale <= 1)) return;
    if (!pt_json_get_i64(posttrain, "rollbacks", &rollbacks) || rollbacks < 0) return;
    t->lr_scale = scale;
    t->rollbacks = pt_min_i64(rollbacks, PT_MAX_ROLLBACKS);
    const pt_json *from = pt_json_get(posttrain, "rolledBackFrom");
    bool list = from && from->type == PT_JSON_ARRAY;
    const pt_json *step = list ? from->child : NULL;
    for (int64_t i = 0; i < t->rollbacks && step; i++, step = step->next)
        if (!pt_json_to_i64(step, &t->went_bad[i])) t->went_bad[i] = 0;
}

void pt_trainer_halve_lr(pt_trainer *t) { t->lr_scale /= 2; }
