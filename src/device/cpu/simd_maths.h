/* exp, log, tanh, erf and the logistic function on sixteen floats.
 *
 * Against double references over all floats: exp, log 2 ulp; tanh, erf, sigmoid 3 ulp (simd_maths_test.c holds them to that and
 * prints what it measured: 0.8 to 2.3). One fixed sequence of simd.h operations each, so PT_STRICT=1 gives the same bits
 * on every instruction set. NaN in, NaN out. No table, no branch.
 *
 * The polynomials are minimax fits found with the Remez exchange algorithm in 50 digits (mpmath), each against the weight that
 * makes its error relative to the function, then rounded to float. Reductions are the classic ones; see e.g. Muller,
 * "Elementary Functions", 3rd ed., chapters 3 (Remez) and 11 (range reduction).
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_CPU_SIMD_MATHS_H
#define PT_DEVICE_CPU_SIMD_MATHS_H

#include "device/cpu/simd.h"

/* c[0] + c[1] x + … + c[n-1] x^(n-1), by Horner's rule. */
PT_SIMD pt_vf pt_vf_poly(pt_vf x, const float *c, int n)
{
    pt_vf p = pt_vf_set1(c[n - 1]);
    for (int i = n - 2; i >= 0; i--) p = pt_vf_fma(p, x, pt_vf_set1(c[i]));
    return p;
}

/* e^x = 2^n e^r with n = round(x / ln 2), |r| <= ln2/2: gives e^r, and n in *n. */
PT_SIMD pt_vf pt_vf_exp_reduced(pt_vf x, pt_vf *n)
{
    /* (e^r - 1 - r) / r^2 on |r| <= ln2/2; error of e^r 3.8e-9 relative */
    static const float q[] = {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f2p-5f, 0x1.1239e2p-7f,
                              0x1.6a2464p-10f};
    /* ln 2 in two parts; the first has 15 bits, so n times it is exact without a fused multiply-add */
    const float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f, log2_e = 0x1.715476p+0f;
    *n = pt_vf_round(pt_vf_mul(x, pt_vf_set1(log2_e)));
    pt_vf r = pt_vf_fma(*n, pt_vf_set1(-ln2_high), x);
    r = pt_vf_fma(*n, pt_vf_set1(-ln2_low), r);
    pt_vf p = pt_vf_fma(pt_vf_mul(r, r), pt_vf_poly(r, q, 5), r);
    return pt_vf_add(p, pt_vf_set1(1.0f));
}

/* 0 for -inf, inf from 88.722839 on; subnormal results are given, rounded once more. */
PT_SIMD pt_vf pt_vf_exp(pt_vf x)
{
    /* Beyond these the result is 0 or inf anyway. Constant first: a NaN in x stays. */
    x = pt_vf_min(pt_vf_set1(100.0f), pt_vf_max(pt_vf_set1(-110.0f), x));
    pt_vf n, p = pt_vf_exp_reduced(x, &n);
    return pt_vf_scale2(p, n);
}

/* The same bits for -87 <= x <= 88 (or NaN), cheaper where scale2 is not one instruction. */
PT_SIMD pt_vf pt_vf_exp_near(pt_vf x)
{
    pt_vf n, p = pt_vf_exp_reduced(x, &n);
#if defined(PT_ISA_avx512)
    return pt_vf_scale2(p, n);
#else
    n = pt_vf_max(n, pt_vf_set1(-126.0f)); /* only changes a NaN, which p holds as well */
    return pt_vf_mul(p,
                     pt_vf_from_bits(pt_vi_shl(pt_vi_add(pt_vf_to_int(n), pt_vi_set1(127)), 23)));
#endif
}

/* For softmax weights: 0 below -87 (e^-87 is 1.6e-38), NaN for NaN, else the bits of pt_vf_exp; x <= 88. No result is subnormal:
 * making one costs x86 processors some 150 cycles, and a masked score (-inf) would make one in pt_vf_exp. */
PT_SIMD pt_vf pt_vf_exp_weight(pt_vf x)
{
    pt_vf least = pt_vf_set1(-87.0f);
    return pt_vf_select_lt(x, least, pt_vf_zero(), pt_vf_exp_near(pt_vf_max(least, x)));
}

/* log(0) = -inf, log(x < 0) = NaN, log(inf) = inf; subnormal x are handled. */
PT_SIMD pt_vf pt_vf_log(pt_vf x)
{
    /* (log(1+f) - f + f^2/2) / f^3 on sqrt(1/2) <= 1+f <= sqrt(2); error of the logarithm 7.3e-9 relative */
    static const float c[] = {0x1.555554p-2f, -0x1.000228p-2f, 0x1.99a00cp-3f, -0x1.54722ap-3f,
                              0x1.22d9bcp-3f, -0x1.0d85fcp-3f, 0x1.055e76p-3f, -0x1.38b8fcp-4f};
    const pt_vf smallest_normal = pt_vf_set1(0x1p-126f), zero = pt_vf_zero();
    pt_vf scaled = pt_vf_select_lt(x, smallest_normal, pt_vf_mul(x, pt_vf_set1(0x1p23f)), x);
    pt_vf less = pt_vf_select_lt(x, smallest_normal, pt_vf_set1(-23.0f), zero);
    /* x = m 2^e with sqrt(1/2) <= m < sqrt(2) */
    const pt_vi sqrt_half = pt_vi_set1(0x3f3504f3u);
    pt_vi above = pt_vi_sub(pt_vf_bits(scaled), sqrt_half);
    pt_vf e = pt_vf_add(pt_vf_from_int(pt_vi_sar(above, 23)), less);
    pt_vi m = pt_vi_add(pt_vi_and(above, pt_vi_set1(0x007fffffu)), sqrt_half);
    pt_vf f = pt_vf_sub(pt_vf_from_bits(m), pt_vf_set1(1.0f)), f2 = pt_vf_mul(f, f);
    pt_vf y = pt_vf_mul(pt_vf_mul(f, f2), pt_vf_poly(f, c, 8));
    y = pt_vf_fma(e, pt_vf_set1(0x1.7f7d1cp-20f), y); /* small terms first */
    y = pt_vf_fma(f2, pt_vf_set1(-0.5f), y);
    y = pt_vf_fma(e, pt_vf_set1(0x1.62e4p-1f), pt_vf_add(f, y));
    y = pt_vf_select_lt(x, pt_vf_set1(__builtin_inff()), y, x); /* inf and NaN */
    y = pt_vf_select_lt(x, zero, pt_vf_set1(__builtin_nanf("")), y);
    pt_vf size = pt_vf_abs(x);
    return pt_vf_select_gt(size, zero, y, pt_vf_sub(size, pt_vf_set1(__builtin_inff())));
}

