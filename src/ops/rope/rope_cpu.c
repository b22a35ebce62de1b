/* Rotary positions, vectorised over the pairs of a head. SPDX-License-Identifier: MIT */
#include "device/cpu/chunks.h"
#include "device/cpu/stored.h"
#include "ops/rope/rope.h"

void PT_KERNEL(rope_fwd)(const void *args, pt_pool *pool);
void PT_KERNEL(rope_bwd)(const void *args, pt_pool *pool);

#define PAIRS 64 /* pairs whose angles are held at a time */

typedef struct rope_work {
    const pt_rope_args *args;
    const pt_stored *in;
    pt_stored *out;
    int64_t B, T, H, D;
    double direction; /* +1 forward, -1 back */
} rope_work;

typedef struct angles {
    int64_t position, first, n; /* of which position and pairs; n 0: of none yet */
    float cosine[PAIRS], sine[PAIRS];
} angles;

/* Sines in double are far dearer than turning a head, so they are kept while they fit. */
static void set_angles(angles *at, const rope_work *work, int64_t position, int64_t first)
{
    if (at->n && at->position == position && at->first == first) return;
    const float *freq = pt_floats(&work->args->freq) + first;
    at->position = position;
    at->first = first;
    at->n = pt_min_i64(PAIRS, work->D / 2 - first);
    for (int64_t i = 0; i < at->n; i++) {
        double angle = work->direction * (double)position * (double)freq[i];
        at->cosine[i] = (float)pt_cos(angle);
        at->sine[i] = (float)pt_sin(angle);
    }
}

/* Pairs (x1[i], x2[i]). */
static inline void turn_halves(const angles *at, const pt_stored *x1, const pt_stored *x2,
                               pt_stored *y1, pt_stored *y2)
{
    int64_t i = 0;
    for (; i + PT_LANES <= at->n; i += PT_LANES) {
        pt_vf a = pt_vs_load(x1 + i), b = pt_vs_load(x2 + i);
        pt_vf c = pt_vf_load(at->cosine + i), s = pt_vf_load(at->sine + i);
        pt_vs_store(y1 + i, pt_vf_fma(a, c, pt_vf_neg(pt_vf_mul(b, s))));
        pt_vs_store(y2 + i, pt_vf_fma(b, c, pt_vf_mul(a, s)));
    }
    if (i == at->n) return;
    int64_t n = at->n - i;
    pt_vf a = pt_vs_load_n(x1 + i, n), b = pt_vs_load_n(x2 + i, n);
    pt_vf c = pt_vf_load_n(at->cosine + i, n), s = pt_vf_load_n(at->sine + i, n);
    pt_vs_store_n(y1 + i, pt_vf_fma(a, c, pt_vf_neg(pt_vf_mul(b, s))), n);
    pt_vs_store_n(y2 + i, pt_vf_fma(b, c, pt_vf_mul(a, s)), n);
}

/* Pairs (x[2i], x[2i+1]). */
static inline void turn_neighbours(const angles *at, const pt_stored *x, pt_stored *y)
{
    for (int64_t i = 0; i < at->n; i++) {
        float a = pt_get(x + 2 * i), b = pt_get(x + 2 * i + 1);
        pt_put(y + 2 * i, a * at->cosine[i] - b * at->sine[i]);
        pt_put(y + 2 * i + 1, b * at->cosine[i] + a * at->sine[i]);
    }
}

static void turn_token(const rope_work *work, angles *at, int64_t b, int64_t t, int64_t first)
{
    const pt_rope_args *a = work->args;
    int64_t position = pt_int_at(&a->offset, b) + t - pt_int_at(&a->doc_start, b * work->T + t);
    set_angles(at, work, position, first);
    for (int64_t h = 0; h < work->H; h++) {
        int64_t head = ((b * work->T + t) * work->H + h) * work->D;
        const pt_stored *x = work->in + head;
        pt_stored *y = work->out + head;
        int64_t second = first + work->D / 2;
        if (a->interleaved) turn_neighbours(at, x + 2 * first, y + 2 * first);
        else turn_halves(at, x + first, x + second, y + first, y + second);
    }
}

/* A chunk is one time step of every row: rows mostly stand at the same position. */
static void turn_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const rope_work *work = ctx;
    angles at = {.n = 0};
    for (int64_t first = 0; first < work->D / 2; first += PAIRS)
        for (int64_t b = 0; b < work->B; b++) turn_token(work, &at, b, chunk, first);
}

static void turn_all(const pt_rope_args *a, const pt_tensor *in, const pt_tensor *out,
                     double direction, pt_pool *pool)
{
    rope_work work = {
        .args = a,
        .in = pt_storage(in),
        .out = pt_storage(out),
        .B = in->dim[0],
        .T = in->dim[1],
        .H = in->dim[2],
        .D = in->dim[3],
        .direction = direction,
    };
    /* sines dominate: some 50 ns for a pair */
    bool small = work.T * work.D / 2 <= 256 && pt_numel(in) <= PT_CHUNK_ELEMENTS;
    pt_run_chunks(small ? NULL : pool, work.T, 1, turn_chunk, &work);
}

void PT_KERNEL(rope_fwd)(const void *args, pt_pool *pool)
{
    const pt_rope_args *a = args;
    turn_all(a, &a->x, &a->y, 1, pool);
}

void PT_KERNEL(rope_bwd)(const void *args, pt_pool *pool)
{
    const pt_rope_args *a = args;
    turn_all(a, &a->dy, &a->dx, -1, pool);
}
