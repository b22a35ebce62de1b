/* The trainer: pretraining from a text, as one resumable object.
 *
 * pt_trainer_poll does or queues a bounded piece of work (one micro-batch, one evaluation batch, one
 * sampled token, one tensor to save) and returns PT_PENDING, until the run is over (PT_OK) or
 * failed. It never waits: cli/ loops, a browser calls it from its event loop. What happens is told through
 * pt_train_events.
 *
 * A step: gradients of `accum` micro-batches of `batch` windows → norm, clip factor, verdict → AdamW.
 * The loss is the sum over all targets of the step divided by their number, which is known before.
 * A step whose loss or gradient norm is not finite never reaches the weights; it is then run again
 * with a check after each launch, and the run fails with PT_DIVERGED naming the first bad tensor.
 *
 * A step whose loss is a spike (train/spikes.h) is told; with on_spike skip, stop or rollback it never reaches the
 * weights either. Stop ends the run with PT_DIVERGED and the weights of the step before. Rollback goes back to a
 * checkpoint, also from a step that was not finite, and halves the learning rate; when the step that it was for spikes
 * again, that step is left out. After PT_MAX_ROLLBACKS the next step that goes bad ends the run.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_TRAINER_H
#define PT_TRAIN_TRAINER_H

#include "infer/session.h"
#include "io/sink.h"
#include "io/tinygpt.h"
#include "model/model.h"
#include "train/data.h"
#include "train/options.h"

typedef struct pt_step_report {
    int64_t step;     /* 1 … steps */
    double loss;      /* mean over the step's targets, before the update; nats per token */
    double grad_norm; /* before clipping */
    double lr;
    double seconds; /* spent in training work since the report before */
    bool spike;     /* its loss is one, see train/spikes.h */
} pt_step_report;

#define PT_MAX_ROLLBACKS 3

typedef struct pt_spike_report {
    int64_t step;
    double loss, limit; /* limit: the largest loss that would have been none */
    pt_on_spike did;    /* what was done about it */
    const char *bad;    /* not NULL: the step was not finite, and this is its first bad tensor */
} pt_spike_report;

typedef struct pt_train_events {
    void *ctx;
    /* Any may be NULL. An error stops the run. */
    pt_status (*step)(void *ctx, const pt_step_report *report, pt_error *err);
    /* After the step's own report: its loss is a spike. Or it was not finite and the run goes back. */
    pt_status (*spiked)(void *ctx, const pt_spike_report *report, pt_error *err);
    /* To be answered with pt_trainer_restore of a checkpoint before step `from`; the learning rate is then lr_scale
     * times the schedule's. Which one must follow from the options alone, not from when a checkpoint happened to be
     * asked for. NULL: rollback is stop. */
    pt_status (*roll_back)(void *ctx, int64_t from, double lr_scale, pt_error *err);
    pt_status (*evaluated)(void *ctx, int64_t step, double val_loss, pt_error *err);
    pt_status (*sampled)(void *ctx, int64_t step, const char *bytes, int64_t n, pt_error *err);
    /* A checkpoint of `step` begins: give the sink to write to. Then, when written whole (failed =
     * false) or not, save_end. No save_begin: nothing is saved. */
    pt_status (*save_begin)(void *ctx, int64_t step, pt_sink *sink, pt_error *err);
    pt_status (*save_end)(void *ctx, int64_t step, bool failed, pt_error *err);
} pt_train_events;

typedef struct pt_trainer pt_trainer;

/* What to train and how; copied, except the data, which must outlive the trainer. */
typedef struct pt_trainer_desc {
    pt_model_config config; /* completed */
    pt_train_options options;
    const pt_data *data;    /* what to learn from; or NULL: this text, */
    const uint8_t *corpus;  /* of */
    int64_t corpus_bytes;   /* bytes */
    int64_t corpus_memory;  /* bytes of it that lie in memory of ours: they count in the plan */
    pt_train_events events; /* ctx must outlive the trainer */
} pt_trainer_desc;

/* Plans a run; allocates nothing large. The device must outlive the trainer. */
pt_status pt_trainer_new(pt_trainer **out, pt_device *device, const pt_trainer_desc *desc,
                         pt_error *err);
