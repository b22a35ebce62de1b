/* Tensors. SPDX-License-Identifier: MIT */
#include "tensor/tensor.h"

#include "base/format.h"

typedef struct dtype_info {
    int bytes, elements; /* of one block */
    const char *name;
} dtype_info;

static const dtype_info infos[PT_DTYPE_COUNT] = {
#define DTYPE_INFO(name, bytes, elements, text) {bytes, elements, text},
    PT_DTYPE_LIST(DTYPE_INFO)
#undef DTYPE_INFO
};

const char *pt_dtype_name(pt_dtype dtype)
{
    return (int)dtype >= 0 && dtype < PT_DTYPE_COUNT ? infos[dtype].name : "?";
}

bool pt_dtype_from_name(const char *text, pt_dtype *out)
{
    for (int i = 0; i < PT_DTYPE_COUNT; i++) {
        if (strcmp(text, infos[i].name) != 0) continue;
        *out = (pt_dtype)i;
        return true;
    }
    return false;
}

int pt_dtype_block(pt_dtype dtype) { return infos[dtype].elements; }

int64_t pt_dtype_bytes(pt_dtype dtype, int64_t n)
{
    const dtype_info *info = &infos[dtype];
    int64_t bytes = 0;
    if (n < 0 || n > INT64_MAX - info->elements) return -1;
    if (!pt_mul_i64(pt_div_up(n, info->elements), info->bytes, &bytes)) return -1;
    int64_t scales = dtype == PT_ROWS_INT8 ? (n / 256 + (n % 256 > 0)) * 16 : 0;
    if (!pt_add_i64(bytes, scales, &bytes)) return -1;
    return bytes;
}

int64_t pt_tensor_bytes(const pt_tensor *t)
{
    int last = t->rank > 0 && t->rank <= PT_MAX_RANK ? t->rank - 1 : 0;
    int64_t bytes = pt_dtype_bytes(t->dtype, t->dim[last]);
    for (int i = 0; i < PT_MAX_RANK && bytes >= 0; i++)
        if (i != last && !pt_mul_i64(bytes, t->dim[i], &bytes)) return -1;
    return bytes;
}

pt_tensor pt_view(const pt_tensor *t, int64_t d0, int64_t d1, int64_t d2, int64_t d3)
{
    pt_tensor view = *t;
    int64_t dim[PT_MAX_RANK] = {d0, d1, d2, d3};
    view.rank = 1;
    for (int i = 0; i < PT_MAX_RANK; i++) {
        view.dim[i] = dim[i] > 0 ? dim[i] : 1;
        if (dim[i] > 0) view.rank = i + 1;
    }
    return view;
}

pt_tensor pt_slice(const pt_tensor *t, int64_t first, int64_t n)
{
    pt_tensor slice = *t, before = *t;
    before.dim[0] = first;
    slice.offset += pt_tensor_bytes(&before);
    slice.dim[0] = n;
    return slice;
}

bool pt_same_shape(const pt_tensor *a, const pt_tensor *b)
{
    return a->rank == b->rank && memcmp(a->dim, b->dim, sizeof a->dim) == 0;
}

void pt_tensor_describe(const pt_tensor *t, char *out, size_t cap)
{
    size_t n = 0;
    for (int i = 0; i < t->rank && i < PT_MAX_RANK && n < cap; i++)
        n += pt_format(out + n, cap - n, "%s%lld", i ? "," : "[", (long long)t->dim[i]);
    if (n < cap) pt_format(out + n, cap - n, "] %s", pt_dtype_name(t->dtype));
}
