/* state.loss += sum_n coef[n] * logp[n], in index order, in double.
 * in   logp (N)   coef (N)   state: device/step_state.h
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_LOSS_SUM_H
#define PT_OPS_LOSS_SUM_H

#include "device/device.h"

typedef struct pt_loss_sum_args {
    pt_tensor logp, coef, state;
} pt_loss_sum_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_loss_sum_check(const pt_loss_sum_args *args, pt_pass pass, pt_error *err);

#endif