void pt_trainer_free(pt_trainer *trainer); /* NULL is fine */

/* The memory plan, complete after pt_trainer_new. */
const pt_plan *pt_trainer_plan(const pt_trainer *trainer);
/* Allocates the plan and makes the initial weights. pool (may be NULL) helps with the latter. */
pt_status pt_trainer_begin(pt_trainer *trainer, pt_pool *pool, pt_error *err);
/* Or: weights (and moments, when both are given) from elsewhere, and the step they belong to: call pt_trainer_load for
 * each parameter between begin and the first poll. m, v may be NULL. */
pt_status pt_trainer_load(pt_trainer *trainer, int64_t param, const float *w, const float *m,
                          const float *v, pt_error *err);
/* Steps already done by the loaded weights: the schedule's and AdamW's t and the data order go on from there. */
void pt_trainer_set_step(pt_trainer *trainer, int64_t step);

/* Back to where a checkpoint of this run stands: weights, moments, step, and from the header the losses, the
 * best value and the last sample. The run then goes on with the bits it had, or would have had. Between
 * begin and the first poll, between polls once a step is over, or within the event roll_back; within no other. `file` is
 * open and verified.
 * Errors: BAD_INPUT when the file is not of this run, naming what differs, and the trainer is as it was;
 * after any other the weights are a mixture, and another file must be restored. */
pt_status pt_trainer_restore(pt_trainer *trainer, const pt_tinygpt *file, pt_error *err);
/* That the run that wrote a file evaluated as many batches: else the losses before and after it do not compare. To be asked
 * before restoring by who keeps them as one curve; BAD_INPUT names both numbers. */
pt_status pt_trainer_check_evaluation(const pt_trainer *trainer, const pt_tinygpt *file,
                                      pt_error *err);
/* From the next step on the learning rate is half of what it would be, as after a rollback; files remember it. */
void pt_trainer_halve_lr(pt_trainer *trainer);

/* The options of the run that wrote a .tinygpt file, as far as its header tells them; the others stay. Nothing is checked:
 * pt_trainer_new does. */
void pt_trainer_options_of(const pt_tinygpt *file, pt_train_options *o, double *dropout);

/* PT_PENDING, PT_OK when the run is over, or an error. */
pt_status pt_trainer_poll(pt_trainer *trainer, pt_error *err);
/* Asks the run to end after the micro-batch under way: a step that it does not complete is dropped, and the
 * steps done are saved and reported as over. */
void pt_trainer_stop(pt_trainer *trainer);
/* Asks for a checkpoint as soon as no step is under way, also of a run that is over: poll on. Nothing happens
 * without save_begin. */
void pt_trainer_request_save(pt_trainer *trainer);
/* A run that is over, or was stopped, goes on up to `steps` in all, as if it had been given them at the start: poll on.
 * BAD_INPUT when it has done more already or is not over. */
pt_status pt_trainer_continue(pt_trainer *trainer, int64_t steps, pt_error *err);

/* ---- results, valid at any time ---- */
int64_t pt_trainer_step(const pt_trainer *trainer); /* steps done */
/* Micro-batches that the device was given of the step under way; between steps those of the one before. */
int64_t pt_trainer_micro_batches(const pt_trainer *trainer);
double pt_trainer_val_loss(const pt_trainer *trainer);   /* of the newest evaluation; NaN: none */
int64_t pt_trainer_val_step(const pt_trainer *trainer);  /* the step it was made after */
double pt_trainer_train_loss(const pt_trainer *trainer); /* mean of the last 10 steps */
int64_t pt_trainer_spikes(const pt_trainer *trainer);    /* how many there were */
int64_t pt_trainer_n_params(const pt_trainer *trainer);
/* The part of the data that validates; n = 0 where the corpus is too short to hold one out. */
const pt_mixture *pt_trainer_held_out(const pt_trainer *trainer);
/* Tokens per second of training work alone, first 3 steps left out; 0 when unknown. */
double pt_trainer_tokens_per_second(const pt_trainer *trainer);
const pt_model *pt_trainer_model(const pt_trainer *trainer);

#endif
