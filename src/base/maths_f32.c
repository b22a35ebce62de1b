/* Elementary functions in float: the scalar definitions that kernels are compared with.
 *
 * Each is computed in double to about 2^-36 and rounded once, which is within 0.51 ulp, subnormal
 * results included. The coefficients were made as maths.c says.
 * SPDX-License-Identifier: MIT */
#include "base/maths_internal.h"

#define LN2 0x1.62e42fefa39efp-1
#define INV_LN2 0x1.71547652b82fep+0

/* e^x in double to 2^-39, for |x| <= 200. */
static double exp_narrow(double x)
{
    /* (e^r - 1 - r) / r^2 on |r| <= 0.3475; error 2^-39.6 */
    static const double c[] = {0x1.ffffffffea1a4p-2, 0x1.5555557f3328ap-3,  0x1.5555558beffa3p-5,
                               0x1.1110a018114b2p-7, 0x1.6c16200c4a711p-10, 0x1.a188d7d589636p-13,
                               0x1.a18e4711c713bp-16};
    double k = pt_nearest(x * INV_LN2);
    double r = x - k * LN2;
    return (1 + (r + r * r * PT_POLY(r, c))) * pt_pow2((int)k);
}

float pt_expf(float x)
{
    if (pt_is_nan((double)x)) return x;
    if (x > 89) return __builtin_inff();
    if (x < -104) return 0;
    return (float)exp_narrow((double)x);
}

float pt_logf(float x)
{
    /* As in pt_log; error 2^-43.9 */
    static const double c[] = {0x1.555555561e666p-1, 0x1.999996a8ac41cp-2, 0x1.2494124554d57p-2,
                               0x1.c62af1dba0cbbp-3, 0x1.9117d54eb79bbp-3};
    if (!(x > 0)) return x == 0 ? -__builtin_inff() : __builtin_nanf("");
    if (x == __builtin_inff()) return x;
    int k;
    double f = pt_log_split((double)x, &k) - 1;
    double s = f / (2 + f), z = s * s;
    return (float)(k * LN2 + s * (2 + z * PT_POLY(z, c)));
}

float pt_erff(float x)
{
    /* erf(x)/x as a polynomial in x^2 on x <= 1; relative error 2^-40.1 */
    static const double small[] = {
        0x1.20dd750428b2ap+0,  -0x1.812746adb3077p-2,  0x1.ce2f20978ac6fp-4,
        -0x1.b82cb8f75f5abp-6, 0x1.56586d16e9ce1p-8,   -0x1.bfdf5b9494f49p-11,
        0x1.f56bf559ea5abp-14, -0x1.d25d185465edbp-17, 0x1.1b8c45234ae0bp-20};
    /* e^(x^2) (1 - erf(x)) as a polynomial in (x-3)/(x+3) on 1 <= x <= 4; error in erf 2^-40.1 */
    static const double large[] = {
        0x1.6e98289bcf137p-3, -0x1.4e101747557c1p-2, 0x1.f701f0fbfe948p-3, -0x1.33570d689e842p-3,
        0x1.2687dc0cd76a8p-4, -0x1.8397ee73bad5cp-6, 0x1.6fef4fa1a1ab1p-8, 0x1.104d18f280d76p-9};
    double v = (double)x, av = pt_fabs(v);
    if (av < 1) return (float)(v * PT_POLY(v * v, small));
    if (av >= 4) return __builtin_copysignf(1, x); /* erf(4) = 1 - 1.6e-8 rounds to 1 */
    if (pt_is_nan(v)) return x;
    double complement = exp_narrow(-av * av) * PT_POLY((av - 3) / (av + 3), large);
    return (float)__builtin_copysign(1 - complement, v);
}

float pt_tanhf(float x)
{
    /* (tanh(x)/x - 1) / x^2 as a polynomial in x^2 on x <= 0.55; relative error 2^-40.2 */
    static const double c[] = {-0x1.555555518b8c8p-2, 0x1.11110e87f5945p-3,  -0x1.ba1a7b1ec8609p-5,
                               0x1.662f6f413e363p-6,  -0x1.20927618c3eb0p-7, 0x1.b7ba19f1d9fd9p-9,
                               -0x1.e065203e3b0fbp-11};
    double v = (double)x, av = pt_fabs(v), z = v * v;
    if (av < 0.55) return (float)(v * (1 + z * PT_POLY(z, c)));
    if (av > 10) return __builtin_copysignf(1, x);
    if (pt_is_nan(v)) return x;
    return (float)__builtin_copysign(1 - 2 / (exp_narrow(2 * av) + 1), v);
}

/* sin(x + quadrant pi/2) */
static float sin_from(float x, int quadrant)
{
    /* As in maths_trig.c; relative error of sin 2^-37.6, of cos 2^-43.2 */
    static const double s[] = {-0x1.5555554cae50fp-3, 0x1.1111088d5bf1dp-7, -0x1.a00f96331c782p-13,
                               0x1.6cd686e285129p-19};
    static const double c[] = {0x1.5555554f458bcp-5, -0x1.6c16b88f31453p-10, 0x1.a01119b3c8f76p-16,
                               -0x1.24297b82744dcp-22};
    double v = (double)x, av = pt_fabs(v), r = v;
    if (!pt_is_finite(v)) return __builtin_nanf("");
    if (av >= 0x1.8p20) {
        int q;
        r = pt_reduce_large(av, &q).hi;
        if (v < 0) r = -r;
        quadrant += v < 0 ? -q : q;
    } else if (av > PT_PI / 4) {
        double k = pt_nearest(v * 0x1.45f306dc9c883p-1);
        r = (v - k * 0x1.921fb544p+0) - k * 0x1.0b4611a626331p-34; /* pi/2 in 33 + 53 bits */
        quadrant += (int)k;
    }
    double z = r * r, y;
    if (quadrant & 1) y = 1 - 0.5 * z + z * z * PT_POLY(z, c);
    else y = r * (1 + z * PT_POLY(z, s));
    return (float)(quadrant & 2 ? -y : y);
}

float pt_sinf(float x) { return sin_from(x, 0); }
float pt_cosf(float x) { return sin_from(x, 1); }
