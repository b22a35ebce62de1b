/* state.first_bad = min(state.first_bad, id) if x holds an infinity or NaN. x: f32 (f64 on ref f64), or bf16.
 * Used when a step went bad: the step is run again with one check after each launch.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_CHECK_FINITE_H
#define PT_OPS_CHECK_FINITE_H

#include "device/device.h"

typedef struct pt_check_finite_args {
    pt_tensor x, state;
    int64_t id; /* below PT_STATE_NO_BAD */
} pt_check_finite_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_check_finite_check(const pt_check_finite_args *args, pt_pass pass, pt_error *err);

#endif
