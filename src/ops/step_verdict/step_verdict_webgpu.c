/* The end of a step's gradients on a GPU. SPDX-License-Identifier: MIT */
#include "device/step_state.h"
#include "device/webgpu/webgpu.h"
#include "ops/step_verdict/step_verdict.h"

pt_status pt_step_verdict_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    (void)pass;
    static const pt_state_word words[] = {
        PT_STATE_LR,   PT_STATE_CLIP, PT_STATE_LOSS,   PT_STATE_SQNORM, PT_STATE_LIMIT,
        PT_STATE_HALT, PT_STATE_NORM, PT_STATE_FACTOR, PT_STATE_OK,     PT_STATE_SKIPPED};
    const pt_step_verdict_args *a = args;
    pt_wg_call call = {.shader = "step_verdict",
                       .entry = "judge",
                       .tensor = {{"state", &a->state}, {"ring", &a->ring}},
                       .groups = {1},
                       .work = 1};
    pt_wg_u32(&call, a->slot);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) pt_wg_u32(&call, words[i]);
    return pt_wg_run(device, &call, err);
}
