/* Looking for infinities and NaNs: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/check_finite/check_finite.h"

void PT_REF(check_finite_fwd)(const void *args, pt_pool *pool);
void PT_REF(check_finite_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_check_finite_args *a = args;
    pt_real *first_bad = pt_reals(&a->state) + PT_STATE_FIRST_BAD;
    for (int64_t i = 0; i < pt_numel(&a->x); i++)
        if (!pt_is_finite((double)pt_reals(&a->x)[i]) && (double)a->id < (double)*first_bad)
            *first_bad = (pt_real)a->id;
}
