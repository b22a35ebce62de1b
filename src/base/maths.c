/* Elementary functions in double.
 *
 * Polynomial coefficients: minimax fits (Remez exchange in 60-digit arithmetic with mpmath), each
 * rounded to double; each table says what it fits, where, and how large the fit's error is. The
 * rest of the error is rounding: the leading term is added last, so it stays near one ulp.
 * SPDX-License-Identifier: MIT */
#include "base/maths.h"

#include "base/maths_internal.h"

/* ln 2 in two parts: the first has 42 bits, so that k * LN2_HI is exact for |k| < 2^11. */
#define LN2_HI 0x1.62e42fefa3800p-1
#define LN2_LO 0x1.ef35793c76730p-45
#define INV_LN2 0x1.71547652b82fep+0

double pt_floor(double x)
{
    if (!(pt_fabs(x) < 0x1p52)) return x; /* integers, infinities, NaN */
    double whole = (double)(int64_t)x;    /* towards zero */
    return __builtin_copysign(whole > x ? whole - 1 : whole, x);
}

double pt_round_even(double x)
{
    double ax = pt_fabs(x);
    if (!(ax < 0x1p52)) return x;
    return __builtin_copysign((ax + 0x1p52) - 0x1p52, x);
}

/* v * 2^k with one rounding, for 1/2 < v < 2 and -1080 <= k <= 1024. */
static double scale(double v, int k)
{
    if (k > 1000) return v * pt_pow2(k - 1) * 2;
    if (k < -1000) return v * pt_pow2(k + 200) * 0x1p-200;
    return v * pt_pow2(k);
}

/* e^(hi + lo) for -746 <= hi <= 710 and tiny lo: e^x = 2^k e^r with |r| <= ln(2)/2. */
static double exp_sum(double hi, double lo)
{
    /* (e^r - 1 - r - r^2/2) / r^3 on |r| <= 0.3475; error in e^r 2^-63.9 */
    static const double c[] = {0x1.555555555555cp-3,  0x1.555555555555ap-5,  0x1.111111110eb3ap-7,
                               0x1.6c16c16c1417fp-10, 0x1.a01a01b3f1ce9p-13, 0x1.a01a01b1ecdb4p-16,
                               0x1.71ddeefd1b05dp-19, 0x1.27e4c2e26dc85p-22, 0x1.af6de5cd65cafp-26,
                               0x1.1f99970f6d263p-29};
    double k = pt_nearest(hi * INV_LN2);
    double head = hi - k * LN2_HI; /* exact */
    double tail = lo - k * LN2_LO;
    double r = head + tail;
    double rest = (head - r) + tail; /* what r could not hold */
    double higher = r * r * (0.5 + r * PT_POLY(r, c));
    return scale(1 + (r + (rest + rest * r + higher)), (int)k);
}

double pt_exp(double x)
{
    if (pt_is_nan(x)) return x;
    if (x > 709.8) return PT_INF;
    if (x < -745.2) return 0;
    return exp_sum(x, 0);
}

double pt_log(double x)
{
    /* (2 atanh(s)/s - 2) / s^2 as a polynomial in s^2 on |s| <= 0.1716; error in log 2^-65.7 */
    static const double c[] = {0x1.5555555555555p-1, 0x1.9999999999e02p-2, 0x1.249249242b0b3p-2,
                               0x1.c71c72593ddfbp-3, 0x1.745cde21646b0p-3, 0x1.3b20af0a864c2p-3,
                               0x1.0f5c7a02b6349p-3, 0x1.0f65e4eae227cp-3};
    if (!(x > 0)) return x == 0 ? -PT_INF : PT_NAN;
    if (x == PT_INF) return x;
    int exponent;
    double f = pt_log_split(x, &exponent) - 1; /* exact */
    double k = exponent;
    /* log(1+f) = 2 atanh(s) with s = f/(2+f). 2s = f - s f, so with 2 atanh(s) = 2s + s R(s^2) it
     * is f - s (f - R): the exact f carries the result, the rounded part is a small correction. */
    double s = f / (2 + f), z = s * s;
    double correction = s * (f - z * PT_POLY(z, c));
    return k * LN2_HI + (f - (correction - k * LN2_LO));
}

double pt_erf(double x)
{
    /* erf(x)/x - 1 as a polynomial in x^2 on x <= 0.87; relative error of erf 2^-61.6 */
    static const double small[] = {
        0x1.06eba8214db69p-3,   -0x1.812746b0379e5p-2,  0x1.ce2f21a0429d0p-4,
        -0x1.b82ce3127c114p-6,  0x1.565bcd0bea187p-8,   -0x1.c02db36a6f7e1p-11,
        0x1.f9a310b2309a9p-14,  -0x1.f4d02c316a3bap-17, 0x1.b9c1f1fa67461p-20,
        -0x1.5dd782c4d8116p-23, 0x1.e591a296e5401p-27,  -0x1.ddb75abfc8d6dp-31};
    /* e^(x^2) (1 - erf(x)) as a polynomial in (x-3)/(x+3), 0.87 <= x <= 6; error in erf 2^-60.9 */
    static const double large[] = {
        0x1.6e9827d229d4fp-3,   -0x1.4e102b9cf8c05p-2, 0x1.f6ff2040dd834p-3,
        -0x1.336ffbf16227bp-3,  0x1.258b1391b7612p-4,  -0x1.8fa58f5569df9p-6,
        0x1.17c86141b0cf0p-8,   0x1.7318809a0ce49p-11, -0x1.38f441979618bp-11,
        0x1.7b2bd0dc2e6a0p-15,  0x1.0747017d00a45p-14, -0x1.14de57fbc8913p-16,
        -0x1.bc245954f4794p-17, -0x1.05a8a7b708533p-19};
    double ax = pt_fabs(x);
    if (ax < 0.87) return x + x * PT_POLY(x * x, small);
    if (ax >= 6) return __builtin_copysign(1, x); /* erf(6) = 1 - 2e-17 rounds to 1 */
    /* The error of the rounded square is x^2 2^-53 relative to 1 - erf, at most 0.2 ulp of erf, so
     * the square needs no low part. */
    double complement = pt_exp(-ax * ax) * PT_POLY((ax - 3) / (ax + 3), large);
    return __builtin_copysign(1 - complement, x);
}

