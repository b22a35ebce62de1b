/* Packing and tiles of the bf16 product. SPDX-License-Identifier: MIT */
#include "device/cpu/gemm_bf16.h"
#include "device/cpu/simd.h"

#define TILE PT_BF16_TILE

#if defined(PT_ISA_amx)
#include "device/cpu/amx.h"

/* ---- pairs along k, as TDPBF16PS wants them ----
 * A: each row its k, one after the other. B: for each pair of k a row of 32 columns, the two k of a column together. */

/* Rows p and p+1 of 16 columns, interleaved: lane j holds [p][j] below [p+1][j]. */
PT_SIMD pt_vi pair_rows(const pt_bf16_block *x, int64_t p, int64_t j)
{
    const uint16_t *src = x->src + p * x->k_step + j;
    int64_t n = pt_min_i64(16, x->n - j);
    pt_vi low = n == 16 ? pt_vi_load_u16(src) : pt_vi_load_u16_n(src, n);
    if (p + 1 >= x->k) return low;
    src += x->k_step;
    pt_vi high = n == 16 ? pt_vi_load_u16(src) : pt_vi_load_u16_n(src, n);
    return pt_vi_or(low, pt_vi_shl(high, 16));
}

static void copy_row(uint16_t *out, const uint16_t *src, int64_t k, int64_t packed_k)
{
    memcpy(out, src, (size_t)k * sizeof *out);
    memset(out + k, 0, (size_t)(packed_k - k) * sizeof *out);
}

/* k of 8 rows by 16 columns: four pairs are transposed into 8 k of each of the 16. */
static void turn_block(uint16_t *out, const pt_bf16_block *x, int64_t p, int64_t i,
                       int64_t row_step)
{
    pt_vi w[4];
    for (int q = 0; q < 4; q++)
        w[q] = p + 2 * q < x->k ? pair_rows(x, p + 2 * q, i) : pt_vi_set1(0);
    pt_vi_transpose4(w);
    out += i * row_step + p;
    int64_t n = pt_min_i64(16, x->n - i);
    for (int q = 0; q < 4 && n == 16; q++)
        pt_vi_store_quads_at(out + q * row_step, 8 * row_step, w[q]);
    for (int q = 0; q < 4 && n < 16; q++) {
        uint16_t quads[4][8];
        pt_vi_store_quads_at(quads, sizeof quads[0], w[q]);
        for (int r = 0; 4 * r + q < n; r++)
            memcpy(out + (4 * r + q) * row_step, quads[r], sizeof quads[r]);
    }
}

void PT_CPU(bf16_pack_a)(uint16_t *out, const pt_bf16_block *a, int64_t row_step)
{
    int64_t packed_k = pt_round_up(a->k, PT_BF16_UNIT);
    if (a->k_step == 1) {
        for (int64_t i = 0; i < a->n; i++)
            copy_row(out + i * row_step, a->src + i * a->step, a->k, packed_k);
        return;
    }
    for (int64_t p = 0; p < packed_k; p += 8)
        for (int64_t i = 0; i < a->n; i += 16) turn_block(out, a, p, i, row_step);
}

/* 16 columns from j on that stand upright, four pairs at a time. */
static void pack_upright(uint16_t *out, const pt_bf16_block *b, int64_t j, int64_t packed_k)
{
    const uint16_t *src = b->src + j * b->step;
    int64_t n = pt_min_i64(16, b->n - j), p = 0;
    for (; n == 16 && p + 8 <= b->k; p += 8) {
        pt_vi w[4];
        if (p % 32 == 0) /* a line of each of the next 16 columns */
            for (int64_t c = 16; c < 32; c++) pt_prefetch(src + c * b->step + p);
        for (int q = 0; q < 4; q++) w[q] = pt_vi_load_quads_at(src + q * b->step + p, 8 * b->step);
        pt_vi_transpose4(w);
        for (int q = 0; q < 4; q++)
            pt_vi_store((uint32_t *)(void *)(out + (p + 2 * q) * TILE), w[q]);
    }
    for (; p < packed_k; p++)
        for (int64_t c = 0; c < 16; c++)
            out[p / 2 * 2 * TILE + 2 * c + p % 2] =
                c < n && p < b->k ? src[c * b->step + p] : (uint16_t)0;
}

#define AHEAD 16 /* rows between packing and fetching */

void PT_CPU(bf16_pack_b)(uint16_t *out, const pt_bf16_block *b)
{
    int64_t packed_k = pt_round_up(b->k, PT_BF16_UNIT);
    if (b->k_step == 1) {
        for (int64_t j = 0; j < b->n; j += 16)
            pack_upright(out + j / TILE * TILE * packed_k + j % TILE * 2, b, j, packed_k);
        return;
    }
    for (int64_t p = 0; p < packed_k; p += 2)
        for (int64_t j = 0; j < b->n; j += 16) {
            pt_prefetch(b->src + (p + AHEAD + j / 16 % 2) * b->k_step + j);
            uint16_t *to = out + j / TILE * TILE * packed_k + p * TILE + j % TILE * 2;
            pt_vi_store((uint32_t *)(void *)to, p < b->k ? pair_rows(b, p, j) : pt_vi_set1(0));
        }
}

