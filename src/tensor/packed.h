/* Matrices of weights for inference, packed by rows: each row [n] begins at a multiple of 16 bytes, and what fills it up is 0.
 *   f16   IEEE half floats, rounded to nearest even.
 *   int8  groups of 32 along the row: w = q scale, q whole, -127 to 127. The row's q come first, filled up to 16 bytes, then the
 *         scales of its groups, one bf16 each, filled up to 16 bytes. A scale is the least bf16 with |w| <= 127 scale in its
 *         group; q is w / scale rounded to nearest, ties to even. (The idea of q8_0, whose scales are f16 and end at 6e-8.)
 * Little-endian. Activations and sums with them stay f32.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TENSOR_PACKED_H
#define PT_TENSOR_PACKED_H

#include "tensor/tensor.h"

#define PT_PACKED_GROUP 32 /* int8: elements of one scale */

static inline bool pt_is_packed(pt_dtype dtype)
{
    return dtype == PT_ROWS_F16 || dtype == PT_ROWS_INT8;
}

/* As users name what weights are kept in. PT_F32: what the device computes in. */
#define PT_WEIGHTS_NAMES "f32|f16|int8"
/* false when it is none of them. */
bool pt_weights_from_name(const char *name, pt_dtype *out);

/* One row of n floats into pt_dtype_bytes(dtype, n) bytes. false: one of them is not finite, or is beyond f16. */
bool pt_pack_row(pt_dtype dtype, const float *values, int64_t n, void *row);
/* Element i of a packed row of n: exact. */
float pt_packed_at(pt_dtype dtype, const void *row, int64_t n, int64_t i);

#endif