double pt_tanh(double x)
{
    /* (tanh(x)/x - 1) / x^2 as a polynomial in x^2 on x <= 0.625; relative error of tanh 2^-66.1 */
    static const double c[] = {
        -0x1.5555555555555p-2,  0x1.11111111110d4p-3,   -0x1.ba1ba1ba175e3p-5,
        0x1.664f48818d736p-6,   -0x1.226e352b366afp-7,  0x1.d6d3c5e684373p-9,
        -0x1.7da298249865ap-10, 0x1.354dca58cc3bfp-11,  -0x1.f4bf2c10fc062p-13,
        0x1.91a5c3b982a61p-14,  -0x1.335ae19354c7cp-15, 0x1.8c2e7df758257p-17,
        -0x1.31939850a73ccp-19};
    double ax = pt_fabs(x), z = x * x;
    if (ax < 0x1p-28) return x; /* also keeps -0 */
    if (ax < 0.625) return x + x * z * PT_POLY(z, c);
    if (ax > 20) return __builtin_copysign(1, x);
    return __builtin_copysign(1 - 2 / (pt_exp(2 * ax) + 1), x);
}

/* log(x) to about 65 bits, for positive finite x: the atanh series as in pt_log, with its first two
 * terms in double-double. */
static pt_dd log_dd(double x)
{
    /* (2 atanh(s)/s - 2 - 2/3 s^2) / s^4 as a polynomial in s^2 on |s| <= 0.1716; error 2^-72.5 */
    static const double c[] = {0x1.9999999999996p-2, 0x1.2492492493035p-2, 0x1.c71c71c580307p-3,
                               0x1.745d18327cf4dp-3, 0x1.3b1362a75afecp-3, 0x1.1120b8438c55bp-3,
                               0x1.de32f7a115540p-4, 0x1.eb157219cec59p-4};
    const pt_dd two_thirds = {0x1.5555555555555p-1, 0x1.5555555555555p-55};
    int exponent;
    double m = pt_log_split(x, &exponent);
    double f = m - 1;
    pt_dd d = pt_two_sum(1, m);
    double s = f / d.hi;
    pt_dd back = pt_two_prod(s, d.hi);
    double s_lo = ((f - back.hi) - back.lo - s * d.lo) / d.hi;
    pt_dd z = pt_two_prod(s, s);
    z.lo += 2 * s * s_lo;
    pt_dd q = pt_fast_two_sum(two_thirds.hi, z.hi * PT_POLY(z.hi, c));
    q.lo += two_thirds.lo;
    pt_dd sz = pt_two_prod(s, z.hi);
    sz.lo += s * z.lo + s_lo * z.hi;
    pt_dd cubic = pt_two_prod(sz.hi, q.hi);
    cubic.lo += sz.hi * q.lo + sz.lo * q.hi;
    pt_dd log_m = pt_fast_two_sum(2 * s, cubic.hi);
    log_m.lo += 2 * s_lo + cubic.lo;
    double k = exponent;
    pt_dd sum = pt_two_sum(k * LN2_HI, log_m.hi);
    sum.lo += log_m.lo + k * LN2_LO;
    return pt_fast_two_sum(sum.hi, sum.lo);
}

/* x^y for positive finite x other than 1 and finite y other than 0. */
static double pow_positive(double x, double y)
{
    double ay = pt_fabs(y);
    if (ay < 0x1p-65) return 1; /* |y log x| < 2^-55 */
    if (ay > 0x1p65) return (x > 1) == (y > 0) ? PT_INF : 0;
    pt_dd l = log_dd(x);
    pt_dd e = pt_two_prod(y, l.hi);
    e.lo += y * l.lo;
    e = pt_fast_two_sum(e.hi, e.lo);
    if (e.hi > 709.8) return PT_INF;
    if (e.hi < -745.2) return 0;
    return exp_sum(e.hi, e.lo);
}

/* 0: y is not an integer, 1: odd, 2: even. Infinities count as even. */
static int integer_parity(double y)
{
    double ay = pt_fabs(y);
    if (ay >= 0x1p53) return 2;
    int64_t i = (int64_t)ay;
    if ((double)i != ay) return 0;
    return i & 1 ? 1 : 2;
}

double pt_pow(double x, double y)
{
    if (y == 0 || x == 1) return 1; /* even when the other is NaN */
    if (pt_is_nan(x) || pt_is_nan(y)) return PT_NAN;
    double ax = pt_fabs(x), result;
    int parity = integer_parity(y);
    if (ax == 1 && !pt_is_finite(y)) return 1;
    if (ax == 0 || ax == PT_INF || !pt_is_finite(y)) {
        result = (ax > 1) == (y > 0) ? PT_INF : 0;
    } else {
        if (x < 0 && parity == 0) return PT_NAN;
        result = ax == 1 ? 1 : pow_positive(ax, y);
    }
    return parity == 1 ? __builtin_copysign(result, x) : result;
}
