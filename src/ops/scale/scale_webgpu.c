/* Scaling on a GPU. SPDX-License-Identifier: MIT */
#include "device/webgpu/tiles.h"
#include "ops/scale/scale.h"

pt_status pt_scale_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    (void)pass;
    const pt_scale_args *a = args;
    int64_t n = pt_numel(&a->y), piece = pt_wg_piece(device, &a->y);
    pt_status status = PT_OK;
    for (int64_t first = 0; first < n && !status; first += piece) {
        int64_t count = pt_min_i64(piece, n - first);
        pt_tensor x = pt_wg_part(&a->x, first, count), y = pt_wg_part(&a->y, first, count);
        pt_wg_call call = {.shader = "scale",
                           .entry = "forward",
                           .tensor = {{"x", &x}, {"y", &y}},
                           .groups = {pt_div_up(count, PT_WG_TILE)},
                           .work = (double)count};
        pt_wg_u32(&call, count);
        pt_wg_f32_pair(&call, a->factor);
        status = pt_wg_run(device, &call, err);
    }
    return status;
}
