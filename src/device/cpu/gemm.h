/* Matrix products in f32: the whole threaded product, and the small in-cache product it is made of.
 *
 * THE ORDER OF SUMS. Every element of C is one chain of pt_vf_fma with k ascending,
 *   c = start;  for k = 0, 1, …: c = fma(a[k], b[k], c)
 * where start is C itself (accumulate), else the bias, else 0. Blocking, tile position, thread count and
 * the number of rows do not change it: the same inputs give the same bits, alone or in a batch; and where
 * pt_vf_fma rounds twice (PT_STRICT), on every instruction set.
 *
 * Method: Goto and van de Geijn 2008, "Anatomy of high-performance matrix multiplication" (packed
 * panels, register tile); Van Zee and van de Geijn 2015 (BLIS: one micro-kernel, all cases by packing).
 * To be included by *_cpu.c files only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_CPU_GEMM_H
#define PT_DEVICE_CPU_GEMM_H

#include "device/cpu/cpu.h"

/* The register tile: PT_TILE_ROWS rows by PT_TILE_VECS vectors of 16 columns. */
#if defined(PT_ISA_avx512)
#define PT_TILE_ROWS 12 /* 24 of 32 registers hold sums */
#define PT_TILE_VECS 2
#elif defined(PT_ISA_avx2)
#define PT_TILE_ROWS 6 /* 12 of 16 registers */
#define PT_TILE_VECS 1
#elif defined(PT_ISA_neon)
#define PT_TILE_ROWS 6 /* 24 of 32 registers */
#define PT_TILE_VECS 1
#elif defined( \
    PT_ISA_wasm) /* by half vectors of 8 columns, one after the other: 12 or 8 of 15 registers */
#if defined(__wasm_relaxed_simd__)
#define PT_TILE_ROWS 6
#else /* a product and a sum need a register between them */
#define PT_TILE_ROWS 4
#endif
#define PT_TILE_VECS 1
#define PT_TILE_HALVES 1
#else
#define PT_TILE_ROWS 4
#define PT_TILE_VECS 1
#endif
#ifndef PT_TILE_HALVES
#define PT_TILE_HALVES 0
#endif
#define PT_TILE_COLS (16 * PT_TILE_VECS)
/* A packed panel of A: as many whole tiles as one vector holds, so that one store writes one k of it. */
#define PT_PANEL_ROWS (16 / PT_TILE_ROWS * PT_TILE_ROWS)

/* C[m,n] = or += A[m,k] B[k,n], plus the bias[n] row when not accumulating.
 *   A[i,p] = a[i*a_row + p*a_col]    B[p,j] = b[p*b_row + j*b_col]    C[i,j] = c[i*c_row + j]
 * Strides in elements; of A's two, and of B's two, one must be 1. C must not overlap A or B.
 * Sizes may be 0 (k = 0: C = start). bias may be NULL, and must be when accumulating.
 * a_sums [m], or NULL: a_sums[i] += A[i,0] + A[i,1] + …, k ascending, taken while A is packed: only where a_col is not 1
 * and there is a pool. */
typedef struct pt_gemm {
    int64_t m, n, k;
    const float *a;
    int64_t a_row, a_col;
    const float *b;
    int64_t b_row, b_col;
    float *c;
    int64_t c_row;
    const float *bias;
    bool accumulate;
    float *a_sums;
} pt_gemm;

/* Over the threads of the pool; uses each thread's scratch. pool may be NULL: slower, no scratch. */
void PT_CPU(gemm)(const pt_gemm *g, pt_pool *pool);

/* The in-cache product on the calling thread, nothing packed, for blocks of some 64 by 64.
 *   A[i,p] = a[i*a_row + p*a_col], one of them 1     B[p,j] = b[p*b_row + j]
 * Both may be packed: with a_row = 1, rows of A in panels of PT_PANEL_ROWS that are a_panel apart (0:
 * PT_PANEL_ROWS); columns of B in panels of PT_TILE_COLS that are b_panel apart (0: PT_TILE_COLS).
 * B is read in whole vectors: up to column n rounded up to 16 it must be readable (values don't matter).
 * Of C only the n columns are written. */
typedef struct pt_gemm_tile {
    int64_t m, n, k;
    const float *a;
    int64_t a_row, a_col, a_panel;
    const float *b;
    int64_t b_row, b_panel;
    float *c;
    int64_t c_row;
    const float *bias;
    bool accumulate;
} pt_gemm_tile;

void PT_CPU(gemm_tile)(const pt_gemm_tile *t);

/* A block to be packed, k by n in panels of some columns, each panel k rows of a fixed length:
 *   element [p,j] is src[p*row + j*col], one of row and col is 1
 * The panels begin `panel` floats apart. sums: A only, or NULL; sums[panel][0 … 15] += the panel's rows, p ascending. */
typedef struct pt_pack {
    float *out;
    const float *src;
    int64_t row, col, k, n, panel;
    float *sums;
} pt_pack;

/* B: panels of PT_TILE_COLS columns, padded with zeros to whole vectors; panel >= k * PT_TILE_COLS.
 * For pt_gemm_tile: b_row = PT_TILE_COLS, b_panel = panel. */
void PT_CPU(gemm_pack_b)(const pt_pack *b);
/* A with its rows as columns here: src[p*row + i], col = 1. Panels of PT_PANEL_ROWS in rows of 16 floats;
 * panel >= k * 16. For pt_gemm_tile: a_row = 1, a_col = 16, a_panel = panel. */
void PT_CPU(gemm_pack_a)(const pt_pack *a);

#endif
