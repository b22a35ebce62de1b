/* Looking for infinities and NaNs, vectorised. SPDX-License-Identifier: MIT */
#include "device/cpu/chunks.h"
#include "device/cpu/stored.h"
#include "ops/check_finite/check_finite.h"

void PT_KERNEL(check_finite_fwd)(const void *args, pt_pool *pool);

#define MAX_CHUNKS 256

typedef struct check_work {
    const pt_stored *x;
    int64_t n, per_chunk;
    bool bad[MAX_CHUNKS]; /* one per chunk, so that no two threads write the same */
} check_work;

static void check_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    check_work *work = ctx;
    pt_range r = pt_chunk_range(work->n, work->per_chunk, chunk);
    /* 0 x is 0 for finite x and NaN otherwise; a NaN stays in a sum. */
    const pt_vf zero = pt_vf_zero();
    pt_vf sum = zero;
    for (int64_t i = r.begin; i < r.end; i += PT_LANES) {
        int64_t n = r.end - i;
        pt_vf x = n >= PT_LANES ? pt_vs_load(work->x + i) : pt_vs_load_n(work->x + i, n);
        sum = pt_vf_add(sum, pt_vf_mul(x, zero));
    }
    work->bad[chunk] = !pt_is_finite((double)pt_vf_sum(sum));
}

void PT_KERNEL(check_finite_fwd)(const void *args, pt_pool *pool)
{
    const pt_check_finite_args *a = args;
    check_work work = {.x = pt_storage(&a->x), .n = pt_numel(&a->x)};
    work.per_chunk = pt_max_i64(pt_div_up(work.n, MAX_CHUNKS), PT_CHUNK_ELEMENTS);
    pt_run_chunks(pool, work.n, work.per_chunk, check_chunk, &work);
    float *first_bad = pt_floats(&a->state) + PT_STATE_FIRST_BAD, id = (float)a->id;
    for (int64_t i = 0; i < pt_div_up(work.n, work.per_chunk); i++)
        if (work.bad[i] && id < *first_bad) *first_bad = id;
}
