/* Packed rows. SPDX-License-Identifier: MIT */
#include "tensor/packed.h"

#include "base/maths.h"

bool pt_weights_from_name(const char *name, pt_dtype *out)
{
    static const char *const names[] = {"f32", "f16", "int8"};
    static const pt_dtype dtypes[] = {PT_F32, PT_ROWS_F16, PT_ROWS_INT8};
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = dtypes[i];
        return true;
    }
    return false;
}

static bool pack_f16(const float *values, int64_t n, uint16_t *to)
{
    bool fits = true;
    for (int64_t i = 0; i < n; i++) {
        to[i] = pt_half_from_float(values[i]);
        fits &= (to[i] & 0x7c00) != 0x7c00;
    }
    return fits;
}

/* The least bf16 of which 127 are at least `largest`. */
static uint16_t scale_for(float largest)
{
    uint16_t scale = (uint16_t)(pt_float_bits(largest / 127) >> 16);
    while ((double)largest > 127.0 * (double)pt_float_from_bf16(scale)) scale++;
    return scale;
}

static bool pack_group(const float *values, int64_t n, int8_t *quants, uint16_t *scale)
{
    float largest = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!pt_is_finite((double)values[i])) return false;
        largest = pt_fabsf(values[i]) > largest ? pt_fabsf(values[i]) : largest;
    }
    *scale = scale_for(largest);
    double unit = (double)pt_float_from_bf16(*scale);
    for (int64_t i = 0; i < n && largest > 0; i++)
        quants[i] = (int8_t)pt_round_even((double)values[i] / unit);
    return true;
}

/* Where the scales of a row of n begin, counted in them. */
static int64_t scales_from(int64_t n) { return pt_round_up(n, 16) / 2; }

bool pt_pack_row(pt_dtype dtype, const float *values, int64_t n, void *row)
{
    memset(row, 0, (size_t)pt_dtype_bytes(dtype, n));
    if (dtype == PT_ROWS_F16) return pack_f16(values, n, row);
    uint16_t *scales = (uint16_t *)row + scales_from(n);
    bool fits = true;
    for (int64_t i = 0; i < n && fits; i += PT_PACKED_GROUP)
        fits = pack_group(values + i, pt_min_i64(PT_PACKED_GROUP, n - i), (int8_t *)row + i,
                          &scales[i / PT_PACKED_GROUP]);
    return fits;
}

float pt_packed_at(pt_dtype dtype, const void *row, int64_t n, int64_t i)
{
    if (dtype == PT_ROWS_F16) return pt_float_from_half(((const uint16_t *)row)[i]);
    uint16_t scale = ((const uint16_t *)row)[scales_from(n) + i / PT_PACKED_GROUP];
    return (float)((const int8_t *)row)[i] * pt_float_from_bf16(scale);
}