#define B_STEP (4 * TILE) /* bytes of a pair of k in a panel */

static void tile_32x32(const uint16_t *a, int64_t a_step, const uint16_t *b, int64_t k, float *sum)
{
    pt_amx_zero(0);
    pt_amx_zero(1);
    pt_amx_zero(2);
    pt_amx_zero(3);
    for (int64_t p = 0; p < k; p += 32, a += 32, b += 32 * TILE) {
        pt_amx_load(4, a, a_step);
        pt_amx_load(6, b, B_STEP);
        pt_amx_load(7, b + 32, B_STEP);
        pt_amx_load(5, a + 8 * a_step, a_step);
        pt_amx_multiply(0, 4, 6);
        pt_amx_multiply(1, 4, 7);
        pt_amx_multiply(2, 5, 6);
        pt_amx_multiply(3, 5, 7);
    }
    pt_amx_store(0, sum, 4 * TILE);
    pt_amx_store(1, sum + 16, 4 * TILE);
    pt_amx_store(2, sum + 16 * TILE, 4 * TILE);
    pt_amx_store(3, sum + 16 * TILE + 16, 4 * TILE);
}

/* At most 16 rows. */
static void tile_16x32(const uint16_t *a, int64_t a_step, const uint16_t *b, int64_t k, float *sum)
{
    pt_amx_zero(0);
    pt_amx_zero(1);
    for (int64_t p = 0; p < k; p += 32, a += 32, b += 32 * TILE) {
        pt_amx_load(4, a, a_step);
        pt_amx_load(6, b, B_STEP);
        pt_amx_load(7, b + 32, B_STEP);
        pt_amx_multiply(0, 4, 6);
        pt_amx_multiply(1, 4, 7);
    }
    pt_amx_store(0, sum, 4 * TILE);
    pt_amx_store(1, sum + 16, 4 * TILE);
}

void PT_CPU(bf16_tile)(const pt_bf16_tile *t)
{
    if (t->rows <= 16) tile_16x32(t->a, 2 * t->row_step, t->b, t->k, t->sum);
    else tile_32x32(t->a, 2 * t->row_step, t->b, t->k, t->sum);
}

void PT_CPU(bf16_tiles_begin)(void) { pt_amx_begin(); }
void PT_CPU(bf16_tiles_end)(void) { pt_amx_end(); }

#else

/* ---- widened to f32, in the order of gemm.h ---- */

static void widen(float *out, const uint16_t *src, int64_t n)
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) pt_vf_store(out + i, pt_vf_load_bf16(src + i));
    for (; i < n; i++) out[i] = pt_float_from_bf16(src[i]);
}

void PT_CPU(bf16_pack_a)(float *out, const pt_bf16_block *a, int64_t row_step)
{
    if (a->k_step == 1) {
        for (int64_t i = 0; i < a->n; i++) widen(out + i * row_step, a->src + i * a->step, a->k);
        return;
    }
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t p = 0; p < a->k; p++)
            out[i * row_step + p] = pt_float_from_bf16(a->src[p * a->k_step + i]);
}

#define PIECE 16 /* k of the columns that are widened at a time before they are packed */

/* Columns j … j+n-1, at most PT_TILE_COLS of them, that stand upright. */
static void pack_upright(float *out, const pt_bf16_block *b, int64_t j, int64_t n)
{
    float wide[PT_TILE_COLS * PIECE];
    for (int64_t p = 0; p < b->k; p += PIECE) {
        int64_t k = pt_min_i64(PIECE, b->k - p);
        for (int64_t c = 0; c < n; c++) widen(wide + c * PIECE, b->src + (j + c) * b->step + p, k);
        pt_pack piece = {.out = out + p * PT_TILE_COLS, .src = wide, .row = 1, .col = PIECE};
        piece.k = k;
        piece.n = n;
        piece.panel = b->k * PT_TILE_COLS;
        PT_CPU(gemm_pack_b)(&piece);
    }
}

void PT_CPU(bf16_pack_b)(float *out, const pt_bf16_block *b)
{
    for (int64_t j = 0; j < b->n; j += PT_TILE_COLS) {
        int64_t n = pt_min_i64(PT_TILE_COLS, b->n - j);
        float *panel = out + j * b->k;
        if (b->k_step == 1) pack_upright(panel, b, j, n);
        else
            for (int64_t p = 0; p < b->k; p++)
                widen(panel + p * PT_TILE_COLS, b->src + p * b->k_step + j, n);
    }
}

void PT_CPU(bf16_tile)(const pt_bf16_tile *t)
{
    pt_gemm_tile tile = {.m = t->rows,
                         .n = t->columns,
                         .k = t->k,
                         .a = t->a,
                         .a_row = t->row_step,
                         .a_col = 1,
                         .b = t->b,
                         .b_row = PT_TILE_COLS,
                         .b_panel = t->k * PT_TILE_COLS,
                         .c = t->sum,
                         .c_row = TILE};
    PT_CPU(gemm_tile)(&tile);
}

void PT_CPU(bf16_tiles_begin)(void) {}
void PT_CPU(bf16_tiles_end)(void) {}
#endif
