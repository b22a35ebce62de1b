/* RMS normalisation over the last dimension.
 *   y[n,c] = x[n,c] * rstd[n] * w[c],   rstd = 1 / sqrt(mean_c(x^2) + eps)
 * in   x (N,C)   w (C)          (N: all dimensions but the last; for qk-norm N = B*T*H, C = D)
 * out  y (N,C)   rstd (N): kept for the backward pass
 * bwd  with g = dy*w:   dx = rstd * (g - x * rstd^2 * mean_c(g*x));   dw += sum_n dy * x * rstd
 *      dx assigned, or added to when dx_accumulate. dx may alias dy. Absent gradients are skipped.
 * Parity tolerance 1e-5 relative to the largest component. Source: Zhang & Sennrich 2019, arXiv:1910.07467, eq. 4.
 * May be stored in bf16, all alike: x, y, dy, dx. Then the f32 result, rounded.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_RMSNORM_H
#define PT_OPS_RMSNORM_H

#include "device/device.h"

typedef struct pt_rmsnorm_args {
    pt_tensor x, w, y, rstd;
    pt_tensor dy, dx, dw;
    double eps;
    bool dx_accumulate;
} pt_rmsnorm_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_rmsnorm_check(const pt_rmsnorm_args *args, pt_pass pass, pt_error *err);

#endif
