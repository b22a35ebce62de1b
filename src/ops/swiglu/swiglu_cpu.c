/* SwiGLU, vectorised. SPDX-License-Identifier: MIT */
#include "device/cpu/chunks.h"
#include "device/cpu/simd_maths.h"
#include "device/cpu/stored.h"
#include "ops/swiglu/swiglu.h"

void PT_KERNEL(swiglu_fwd)(const void *args, pt_pool *pool);
void PT_KERNEL(swiglu_bwd)(const void *args, pt_pool *pool);

static inline pt_vf value(pt_vf gate, pt_vf up)
{
    return pt_vf_mul(pt_vf_mul(gate, pt_vf_sigmoid(gate)), up);
}

static void forward_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_swiglu_args *a = ctx;
    const pt_stored *gate = pt_storage(&a->gate), *up = pt_storage(&a->up);
    pt_stored *y = pt_storage(&a->y);
    pt_range r = pt_chunk_range(pt_numel(&a->gate), PT_CHUNK_ELEMENTS, chunk);
    int64_t i = r.begin;
    for (; i + PT_LANES <= r.end; i += PT_LANES)
        pt_vs_store(y + i, value(pt_vs_load(gate + i), pt_vs_load(up + i)));
    if (i < r.end) {
        int64_t n = r.end - i;
        pt_vs_store_n(y + i, value(pt_vs_load_n(gate + i, n), pt_vs_load_n(up + i, n)), n);
    }
}

void PT_KERNEL(swiglu_fwd)(const void *args, pt_pool *pool)
{
    const pt_swiglu_args *a = args;
    pt_run_chunks(pool, pt_numel(&a->gate), PT_CHUNK_ELEMENTS, forward_chunk, a);
}

/* The slopes towards gate and up. */
static inline void slopes(pt_vf gate, pt_vf up, pt_vf *to_gate, pt_vf *to_up)
{
    const pt_vf one = pt_vf_set1(1.0f);
    pt_vf s = pt_vf_sigmoid(gate);
    pt_vf bend = pt_vf_fma(gate, pt_vf_sub(one, s), one);
    *to_gate = pt_vf_mul(pt_vf_mul(up, s), bend);
    *to_up = pt_vf_mul(gate, s);
}

static void backward_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_swiglu_args *a = ctx;
    const pt_stored *gate = pt_storage(&a->gate), *up = pt_storage(&a->up),
                    *dy = pt_storage(&a->dy);
    pt_stored *dgate = pt_storage(&a->dgate), *dup = pt_storage(&a->dup);
    pt_range r = pt_chunk_range(pt_numel(&a->gate), PT_CHUNK_ELEMENTS, chunk);
    int64_t i = r.begin;
    for (; i + PT_LANES <= r.end; i += PT_LANES) {
        pt_vf to_gate, to_up, d = pt_vs_load(dy + i);
        slopes(pt_vs_load(gate + i), pt_vs_load(up + i), &to_gate, &to_up);
        if (dgate) pt_vs_store(dgate + i, pt_vf_mul(d, to_gate));
        if (dup) pt_vs_store(dup + i, pt_vf_mul(d, to_up));
    }
    if (i < r.end) {
        int64_t n = r.end - i;
        pt_vf to_gate, to_up, d = pt_vs_load_n(dy + i, n);
        slopes(pt_vs_load_n(gate + i, n), pt_vs_load_n(up + i, n), &to_gate, &to_up);
        if (dgate) pt_vs_store_n(dgate + i, pt_vf_mul(d, to_gate), n);
        if (dup) pt_vs_store_n(dup + i, pt_vf_mul(d, to_up), n);
    }
}

void PT_KERNEL(swiglu_bwd)(const void *args, pt_pool *pool)
{
    const pt_swiglu_args *a = args;
    pt_run_chunks(pool, pt_numel(&a->gate), PT_CHUNK_ELEMENTS, backward_chunk, a);
}
