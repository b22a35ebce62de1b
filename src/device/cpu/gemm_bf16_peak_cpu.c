/* The most that the tiles of the bf16 product can do. SPDX-License-Identifier: MIT */
#include "device/cpu/gemm_bf16.h"
#include "device/cpu/isa_table.h"

#if defined(PT_ISA_amx)
#include "base/rng.h"
#include "device/cpu/amx.h"

#define ROUNDS 512 /* in a block; each multiplies four tiles */
#define TILE_FLOP (2.0 * 16 * 16 * 32)

/* Four sums are enough to hide the latency of a multiplication, 52 cycles, one begun every 16. */
static void multiply_block(void *ctx, int64_t chunk, int thread)
{
    const uint16_t *data = ctx;
    (void)chunk;
    (void)thread;
    pt_amx_begin();
    pt_amx_zero(0);
    pt_amx_zero(1);
    pt_amx_zero(2);
    pt_amx_zero(3);
    pt_amx_load(4, data, 64);
    pt_amx_load(5, data + 512, 64);
    pt_amx_load(6, data + 1024, 64);
    pt_amx_load(7, data + 1536, 64);
    for (int64_t i = 0; i < ROUNDS; i++) {
        pt_amx_multiply(0, 4, 6);
        pt_amx_multiply(1, 4, 7);
        pt_amx_multiply(2, 5, 6);
        pt_amx_multiply(3, 5, 7);
    }
    pt_amx_end();
}

double PT_CPU(fma_bf16)(pt_pool *pool, int64_t blocks)
{
    uint16_t data[2048];
    for (int i = 0; i < 2048; i++)
        data[i] =
            pt_bf16_from_float((float)pt_rng_uniform(1, PT_STREAM_TEST, 0, (uint64_t)i) - 0.5f);
    pt_pool_run(pool, blocks, multiply_block, data);
    return (double)blocks * ROUNDS * 4 * TILE_FLOP;
}
#else
double PT_CPU(fma_bf16)(pt_pool *pool, int64_t blocks)
{
    pt_cpu_probes probes;
    PT_CPU(probes)(&probes);
    return probes.fma(pool, blocks);
}
#endif
