/* Addition: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/add/add.h"

void PT_REF(add_fwd)(const void *args, pt_pool *pool);
void PT_REF(add_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_add_args *a = args;
    for (int64_t i = 0; i < pt_numel(&a->y); i++)
        pt_reals(&a->y)[i] = (pt_real)((double)pt_reals(&a->a)[i] + (double)pt_reals(&a->b)[i]);
}
