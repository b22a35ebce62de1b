/* The end of a step's gradients: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/step_verdict/step_verdict.h"

void PT_REF(step_verdict_fwd)(const void *args, pt_pool *pool);
void PT_REF(step_verdict_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_step_verdict_args *a = args;
    pt_real *state = pt_reals(&a->state);
    double norm = pt_sqrt((double)state[PT_STATE_SQNORM]), clip = (double)state[PT_STATE_CLIP];
    double loss = (double)state[PT_STATE_LOSS], limit = (double)state[PT_STATE_LIMIT];
    bool skipped = limit > 0 && pt_is_finite(loss) && loss > limit;
    bool counts = skipped ? state[PT_STATE_HALT] == 0 : pt_is_finite(norm);
    bool ok = state[PT_STATE_OK] != 0 && pt_is_finite(loss) && counts;
    state[PT_STATE_NORM] = (pt_real)norm;
    state[PT_STATE_FACTOR] = (pt_real)(clip > 0 && norm > clip ? clip / (norm + 1e-6) : 1);
    state[PT_STATE_OK] = ok;
    state[PT_STATE_SKIPPED] = skipped;
    pt_real *ring = pt_reals(&a->ring) + a->slot * PT_RING_WORDS;
    ring[PT_RING_LOSS] = state[PT_STATE_LOSS];
    ring[PT_RING_NORM] = state[PT_STATE_NORM];
    ring[PT_RING_OK] = state[PT_STATE_OK];
    ring[PT_RING_LR] = state[PT_STATE_LR];
    ring[PT_RING_SKIPPED] = state[PT_STATE_SKIPPED];
}
