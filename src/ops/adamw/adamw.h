/* AdamW, decoupled weight decay, on flat parameter arrays.
 *   g' = factor * g;  m = b1 m + (1-b1) g';  v = b2 v + (1-b2) g'^2
 *   w -= lr * ( (m c1) / (sqrt(v c2) + eps) + weight_decay * decay * w )
 * with lr, factor, c1 = correction1, c2 = correction2 from the step state. When state.ok is 0 or state.skipped is
 * not, nothing is read or written: a bad step never reaches the weights.
 * in   g (N)   decay (ceil(N/64)) u8: 1 where the 64 elements of that block decay   state
 * inout w, m, v (N)
 * out  copy (N) bf16 or absent: the new w, rounded; what a model whose weights are stored in bf16 reads
 * Parity tolerance 1e-6 relative. Source: Loshchilov & Hutter 2017, arXiv:1711.05101, algorithm 2.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_ADAMW_H
#define PT_OPS_ADAMW_H

#include "device/device.h"

#define PT_ADAMW_BLOCK 64 /* elements per entry of `decay` */

typedef struct pt_adamw_args {
    pt_tensor w, g, m, v, decay, state, copy;
    double beta1, beta2, eps, weight_decay;
} pt_adamw_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_adamw_check(const pt_adamw_args *args, pt_pass pass, pt_error *err);

#endif
