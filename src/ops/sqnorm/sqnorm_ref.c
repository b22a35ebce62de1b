/* Squared norm: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/sqnorm/sqnorm.h"

void PT_REF(sqnorm_fwd)(const void *args, pt_pool *pool);
void PT_REF(sqnorm_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_sqnorm_args *a = args;
    pt_real *state = pt_reals(&a->state);
    double sum = (double)state[PT_STATE_SQNORM];
    for (int64_t i = 0; i < pt_numel(&a->x); i++)
        sum += (double)pt_reals(&a->x)[i] * (double)pt_reals(&a->x)[i];
    state[PT_STATE_SQNORM] = (pt_real)sum;
}
