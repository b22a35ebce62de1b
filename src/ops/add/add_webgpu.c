/* Addition on a GPU. SPDX-License-Identifier: MIT */
#include "device/webgpu/tiles.h"
#include "ops/add/add.h"

pt_status pt_add_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    (void)pass;
    const pt_add_args *all = args;
    int64_t n = pt_numel(&all->y), piece = pt_wg_piece(device, &all->y);
    pt_status status = PT_OK;
    for (int64_t first = 0; first < n && !status; first += piece) {
        int64_t count = pt_min_i64(piece, n - first);
        pt_tensor a = pt_wg_part(&all->a, first, count), b = pt_wg_part(&all->b, first, count);
        pt_tensor y = pt_wg_part(&all->y, first, count);
        pt_wg_call call = {.shader = "add",
                           .entry = "forward",
                           .tensor = {{"a", &a}, {"b", &b}, {"y", &y}},
                           .groups = {pt_div_up(count, PT_WG_TILE)},
                           .work = (double)count};
        pt_wg_u32(&call, count);
        status = pt_wg_run(device, &call, err);
    }
    return status;
}
