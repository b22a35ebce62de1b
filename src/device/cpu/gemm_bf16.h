/* Matrix products of bf16 operands with sums in f32.
 *
 * THE ORDER OF SUMS. k is cut into blocks by its size alone. Within a block an element of C is one chain with k ascending
 * that begins with 0; the blocks are added in order, and where C begins (bias, C itself, or 0) is added last. Thread
 * count, tile position and the number of rows change nothing: the same inputs give the same bits on one
 * instruction set. How the chain is made differs between instruction sets:
 *   amx    tiles of 16 by 16, two k at a time (TDPBF16PS): c += a[2p] b[2p] + a[2p+1] b[2p+1]; takes subnormals for 0
 *   others the operands are widened to f32, which is exact, and multiplied by the tile of gemm.h
 * To be included by *_cpu.c files only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_CPU_GEMM_BF16_H
#define PT_DEVICE_CPU_GEMM_BF16_H

#include "device/cpu/gemm.h"

/* C[m,n] = or += A[m,k] B[k,n], plus the bias[n] row when not accumulating. Strides as in pt_gemm. C is bf16 in c, or
 * f32 in c_f32; the other is NULL. */
typedef struct pt_gemm_bf16 {
    int64_t m, n, k;
    const uint16_t *a;
    int64_t a_row, a_col;
    const uint16_t *b;
    int64_t b_row, b_col;
    uint16_t *c;
    float *c_f32;
    int64_t c_row;
    const float *bias; /* f32 */
    bool accumulate;
} pt_gemm_bf16;

/* Over the threads of the pool (not NULL); uses each thread's scratch. */
void PT_CPU(gemm_bf16)(const pt_gemm_bf16 *g, pt_pool *pool);

/* ---- the packed operands of a block, and its tiles: gemm_bf16_tile_cpu.c ---- */

#define PT_BF16_TILE 32 /* rows and columns of a tile */

#if defined(PT_ISA_amx)
typedef uint16_t pt_bf16_packed;
#define PT_BF16_UNIT 32 /* packed k is a multiple of this */
#else
typedef float pt_bf16_packed;
#define PT_BF16_UNIT 1
#endif

/* A block of an operand in memory: element [p,j] is src[p*k_step + j*step], k of them by n, one of the steps is 1. */
typedef struct pt_bf16_block {
    const uint16_t *src;
    int64_t k_step, step, k, n;
} pt_bf16_block;

/* A: n rows of packed k, row_step apart, zeros behind k up to the unit. */
void PT_CPU(bf16_pack_a)(pt_bf16_packed *out, const pt_bf16_block *a, int64_t row_step);
/* B: panels of PT_BF16_TILE columns, PT_BF16_TILE * packed k elements each. */
void PT_CPU(bf16_pack_b)(pt_bf16_packed *out, const pt_bf16_block *b);
/* sum[i*PT_BF16_TILE + j] = the chain over packed k, for the rows and columns asked for (others are not defined). a is
 * readable for whole halves of a tile, 16 rows. */
typedef struct pt_bf16_tile {
    const pt_bf16_packed *a, *b;
    int64_t row_step, k;
    int rows, columns;
    float *sum; /* aligned to 64 bytes */
} pt_bf16_tile;
void PT_CPU(bf16_tile)(const pt_bf16_tile *t);
/* Around the tiles of a chunk, on the thread that computes them. */
void PT_CPU(bf16_tiles_begin)(void);
void PT_CPU(bf16_tiles_end)(void);

#endif
