/* Multiplication by a constant. SPDX-License-Identifier: MIT */
#include "device/cpu/chunks.h"
#include "device/cpu/cpu.h"
#include "ops/scale/scale.h"

void PT_CPU(scale_fwd)(const void *args, pt_pool *pool);

static void scale_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_scale_args *a = ctx;
    const float *x = pt_floats(&a->x);
    float *y = pt_floats(&a->y);
    pt_range r = pt_chunk_range(pt_numel(&a->y), PT_CHUNK_ELEMENTS, chunk);
    /* In double, so that only the store rounds; compilers vectorise this by themselves. */
    for (int64_t i = r.begin; i < r.end; i++) y[i] = (float)((double)x[i] * a->factor);
}

void PT_CPU(scale_fwd)(const void *args, pt_pool *pool)
{
    const pt_scale_args *a = args;
    pt_run_chunks(pool, pt_numel(&a->y), PT_CHUNK_ELEMENTS, scale_chunk, a);
}
