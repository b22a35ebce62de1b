/* Linear layer. Weights are [out,in] in memory, always.
 *   y[n,o] = sum_i x[n,i] * w[o,i] + b[o]
 * in   x (N,I)   w (O,I)   b (O) or absent        (N: all dimensions but the last)
 * out  y (N,O)
 * bwd  dx[n,i] = sum_o dy[n,o] w[o,i]   (assigned, or added to when dx_accumulate)
 *      dw[o,i] += sum_n dy[n,o] x[n,i]      db[o] += sum_n dy[n,o]
 *      each only if present. x is needed for dw only, w for dx only.
 * y must not alias x. Every sum has a fixed order that does not depend on the thread count.
 * Parity tolerance 2e-5 relative to the largest component (f32 accumulation; f64 in ref).
 * May be stored in bf16, all alike: x, w, y, dy, dx; y also f32. Then the tolerance is 1e-2, and 2e-5 for what stays f32.
 * w may be packed (tensor/packed.h) in the forward pass: the same sums of the values it stands for, at the same tolerance.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_LINEAR_H
#define PT_OPS_LINEAR_H

#include "device/device.h"

typedef struct pt_linear_args {
    pt_tensor x, w, b, y;
    pt_tensor dy, dx, dw, db;
    bool dx_accumulate;
} pt_linear_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_linear_check(const pt_linear_args *args, pt_pass pass, pt_error *err);

#endif
