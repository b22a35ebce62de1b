/* AdamW, vectorised: one pass over w, g, m and v, which is what memory allows.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/chunks.h"
#include "device/cpu/cpu.h"
#include "device/cpu/simd.h"
#include "ops/adamw/adamw.h"

void PT_CPU(adamw_fwd)(const void *args, pt_pool *pool);

typedef struct adamw_work {
    const float *g;
    float *w, *m, *v;
    uint16_t *copy; /* or NULL */
    const uint8_t *decay;
    int64_t n;
    float beta1, beta2, eps;
    float factor, rest1, rest2; /* of the gradient; 1 - beta1; 1 - beta2 */
    float step;                 /* lr correction1 */
    float correction2;
    float shrink; /* lr weight_decay */
} adamw_work;

typedef struct moments {
    pt_vf w, m, v;
} moments;

static inline moments update(const adamw_work *k, moments old, pt_vf g, float shrink)
{
    g = pt_vf_mul(g, pt_vf_set1(k->factor));
    pt_vf g2 = pt_vf_mul(g, g);
    pt_vf m = pt_vf_fma(pt_vf_set1(k->beta1), old.m, pt_vf_mul(pt_vf_set1(k->rest1), g));
    pt_vf v = pt_vf_fma(pt_vf_set1(k->beta2), old.v, pt_vf_mul(pt_vf_set1(k->rest2), g2));
    pt_vf size =
        pt_vf_add(pt_vf_sqrt(pt_vf_mul(v, pt_vf_set1(k->correction2))), pt_vf_set1(k->eps));
    pt_vf change = pt_vf_div(pt_vf_mul(m, pt_vf_set1(k->step)), size);
    change = pt_vf_fma(pt_vf_set1(shrink), old.w, change);
    return (moments){pt_vf_sub(old.w, change), m, v};
}

static void update_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const adamw_work *k = ctx;
    pt_range r = pt_chunk_range(k->n, PT_CHUNK_ELEMENTS, chunk);
    for (int64_t i = r.begin; i < r.end; i += PT_LANES) {
        float shrink = k->decay[i / PT_ADAMW_BLOCK] ? k->shrink : 0.0f;
        int64_t n = r.end - i;
        if (n >= PT_LANES) {
            moments old = {pt_vf_load(k->w + i), pt_vf_load(k->m + i), pt_vf_load(k->v + i)};
            moments new = update(k, old, pt_vf_load(k->g + i), shrink);
            pt_vf_store(k->w + i, new.w);
            if (k->copy) pt_vf_store_bf16(k->copy + i, new.w);
            pt_vf_store(k->m + i, new.m);
            pt_vf_store(k->v + i, new.v);
        } else {
            moments old = {pt_vf_load_n(k->w + i, n), pt_vf_load_n(k->m + i, n),
                           pt_vf_load_n(k->v + i, n)};
            moments new = update(k, old, pt_vf_load_n(k->g + i, n), shrink);
            pt_vf_store_n(k->w + i, new.w, n);
            if (k->copy) pt_vf_store_bf16_n(k->copy + i, new.w, n);
            pt_vf_store_n(k->m + i, new.m, n);
            pt_vf_store_n(k->v + i, new.v, n);
        }
    }
}

void PT_CPU(adamw_fwd)(const void *args, pt_pool *pool)
{
    const pt_adamw_args *a = args;
    const float *state = pt_floats(&a->state);
    if (state[PT_STATE_OK] == 0 || state[PT_STATE_SKIPPED] != 0) return;
    double lr = (double)state[PT_STATE_LR];
    adamw_work work = {
        .g = pt_floats(&a->g),
        .w = pt_floats(&a->w),
        .m = pt_floats(&a->m),
        .v = pt_floats(&a->v),
        .copy = pt_host(&a->copy),
        .decay = pt_host(&a->decay),
        .n = pt_numel(&a->w),
        .beta1 = (float)a->beta1,
        .beta2 = (float)a->beta2,
        .eps = (float)a->eps,
        .factor = state[PT_STATE_FACTOR],
        .rest1 = (float)(1 - a->beta1),
        .rest2 = (float)(1 - a->beta2),
        .step = (float)(lr * (double)state[PT_STATE_CORRECTION1]),
        .correction2 = state[PT_STATE_CORRECTION2],
        .shrink = (float)(lr * a->weight_decay),
    };
    pt_run_chunks(pool, work.n, PT_CHUNK_ELEMENTS, update_chunk, &work);
}
