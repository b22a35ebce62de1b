/* The functions of simd_maths.h over arrays, for simd_maths_test.c.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/simd_selftest.h"

#include "device/cpu/cpu.h"
#include "device/cpu/simd_maths.h"

void PT_CPU(simd_maths)(pt_simd_maths which, int64_t n, const float *x, float *y);

static inline pt_vf apply(pt_simd_maths which, pt_vf x)
{
    pt_vf e, cdf = pt_vf_normal_cdf(x, &e);
    switch (which) {
    case PT_SIMD_EXP: return pt_vf_exp(x);
    case PT_SIMD_LOG: return pt_vf_log(x);
    case PT_SIMD_TANH: return pt_vf_tanh(x);
    case PT_SIMD_ERF: return pt_vf_erf(x);
    case PT_SIMD_SIGMOID: return pt_vf_sigmoid(x);
    case PT_SIMD_NORMAL_CDF: return cdf;
    default: return e;
    }
}

void PT_CPU(simd_maths)(pt_simd_maths which, int64_t n, const float *x, float *y)
{
    int64_t i = 0;
    for (; i + PT_LANES <= n; i += PT_LANES) pt_vf_store(y + i, apply(which, pt_vf_load(x + i)));
    pt_vf_store_n(y + i, apply(which, pt_vf_load_n(x + i, n - i)), n - i);
}
