/* Dropout on a GPU. SPDX-License-Identifier: MIT */
#include "base/rng.h"
#include "device/webgpu/tiles.h"
#include "ops/dropout/dropout.h"

pt_status pt_dropout_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    const pt_dropout_args *a = args;
    const pt_tensor *source = pass == PT_FORWARD ? &a->x : &a->dy;
    int64_t n = pt_numel(source);
    double p32 = a->p * 4294967296.0;
    uint64_t whole = (uint64_t)p32, counter = (uint64_t)a->first / 4;
    uint64_t keep_from = whole + ((double)whole < p32); /* the smallest integer >= p 2^32 */
    pt_wg_call call = {
        .shader = "dropout",
        .entry = "drop",
        .tensor = {{"source", source}, {"result", pass == PT_FORWARD ? &a->y : &a->dx}},
        .groups = {pt_div_up(n, PT_WG_TILE)},
        .work = 128 * (double)n};
    pt_wg_u32(&call, n);
    pt_wg_u32(&call, (int64_t)(counter & UINT32_MAX));
    pt_wg_u32(&call, (int64_t)(counter >> 32));
    pt_wg_u32(&call, (int64_t)(a->seed & UINT32_MAX));
    pt_wg_u32(&call, (int64_t)(a->seed >> 32));
    pt_wg_u32(&call, PT_STREAM_DROPOUT);
    pt_wg_u32(&call, a->site);
    pt_wg_u32(&call, (int64_t)(keep_from & UINT32_MAX));
    pt_wg_u32(&call, keep_from <= UINT32_MAX); /* else no 32-bit number reaches p */
    pt_wg_f32_pair(&call, 1 / (1 - a->p));
    return pt_wg_run(device, &call, err);
}
