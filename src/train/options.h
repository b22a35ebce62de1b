/* The options of a training run, their defaults and their limits.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_OPTIONS_H
#define PT_TRAIN_OPTIONS_H

#include "infer/sampler.h"
#include "train/schedule.h"

#define PT_MAX_SAMPLE_TOKENS 4096
#define PT_MAX_READ_EVERY 64

typedef struct pt_train_options {
    int64_t steps;
    int64_t batch; /* windows per micro-batch */
    int64_t accum; /* micro-batches per step */
    int64_t ctx;   /* tokens per window; 0 = the model's */
    double lr, min_lr;
    int64_t warmup;
    pt_schedule_kind schedule;
    double beta1, beta2, eps, weight_decay;
    double clip; /* largest gradient norm; 0 = off */
    uint64_t seed;
    int64_t eval_every,
        eval_batches; /* 0 = only at the end; windows per evaluation = batch * eval_batches */
    int64_t sample_every, sample_tokens; /* 0 = never */
    const char *sample_prompt;           /* bytes; borrowed */
    pt_sampler_options sampler;
    int64_t save_every;    /* 0 = only at the end */
    int64_t read_every;    /* steps between reads of the device's ring of losses; 0 = 1 */
    int recompute;         /* pt_recompute flags */
    bool bf16;             /* matrix weights and activations in bf16; master weights stay f32 */
    const int64_t *starts; /* explicit batch starts, sample by sample (for comparisons); or NULL */
    int64_t n_starts;
    bool upstream_init; /* the original's initial weights, bit for bit */
} pt_train_options;

/* The defaults: lr 3e-4 constant, no warm-up, betas .9/.95, eps 1e-8, decay .1, clip 1, seed 42, batch 16,
 * accum 1, 1000 steps. */
pt_train_options pt_train_defaults(void);
pt_status pt_train_options_check(const pt_train_options *options, pt_error *err);

#endif
