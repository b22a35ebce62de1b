/* The original system's initial weights, bit for bit, so that a training run can start where one of
 * its runs started. Our own initialisation is model/init.
 *
 * The original is C++ with std::mt19937 and std::normal_distribution<float>, compiled with libc++:
 * MT19937 (Matsumoto & Nishimura 1998) and the polar method (Marsaglia & Bray 1964) in f32, with one
 * distribution object, and so one spare value, for each of two standard deviations: 0.02, and
 * 0.02/sqrt(2 layers) for the two projections that end a residual branch. Biases are 0, LayerNorm
 * gains 1. Tensors are drawn in file order, each in stored order.
 * SPDX-License-Identifier: MIT */
#ifndef PT_MODEL_INIT_UPSTREAM_H
#define PT_MODEL_INIT_UPSTREAM_H

#include "io/tinygpt.h"
#include "model/model.h"

typedef struct pt_mt19937 {
    uint32_t state[624];
    int next;
} pt_mt19937;

void pt_mt19937_seed(pt_mt19937 *g, uint32_t seed);
uint32_t pt_mt19937_next(pt_mt19937 *g);

/* The natural logarithm as the original's maths library rounds it, for 0 < x <= 1. */
float pt_upstream_logf(float x);

typedef struct pt_upstream_init {
    pt_mt19937 generator; /* after the last tensor: as the original's batches go on with it */
    pt_tinygpt_config config;
    int64_t next; /* tensor */
    float std[2], spare[2];
    bool has_spare[2];
} pt_upstream_init;

/* `config` must have passed pt_tinygpt_config_check. */
void pt_upstream_init_begin(pt_upstream_init *init, const pt_tinygpt_config *config, uint32_t seed);
/* Fills dst with the n values of the next tensor of the file order (pt_tinygpt_tensor_at), in stored
 * order; [out,in] is pt_tinygpt_from_stored away. Traps after the last. */
void pt_upstream_init_next(pt_upstream_init *init, float *dst);

/* All weights of a bound model. Errors: UNSUPPORTED when it is not of the format's shape, BAD_INPUT
 * when the seed is not below 2^32, NO_MEMORY. */
pt_status pt_model_init_upstream(pt_model *model, uint64_t seed, pt_error *err);

#endif
