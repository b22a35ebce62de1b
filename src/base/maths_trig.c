/* Sine and cosine in double, with argument reduction for every finite x.
 *
 * Reduction: up to 1.5 * 2^20 by Cody and Waite (pi/2 in four parts), above it by Payne and Hanek
 * (Radian Reduction for Trigonometric Functions, 1983): multiply by only those bits of 2/pi that
 * matter modulo 4. The coefficients were made as maths.c says.
 * SPDX-License-Identifier: MIT */
#include "base/maths_internal.h"
#include "base/wide.h"

#define TWO_OVER_PI 0x1.45f306dc9c883p-1

/* Bits first … first+191 of the binary expansion of 2/pi, where bit 0 has weight 2^63. */
static void bits_of_two_over_pi(int first, uint64_t out[3])
{
    /* 64 zero bits, then 2/pi = 0.1010001011…, from Machin's formula for pi in big integers */
    static const uint64_t words[] = {0,
                                     0xa2f9836e4e441529,
                                     0xfc2757d1f534ddc0,
                                     0xdb6295993c439041,
                                     0xfe5163abdebbc561,
                                     0xb7246e3a424dd2e0,
                                     0x06492eea09d1921c,
                                     0xfe1deb1cb129a73e,
                                     0xe88235f52ebb4484,
                                     0xe99c7026b45f7e41,
                                     0x3991d639835339f4,
                                     0x9c845f8bbdf9283b,
                                     0x1ff897ffde05980f,
                                     0xef2f118b5a0a6d1f,
                                     0x6d367ecf27cb09b7,
                                     0x4f463f669e5fea2d,
                                     0x7527bac7ebe5f17b,
                                     0x3d0739f78a5292ea,
                                     0x6bfb5fb11f8d5d08,
                                     0x56033046fc7b6bab};
    const uint64_t *w = words + first / 64;
    int shift = first % 64;
    for (int i = 0; i < 3; i++) out[i] = shift ? w[i] << shift | w[i + 1] >> (64 - shift) : w[i];
}

/* frac / 2^192 * pi/2 for a 192-bit fraction below one half. */
static pt_dd fraction_times_half_pi(uint64_t frac[3])
{
    int exponent = 0;
    for (; frac[0] == 0; exponent -= 64) {
        if ((frac[1] | frac[2]) == 0) return (pt_dd){0, 0};
        frac[0] = frac[1];
        frac[1] = frac[2];
        frac[2] = 0;
    }
    int shift = __builtin_clzll(frac[0]);
    if (shift) {
        frac[0] = frac[0] << shift | frac[1] >> (64 - shift);
        frac[1] = frac[1] << shift | frac[2] >> (64 - shift);
    }
    exponent -= shift;
    double hi = (double)(frac[0] >> 11) * pt_pow2(exponent - 53);
    double lo = (double)((frac[0] & 0x7ff) << 42 | frac[1] >> 22) * pt_pow2(exponent - 106);
    pt_dd r = pt_two_prod(hi, 0x1.921fb54442d18p+0);
    r.lo += hi * 0x1.1a62633145c07p-54 + lo * 0x1.921fb54442d18p+0;
    return pt_fast_two_sum(r.hi, r.lo);
}

pt_dd pt_reduce_large(double ax, int *quadrant)
{
    uint64_t bits = pt_double_bits(ax);
    uint64_t m = (bits & 0xfffffffffffff) | 0x10000000000000;
    int e = (int)(bits >> 52) - 1075; /* ax = m 2^e, -32 <= e <= 971 */
    /* Modulo 4, 2^e 2/pi needs the bits from weight 2^1 down; the cut after 192 of them costs
     * less than 2^53 2^-190, and no double is closer to a multiple of pi/2 than about 2^-62. */
    uint64_t f[3];
    bits_of_two_over_pi(e + 62, f);
    pt_wide p2 = pt_wide_multiply(m, f[2]), p1 = pt_wide_multiply(m, f[1]);
    uint64_t r2 = p2.lo, r1 = p1.lo + p2.hi;
    uint64_t r0 = m * f[0] + p1.hi + (r1 < p2.hi);
    int q = (int)(r0 >> 62);
    uint64_t frac[3] = {r0 << 2 | r1 >> 62, r1 << 2 | r2 >> 62, r2 << 2};
    bool up = frac[0] >> 63; /* nearer to the next multiple: 1 - frac, negative */
    if (up) {
        frac[2] = -frac[2];
        frac[1] = ~frac[1] + (frac[2] == 0);
        frac[0] = ~frac[0] + (frac[2] == 0 && frac[1] == 0);
        q++;
    }
    *quadrant = q & 3;
    pt_dd r = fraction_times_half_pi(frac);
    return up ? (pt_dd){-r.hi, -r.lo} : r;
}

