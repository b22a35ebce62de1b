/* GELU: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/gelu/gelu.h"

#define SQRT_HALF 0.70710678118654752440    /* 1 / sqrt(2) */
#define SQRT_2_PI 0.79788456080286535588    /* sqrt(2 / pi) */
#define INV_SQRT_2PI 0.39894228040143267794 /* 1 / sqrt(2 pi) */

void PT_REF(gelu_fwd)(const void *args, pt_pool *pool);
void PT_REF(gelu_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_gelu_args *a = args;
    for (int64_t i = 0; i < pt_numel(&a->x); i++) {
        double x = (double)pt_reals(&a->x)[i];
        double bend =
            a->tanh_form ? pt_tanh(SQRT_2_PI * (x + 0.044715 * x * x * x)) : pt_erf(x * SQRT_HALF);
        pt_reals(&a->y)[i] = (pt_real)(0.5 * x * (1 + bend));
    }
}

static double slope_erf(double x)
{
    return 0.5 * (1 + pt_erf(x * SQRT_HALF)) + x * INV_SQRT_2PI * pt_exp(-0.5 * x * x);
}

static double slope_tanh(double x)
{
    double bend = pt_tanh(SQRT_2_PI * (x + 0.044715 * x * x * x));
    double inner = SQRT_2_PI * (1 + 3 * 0.044715 * x * x);
    return 0.5 * (1 + bend) + 0.5 * x * (1 - bend * bend) * inner;
}

void PT_REF(gelu_bwd)(const void *args, pt_pool *pool);
void PT_REF(gelu_bwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_gelu_args *a = args;
    for (int64_t i = 0; i < pt_numel(&a->x); i++) {
        double x = (double)pt_reals(&a->x)[i], dy = (double)pt_reals(&a->dy)[i];
        pt_reals(&a->dx)[i] = (pt_real)(dy * (a->tanh_form ? slope_tanh(x) : slope_erf(x)));
    }
}
