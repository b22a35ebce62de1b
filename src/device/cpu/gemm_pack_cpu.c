/* Packing: the operands of a block copied into the order in which the micro-kernels read them.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/gemm.h"
#include "device/cpu/simd.h"

/* Up to 16 columns that lie in rows: out[p][0…15] = b[p*b_row + 0…n-1], padded with zeros. */
static void pack_rows(float *out, const float *b, int64_t b_row, int64_t k, int64_t n)
{
    if (n >= 16) {
        for (int64_t p = 0; p < k; p++)
            pt_vf_store(out + p * PT_TILE_COLS, pt_vf_load(b + p * b_row));
        return;
    }
    for (int64_t p = 0; p < k; p++)
        pt_vf_store(out + p * PT_TILE_COLS, pt_vf_load_n(b + p * b_row, n));
}

/* The columns stand upright: out[p][j] = b[p + j*b_col]. 16 columns by 4 go through registers. */
static void pack_upright(float *out, const float *b, int64_t b_col, int64_t k, int64_t n)
{
    int64_t p = 0;
    for (; n >= 16 && p + 4 <= k; p += 4) {
        pt_vi w[4];
        for (int i = 0; i < 4; i++)
            w[i] = pt_vi_load_quads((const uint32_t *)(const void *)(b + i * b_col + p), 4 * b_col);
        pt_vi_transpose4(w);
        for (int i = 0; i < 4; i++)
            pt_vi_store((uint32_t *)(void *)(out + (p + i) * PT_TILE_COLS), w[i]);
    }
    for (; p < k; p++) {
        for (int64_t j = 0; j < 16; j++) out[p * PT_TILE_COLS + j] = j < n ? b[p + j * b_col] : 0;
    }
}

void PT_CPU(gemm_pack_b)(float *out, const float *b, int64_t b_row, int64_t b_col, int64_t k,
                         int64_t n)
{
    for (int64_t j = 0; j < n; j += 16) {
        float *to = out + j / PT_TILE_COLS * PT_TILE_COLS * k + j % PT_TILE_COLS;
        if (b_col == 1) pack_rows(to, b + j, b_row, k, n - j);
        else pack_upright(to, b + j * b_col, b_col, k, n - j);
    }
}

void PT_CPU(gemm_pack_a)(float *out, const float *a, int64_t a_col, int64_t m, int64_t k)
{
    /* Whole vectors are stored: what lies beyond the panel's rows is overwritten by the next k. */
    for (int64_t i = 0; i < m; i += PT_TILE_ROWS) {
        if (m - i >= 16) {
            for (int64_t p = 0; p < k; p++, out += PT_TILE_ROWS)
                pt_vf_store(out, pt_vf_load(a + p * a_col + i));
        } else {
            for (int64_t p = 0; p < k; p++, out += PT_TILE_ROWS)
                pt_vf_store(out, pt_vf_load_n(a + p * a_col + i, m - i));
        }
    }
}