PT_SIMD pt_vf pt_vf_tanh(pt_vf x)
{
    /* (tanh(x) - x) / x^3 in x^2, |x| <= 0.625; error 8.5e-9 relative */
    static const float c[] = {-0x1.555532p-2f, 0x1.110726p-3f, -0x1.b83c5ap-5f, 0x1.522692p-6f,
                              -0x1.75e196p-8f};
    pt_vf x2 = pt_vf_mul(x, x), size = pt_vf_abs(x), one = pt_vf_set1(1.0f);
    pt_vf near = pt_vf_fma(pt_vf_mul(x, x2), pt_vf_poly(x2, c, 5), x);
    /* 1 - 2 / (e^2x + 1), which is 1 in float from 9.02 on */
    pt_vf t = pt_vf_min(pt_vf_set1(10.0f), size);
    pt_vf e = pt_vf_exp_near(pt_vf_add(t, t));
    pt_vf far = pt_vf_sub(one, pt_vf_div(pt_vf_set1(2.0f), pt_vf_add(e, one)));
    return pt_vf_copysign(pt_vf_select_lt(size, pt_vf_set1(0.625f), near, far), x);
}

PT_SIMD pt_vf pt_vf_erf(pt_vf x)
{
    /* erf(x)/x - 1 in x^2, |x| <= 1; error of erf 4.5e-9 relative */
    static const float c[] = {0x1.06eba8p-3f, -0x1.81273ep-2f,  0x1.ce2cf8p-4f, -0x1.b7f90cp-6f,
                              0x1.5405b0p-8f, -0x1.a3f6f0p-11f, 0x1.496a02p-14f};
    /* -log(erfc(t)) on 1 <= t <= 3.95, from where on erf is 1 in float; error of erf 2.2e-8 relative */
    static const float q[] = {0x1.574f2ap-9f, 0x1.1e1c6ap+0f,  0x1.4ef898p-1f,
                              0x1.6bb90cp-4f, -0x1.e60208p-7f, 0x1.2f5b50p-10f};
    pt_vf x2 = pt_vf_mul(x, x), size = pt_vf_abs(x), one = pt_vf_set1(1.0f);
    pt_vf near = pt_vf_fma(x, pt_vf_poly(x2, c, 7), x);
    pt_vf t = pt_vf_min(pt_vf_set1(3.95f), size);
    pt_vf far = pt_vf_sub(one, pt_vf_exp_near(pt_vf_neg(pt_vf_poly(t, q, 6))));
    return pt_vf_copysign(pt_vf_select_lt(size, one, near, far), x);
}

/* 1 / (1 + e^-x); 0 below -88.722839, where the true value is subnormal. */
PT_SIMD pt_vf pt_vf_sigmoid(pt_vf x)
{
    const pt_vf one = pt_vf_set1(1.0f);
    return pt_vf_div(one, pt_vf_add(one, pt_vf_exp(pt_vf_neg(x))));
}

/* The normal distribution: P(X < x), and in *e what its density is made of, e^(-x^2/2). The error of P is below
 * 5e-7 + 5e-8 x^2 of the smaller tail (plus the rounding of P), so P does not cancel for negative x; 0 or 1 beyond |x| = 14.5. */
PT_SIMD pt_vf pt_vf_normal_cdf(pt_vf x, pt_vf *e)
{
    /* The tail above |x| is e^(-x^2/2) u P(u) with u = 1 / (1 + 0.296 |x|), the form of Abramowitz & Stegun 26.2.17. Error
     * 3.4e-8 relative for small |x|; weighed 1 / (1 + x^2/6), as the rounding of x^2 spoils the far tail anyway. */
    static const float c[] = {0x1.e34860p-4f,  0x1.eaff0ep-4f, 0x1.815cd4p-4f,  0x1.277cccp-3f,
                              -0x1.584616p-4f, 0x1.ed822ep-3f, -0x1.5cb130p-3f, 0x1.300c7cp-5f};
    const pt_vf one = pt_vf_set1(1.0f), size = pt_vf_abs(x);
    pt_vf u = pt_vf_div(one, pt_vf_fma(size, pt_vf_set1(0.296f), one));
    *e = pt_vf_exp(pt_vf_mul(pt_vf_mul(x, x), pt_vf_set1(-0.5f)));
    pt_vf tail = pt_vf_mul(pt_vf_mul(u, pt_vf_poly(u, c, 8)), *e);
    return pt_vf_select_lt(x, pt_vf_zero(), tail, pt_vf_sub(one, tail));
}

#endif
