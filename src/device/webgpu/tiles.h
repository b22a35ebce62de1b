/* How ops cut their work into workgroups of 256 invocations: flat arrays, and rows of numbers. See prelude.wgsl.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_TILES_H
#define PT_DEVICE_WEBGPU_TILES_H

#include "device/webgpu/webgpu.h"

/* ---- flat arrays: seen as one dimension, in pieces that fit one binding ---- */

#define PT_WG_TILE 1024 /* elements of a workgroup: four_of() */

/* Elements of a piece of t, and of every tensor like it: all of them, or a multiple of the tile. */
static inline int64_t pt_wg_piece(const pt_device *device, const pt_tensor *t)
{
    pt_tensor flat = pt_view(t, pt_numel(t), 0, 0, 0);
    int64_t fit = pt_wg_rows_that_fit(device, &flat);
    return fit >= pt_numel(t) ? pt_numel(t) : fit / PT_WG_TILE * PT_WG_TILE;
}

/* n elements from `first`; absent if t is. */
static inline pt_tensor pt_wg_part(const pt_tensor *t, int64_t first, int64_t n)
{
    if (!pt_present(t)) return *t;
    pt_tensor flat = pt_view(t, pt_numel(t), 0, 0, 0);
    return pt_slice(&flat, first, n);
}

/* A double as two floats, which times() multiplies by with one rounding. */
static inline void pt_wg_f32_pair(pt_wg_call *call, double value)
{
    float high = (float)value;
    pt_wg_f32(call, (double)high);
    pt_wg_f32(call, value - (double)high);
}

/* ---- rows: side^2 invocations sum one, sums_of_row() ---- */

/* It depends on the length alone, so a row has the same sum among however many. */
static inline int64_t pt_wg_row_side(int64_t channels)
{
    return channels <= 64 ? 4 : channels <= 512 ? 8 : 16;
}

/* Workgroups for n rows. */
static inline int64_t pt_wg_row_groups(int64_t n, int64_t channels)
{
    int64_t side = pt_wg_row_side(channels), rows = 256 / (side * side);
    return (n + rows - 1) / rows;
}

/* Sums of columns over n rows are begun in blocks of so many rows: at most 256 blocks, which 16 invocations add up. */
static inline int64_t pt_wg_block_rows(int64_t n)
{
    int64_t rows = (n + 255) / 256;
    return rows < 16 ? 16 : rows;
}

#endif
