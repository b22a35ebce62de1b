/* Shared by the maths_*.c files only: polynomials, exact sums and products, the split of log's
 * argument.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_MATHS_INTERNAL_H
#define PT_BASE_MATHS_INTERNAL_H

#include "base/maths.h"

/* An unevaluated sum hi + lo with |lo| <= ulp(hi)/2: about 106 bits. */
typedef struct pt_dd {
    double hi, lo;
} pt_dd;

/* c[0] + c[1] x + … + c[n-1] x^(n-1), by Horner. */
static inline double pt_poly(double x, const double *c, int n)
{
    double y = c[n - 1];
    for (int i = n - 2; i >= 0; i--) y = y * x + c[i];
    return y;
}
#define PT_POLY(x, table) pt_poly((x), (table), (int)(sizeof(table) / sizeof *(table)))

/* a + b exactly (Knuth); no condition on the magnitudes. */
static inline pt_dd pt_two_sum(double a, double b)
{
    double s = a + b, t = s - a;
    return (pt_dd){s, (a - (s - t)) + (b - t)};
}
/* a + b exactly for |a| >= |b| or a == 0 (Dekker). */
static inline pt_dd pt_fast_two_sum(double a, double b)
{
    double s = a + b;
    return (pt_dd){s, b - (s - a)};
}
/* a * b exactly (Dekker, Veltkamp's split), while nothing over- or underflows. */
static inline pt_dd pt_two_prod(double a, double b)
{
    double ca = 0x1.000002p27 * a, ah = ca - (ca - a), al = a - ah;
    double cb = 0x1.000002p27 * b, bh = cb - (cb - b), bl = b - bh;
    double p = a * b;
    return (pt_dd){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

/* The nearest integer as a double, for |x| < 2^51. */
static inline double pt_nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/* 2^k for a normal result. */
static inline double pt_pow2(int k) { return pt_double_from_bits((uint64_t)(k + 1023) << 52); }

/* x = m * 2^k with m in [sqrt(1/2), sqrt(2)), for positive finite x. */
static inline double pt_log_split(double x, int *k)
{
    const uint64_t sqrt_half = 0x3fe6a09e667f3bcd; /* the bits of sqrt(1/2) */
    int shift = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        shift = 54;
    }
    uint64_t from_half = pt_double_bits(x) - sqrt_half;
    *k = (int)((int64_t)from_half >> 52) - shift;
    return pt_double_from_bits((from_half & 0xfffffffffffff) + sqrt_half);
}

/* ax mod pi/2 in [-pi/4, pi/4] and the quadrant (mod 4), for finite ax >= 2^20. */
pt_dd pt_reduce_large(double ax, int *quadrant);

#endif
