/* A training run whose steps can be called one by one. SPDX-License-Identifier: MIT */
#ifndef PT_BENCH_STEPS_H
#define PT_BENCH_STEPS_H

#include "bench/measure.h"
#include "train/trainer.h"

typedef struct pt_bench_steps {
    pt_trainer *trainer;
    uint8_t *corpus; /* random bytes */
    pt_model_config config;
    int64_t B, T;
    pt_dtype dtype; /* of activations */
    int64_t
        each; /* steps that a call takes, and whose losses are read together: as many as the device asks for */
    int64_t stepped; /* were reported, and no call has taken them */
} pt_bench_steps;

/* A run of the preset, activations in dtype (f32 or bf16); gpt2 and larger with windows of 64 tokens. It must not move
 * afterwards. */
pt_status pt_bench_steps_begin(pt_bench_steps *steps, pt_device *device, const pt_preset *preset,
                               pt_dtype dtype, pt_error *err);
void pt_bench_steps_end(pt_bench_steps *steps);
/* steps->each of them: data, forward, backward, norm and clipping, AdamW, and the losses read back. ctx: the steps. */
pt_status pt_bench_steps_call(void *ctx, pt_error *err);
/* Names and amounts of one step into a row. */
void pt_bench_steps_amounts(const pt_bench_steps *steps, pt_bench_row *row);

/* The presets of a comma-separated list (or of `fallback`), at most 16; *n is their number. */
pt_status pt_bench_presets(const char *list, const char *fallback, const pt_preset *out[16], int *n,
                           pt_error *err);

#endif
