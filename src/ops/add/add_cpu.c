/* Residual addition, vectorised. SPDX-License-Identifier: MIT */
#include "device/cpu/chunks.h"
#include "device/cpu/stored.h"
#include "ops/add/add.h"

void PT_KERNEL(add_fwd)(const void *args, pt_pool *pool);

static void add_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_add_args *args = ctx;
    const pt_stored *a = pt_storage(&args->a), *b = pt_storage(&args->b);
    pt_stored *y = pt_storage(&args->y);
    pt_range r = pt_chunk_range(pt_numel(&args->y), PT_CHUNK_ELEMENTS, chunk);
    int64_t i = r.begin;
    for (; i + PT_LANES <= r.end; i += PT_LANES)
        pt_vs_store(y + i, pt_vf_add(pt_vs_load(a + i), pt_vs_load(b + i)));
    for (; i < r.end; i++) pt_put(y + i, pt_get(a + i) + pt_get(b + i));
}

void PT_KERNEL(add_fwd)(const void *args, pt_pool *pool)
{
    const pt_add_args *a = args;
    pt_run_chunks(pool, pt_numel(&a->y), PT_CHUNK_ELEMENTS, add_chunk, a);
}
