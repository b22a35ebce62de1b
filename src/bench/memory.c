/* Random tensors. SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "base/rng.h"
#include "bench/measure.h"

#define PIECE 4096

static pt_tensor tensor_new(pt_bench_memory *m, pt_dtype dtype, const int64_t dim[PT_MAX_RANK])
{
    pt_tensor t = {.dtype = dtype, .dim = {1, 1, 1, 1}};
    while (t.rank < PT_MAX_RANK && dim[t.rank]) {
        t.dim[t.rank] = dim[t.rank];
        t.rank++;
    }
    if (m->status) return (pt_tensor){0};
    if (m->n == (int)(sizeof m->buffers / sizeof m->buffers[0])) {
        m->status = pt_fail(m->err, PT_INTERNAL, "bench: too many tensors");
        return (pt_tensor){0};
    }
    m->status = pt_buffer_new(m->device, pt_tensor_bytes(&t), &m->buffers[m->n], m->err);
    if (m->status) return (pt_tensor){0};
    t.buffer = m->buffers[m->n++];
    m->next++;
    return t;
}

/* Fills four elements at a time, made by `make`. */
static void fill(pt_bench_memory *m, const pt_tensor *t,
                 void (*make)(const uint32_t random[4], const void *how, void *out),
                 const void *how)
{
    uint32_t piece[PIECE];
    int64_t size = pt_dtype_bytes(t->dtype, 1);
    if (m->status) return;
    pt_tensor flat = pt_view(t, pt_numel(t), 0, 0, 0);
    for (int64_t at = 0; at < flat.dim[0] && m->status == PT_OK; at += PIECE) {
        int64_t n = pt_min_i64(PIECE, flat.dim[0] - at);
        for (int64_t i = 0; i < n; i += 4) {
            uint32_t random[4];
            pt_rng_u32x4(1, PT_STREAM_TEST, m->next, (uint64_t)(at + i), random);
            make(random, how, (char *)piece + i * size);
        }
        pt_tensor part = pt_slice(&flat, at, n);
        m->status = pt_upload(m->device, &part, piece, n * size, m->err);
    }
}

typedef struct interval {
    float low, length;
} interval;

static void make_floats(const uint32_t random[4], const void *how, void *out)
{
    const interval *in = how;
    float *x = out;
    for (int i = 0; i < 4; i++) x[i] = in->low + in->length * ((float)(random[i] >> 8) * 0x1p-24f);
}

static void make_ints(const uint32_t random[4], const void *how, void *out)
{
    const int32_t *below = how;
    int32_t *x = out;
    for (int i = 0; i < 4; i++) x[i] = (int32_t)((random[i] * (uint64_t)*below) >> 32);
}

static void make_bf16(const uint32_t random[4], const void *how, void *out)
{
    float x[4];
    uint16_t *rounded = out;
    make_floats(random, how, x);
    for (int i = 0; i < 4; i++) rounded[i] = pt_bf16_from_float(x[i]);
}

pt_tensor pt_bench_stored(pt_bench_memory *m, pt_dtype dtype, float scale,
                          const int64_t dim[PT_MAX_RANK])
{
    pt_tensor t = tensor_new(m, dtype, dim);
    fill(m, &t, dtype == PT_BF16 ? make_bf16 : make_floats, &(interval){-scale, 2 * scale});
    return t;
}

pt_tensor pt_bench_floats(pt_bench_memory *m, float scale, const int64_t dim[PT_MAX_RANK])
{
    return pt_bench_stored(m, PT_F32, scale, dim);
}

pt_tensor pt_bench_positive(pt_bench_memory *m, float scale, const int64_t dim[PT_MAX_RANK])
{
    pt_tensor t = tensor_new(m, PT_F32, dim);
    fill(m, &t, make_floats, &(interval){0, scale});
    return t;
}

pt_tensor pt_bench_ints(pt_bench_memory *m, int32_t below, const int64_t dim[PT_MAX_RANK])
{
    pt_tensor t = tensor_new(m, PT_I32, dim);
    fill(m, &t, make_ints, &below);
    return t;
}

pt_tensor pt_bench_ones(pt_bench_memory *m, int64_t n)
{
    uint8_t piece[PIECE];
    pt_tensor t = tensor_new(m, PT_U8, (int64_t[4]){n, 0, 0, 0});
    memset(piece, 1, sizeof piece);
    for (int64_t at = 0; at < n && m->status == PT_OK; at += PIECE) {
        int64_t some = pt_min_i64(PIECE, n - at);
        pt_tensor part = pt_slice(&t, at, some);
        m->status = pt_upload(m->device, &part, piece, some, m->err);
    }
    return t;
}

void pt_bench_release(pt_bench_memory *m)
{
    for (int i = 0; i < m->n; i++) pt_buffer_free(m->buffers[i]);
    m->n = 0;
}
