/* Elementary functions, ours on every target, so that the same program gives the same bits natively
 * and in WASM. At most 2 ulp (tested against a more exact reference); special values as C99
 * Annex F. No errno, no exceptions, round-to-nearest assumed, no fused multiply-add.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_MATHS_H
#define PT_BASE_MATHS_H

#include <stdbool.h>
#include <stdint.h>

#define PT_INF __builtin_inf()
#define PT_NAN __builtin_nan("")
#define PT_PI 3.14159265358979323846
#define PT_LN2 0.69314718055994530942

double pt_exp(double x);
double pt_log(double x);
double pt_erf(double x);
double pt_tanh(double x);
double pt_sin(double x); /* full range reduction: any finite x */
double pt_cos(double x);
double pt_pow(double x, double y);

float pt_expf(float x);
float pt_logf(float x);
float pt_erff(float x);
float pt_tanhf(float x);
float pt_sinf(float x);
float pt_cosf(float x);

static inline double pt_sqrt(double x) { return __builtin_sqrt(x); } /* correctly rounded */
static inline float pt_sqrtf(float x) { return __builtin_sqrtf(x); }
static inline double pt_fabs(double x) { return __builtin_fabs(x); }
static inline float pt_fabsf(float x) { return __builtin_fabsf(x); }
double pt_floor(double x);
double pt_round_even(double x);

static inline bool pt_is_finite(double x) { return __builtin_isfinite(x); }
static inline bool pt_is_nan(double x) { return __builtin_isnan(x); }

static inline uint32_t pt_float_bits(float x)
{
    union {
        float f;
        uint32_t u;
    } v = {.f = x};
    return v.u;
}
static inline float pt_float_from_bits(uint32_t u)
{
    union {
        float f;
        uint32_t u;
    } v = {.u = u};
    return v.f;
}
static inline uint64_t pt_double_bits(double x)
{
    union {
        double f;
        uint64_t u;
    } v = {.f = x};
    return v.u;
}
static inline double pt_double_from_bits(uint64_t u)
{
    union {
        double f;
        uint64_t u;
    } v = {.u = u};
    return v.f;
}

/* IEEE half precision. To half: nearest, ties to even, overflow to infinity, NaN stays NaN. */
uint16_t pt_half_from_float(float x);
float pt_float_from_half(uint16_t h);
/* bfloat16: the upper half of a float; nearest, ties to even; NaN stays a quiet NaN. */
uint16_t pt_bf16_from_float(float x);
static inline float pt_float_from_bf16(uint16_t b) { return pt_float_from_bits((uint32_t)b << 16); }

#endif
