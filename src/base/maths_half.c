/* Half precision and bfloat16: conversions by integer arithmetic on the bits.
 * SPDX-License-Identifier: MIT */
#include "base/maths.h"

/* v / 2^shift, nearest, ties to even; 0 < shift < 32. */
static uint32_t shift_round_even(uint32_t v, int shift)
{
    uint32_t half = 1u << (shift - 1), rest = v & ((half << 1) - 1), q = v >> shift;
    return q + (rest > half || (rest == half && (q & 1)));
}

uint16_t pt_half_from_float(float x)
{
    uint32_t u = pt_float_bits(x), sign = u >> 16 & 0x8000, a = u & 0x7fffffff, h;
    int exponent = (int)(a >> 23);                      /* biased by 127 */
    if (a > 0x7f800000) h = 0x7e00 | (a >> 13 & 0x3ff); /* NaN, made quiet */
    else if (a >= 0x47800000) h = 0x7c00;               /* 2^16 and above */
    else if (exponent >= 113)
        h = shift_round_even(a - (112u << 23), 13); /* may carry to infinity */
    else if (exponent >= 102) h = shift_round_even((a & 0x7fffff) | 0x800000, 126 - exponent);
    else h = 0; /* below half of the smallest subnormal, 2^-25 */
    return (uint16_t)(sign | h);
}

float pt_float_from_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, m = h & 0x3ff;
    if (exponent == 31) return pt_float_from_bits(sign | 0x7f800000 | m << 13);
    if (exponent) return pt_float_from_bits(sign | (exponent + 112) << 23 | m << 13);
    float magnitude = (float)m * 0x1p-24f; /* exact */
    return sign ? -magnitude : magnitude;
}

uint16_t pt_bf16_from_float(float x)
{
    uint32_t u = pt_float_bits(x), top = u >> 16;
    if ((u & 0x7fffffff) > 0x7f800000) return (uint16_t)(top | 0x40); /* quiet */
    uint32_t rest = u & 0xffff;
    return (uint16_t)(top + (rest > 0x8000 || (rest == 0x8000 && (top & 1))));
}
