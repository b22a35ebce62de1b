/* The step's loss on a GPU. SPDX-License-Identifier: MIT */
#include "device/step_state.h"
#include "device/webgpu/webgpu.h"
#include "ops/loss_sum/loss_sum.h"

pt_status pt_loss_sum_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    (void)pass;
    const pt_loss_sum_args *a = args;
    int64_t n = pt_numel(&a->logp);
    pt_wg_call call = {.shader = "loss_sum",
                       .entry = "add_products",
                       .tensor = {{"logp", &a->logp}, {"coef", &a->coef}, {"state", &a->state}},
                       .groups = {1},
                       .work = 32 * (double)n};
    pt_wg_u32(&call, n);
    pt_wg_u32(&call, PT_STATE_LOSS);
    return pt_wg_run(device, &call, err);
}
