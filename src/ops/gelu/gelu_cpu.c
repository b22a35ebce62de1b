/* GELU, vectorised. SPDX-License-Identifier: MIT */
#include "device/cpu/chunks.h"
#include "device/cpu/simd_maths.h"
#include "device/cpu/stored.h"
#include "ops/gelu/gelu.h"

void PT_KERNEL(gelu_fwd)(const void *args, pt_pool *pool);
void PT_KERNEL(gelu_bwd)(const void *args, pt_pool *pool);

/* The tanh form is x sigmoid(z) with z = 2 sqrt(2/pi) (x + 0.044715 x^3), which stays exact where 1 + tanh cancels. */
#define TWO_SQRT_2_PI 1.59576912160573071f
#define CUBIC 0.044715f
#define INV_SQRT_2PI 0.39894228040143267794f

static inline pt_vf bend(pt_vf x)
{
    pt_vf factor =
        pt_vf_fma(pt_vf_mul(x, x), pt_vf_set1(CUBIC * TWO_SQRT_2_PI), pt_vf_set1(TWO_SQRT_2_PI));
    return pt_vf_sigmoid(pt_vf_mul(x, factor));
}

static inline pt_vf value(pt_vf x, bool tanh_form)
{
    pt_vf e;
    return pt_vf_mul(x, tanh_form ? bend(x) : pt_vf_normal_cdf(x, &e));
}

static inline pt_vf slope(pt_vf x, bool tanh_form)
{
    if (!tanh_form) {
        pt_vf e, cdf = pt_vf_normal_cdf(x, &e);
        return pt_vf_fma(pt_vf_mul(x, pt_vf_set1(INV_SQRT_2PI)), e, cdf);
    }
    /* The slope is 0 or 1 beyond |x| = 20, and x^2 may not become infinite. Constant first: NaN stays. */
    x = pt_vf_min(pt_vf_set1(20.0f), pt_vf_max(pt_vf_set1(-20.0f), x));
    const pt_vf one = pt_vf_set1(1.0f);
    pt_vf s = bend(x);
    pt_vf dz = pt_vf_fma(pt_vf_mul(x, x), pt_vf_set1(3 * CUBIC * TWO_SQRT_2_PI),
                         pt_vf_set1(TWO_SQRT_2_PI));
    pt_vf ds = pt_vf_mul(pt_vf_mul(s, pt_vf_sub(one, s)), dz);
    return pt_vf_fma(x, ds, s);
}

static inline void forward_range(const pt_gelu_args *a, pt_range r, bool tanh_form)
{
    const pt_stored *x = pt_storage(&a->x);
    pt_stored *y = pt_storage(&a->y);
    int64_t i = r.begin;
    for (; i + PT_LANES <= r.end; i += PT_LANES)
        pt_vs_store(y + i, value(pt_vs_load(x + i), tanh_form));
    if (i < r.end) {
        pt_vf tail = value(pt_vs_load_n(x + i, r.end - i), tanh_form);
        pt_vs_store_n(y + i, tail, r.end - i);
    }
}

static void forward_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_gelu_args *a = ctx;
    pt_range r = pt_chunk_range(pt_numel(&a->x), PT_CHUNK_ELEMENTS, chunk);
    if (a->tanh_form) forward_range(a, r, true);
    else forward_range(a, r, false);
}

void PT_KERNEL(gelu_fwd)(const void *args, pt_pool *pool)
{
    const pt_gelu_args *a = args;
    pt_run_chunks(pool, pt_numel(&a->x), PT_CHUNK_ELEMENTS, forward_chunk, a);
}

static inline void backward_range(const pt_gelu_args *a, pt_range r, bool tanh_form)
{
    const pt_stored *x = pt_storage(&a->x), *dy = pt_storage(&a->dy);
    pt_stored *dx = pt_storage(&a->dx);
    int64_t i = r.begin;
    for (; i + PT_LANES <= r.end; i += PT_LANES)
        pt_vs_store(dx + i, pt_vf_mul(pt_vs_load(dy + i), slope(pt_vs_load(x + i), tanh_form)));
    if (i < r.end) {
        int64_t n = r.end - i;
        pt_vf tail = slope(pt_vs_load_n(x + i, n), tanh_form);
        pt_vs_store_n(dx + i, pt_vf_mul(pt_vs_load_n(dy + i, n), tail), n);
    }
}

static void backward_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_gelu_args *a = ctx;
    pt_range r = pt_chunk_range(pt_numel(&a->x), PT_CHUNK_ELEMENTS, chunk);
    if (a->tanh_form) backward_range(a, r, true);
    else backward_range(a, r, false);
}

void PT_KERNEL(gelu_bwd)(const void *args, pt_pool *pool)
{
    const pt_gelu_args *a = args;
    pt_run_chunks(pool, pt_numel(&a->x), PT_CHUNK_ELEMENTS, backward_chunk, a);
}
