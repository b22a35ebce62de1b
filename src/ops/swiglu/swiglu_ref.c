/* SwiGLU: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/swiglu/swiglu.h"

static double sigmoid(double x) { return 1 / (1 + pt_exp(-x)); }

void PT_REF(swiglu_fwd)(const void *args, pt_pool *pool);
void PT_REF(swiglu_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_swiglu_args *a = args;
    for (int64_t i = 0; i < pt_numel(&a->gate); i++) {
        double gate = (double)pt_reals(&a->gate)[i], up = (double)pt_reals(&a->up)[i];
        pt_reals(&a->y)[i] = (pt_real)(gate * sigmoid(gate) * up);
    }
}

void PT_REF(swiglu_bwd)(const void *args, pt_pool *pool);
void PT_REF(swiglu_bwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_swiglu_args *a = args;
    for (int64_t i = 0; i < pt_numel(&a->gate); i++) {
        double gate = (double)pt_reals(&a->gate)[i], up = (double)pt_reals(&a->up)[i];
        double dy = (double)pt_reals(&a->dy)[i], s = sigmoid(gate);
        if (pt_present(&a->dup)) pt_reals(&a->dup)[i] = (pt_real)(dy * gate * s);
        if (pt_present(&a->dgate))
            pt_reals(&a->dgate)[i] = (pt_real)(dy * up * s * (1 + gate * (1 - s)));
    }
}
