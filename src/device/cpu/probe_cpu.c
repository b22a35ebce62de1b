/* Measures of the processor, once per instruction set. SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "base/rng.h"
#include "device/cpu/chunks.h"
#include "device/cpu/cpu.h"
#include "device/cpu/isa_table.h"
#include "device/cpu/simd.h"

/* Independent chains: enough to hide the latency of a multiply-add (4 cycles, two a cycle), few enough for the
 * registers, which also hold the two constants. */
#if defined(PT_ISA_avx512)
#define CHAINS 12
#elif defined(PT_ISA_avx2)
#define CHAINS 6
#elif defined(PT_ISA_neon)
#define CHAINS 6
#else
#define CHAINS 3
#endif
#define ROUNDS ((1 << 16) / CHAINS) /* of each chain in a block */

typedef struct fma_work {
    float start[CHAINS * PT_LANES];
    atomic_int hit;
} fma_work;

/* x = a x + b with a near -1: values stay near where they began, with changing signs and digits. */
static void fma_block(void *ctx, int64_t chunk, int thread)
{
    fma_work *w = ctx;
    pt_vf x[CHAINS], a = pt_vf_set1(-0.99999f), b = pt_vf_set1(w->start[chunk % PT_LANES]);
    for (int i = 0; i < CHAINS; i++) x[i] = pt_vf_load(w->start + i * PT_LANES);
    for (int64_t round = 0; round < ROUNDS; round++)
        for (int i = 0; i < CHAINS; i++) x[i] = pt_vf_fma(x[i], a, b);
    float sum = 0;
    for (int i = 0; i < CHAINS; i++) sum += pt_vf_sum(x[i]);
    if (sum > 1e30f) atomic_fetch_add(&w->hit, 1); /* never; the compiler can't know */
    (void)thread;
}

static double probe_fma(pt_pool *pool, int64_t blocks)
{
    fma_work w = {.hit = 0};
    for (int i = 0; i < CHAINS * PT_LANES; i++)
        w.start[i] = (float)pt_rng_uniform(1, PT_STREAM_TEST, 0, (uint64_t)i) + 0.5f;
    pt_pool_run(pool, blocks, fma_block, &w);
    int64_t per_block = (int64_t)ROUNDS * CHAINS * PT_LANES;
    return 2.0 * (double)(blocks * per_block);
}

typedef struct triad_work {
    float *a;
    const float *b, *c;
    int64_t n;
} triad_work;

static void triad_chunk(void *ctx, int64_t chunk, int thread)
{
    const triad_work *w = ctx;
    pt_range r = pt_chunk_range(w->n, PT_CHUNK_ELEMENTS, chunk);
    pt_vf s = pt_vf_set1(0.75f);
    int64_t i = r.begin;
    for (; i + PT_LANES <= r.end; i += PT_LANES)
        pt_vf_store(w->a + i, pt_vf_fma(s, pt_vf_load(w->c + i), pt_vf_load(w->b + i)));
    for (; i < r.end; i++) w->a[i] = 0.75f * w->c[i] + w->b[i];
    (void)thread;
}

static double probe_triad(pt_pool *pool, const pt_tensor *a, const pt_tensor *b, const pt_tensor *c)
{
    triad_work w = {pt_floats(a), pt_floats(b), pt_floats(c), pt_numel(a)};
    pt_pool_run(pool, pt_div_up(w.n, PT_CHUNK_ELEMENTS), triad_chunk, &w);
    return 3.0 * 4.0 * (double)w.n;
}

void PT_CPU(probes)(pt_cpu_probes *probes)
{
    probes->fma = probe_fma;
    probes->triad = probe_triad;
}
