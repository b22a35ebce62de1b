/* The step's loss: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/loss_sum/loss_sum.h"

void PT_REF(loss_sum_fwd)(const void *args, pt_pool *pool);
void PT_REF(loss_sum_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_loss_sum_args *a = args;
    pt_real *state = pt_reals(&a->state);
    double sum = (double)state[PT_STATE_LOSS];
    for (int64_t n = 0; n < pt_numel(&a->logp); n++)
        sum += (double)pt_reals(&a->coef)[n] * (double)pt_reals(&a->logp)[n];
    state[PT_STATE_LOSS] = (pt_real)sum;
}
