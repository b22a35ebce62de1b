/* Packing: the operands of a block copied into the order in which the micro-kernels read them.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/gemm.h"
#include "device/cpu/simd.h"

/* Rows that are copied for all panels before the next ones: the source is then read along its rows, which
 * the hardware prefetches; a walk down one panel would touch one page after another. */
#define STRIP 8

/* The source lies in rows. Each panel takes `take` columns of it and writes `width`, in whole vectors. */
PT_SIMD void pack_rows(const pt_pack *b, const int64_t take, const int64_t width)
{
    for (int64_t p0 = 0; p0 < b->k; p0 += STRIP) {
        int64_t end = pt_min_i64(p0 + STRIP, b->k), j = 0;
        float *panel = b->out;
        for (; j + width <= b->n; j += take, panel += b->panel)
            for (int64_t p = p0; p < end; p++)
                for (int64_t v = 0; v < width; v += 16)
                    pt_vf_store(panel + p * width + v, pt_vf_load(b->src + p * b->row + j + v));
        for (; j < b->n; j += take, panel += b->panel)
            for (int64_t p = p0; p < end; p++)
                for (int64_t v = 0; v < width && j + v < b->n; v += 16)
                    pt_vf_store(panel + p * width + v, pt_vf_load_n(b->src + p * b->row + j + v,
                                                                    pt_min_i64(16, b->n - j - v)));
    }
}

/* The columns stand upright: out[p][j] = src[p + j*col]. 16 columns by 4 go through registers. */
static void pack_upright(const pt_pack *b, int64_t j0)
{
    const float *src = b->src + j0 * b->col;
    float *out = b->out + j0 / PT_TILE_COLS * b->panel + j0 % PT_TILE_COLS;
    int64_t p = 0, n = b->n - j0;
    for (; n >= 16 && p + 4 <= b->k; p += 4) {
        pt_vi w[4];
        for (int i = 0; i < 4; i++)
            w[i] = pt_vi_load_quads((const uint32_t *)(const void *)(src + i * b->col + p),
                                    4 * b->col);
        pt_vi_transpose4(w);
        for (int i = 0; i < 4; i++)
            pt_vi_store((uint32_t *)(void *)(out + (p + i) * PT_TILE_COLS), w[i]);
    }
    for (; p < b->k; p++)
        for (int64_t j = 0; j < 16; j++)
            out[p * PT_TILE_COLS + j] = j < n ? src[p + j * b->col] : 0;
}

void PT_CPU(gemm_pack_b)(const pt_pack *b)
{
    if (b->col == 1) pack_rows(b, PT_TILE_COLS, PT_TILE_COLS);
    else
        for (int64_t j = 0; j < b->n; j += 16) pack_upright(b, j);
}

/* `rows` rows of a panel, n of 16 columns each; returns their sums, which go on from `sum`. */
PT_SIMD pt_vf pack_and_sum(const pt_pack *a, const float *src, float *panel, int64_t rows,
                           const int64_t n, pt_vf sum)
{
    for (int64_t p = 0; p < rows; p++, src += a->row) {
        pt_vf x = n == 16 ? pt_vf_load(src) : pt_vf_load_n(src, n);
        pt_vf_store(panel + p * 16, x);
        sum = pt_vf_add(sum, x);
    }
    return sum;
}

static void pack_and_sum_rows(const pt_pack *a)
{
    for (int64_t p = 0; p < a->k; p += STRIP) {
        int64_t rows = pt_min_i64(STRIP, a->k - p);
        float *panel = a->out + p * 16, *sums = a->sums;
        for (int64_t i = 0; i < a->n; i += PT_PANEL_ROWS, panel += a->panel, sums += 16) {
            const float *src = a->src + p * a->row + i;
            pt_vf sum = pt_vf_load(sums);
            if (i + 16 <= a->n) sum = pack_and_sum(a, src, panel, rows, 16, sum);
            else sum = pack_and_sum(a, src, panel, rows, a->n - i, sum);
            pt_vf_store(sums, sum);
        }
    }
}

void PT_CPU(gemm_pack_a)(const pt_pack *a)
{
    if (a->sums) pack_and_sum_rows(a);
    else pack_rows(a, PT_PANEL_ROWS, 16);
}
