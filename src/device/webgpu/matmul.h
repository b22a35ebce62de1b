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

/* Fixed order of sums for given shapes. Errors: as pt_wg_run. */
pt_status pt_wg_matmul(pt_device *device, const pt_wg_product *product, pt_error *err);

/* sums[first + j] += sum over m of A[m,j], j < n. */
pt_status pt_wg_column_sums(pt_device *device, const pt_wg_matrix *a, int64_t m, int64_t n,
                            const pt_tensor *sums, pt_error *err);

/* ---- the ladder of kernels, for bench and self-test ---- */

typedef struct pt_wg_tile {
    const char *name;       /* "naive", "64x64 4x4" … */
    int bm, bn, bk, tm, tn; /* 0: naive */
    bool vectors;           /* reads and writes four elements at once, where shapes allow */
} pt_wg_tile;
extern const pt_wg_tile pt_wg_tiles[];
int pt_wg_tile_count(void);
/* The product with one of them; slices 0: chosen. */
pt_status pt_wg_matmul_with(pt_device *device, const pt_wg_product *product, const pt_wg_tile *tile,
                            int64_t slices, pt_error *err);

#endif
