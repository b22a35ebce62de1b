/* Rotary positions: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/rope/rope.h"

/* Turns one head by `direction` (+1 forward, -1 back) times its angles. */
static void turn(const pt_rope_args *a, const pt_real *in, pt_real *out, int64_t p,
                 double direction)
{
    int64_t half = pt_numel(&a->freq);
    for (int64_t i = 0; i < half; i++) {
        int64_t first = a->interleaved ? 2 * i : i;
        int64_t second = a->interleaved ? 2 * i + 1 : i + half;
        double angle = direction * (double)p * (double)pt_reals(&a->freq)[i];
        double cosine = pt_cos(angle), sine = pt_sin(angle);
        double x1 = (double)in[first], x2 = (double)in[second];
        out[first] = (pt_real)(x1 * cosine - x2 * sine);
        out[second] = (pt_real)(x2 * cosine + x1 * sine);
    }
}

static void turn_all(const pt_rope_args *a, const pt_tensor *in, const pt_tensor *out,
                     double direction)
{
    int64_t B = in->dim[0], T = in->dim[1], H = in->dim[2], D = in->dim[3];
    for (int64_t b = 0; b < B; b++) {
        for (int64_t t = 0; t < T; t++) {
            int64_t p = pt_int_at(&a->offset, b) + t - pt_int_at(&a->doc_start, b * T + t);
            for (int64_t h = 0; h < H; h++) {
                int64_t at = ((b * T + t) * H + h) * D;
                turn(a, pt_reals(in) + at, pt_reals(out) + at, p, direction);
            }
        }
    }
}

void PT_REF(rope_fwd)(const void *args, pt_pool *pool);
void PT_REF(rope_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_rope_args *a = args;
    turn_all(a, &a->x, &a->y, 1);
}

void PT_REF(rope_bwd)(const void *args, pt_pool *pool);
void PT_REF(rope_bwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_rope_args *a = args;
    turn_all(a, &a->dy, &a->dx, -1);
}
