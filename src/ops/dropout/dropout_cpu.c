/* Dropout, with sixteen counters of the generator at a time. SPDX-License-Identifier: MIT */
#include "base/rng.h"
#include "device/cpu/chunks.h"
#include "device/cpu/stored.h"
#include "ops/dropout/dropout.h"

void PT_KERNEL(dropout_fwd)(const void *args, pt_pool *pool);
void PT_KERNEL(dropout_bwd)(const void *args, pt_pool *pool);

#define BLOCK 64 /* elements: sixteen counters of four words */

typedef struct dropout_work {
    const pt_stored *in;
    pt_stored *out;
    int64_t n;
    double scale;       /* 1 / (1 - p) */
    uint64_t threshold; /* words below it are dropped: the smallest integer >= p 2^32 */
    uint64_t seed, first_counter;
    uint32_t site;
} dropout_work;

/* Philox4x32-10 (base/rng.c) on sixteen counters: w[k] lane i becomes word k of counter i. */
static inline void philox(pt_vi w[4], uint64_t seed)
{
    const pt_vi m0 = pt_vi_set1(0xd2511f53u), m1 = pt_vi_set1(0xcd9e8d57u);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        pt_vi high0 = pt_vi_mul_hi(w[0], m0), high1 = pt_vi_mul_hi(w[2], m1);
        pt_vi low0 = pt_vi_mul_lo(w[0], m0), low1 = pt_vi_mul_lo(w[2], m1);
        w[0] = pt_vi_xor(pt_vi_xor(high1, w[1]), pt_vi_set1(k0));
        w[2] = pt_vi_xor(pt_vi_xor(high0, w[3]), pt_vi_set1(k1));
        w[1] = low1;
        w[3] = low0;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
}

/* The words of the 64 elements from counter `counter` on, in element order. */
static inline void words_of_block(const dropout_work *work, uint64_t counter, pt_vi w[4])
{
    /* Lane 4k+i takes counter k+4i, so that transposing within quads puts the elements in order. */
    static const uint32_t lane_counter[PT_LANES] = {0, 4, 8,  12, 1, 5, 9,  13,
                                                    2, 6, 10, 14, 3, 7, 11, 15};
    const pt_vi low = pt_vi_set1((uint32_t)counter);
    const pt_vi high = pt_vi_set1((uint32_t)(counter >> 32));
    w[0] = pt_vi_add(low, pt_vi_load(lane_counter));
    pt_vi next_high = pt_vi_add(high, pt_vi_set1(1)); /* where the low word wrapped */
    w[1] = pt_vf_bits(
        pt_vf_select_lt_u32(w[0], low, pt_vf_from_bits(next_high), pt_vf_from_bits(high)));
    w[2] = pt_vi_set1(PT_STREAM_DROPOUT);
    w[3] = pt_vi_set1(work->site);
    philox(w, work->seed);
    pt_vi_transpose4(w);
}

/* 64 elements; in may be out. */
static inline void drop_block(const dropout_work *work, uint64_t counter, const pt_stored *in,
                              pt_stored *out)
{
    pt_vi w[4];
    float kept[BLOCK]; /* scaled in double, so that only the store rounds */
    words_of_block(work, counter, w);
    for (int i = 0; i < BLOCK; i++) kept[i] = (float)((double)pt_get(in + i) * work->scale);
    const pt_vi threshold = pt_vi_set1((uint32_t)work->threshold);
    for (int k = 0; k < 4; k++) {
        pt_vf x = pt_vf_load(kept + k * PT_LANES);
        pt_vs_store(out + k * PT_LANES, pt_vf_select_lt_u32(w[k], threshold, pt_vf_zero(), x));
    }
}

static void drop_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const dropout_work *work = ctx;
    pt_range r = pt_chunk_range(work->n, PT_CHUNK_ELEMENTS, chunk);
    int64_t i = r.begin;
    if (work->threshold > UINT32_MAX) { /* no 32-bit number reaches p */
        memset(work->out + i, 0, (size_t)(r.end - i) * sizeof(pt_stored));
        return;
    }
    uint64_t counter = work->first_counter + (uint64_t)i / 4;
    for (; i + BLOCK <= r.end; i += BLOCK, counter += BLOCK / 4)
        drop_block(work, counter, work->in + i, work->out + i);
    if (i == r.end) return;
    pt_stored tail[BLOCK] = {0};
    size_t bytes = (size_t)(r.end - i) * sizeof(pt_stored);
    memcpy(tail, work->in + i, bytes);
    drop_block(work, counter, tail, tail);
    memcpy(work->out + i, tail, bytes);
}

static void drop(const pt_dropout_args *a, const pt_tensor *in, const pt_tensor *out, pt_pool *pool)
{
    double p32 = a->p * 4294967296.0;
    uint64_t whole = (uint64_t)p32;
    dropout_work work = {
        .in = pt_storage(in),
        .out = pt_storage(out),
        .n = pt_numel(in),
        .scale = 1 / (1 - a->p),
        .threshold = whole + ((double)whole < p32),
        .seed = a->seed,
        .first_counter = (uint64_t)a->first / 4,
        .site = a->site,
    };
    pt_run_chunks(pool, work.n, PT_CHUNK_ELEMENTS, drop_chunk, &work);
}

void PT_KERNEL(dropout_fwd)(const void *args, pt_pool *pool)
{
    const pt_dropout_args *a = args;
    drop(a, &a->x, &a->y, pool);
}

void PT_KERNEL(dropout_bwd)(const void *args, pt_pool *pool)
{
    const pt_dropout_args *a = args;
    drop(a, &a->dy, &a->dx, pool);
}
