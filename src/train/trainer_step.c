/* One step of training: its micro-batches, its end, what it came to, and what is done when it went bad.
 * SPDX-License-Identifier: MIT */
#include "train/trainer_internal.h"

#include "base/clock.h"
#include "base/maths.h"

int64_t pt_trainer_first_sample(const pt_trainer *t, int64_t step, int64_t micro)
{
    return ((step - 1) * t->options.accum + micro) * t->options.batch;
}

/* Forward and backward of one micro-batch of 1-based step `step`. */
static pt_status run_micro(pt_trainer *t, int64_t step, int64_t micro, pt_error *err)
{
    int64_t B = t->options.batch, g = pt_trainer_first_sample(t, step, micro);
    pt_batch batch = {.B = B,
                      .T = t->T,
                      .ids = t->ids,
                      .target = t->target,
                      .coef = t->coef,
                      .seed = t->options.seed,
                      .first_sample = g,
                      .train = true};
    pt_status s = pt_mixture_fill(&t->train, g, B, t->host_ids, t->host_targets, err);
    if (s == PT_OK) s = pt_upload(t->device, &t->ids, t->host_ids, B * t->T * 4, err);
    if (s == PT_OK) s = pt_upload(t->device, &t->target, t->host_targets, B * t->T * 4, err);
    if (s == PT_OK) s = pt_model_forward(t->model, &batch, err);
    if (s == PT_OK) s = pt_model_backward(t->model, &batch, err);
    if (s == PT_OK) s = pt_optimizer_add_loss(&t->optimizer, &batch, err);
    return s;
}

int pt_trainer_due_at(const pt_trainer *t, int64_t step)
{
    const pt_train_options *o = &t->options;
    bool last = step == o->steps;
    int due = 0;
    if (t->saver && (last || (o->save_every && step % o->save_every == 0))) due |= DUE_SAVE;
    if (t->validate.n && (last || (o->eval_every && step % o->eval_every == 0)))
        due |= DUE_EVALUATE;
    if (t->session && (last || step % o->sample_every == 0)) due |= DUE_SAMPLE;
    return due;
}

int pt_trainer_due_first(const pt_trainer *t)
{
    bool back =
        t->options.on_spike == PT_SPIKE_ROLLBACK; /* there must be something to go back to */
    return (back && t->saver ? DUE_SAVE : 0) |
           (t->options.eval_every && t->validate.n ? DUE_EVALUATE : 0) |
           (t->session ? DUE_SAMPLE : 0);
}

pt_status pt_trainer_begin_step(pt_trainer *t, pt_error *err)
{
    double lr = pt_trainer_lr(t, t->step + 1);
    pt_trainer_set_limit(t, t->step + 1);
    t->micro = 0;
    t->phase = PHASE_MICRO;
    return pt_optimizer_begin_step(&t->optimizer, t->step + 1, lr, err);
}

static pt_status begin_read(pt_trainer *t, pt_error *err)
{
    bool wide = t->device->compute == PT_F64;
    void *to = wide ? (void *)t->ring : t->ring_narrow;
    const pt_tensor *ring = &t->optimizer.ring;
    t->phase = PHASE_READ;
    return pt_download_begin(t->device, ring, to, pt_tensor_bytes(ring), &t->download, err);
}

/* A stop does not wait for the other micro-batches of a step. What the step has summed is dropped: it never
 * reached the weights, and the run that goes on does it again. */
static pt_status abandon_step(pt_trainer *t, pt_error *err)
{
    t->phase = PHASE_DUE;
    if (t->step == t->reported) return pt_submit(t->device, err);
    pt_status s = begin_read(t, err);
    return s == PT_OK ? pt_submit(t->device, err) : s;
}

pt_status pt_trainer_micro(pt_trainer *t, pt_error *err)
{
    if (t->stopping) return abandon_step(t, err);
    pt_status s = run_micro(t, t->step + 1, t->micro, err);
    if (s || ++t->micro < t->options.accum) return s ? s : pt_submit(t->device, err);
    s = pt_optimizer_end_step(&t->optimizer, t->step % t->options.read_every, err);
    t->step++;
    t->phase = PHASE_STEP;
    bool full = t->step % t->options.read_every == 0;
    bool last = t->step >= t->options.steps;
    if (s == PT_OK && (full || last || t->stopping || pt_trainer_due_at(t, t->step)))
        s = begin_read(t, err);
    if (s == PT_OK) s = pt_submit(t->device, err);
    return s;
}

void pt_trainer_add_history(pt_trainer *t, bool evaluated)
{
    int64_t n = t->n_history;
    if (n && t->history[n - 1].step == t->last_loss.step) {
        t->history[n - 1] = t->last_loss;
        return;
    }
    if (!evaluated && t->last_loss.step % t->history_every != 0) return;
    if (n == MAX_HISTORY) { /* keep every second point */
        for (int64_t i = 0; i < n / 2; i++) t->history[i] = t->history[2 * i];
        t->n_history = n = n / 2;
    }
    t->history[n] = t->last_loss;
    t->n_history++;
}

