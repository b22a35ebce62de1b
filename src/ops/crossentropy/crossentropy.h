/* The chunked head: linear and log-softmax over chunks of rows, so the logits of the whole batch are
 * never stored.
 *   z[n,:] = x[n,:] w^T    lse[n] = log sum_v exp(z[n,v])    logp[n] = z[n,target[n]] - lse[n]
 * Rows with target < 0 are masked: skipped, with logp = lse = 0.
 * in   x (N,C)   w (V,C)   target (N) i32
 * out  logp (N)  lse (N) or absent
 * bwd  of L = sum_n coef[n] logp[n]:   dz = coef * (onehot(target) - softmax(z))
 *      dx = dz w (assigned; zero on masked rows)     dw += dz^T x;  each only if present.
 *      logp and lse are written by the backward pass too, where present: it has them anyway, so a
 *      training step runs only the backward pass.
 * logits (R,V) is workspace for one chunk of R rows. The results do not depend on R beyond the order
 * of sums in dw.
 * Cross-entropy is coef = -1/number of targets; DPO, GRPO and echoed log-probs are other coefs.
 * Parity tolerance 2e-5 relative to the largest component.
 * May be stored in bf16, all alike: x, w, dx. Then the tolerance is 1e-2, and 2e-5 for what stays f32.
 * w may be packed (tensor/packed.h) in the forward pass, at the same tolerance.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_CROSSENTROPY_H
#define PT_OPS_CROSSENTROPY_H

#include "device/device.h"

typedef struct pt_crossentropy_args {
    pt_tensor x, w, target, logp, lse;
    pt_tensor coef, dx, dw, logits;
} pt_crossentropy_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_crossentropy_check(const pt_crossentropy_args *args, pt_pass pass, pt_error *err);

#endif
