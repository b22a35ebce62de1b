/* Residual addition, vectorised. SPDX-License-Identifier: MIT */
#include "device/cpu/chunks.h"
#include "device/cpu/cpu.h"
#include "device/cpu/simd.h"
#include "ops/add/add.h"

void PT_CPU(add_fwd)(const void *args, pt_pool *pool);

static void add_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_add_args *args = ctx;
    const float *a = pt_floats(&args->a), *b = pt_floats(&args->b);
    float *y = pt_floats(&args->y);
    pt_range r = pt_chunk_range(pt_numel(&args->y), PT_CHUNK_ELEMENTS, chunk);
    int64_t i = r.begin;
    for (; i + PT_LANES <= r.end; i += PT_LANES)
        pt_vf_store(y + i, pt_vf_add(pt_vf_load(a + i), pt_vf_load(b + i)));
    for (; i < r.end; i++) y[i] = a[i] + b[i];
}

void PT_CPU(add_fwd)(const void *args, pt_pool *pool)
{
    const pt_add_args *a = args;
    pt_run_chunks(pool, pt_numel(&a->y), PT_CHUNK_ELEMENTS, add_chunk, a);
}