static pt_status tell_step(pt_trainer *t, int64_t step, const double *entry, bool spike,
                           pt_error *err)
{
    pt_step_report report = {.step = step,
                             .loss = entry[PT_RING_LOSS],
                             .grad_norm = entry[PT_RING_NORM],
                             .lr = entry[PT_RING_LR],
                             .seconds = t->seconds - t->seconds_reported,
                             .spike = spike};
    t->seconds_reported = t->seconds;
    return t->events.step ? t->events.step(t->events.ctx, &report, err) : PT_OK;
}

static pt_status report_step(pt_trainer *t, const double *entry, pt_error *err)
{
    int64_t step = ++t->reported;
    double loss = entry[PT_RING_LOSS];
    t->recent[step % RECENT] = loss;
    t->n_recent = pt_min_i64(RECENT, t->n_recent + 1);
    t->last_loss = (pt_tinygpt_loss){step, loss, PT_NAN};
    pt_trainer_add_history(t, false);
    double limit = pt_trainer_note_loss(t, step, loss);
    pt_status s = tell_step(t, step, entry, limit > 0, err);
    return s == PT_OK && limit > 0 ? pt_trainer_tell_spike(t, step, loss, limit, err) : s;
}

static void tick(pt_trainer *t)
{
    double now = pt_clock_seconds();
    t->seconds += now - t->mark;
    t->mark = now;
}

/* At a spike: the step is told, but it is none of those done. */
static pt_status halt(pt_trainer *t, const double *entry, pt_error *err)
{
    pt_status s = tell_step(t, t->bad_step, entry, true, err);
    return s == PT_OK ? pt_trainer_halt_at_spike(t, entry[PT_RING_LOSS], err) : s;
}

static pt_status take_ring(pt_trainer *t, pt_error *err)
{
    tick(t);
    if (t->device->compute != PT_F64)
        for (int i = 0; i < PT_MAX_READ_EVERY * PT_RING_WORDS; i++)
            t->ring[i] = (double)t->ring_narrow[i];
    pt_status s = PT_OK;
    while (t->reported < t->step && s == PT_OK) {
        const double *entry = t->ring + (t->reported % t->options.read_every) * PT_RING_WORDS;
        if (entry[PT_RING_OK] == 0) {
            t->bad_step = t->reported + 1;
            if (entry[PT_RING_SKIPPED] != 0) return halt(t, entry, err);
            t->phase = PHASE_DIAGNOSE;
            t->entered = false;
            return PT_OK;
        }
        s = report_step(t, entry, err);
    }
    if (!t->steps_skipped && t->reported - t->first_step >= SKIPPED_STEPS) {
        t->steps_skipped = t->reported - t->first_step;
        t->seconds_skipped = t->seconds;
    }
    t->due = pt_trainer_due_at(t, t->step);
    t->phase = PHASE_DUE;
    return s;
}

pt_status pt_trainer_read(pt_trainer *t, pt_error *err)
{
    pt_status s = pt_download_poll(t->device, &t->download, err);
    return s == PT_OK ? take_ring(t, err) : s;
}

/* ---- a step that went bad ---- */

static pt_status rerun_checked(pt_trainer *t, pt_error *err)
{
    pt_optimizer *o = &t->optimizer;
    double none[1] = {PT_STATE_NO_BAD};
    pt_tensor word = pt_slice(&o->state, PT_STATE_FIRST_BAD, 1);
    double lr = pt_trainer_lr(t, t->bad_step);
    pt_status s = pt_upload_numbers(t->device, &word, none, 1, err);
    if (s == PT_OK) s = pt_optimizer_begin_step(o, t->bad_step, lr, err);
    pt_diagnosis_begin(&t->diagnosis, t->device, &o->state);
    for (int64_t i = 0; i < t->options.accum && s == PT_OK; i++)
        s = run_micro(t, t->bad_step, i, err);
    pt_diagnosis_end(&t->diagnosis);
    bool wide = t->device->compute == PT_F64;
    void *to = wide ? (void *)t->ring : t->ring_narrow;
    if (s == PT_OK)
        s = pt_download_begin(t->device, &o->state, to, pt_tensor_bytes(&o->state), &t->download,
                              err);
    if (s == PT_OK) s = pt_submit(t->device, err);
    return s;
}

pt_status pt_trainer_diagnose(pt_trainer *t, pt_error *err)
{
    if (!t->entered) {
        t->entered = true;
        return rerun_checked(t, err);
    }
    pt_status s = pt_download_poll(t->device, &t->download, err);
    if (s) return s;
    bool wide = t->device->compute == PT_F64;
    double found = wide ? t->ring[PT_STATE_FIRST_BAD] : (double)t->ring_narrow[PT_STATE_FIRST_BAD];
    char what[128];
    if (!pt_diagnosis_name(&t->diagnosis, found, t->model, &t->plan, what, sizeof what))
        pt_format(what, sizeof what, "the squared gradient norm, which overflowed");
    return pt_trainer_halt_at_bad(t, what, err);
}
