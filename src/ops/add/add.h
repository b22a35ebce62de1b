/* Residual addition, elementwise: y = a + b, one shape; y may alias a or b. Its backward is the identity on
 * both sides, so it has no kernel. Exact (one rounding).
 * May be stored in bf16, all alike: a, b, y. Then the f32 result, rounded.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_ADD_H
#define PT_OPS_ADD_H

#include "device/device.h"

typedef struct pt_add_args {
    pt_tensor a, b, y;
} pt_add_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_add_check(const pt_add_args *args, pt_pass pass, pt_error *err);

#endif
