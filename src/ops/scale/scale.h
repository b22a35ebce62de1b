/* y = factor * x, elementwise; y may alias x. Exact (one rounding).
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_SCALE_H
#define PT_OPS_SCALE_H

#include "device/device.h"

typedef struct pt_scale_args {
    pt_tensor x, y;
    double factor;
} pt_scale_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_scale_check(const pt_scale_args *args, pt_pass pass, pt_error *err);

#endif
