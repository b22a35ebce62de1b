/* Tensors: a dtype, up to four dimensions, and a place in a device buffer. Plain values, copied
 * freely; the buffer is owned by whoever made it (a memory plan, a session), never by a tensor.
 *
 * Layout is row-major and dense: the last dimension is contiguous. Dimension letters: see
 * docs/NOTATION.md (B batch, T time, C channels, H heads, G kv heads, D head dim, V vocab, …).
 * SPDX-License-Identifier: MIT */
#ifndef PT_TENSOR_TENSOR_H
#define PT_TENSOR_TENSOR_H

#include "base/mem.h"

/* name, bytes per block, elements per block, text */
#define PT_DTYPE_LIST(X)           \
    X(F32, 4, 1, "f32")            \
    X(F64, 8, 1, "f64")            \
    X(BF16, 2, 1, "bf16")          \
    X(F16, 2, 1, "f16")            \
    X(I32, 4, 1, "i32")            \
    X(U8, 1, 1, "u8")              \
    X(Q8_0, 34, 32, "q8_0")        \
    X(Q4_0, 18, 32, "q4_0")        \
    X(Q4_1, 20, 32, "q4_1")        \
    X(Q5_0, 22, 32, "q5_0")        \
    X(Q5_1, 24, 32, "q5_1")        \
    X(Q4_K, 144, 256, "q4_k")      \
    X(Q5_K, 176, 256, "q5_k")      \
    X(Q6_K, 210, 256, "q6_k")      \
    X(ROWS_F16, 16, 8, "f16 rows") \
    X(ROWS_INT8, 16, 16, "int8 rows") /* and 16 bytes of scales for 256 elements: tensor/packed.h */

typedef enum pt_dtype {
#define PT_DTYPE_ENUM(name, bytes, elements, text) PT_##name,
    PT_DTYPE_LIST(PT_DTYPE_ENUM)
#undef PT_DTYPE_ENUM
        PT_DTYPE_COUNT
} pt_dtype;

const char *pt_dtype_name(pt_dtype dtype); /* "f32"; "?" when out of range */
/* false when the text names no dtype. */
bool pt_dtype_from_name(const char *text, pt_dtype *out);
/* Elements of a block: a row of a quantised type is a whole number of them. 1 where there are no blocks. */
int pt_dtype_block(pt_dtype dtype);
/* Bytes of n elements, of one row (a whole number of blocks for quantised types); -1 when that overflows or
 * n is negative. */
int64_t pt_dtype_bytes(pt_dtype dtype, int64_t n);

struct pt_buffer; /* device/device.h */

#define PT_MAX_RANK 4

/* buffer == NULL means "absent": optional inputs, and gradients that are not wanted. */
typedef struct pt_tensor {
    struct pt_buffer *buffer;
    int64_t offset;           /* bytes from the start of the buffer */
    int64_t dim[PT_MAX_RANK]; /* dim[rank..] are 1 */
    pt_dtype dtype;
    int rank; /* 1 … 4 */
} pt_tensor;

static inline bool pt_present(const pt_tensor *t) { return t->buffer != NULL; }
static inline int64_t pt_numel(const pt_tensor *t)
{
    return t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
}
/* Product of all dimensions but the last. */
static inline int64_t pt_rows(const pt_tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank - 1; i++) n *= t->dim[i];
    return n;
}
static inline int64_t pt_last_dim(const pt_tensor *t) { return t->dim[t->rank - 1]; }
int64_t pt_tensor_bytes(const pt_tensor *t);

/* The same memory under another shape with the same number of elements, or fewer (a prefix).
 * Unused dims: pass 0. */
pt_tensor pt_view(const pt_tensor *t, int64_t d0, int64_t d1, int64_t d2, int64_t d3);
/* n consecutive indices of dimension 0, from `first`. */
pt_tensor pt_slice(const pt_tensor *t, int64_t first, int64_t n);
bool pt_same_shape(const pt_tensor *a, const pt_tensor *b);
/* "[2,3,4] f32" */
void pt_tensor_describe(const pt_tensor *t, char *out, size_t cap);

#endif
