/* Quantised weights to f32. SPDX-License-Identifier: MIT */
#include "tensor/quants.h"

#include "base/maths.h"

static uint16_t load_u16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static uint32_t load_u32(const uint8_t *p) { return load_u16(p) | (uint32_t)load_u16(p + 2) << 16; }
static float half_at(const uint8_t *p) { return pt_float_from_half(load_u16(p)); }

/* ---- one number in its bytes ---- */

static void from_f32(const uint8_t *b, float *y) { *y = pt_float_from_bits(load_u32(b)); }
static void from_f16(const uint8_t *b, float *y) { *y = half_at(b); }
static void from_bf16(const uint8_t *b, float *y) { *y = pt_float_from_bf16(load_u16(b)); }

/* ---- blocks of 32 ---- */

/* Nibble of element j. */
static int nibble(const uint8_t *qs, int j) { return j < 16 ? qs[j] & 15 : qs[j - 16] >> 4; }

/* The same with a fifth bit. */
static int five_bits(const uint8_t *qs, uint32_t high, int j)
{
    return nibble(qs, j) | (int)(high >> j & 1) << 4;
}

static void from_q4_0(const uint8_t *b, float *y)
{
    float d = half_at(b);
    for (int j = 0; j < 32; j++) y[j] = (float)(nibble(b + 2, j) - 8) * d;
}

static void from_q4_1(const uint8_t *b, float *y)
{
    float d = half_at(b), m = half_at(b + 2);
    for (int j = 0; j < 32; j++) y[j] = (float)nibble(b + 4, j) * d + m;
}

static void from_q5_0(const uint8_t *b, float *y)
{
    float d = half_at(b);
    uint32_t high = load_u32(b + 2);
    for (int j = 0; j < 32; j++) y[j] = (float)(five_bits(b + 6, high, j) - 16) * d;
}

static void from_q5_1(const uint8_t *b, float *y)
{
    float d = half_at(b), m = half_at(b + 2);
    uint32_t high = load_u32(b + 4);
    for (int j = 0; j < 32; j++) y[j] = (float)five_bits(b + 8, high, j) * d + m;
}

static void from_q8_0(const uint8_t *b, float *y)
{
    float d = half_at(b);
    for (int j = 0; j < 32; j++) y[j] = (float)(int8_t)b[2 + j] * d;
}

/* ---- blocks of 256 ---- */

/* Scale and minimum of a group, six bits each. */
static void scale_of(const uint8_t *scales, int group, int *sc, int *mn)
{
    if (group < 4) {
        *sc = scales[group] & 63;
        *mn = scales[group + 4] & 63;
    } else {
        *sc = (scales[group + 4] & 15) | (scales[group - 4] >> 6) << 4;
        *mn = scales[group + 4] >> 4 | (scales[group] >> 6) << 4;
    }
}

/* q4_k, and with `high` q5_k. b: the begin of the block. */
static void from_grouped(const uint8_t *b, const uint8_t *high, const uint8_t *qs, float *y)
{
    float d = half_at(b), dmin = half_at(b + 2);
    for (int group = 0; group < 8; group++) {
        int sc, mn;
        scale_of(b + 4, group, &sc, &mn);
        float scale = d * (float)sc, least = dmin * (float)mn;
        for (int l = 0; l < 32; l++) {
            int q = qs[group / 2 * 32 + l] >> group % 2 * 4 & 15;
            if (high) q |= (high[l] >> group & 1) << 4;
            y[group * 32 + l] = scale * (float)q - least;
        }
    }
}

static void from_q4_k(const uint8_t *b, float *y) { from_grouped(b, NULL, b + 16, y); }
static void from_q5_k(const uint8_t *b, float *y) { from_grouped(b, b + 16, b + 48, y); }

static void from_q6_k(const uint8_t *b, float *y)
{
    float d = half_at(b + 208);
    for (int i = 0; i < 256; i++) {
        int half = i / 128, group = i / 32 % 4, l = i % 32;
        int low = b[half * 64 + group % 2 * 32 + l] >> group / 2 * 4 & 15;
        int high = b[128 + half * 32 + l] >> 2 * group & 3;
        float scale = d * (float)(int8_t)b[192 + i / 16];
        y[i] = scale * (float)((low | high << 4) - 32);
    }
}

bool pt_dequantise(pt_dtype dtype, const void *blocks, int64_t n, float *dst)
{
    void (*from)(const uint8_t *block, float *y);
    switch (dtype) {
    case PT_F32: from = from_f32; break;
    case PT_F16: from = from_f16; break;
    case PT_BF16: from = from_bf16; break;
    case PT_Q4_0: from = from_q4_0; break;
    case PT_Q4_1: from = from_q4_1; break;
    case PT_Q5_0: from = from_q5_0; break;
    case PT_Q5_1: from = from_q5_1; break;
    case PT_Q8_0: from = from_q8_0; break;
    case PT_Q4_K: from = from_q4_k; break;
    case PT_Q5_K: from = from_q5_k; break;
    case PT_Q6_K: from = from_q6_k; break;
    default: return false;
    }
    const uint8_t *at = blocks;
    int64_t block = pt_dtype_block(dtype), bytes = pt_dtype_bytes(dtype, block);
    for (int64_t i = 0; i < n; i += block, at += bytes) from(at, dst + i);
    return true;
}
