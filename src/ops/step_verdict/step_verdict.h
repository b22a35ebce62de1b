/* Closes the gradient part of a step, before the optimizer:
 *   norm = sqrt(sqnorm);  factor = clip > 0 and norm > clip ? clip / (norm + 1e-6) : 1
 *   skipped = limit > 0 and loss is finite and loss > limit  (of this step alone)
 *   ok = ok and loss is finite and (skipped ? halt is 0 : norm is finite)  (sticky)
 *   ring[slot] = { loss, norm, ok, lr, skipped }
 * AdamW leaves everything as it is when ok is 0 or skipped is 1. The norm of a skipped step says nothing about
 * the weights, which it never reaches, and so may overflow.
 * state: device/step_state.h     ring (R, PT_RING_WORDS), 0 <= slot < R
 * The factor is the one of torch's clip_grad_norm_.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_STEP_VERDICT_H
#define PT_OPS_STEP_VERDICT_H

#include "device/device.h"

typedef struct pt_step_verdict_args {
    pt_tensor state, ring;
    int64_t slot;
} pt_step_verdict_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_step_verdict_check(const pt_step_verdict_args *args, pt_pass pass, pt_error *err);

#endif
