/* The options of a training run, their defaults and their limits.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_OPTIONS_H
#define PT_TRAIN_OPTIONS_H

#include "infer/sampler.h"
#include "model/config.h"
#include "train/schedule.h"
#include "train/spikes.h"

#define PT_MAX_SAMPLE_TOKENS 4096

typedef struct pt_train_options {
    int64_t steps;
    int64_t batch;     /* windows per micro-batch */
    int64_t accum;     /* micro-batches per step */
    int64_t ctx;       /* tokens per window; 0 = the model's */
    double lr, min_lr; /* min_lr: of cosine and wsd, else 0 */
    int64_t warmup;
    pt_schedule_kind schedule;
    int64_t decay_steps; /* of the schedule wsd; 0 = a tenth of the steps */
    pt_decay_shape decay_shape;
    pt_on_spike on_spike; /* what happens when a step's loss is a spike: train/spikes.h */
    double beta1, beta2, eps, weight_decay;
    double clip; /* largest gradient norm; 0 = off */
    uint64_t seed;
    int64_t eval_every,
        eval_batches; /* 0 = only at the end; windows per evaluation = batch * eval_batches */
    int64_t sample_every, sample_tokens; /* 0 = never */
    const char *sample_prompt;           /* bytes; borrowed */
    pt_sampler_options sampler;
    int64_t save_every; /* 0 = only at the end */
    int64_t read_every; /* steps between reads of the device's ring of losses; 0 = the device's */
    int recompute;      /* pt_recompute flags */
    bool bf16;          /* matrix weights and activations in bf16; master weights stay f32 */
    const int64_t *starts; /* explicit batch starts, sample by sample (for comparisons); or NULL */
    int64_t n_starts;
    bool upstream_init; /* the original's initial weights, bit for bit */
} pt_train_options;

/* The defaults: lr 3e-4 constant, no warm-up, betas .9/.95, eps 1e-8, decay .1, clip 1, seed 42, batch 16,
 * accum 1, 1000 steps, spikes are told. */
pt_train_options pt_train_defaults(void);
/* BAD_INPUT names the flag, the value found and the value wanted. */
pt_status pt_train_options_check(const pt_train_options *options, pt_error *err);
/* Tokens per window. */
int64_t pt_train_window(const pt_train_options *options, const pt_model_config *config);
/* The schedule they describe. */
pt_schedule pt_train_options_schedule(const pt_train_options *options);

#endif
