/* Scaling: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/scale/scale.h"

void PT_REF(scale_fwd)(const void *args, pt_pool *pool);
void PT_REF(scale_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_scale_args *a = args;
    for (int64_t i = 0; i < pt_numel(&a->y); i++)
        pt_reals(&a->y)[i] = (pt_real)(a->factor * (double)pt_reals(&a->x)[i]);
}
