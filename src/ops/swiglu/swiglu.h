/* SwiGLU's elementwise part.
 *   y = gate * sigmoid(gate) * up
 * in   gate, up    out  y, all of one shape
 * bwd  with s = sigmoid(gate):  dup = dy * gate * s    dgate = dy * up * s * (1 + gate * (1 - s))
 *      assigned; each only if present; may alias dy only if the other gradient is absent.
 * Parity tolerance 1e-6 relative to the largest component. Source: Shazeer 2020, arXiv:2002.05202, eq. 5.
 * May be stored in bf16, all alike: all six. Then the f32 result, rounded.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_SWIGLU_H
#define PT_OPS_SWIGLU_H

#include "device/device.h"

typedef struct pt_swiglu_args {
    pt_tensor gate, up, y;
    pt_tensor dy, dgate, dup;
} pt_swiglu_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_swiglu_check(const pt_swiglu_args *args, pt_pass pass, pt_error *err);

#endif
