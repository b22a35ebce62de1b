/* What the self-tests of simd.h and simd_maths.h exchange with simd_test.c and simd_maths_test.c.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_CPU_SIMD_SELFTEST_H
#define PT_DEVICE_CPU_SIMD_SELFTEST_H

#include <stdint.h>

/* One row of 16 lanes per operation. */
/* clang-format off */
#define PT_SIMD_ROW_LIST(X)                                                                        \
    X(ZERO) X(SET1) X(ADD) X(SUB) X(MUL) X(DIV) X(MIN) X(MAX) X(NEG) X(ABS) X(SQRT) X(COPYSIGN)    \
    X(SELECT_LT) X(SELECT_GT) X(SELECT_LT_U32) X(ROUND) X(SCALE2) X(FROM_INT) X(SUM) X(MAX_ALL)    \
    X(LOAD_N) X(STORE_N) X(FMA) X(FROM_BITS) X(BITS) X(TO_INT) X(BF16) X(BF16_N) X(BF16_STORE_N)   \
    X(I_SET1) X(I_ADD) X(I_SUB) X(I_AND) X(I_OR) X(I_XOR) X(I_MUL_LO) X(I_MUL_HI) X(I_SHL)         \
    X(I_SHR) X(I_SAR) X(I_TRANSPOSE0) X(I_TRANSPOSE1) X(I_TRANSPOSE2) X(I_TRANSPOSE3)
/* clang-format on */

typedef enum pt_simd_row {
#define PT_SIMD_ROW(name) PT_SIMD_##name,
    PT_SIMD_ROW_LIST(PT_SIMD_ROW) PT_SIMD_ROWS
#undef PT_SIMD_ROW
} pt_simd_row;

typedef struct pt_simd_selftest_args {
    float a[16], b[16], c[16];
    float scale[16], exponent[16]; /* for scale2 and to_int: within their contracts */
    uint32_t u[16], v[16];
    int64_t n;                      /* lanes, for load_n and store_n */
    uint32_t shift;                 /* 0 … 31 */
    uint32_t out[PT_SIMD_ROWS][16]; /* floats as bits; sum and max_all in lane 0, the rest 0 */
} pt_simd_selftest_args;

/* Which function of simd_maths.h to run over an array. */
typedef enum pt_simd_maths {
    PT_SIMD_EXP,
    PT_SIMD_LOG,
    PT_SIMD_TANH,
    PT_SIMD_ERF,
    PT_SIMD_SIGMOID,
    PT_SIMD_MATHS_COUNT, /* the above are held to ulps; these to tolerances of their own */
    PT_SIMD_NORMAL_CDF = PT_SIMD_MATHS_COUNT,
    PT_SIMD_NORMAL_E
} pt_simd_maths;

#endif
