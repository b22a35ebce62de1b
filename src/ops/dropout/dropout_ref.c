/* Dropout: the definition. SPDX-License-Identifier: MIT */
#include "base/rng.h"
#include "device/ref/ref.h"
#include "ops/dropout/dropout.h"

static void apply(const pt_dropout_args *a, const pt_tensor *in, const pt_tensor *out)
{
    for (int64_t i = 0; i < pt_numel(in); i++) {
        uint64_t e = (uint64_t)a->first + (uint64_t)i;
        uint32_t word[4];
        pt_rng_u32x4(a->seed, PT_STREAM_DROPOUT, a->site, e / 4, word);
        bool keep = (double)word[e % 4] / 4294967296.0 >= a->p;
        double x = (double)pt_reals(in)[i];
        pt_reals(out)[i] = (pt_real)(keep ? x / (1 - a->p) : 0);
    }
}

void PT_REF(dropout_fwd)(const void *args, pt_pool *pool);
void PT_REF(dropout_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_dropout_args *a = args;
    apply(a, &a->x, &a->y);
}

void PT_REF(dropout_bwd)(const void *args, pt_pool *pool);
void PT_REF(dropout_bwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_dropout_args *a = args;
    apply(a, &a->dy, &a->dx);
}
