/* AdamW: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/adamw/adamw.h"

void PT_REF(adamw_fwd)(const void *args, pt_pool *pool);
void PT_REF(adamw_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_adamw_args *a = args;
    const pt_real *state = pt_reals(&a->state), *g = pt_reals(&a->g);
    const uint8_t *decay = pt_host(&a->decay);
    uint16_t *copy = pt_host(&a->copy);
    pt_real *w = pt_reals(&a->w), *m = pt_reals(&a->m), *v = pt_reals(&a->v);
    if (state[PT_STATE_OK] == 0 || state[PT_STATE_SKIPPED] != 0) return;
    double lr = (double)state[PT_STATE_LR], factor = (double)state[PT_STATE_FACTOR];
    double c1 = (double)state[PT_STATE_CORRECTION1], c2 = (double)state[PT_STATE_CORRECTION2];
    for (int64_t i = 0; i < pt_numel(&a->w); i++) {
        double grad = factor * (double)g[i], w_old = (double)w[i];
        double m_new = a->beta1 * (double)m[i] + (1 - a->beta1) * grad;
        double v_new = a->beta2 * (double)v[i] + (1 - a->beta2) * grad * grad;
        int64_t block = i / PT_ADAMW_BLOCK;
        double shrink = a->weight_decay * (double)decay[block] * w_old;
        w[i] = (pt_real)(w_old - lr * (m_new * c1 / (pt_sqrt(v_new * c2) + a->eps) + shrink));
        if (copy) copy[i] = pt_bf16_from_float((float)w[i]);
        m[i] = (pt_real)m_new;
        v[i] = (pt_real)v_new;
    }
}
