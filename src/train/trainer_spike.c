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

void pt_trainer_set_limit(pt_trainer *t, int64_t step)
{
    pt_on_spike on = t->options.on_spike;
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
    return tell(t, &(pt_spike_report){step, loss, limit, t->options.on_spike}, err);
}

/* The run ends before step bad_step; what it ends with. */
static void end_before(pt_trainer *t, const pt_spike_report *r)
{
    const char *where = t->saver ? "saved as" : "still";
    (void)pt_fail(
        &t->failure, PT_DIVERGED,
        "step %lld: a loss of %.4g is a spike, above %.4g (%g times the mean of %d steps). "
        "The weights are %s those of step %lld; try a lower --lr, or --on-spike skip",
        (long long)r->step, r->loss, r->limit, PT_SPIKE_FACTOR, PT_SPIKE_WINDOW, where,
        (long long)t->reported);
    t->step = t->reported;
    t->phase = PHASE_DUE;
}

pt_status pt_trainer_halt_at_spike(pt_trainer *t, double loss, pt_error *err)
{
    pt_spike_report report = {.step = t->bad_step,
                              .loss = loss,
                              .limit = pt_spikes_limit(&t->spikes, t->bad_step),
                              .did = PT_SPIKE_STOP};
    end_before(t, &report);
    return tell(t, &report, err);
}

void pt_trainer_write_spikes(const pt_trainer *t, pt_json_writer *w)
{
    if (t->options.on_spike != PT_SPIKE_OFF) pt_spikes_write(&t->spikes, w, "spikes");
    if (t->lr_scale < 1) pt_json_double(w, "lrScale", t->lr_scale);
}
