/* Squared norm. SPDX-License-Identifier: MIT */
#include "device/cpu/chunks.h"
#include "device/cpu/cpu.h"
#include "ops/sqnorm/sqnorm.h"

void PT_CPU(sqnorm_fwd)(const void *args, pt_pool *pool);

#define MAX_PARTIALS 256
#define SUM_LANES 32

typedef struct sqnorm_work {
    const float *x;
    int64_t n, per_chunk;
    double partial[MAX_PARTIALS];
} sqnorm_work;

/* In double: a norm is taken over elements of very different sizes. Compilers vectorise the lanes. */
static double square_sum(const float *x, int64_t n)
{
    double lane[SUM_LANES] = {0};
    int64_t i = 0;
    for (; i + SUM_LANES <= n; i += SUM_LANES)
        for (int k = 0; k < SUM_LANES; k++) lane[k] += (double)x[i + k] * (double)x[i + k];
    for (int k = 0; i + k < n; k++) lane[k] += (double)x[i + k] * (double)x[i + k];
    for (int half = SUM_LANES / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++) lane[k] += lane[k + half];
    return lane[0];
}

static void sum_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    sqnorm_work *work = ctx;
    pt_range r = pt_chunk_range(work->n, work->per_chunk, chunk);
    work->partial[chunk] = square_sum(work->x + r.begin, r.end - r.begin);
}

void PT_CPU(sqnorm_fwd)(const void *args, pt_pool *pool)
{
    const pt_sqnorm_args *a = args;
    sqnorm_work work = {.x = pt_floats(&a->x), .n = pt_numel(&a->x)};
    int64_t even = pt_div_up(work.n, MAX_PARTIALS);
    work.per_chunk = pt_round_up(pt_max_i64(even, PT_CHUNK_ELEMENTS), SUM_LANES);
    pt_run_chunks(pool, work.n, work.per_chunk, sum_chunk, &work);
    float *state = pt_floats(&a->state);
    double sum = (double)state[PT_STATE_SQNORM];
    for (int64_t i = 0; i < pt_div_up(work.n, work.per_chunk); i++) sum += work.partial[i];
    state[PT_STATE_SQNORM] = (float)sum;
}
