/* Layer normalisation over the last dimension.
 *   y[n,c] = (x[n,c] - mean[n]) * rstd[n] * w[c] + b[c],   rstd = 1 / sqrt(var(x) + eps), biased variance
 * in   x (N,C)   w (C)   b (C) or absent
 * out  y (N,C)   mean (N)   rstd (N): kept for the backward pass
 * bwd  with g = dy*w, h = (x - mean)*rstd:   dx = rstd * (g - mean_c(g) - h * mean_c(g*h))
 *      dx assigned, or added to when dx_accumulate; dw += sum_n dy*h, db += sum_n dy. Absent ones are
 *      skipped. Row sums in row order. N is the product of all dimensions but the last.
 * y may alias x in the forward pass only if the backward never runs; dx may alias dy.
 * Parity tolerance 1e-5 relative to the largest component. Source: Ba, Kiros, Hinton 2016, arXiv:1607.06450.
 * May be stored in bf16, all alike: x, y, dy, dx. Then the f32 result, rounded.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_LAYERNORM_H
#define PT_OPS_LAYERNORM_H

#include "device/device.h"

typedef struct pt_layernorm_args {
    pt_tensor x, w, b, y, mean, rstd;
    pt_tensor dy, dx, dw, db;
    double eps;
    bool dx_accumulate;
} pt_layernorm_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_layernorm_check(const pt_layernorm_args *args, pt_pass pass, pt_error *err);

#endif
