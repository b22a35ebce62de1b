/* Quantised weights as GGUF files hold them: what the numbers in a row of blocks are. Plain C, the reference for kernels.
 *
 * d, m and dmin are IEEE half floats, numbers little-endian, products and sums in f32, in the order of the formula. q is a
 * nibble unless said otherwise: byte j of `qs` holds element j below and element j + 16 above.
 *   q4_0  32 in 18 bytes: d qs[16]                  (q - 8) d
 *   q4_1  32 in 20: d m qs[16]                      q d + m
 *   q5_0  32 in 22: d u32 h qs[16]                  (q + 16 [bit j of h] - 16) d
 *   q5_1  32 in 24: d m u32 h qs[16]                (q + 16 [bit j of h]) d + m
 *   q8_0  32 in 34: d, int8 q[32]                   q d
 *   q4_k  256 in 144: d dmin scales[12] qs[128]     (d sc) q - dmin mn; eight groups of 32, each with its sc and mn; 32 bytes
 *                                                   of qs hold group 2g below and group 2g + 1 above
 *   q5_k  256 in 176: d dmin scales[12] h[32] qs[128]  the same with q + 16 [bit of the group of h[l]], l in its group
 *   q6_k  256 in 210: ql[128] qh[64] int8 sc[16] d  (d sc) (q - 32); halves of 128 elements, each four groups of 32 with a
 *                                                   nibble of ql and two bits of qh; sc is of 16 elements
 * scales[12]: sc and mn of groups 0 to 3 are the lower 6 bits of bytes 0 to 3 and 4 to 7; those of 4 to 7 have their lower
 * four bits in the nibbles of bytes 8 to 11, sc below, and their upper two in the upper two of bytes 0 to 3 and 4 to 7.
 * Formats: https://github.com/ggml-org/ggml (src/ggml-common.h).
 * SPDX-License-Identifier: MIT */
#ifndef PT_TENSOR_QUANTS_H
#define PT_TENSOR_QUANTS_H

#include "tensor/tensor.h"

/* n numbers, a multiple of pt_dtype_block, from pt_dtype_bytes(dtype, n) bytes at any address. false for a dtype that is
 * neither above nor f32, f16 or bf16: dst is left alone then. */
bool pt_dequantise(pt_dtype dtype, const void *blocks, int64_t n, float *dst);

#endif
