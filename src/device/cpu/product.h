/* The matrix product of what is stored (stored.h): pt_product is pt_gemm or, with PT_STORED_BF16, pt_gemm_bf16.
 * To be included by *_cpu.c files only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_CPU_PRODUCT_H
#define PT_DEVICE_CPU_PRODUCT_H

#include "device/cpu/gemm_bf16.h"
#include "device/cpu/stored.h"

#if defined(PT_STORED_BF16)
typedef pt_gemm_bf16 pt_product;
/* C begins at element `at` of a tensor, which is f32 or bf16. */
static inline void pt_product_run(pt_product *g, const pt_tensor *c, int64_t at, pt_pool *pool)
{
    if (c->dtype == PT_BF16) g->c = pt_storage(c) + at;
    else g->c_f32 = pt_floats(c) + at;
    PT_CPU(gemm_bf16)(g, pool);
}
/* Asks for sums[i] += A[i,0] + A[i,1] + …; false where this product cannot give them. */
static inline bool pt_product_sum_a(pt_product *g, float *sums)
{
    (void)g;
    (void)sums;
    return false;
}
#else
typedef pt_gemm pt_product;
static inline void pt_product_run(pt_product *g, const pt_tensor *c, int64_t at, pt_pool *pool)
{
    g->c = pt_floats(c) + at;
    PT_CPU(gemm)(g, pool);
}
static inline bool pt_product_sum_a(pt_product *g, float *sums)
{
    if (g->a_col == 1) return false;
    g->a_sums = sums;
    return true;
}
#endif

#endif
