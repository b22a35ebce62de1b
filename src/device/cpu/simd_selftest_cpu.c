/* Runs every operation of simd.h once and stores what it gave: simd_test.c compares the instruction sets.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/simd_selftest.h"

#include "device/cpu/cpu.h"
#include "device/cpu/simd.h"

void PT_CPU(simd_selftest)(pt_simd_selftest_args *args);

static void put(pt_simd_selftest_args *args, pt_simd_row row, pt_vf a)
{
    pt_vi_store(args->out[row], pt_vf_bits(a));
}

static void put_lane(pt_simd_selftest_args *args, pt_simd_row row, float x)
{
    memset(args->out[row], 0, sizeof args->out[row]);
    args->out[row][0] = pt_float_bits(x);
}

static void run_floats(pt_simd_selftest_args *args)
{
    pt_vf a = pt_vf_load(args->a), b = pt_vf_load(args->b), c = pt_vf_load(args->c);
    put(args, PT_SIMD_ZERO, pt_vf_zero());
    put(args, PT_SIMD_SET1, pt_vf_set1(args->a[3]));
    put(args, PT_SIMD_ADD, pt_vf_add(a, b));
    put(args, PT_SIMD_SUB, pt_vf_sub(a, b));
    put(args, PT_SIMD_MUL, pt_vf_mul(a, b));
    put(args, PT_SIMD_DIV, pt_vf_div(a, b));
    put(args, PT_SIMD_MIN, pt_vf_min(a, b));
    put(args, PT_SIMD_MAX, pt_vf_max(a, b));
    put(args, PT_SIMD_NEG, pt_vf_neg(a));
    put(args, PT_SIMD_ABS, pt_vf_abs(a));
    put(args, PT_SIMD_SQRT, pt_vf_sqrt(a));
    put(args, PT_SIMD_COPYSIGN, pt_vf_copysign(a, b));
    put(args, PT_SIMD_SELECT_LT, pt_vf_select_lt(a, b, c, a));
    put(args, PT_SIMD_SELECT_GT, pt_vf_select_gt(a, b, c, a));
    put(args, PT_SIMD_ROUND, pt_vf_round(a));
    put(args, PT_SIMD_FMA, pt_vf_fma(a, b, c));
    put(args, PT_SIMD_SCALE2, pt_vf_scale2(pt_vf_load(args->scale), pt_vf_load(args->exponent)));
    put_lane(args, PT_SIMD_SUM, pt_vf_sum(a));
    put_lane(args, PT_SIMD_MAX_ALL, pt_vf_max_all(a));
    put(args, PT_SIMD_LOAD_N, pt_vf_load_n(args->a, args->n));
    put(args, PT_SIMD_STORE_N, c);
    float lanes[16];
    memcpy(lanes, args->c, sizeof lanes);
    pt_vf_store_n(lanes, a, args->n);
    memcpy(args->out[PT_SIMD_STORE_N], lanes, sizeof lanes);
}

/* Rounded and loaded again; the first n lanes loaded; the first n lanes stored over zeros. */
static void run_bf16(pt_simd_selftest_args *args)
{
    uint16_t lanes[16], some[16] = {0};
    pt_vf a = pt_vf_load(args->a);
    pt_vf_store_bf16(lanes, a);
    pt_vf_store_bf16_n(some, a, args->n);
    put(args, PT_SIMD_BF16, pt_vf_load_bf16(lanes));
    put(args, PT_SIMD_BF16_N, pt_vf_load_bf16_n(lanes, args->n));
    put(args, PT_SIMD_BF16_STORE_N, pt_vf_load_bf16(some));
}

static void run_integers(pt_simd_selftest_args *args)
{
    pt_vf a = pt_vf_load(args->a), c = pt_vf_load(args->c);
    pt_vi u = pt_vi_load(args->u), v = pt_vi_load(args->v);
    put(args, PT_SIMD_SELECT_LT_U32, pt_vf_select_lt_u32(u, v, a, c));
    put(args, PT_SIMD_FROM_INT, pt_vf_from_int(u));
    put(args, PT_SIMD_FROM_BITS, pt_vf_from_bits(u));
    pt_vi_store(args->out[PT_SIMD_BITS], pt_vf_bits(a));
    pt_vi_store(args->out[PT_SIMD_TO_INT], pt_vf_to_int(pt_vf_load(args->exponent)));
    pt_vi_store(args->out[PT_SIMD_I_SET1], pt_vi_set1(args->u[5]));
    pt_vi_store(args->out[PT_SIMD_I_ADD], pt_vi_add(u, v));
    pt_vi_store(args->out[PT_SIMD_I_SUB], pt_vi_sub(u, v));
    pt_vi_store(args->out[PT_SIMD_I_AND], pt_vi_and(u, v));
    pt_vi_store(args->out[PT_SIMD_I_OR], pt_vi_or(u, v));
    pt_vi_store(args->out[PT_SIMD_I_XOR], pt_vi_xor(u, v));
    pt_vi_store(args->out[PT_SIMD_I_MUL_LO], pt_vi_mul_lo(u, v));
    pt_vi_store(args->out[PT_SIMD_I_MUL_HI], pt_vi_mul_hi(u, v));
    pt_vi_store(args->out[PT_SIMD_I_SHL], pt_vi_shl(u, args->shift));
    pt_vi_store(args->out[PT_SIMD_I_SHR], pt_vi_shr(u, args->shift));
    pt_vi_store(args->out[PT_SIMD_I_SAR], pt_vi_sar(u, args->shift));
    pt_vi w[4] = {u, v, pt_vf_bits(a), pt_vf_bits(c)};
    pt_vi_transpose4(w);
    for (int i = 0; i < 4; i++) pt_vi_store(args->out[PT_SIMD_I_TRANSPOSE0 + i], w[i]);
}

void PT_CPU(simd_selftest)(pt_simd_selftest_args *args)
{
    run_floats(args);
    run_integers(args);
    run_bf16(args);
}
