/* SwiGLU on a GPU. SPDX-License-Identifier: MIT */
#include "device/webgpu/tiles.h"
#include "ops/swiglu/swiglu.h"

pt_status pt_swiglu_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    const pt_swiglu_args *a = args;
    int64_t n = pt_numel(&a->gate);
    pt_wg_call forward = {.entry = "forward",
                          .tensor = {{"gate", &a->gate}, {"up", &a->up}, {"y", &a->y}}};
    pt_wg_call backward = {.entry = "backward",
                           .tensor = {{"gate", &a->gate},
                                      {"up", &a->up},
                                      {"dy", &a->dy},
                                      {"dgate", &a->dgate},
                                      {"dup", &a->dup}}};
    pt_wg_call call = pass == PT_FORWARD ? forward : backward;
    call.shader = "swiglu";
    call.groups[0] = pt_div_up(n, PT_WG_TILE);
    call.work = 16 * (double)n;
    pt_wg_u32(&call, n);
    pt_wg_u32(&call, pt_present(&a->dgate));
    pt_wg_u32(&call, pt_present(&a->dup));
    return pt_wg_run(device, &call, err);
}
