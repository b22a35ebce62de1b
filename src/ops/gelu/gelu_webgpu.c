/* GELU on a GPU. SPDX-License-Identifier: MIT */
#include "device/webgpu/tiles.h"
#include "ops/gelu/gelu.h"

pt_status pt_gelu_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    const pt_gelu_args *a = args;
    int64_t n = pt_numel(&a->x);
    pt_wg_call forward = {.entry = "forward", .tensor = {{"x", &a->x}, {"y", &a->y}}};
    pt_wg_call backward = {.entry = "backward",
                           .tensor = {{"x", &a->x}, {"dy", &a->dy}, {"dx", &a->dx}}};
    pt_wg_call call = pass == PT_FORWARD ? forward : backward;
    call.shader = "gelu";
    call.groups[0] = pt_div_up(n, PT_WG_TILE);
    call.work = 32 * (double)n;
    pt_wg_u32(&call, n);
    pt_wg_u32(&call, a->tanh_form);
    return pt_wg_run(device, &call, err);
}
