/* Products of matrices on the GPU, for the ops that need them. SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_MATMUL_H
#define PT_DEVICE_WEBGPU_MATMUL_H

#include "device/webgpu/webgpu.h"

/* One matrix of a product: `first` and `ld` (from one stored row to the next) in elements of the tensor. */
typedef struct pt_wg_matrix {
    const pt_tensor *tensor;
    int64_t first, ld;
    bool transposed; /* A: stored (K,M); B: stored (N,K) */
} pt_wg_matrix;

typedef struct pt_wg_product {
    pt_wg_matrix a, b, c;  /* C (M,N) = A (M,K) B (K,N); c is never transposed */
    const pt_tensor *bias; /* (N) or NULL */
    int64_t m, n, k;
    bool accumulate; /* plus what C held */
    /* i32, from element mask_first: where it is negative, rows m of A B are 0 whatever A and B hold (mask_m), or rows k of B, which
     * is then stored (K,N), count as 0 (mask_k). */
    const pt_tensor *mask;
    int64_t mask_first;
    bool mask_m, mask_k;
} pt_wg_product;

/* b, stored (N,K), may be packed (tensor/packed.h): then nothing is transposed, accumulated or masked, and ld says nothing.
 * The order of sums follows from shapes and kernel. Errors: as pt_wg_run. */
pt_status pt_wg_matmul(pt_device *device, const pt_wg_product *product, pt_error *err);

/* sums[first + j] += sum over m of A[m,j], j < n. */
pt_status pt_wg_column_sums(pt_device *device, const pt_wg_matrix *a, int64_t m, int64_t n,
                            const pt_tensor *sums, pt_error *err);

/* ---- the ladder of kernels: choice.h says how one is chosen ---- */

typedef enum pt_wg_kind {
    PT_WG_NAIVE,
    PT_WG_TILED,    /* matmul.wgsl */
    PT_WG_UNROLLED, /* matmul_unrolled.wgsl, and TILED for matrices that do not lie in fours */
    PT_WG_SUBGROUP, /* matmul_subgroup.wgsl: lanes hand each other A */
    PT_WG_MATRIX, /* matmul_matrix.wgsl: f32 by three products of f16 on the units for products of subgroups */
    PT_WG_F16_STORAGE, /* these round A and B to f16 first: tiled in f32 */
    PT_WG_F16_COMPUTE, /* matmul_f16.wgsl: and sums of 16 */
    PT_WG_F16_MATRIX   /* matmul_matrix.wgsl: one product of f16 */
} pt_wg_kind;

typedef struct pt_wg_tile {
    const char *name; /* "naive", "64x64 4x4" … */
    pt_wg_kind kind;
    int bm, bn, bk, tm, tn; /* tm, tn: tiled; bm, bn, bk: all but NAIVE */
    bool vectors;           /* reads and writes four elements at once, where shapes allow */
    bool contends;          /* may be chosen; the others are kept to be compared */
} pt_wg_tile;

#define PT_WG_MOST_TILES 64
/* Simplest first: naive, which has no barriers, then what a GPU takes to be harder and harder. Those of the kinds NAIVE,
 * TILED, UNROLLED and SUBGROUP have the same bits: they sum the same slices of k in the same order, by fused multiply-adds. */
extern const pt_wg_tile pt_wg_tiles[];
int pt_wg_tile_count(void);
/* What the kernel needs and the device lacks; NULL: nothing. */
const char *pt_wg_tile_lacks(const pt_device *device, const pt_wg_tile *tile);
/* Whether its products are those of f16: measured, never tried nor chosen. */
bool pt_wg_tile_approximate(const pt_wg_tile *tile);
/* The product with one of them. Slices of k: 0 = as many as the shape asks for, whatever the tile, unless it is of matrix units. */
pt_status pt_wg_matmul_with(pt_device *device, const pt_wg_product *product, const pt_wg_tile *tile,
                            int64_t slices, pt_error *err);

/* What is multiplied is told apart by the size of C and by how A and B are stored. */
typedef enum pt_wg_size {
    PT_WG_SMALL,
    PT_WG_MEDIUM,
    PT_WG_LARGE,
    PT_WG_HUGE,
    PT_WG_SIZES
} pt_wg_size;
typedef enum pt_wg_layout { PT_WG_NN, PT_WG_NT, PT_WG_TN, PT_WG_LAYOUTS } pt_wg_layout;
pt_wg_size pt_wg_size_of(const pt_wg_product *product);
pt_wg_layout pt_wg_layout_of(const pt_wg_product *product);
/* What is good for a size on most GPUs. */
const pt_wg_tile *pt_wg_usual_tile(pt_wg_size size);

#endif
