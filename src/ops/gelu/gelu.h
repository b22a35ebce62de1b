/* GELU, elementwise.
 *   erf form (default):  y = x/2 (1 + erf(x / sqrt 2))
 *   tanh form:           y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
 * in   x    out  y, same shape, may alias x if the backward never runs
 * bwd  dx = dy * y'(x), assigned; dx may alias dy. Needs x.
 * Parity tolerance 1e-6 relative to the largest component. Source: Hendrycks & Gimpel 2016, arXiv:1606.08415.
 * May be stored in bf16, all alike: x, y, dy, dx. Then the f32 result, rounded.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_GELU_H
#define PT_OPS_GELU_H

#include "device/device.h"

typedef struct pt_gelu_args {
    pt_tensor x, y;
    pt_tensor dy, dx;
    bool tanh_form;
} pt_gelu_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_gelu_check(const pt_gelu_args *args, pt_pass pass, pt_error *err);

#endif
