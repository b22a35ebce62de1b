/* state.sqnorm += sum_i x[i]^2, over fixed blocks, block sums added in order, in double.
 * in   x (N)   state: device/step_state.h. Tolerance 1e-6 relative.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_SQNORM_H
#define PT_OPS_SQNORM_H

#include "device/device.h"

typedef struct pt_sqnorm_args {
    pt_tensor x, state;
} pt_sqnorm_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_sqnorm_check(const pt_sqnorm_args *args, pt_pass pass, pt_error *err);

#endif
