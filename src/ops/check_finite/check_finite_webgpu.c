/* Looking for infinities and NaNs on a GPU. SPDX-License-Identifier: MIT */
#include "device/step_state.h"
#include "device/webgpu/tiles.h"
#include "ops/check_finite/check_finite.h"

pt_status pt_check_finite_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    (void)pass;
    const pt_check_finite_args *a = args;
    int64_t n = pt_numel(&a->x), piece = pt_wg_piece(device, &a->x);
    pt_status status = PT_OK;
    for (int64_t first = 0; first < n && !status; first += piece) {
        int64_t count = pt_min_i64(piece, n - first);
        pt_tensor x = pt_wg_part(&a->x, first, count);
        pt_wg_call call = {.shader = "check_finite",
                           .entry = "look",
                           .tensor = {{"x", &x}, {"state", &a->state}},
                           .groups = {pt_div_up(count, PT_WG_TILE)},
                           .work = (double)count};
        pt_wg_u32(&call, count);
        pt_wg_u32(&call, PT_STATE_FIRST_BAD);
        pt_wg_f32(&call, (double)a->id);
        status = pt_wg_run(device, &call, err);
    }
    return status;
}
