/* Squared norm, vectorised. SPDX-License-Identifier: MIT */
#include "device/cpu/chunks.h"
#include "device/cpu/cpu.h"
#include "device/cpu/simd.h"
#include "ops/sqnorm/sqnorm.h"

void PT_CPU(sqnorm_fwd)(const void *args, pt_pool *pool);

#define MAX_PARTIALS 256
#define FLOAT_SUM 4096 /* elements summed in float before their sum joins one in double */

typedef struct sqnorm_work {
    const float *x;
    int64_t n, per_chunk;
    double partial[MAX_PARTIALS];
} sqnorm_work;

static inline float square_sum(const float *x, int64_t n)
{
    pt_vf s[4] = {pt_vf_zero(), pt_vf_zero(), pt_vf_zero(), pt_vf_zero()};
    int64_t i = 0;
    for (; i + 4 * PT_LANES <= n; i += 4 * PT_LANES)
        for (int k = 0; k < 4; k++) {
            pt_vf v = pt_vf_load(x + i + k * PT_LANES);
            s[k] = pt_vf_fma(v, v, s[k]);
        }
    for (; i < n; i += PT_LANES) {
        pt_vf v = pt_vf_load_n(x + i, pt_min_i64(PT_LANES, n - i));
        s[0] = pt_vf_fma(v, v, s[0]);
    }
    return pt_vf_sum(pt_vf_add(pt_vf_add(s[0], s[1]), pt_vf_add(s[2], s[3])));
}

static void sum_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    sqnorm_work *work = ctx;
    pt_range r = pt_chunk_range(work->n, work->per_chunk, chunk);
    double sum = 0;
    for (int64_t i = r.begin; i < r.end; i += FLOAT_SUM)
        sum += (double)square_sum(work->x + i, pt_min_i64(FLOAT_SUM, r.end - i));
    work->partial[chunk] = sum;
}

void PT_CPU(sqnorm_fwd)(const void *args, pt_pool *pool)
{
    const pt_sqnorm_args *a = args;
    sqnorm_work work = {.x = pt_floats(&a->x), .n = pt_numel(&a->x)};
    int64_t even = pt_div_up(work.n, MAX_PARTIALS);
    work.per_chunk = pt_round_up(pt_max_i64(even, PT_CHUNK_ELEMENTS), FLOAT_SUM);
    pt_run_chunks(pool, work.n, work.per_chunk, sum_chunk, &work);
    float *state = pt_floats(&a->state);
    double sum = (double)state[PT_STATE_SQNORM];
    for (int64_t i = 0; i < pt_div_up(work.n, work.per_chunk); i++) sum += work.partial[i];
    state[PT_STATE_SQNORM] = (float)sum;
}