/* x mod pi/2 in about [-pi/4, pi/4] and the quadrant, for finite x. */
static pt_dd reduce(double x, int *quadrant)
{
    double ax = pt_fabs(x);
    *quadrant = 0;
    if (ax <= PT_PI / 4) return (pt_dd){x, 0};
    if (ax >= 0x1.8p20) {
        int q;
        pt_dd r = pt_reduce_large(ax, &q);
        if (x > 0) {
            *quadrant = q;
            return r;
        }
        *quadrant = -q & 3;
        return (pt_dd){-r.hi, -r.lo};
    }
    /* |k| <= 2^20 and the first three parts have 33 bits: the products are exact, and so is the
     * first difference. */
    double k = pt_nearest(x * TWO_OVER_PI);
    *quadrant = (int)k & 3;
    pt_dd a = pt_two_sum(x - k * 0x1.921fb544p+0, -(k * 0x1.0b4611a6p-34));
    pt_dd b = pt_two_sum(a.hi, -(k * 0x1.3198a2ep-69));
    return pt_fast_two_sum(b.hi, a.lo + b.lo - k * 0x1.b839a252049c1p-104);
}

static double sin_kernel(pt_dd r)
{
    /* (sin(r)/r - 1) / r^2 as a polynomial in r^2 on r <= 0.786; relative error of sin 2^-68.8 */
    static const double c[] = {-0x1.5555555555555p-3,  0x1.111111111110bp-7,
                               -0x1.a01a01a018ac9p-13, 0x1.71de3a5337154p-19,
                               -0x1.ae645294f8ff2p-26, 0x1.61209078a50e4p-33,
                               -0x1.aaa41b43fb4fcp-41};
    double z = r.hi * r.hi;
    return r.hi + (r.hi * z * PT_POLY(z, c) + r.lo * (1 - 0.5 * z));
}

static double cos_kernel(pt_dd r)
{
    /* (cos(r) - 1 + r^2/2) / r^4 as a polynomial in r^2 on r <= 0.786; error of cos 2^-75.2 */
    static const double c[] = {0x1.5555555555555p-5,  -0x1.6c16c16c16c10p-10,
                               0x1.a01a01a018dcfp-16, -0x1.27e4fb75fb94fp-22,
                               0x1.1eed8ca1799c9p-29, -0x1.939335b366e06p-37,
                               0x1.aac47e7e1f674p-45};
    double z = r.hi * r.hi, half = 0.5 * z, head = 1 - half;
    return head + (((1 - head) - half) + (z * z * PT_POLY(z, c) - r.hi * r.lo));
}

static double by_quadrant(pt_dd r, int quadrant)
{
    double v = quadrant & 1 ? cos_kernel(r) : sin_kernel(r);
    return quadrant & 2 ? -v : v;
}

double pt_sin(double x)
{
    if (!pt_is_finite(x)) return PT_NAN;
    if (pt_fabs(x) < 0x1p-27) return x; /* also keeps -0 */
    int quadrant;
    pt_dd r = reduce(x, &quadrant);
    return by_quadrant(r, quadrant);
}

double pt_cos(double x)
{
    if (!pt_is_finite(x)) return PT_NAN;
    int quadrant;
    pt_dd r = reduce(x, &quadrant);
    return by_quadrant(r, quadrant + 1);
}
