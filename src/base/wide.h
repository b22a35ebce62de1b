/* 64 x 64 -> 128 bit products and 128 / 64 bit quotients from 32-bit halves: the compilers' own
 * 128-bit integers need a run-time library in WASM.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_WIDE_H
#define PT_BASE_WIDE_H

#include <stdint.h>

typedef struct pt_wide {
    uint64_t hi, lo;
} pt_wide;

static inline pt_wide pt_wide_multiply(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, mid1 = a1 * b0, mid2 = a0 * b1;
    uint64_t mid = (low >> 32) + (uint32_t)mid1 + (uint32_t)mid2;
    return (pt_wide){a1 * b1 + (mid1 >> 32) + (mid2 >> 32) + (mid >> 32),
                     mid << 32 | (uint32_t)low};
}

/* One 32-bit digit of the quotient: floor((*rest * 2^32 + next) / d) for *rest < d, d >= 2^63.
 * (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D.) */
static inline uint64_t pt_wide_digit(uint64_t *rest, uint32_t next, uint64_t d)
{
    uint64_t d1 = d >> 32, d0 = (uint32_t)d;
    uint64_t q = *rest / d1, r = *rest % d1;
    while (q >> 32 || q * d0 > (r << 32 | next)) {
        q--;
        r += d1;
        if (r >> 32) break;
    }
    *rest = (*rest << 32 | next) - q * d; /* modulo 2^64, where the true value fits */
    return q;
}

/* floor(a / d), the remainder in *rest; for a.hi < d and d >= 2^63. */
static inline uint64_t pt_wide_divide(pt_wide a, uint64_t d, uint64_t *rest)
{
    uint64_t r = a.hi;
    uint64_t high = pt_wide_digit(&r, (uint32_t)(a.lo >> 32), d);
    uint64_t low = pt_wide_digit(&r, (uint32_t)a.lo, d);
    *rest = r;
    return high << 32 | low;
}

#endif
