/* Causal scaled dot-product attention with grouped heads, flash form: no (T,T) matrix is stored.
 *   query i of row b stands at p = offset[b] + i and sees the keys j with
 *   max(doc_start[b,i], p - window + 1) <= j <= p      (window 0: no window)
 *   s_j = scale * q.k_j,   o = sum_j exp(s_j - lse) v_j,   lse = log sum_j exp(s_j)
 * Head h uses kv head h / (H/G).
 * in   q (B,T,H,D)
 *      k, v (B,T,G,D); or, when cached, the cache (S,G,P,D), of which row b reads slot[b]
 *      doc_start (B,T) i32 or absent     offset (B) i32 or absent (must be absent unless cached)
 *      slot (B) i32 or absent: row b reads slot b
 * out  o (B,T,H,D)    lse (B,H,T), may be absent when no backward follows
 * bwd  (not for cached): with dO, D_i = sum_d dO o, P_ij = exp(s_ij - lse_i):
 *      dv_j = sum_i P_ij dO_i    dS_ij = P_ij (dO_i.v_j - D_i)    dq_i = scale sum_j dS_ij k_j    dk_j = scale sum_i dS_ij q_i
 *      all three assigned; sums over the query heads of a group included in dk, dv.
 *      delta (B,H,T) is workspace for D_i.
 * scale 0 means 1/sqrt(D). D up to 256. Every query sees at least itself.
 * Parity tolerance 2e-5 relative to the largest component.
 * Source: Dao 2023 (FlashAttention-2), arXiv:2307.08691, algorithms 1 and 2; Ainslie et al. 2023 (grouped heads), arXiv:2305.13245.
 * May be stored in bf16, all alike: q, k, v, o and their gradients. Then the tolerance is 1e-2.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_ATTENTION_H
#define PT_OPS_ATTENTION_H

#include "device/device.h"

typedef struct pt_attention_args {
    pt_tensor q, k, v, doc_start, offset, slot, o, lse;
    pt_tensor d_o, dq, dk, dv, delta;
    double scale;
    int64_t window; /* tokens; 0 = unlimited */
    bool cached;
} pt_attention_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_attention_check(const pt_attention_args *args, pt_pass pass, pt_error *err);

#endif
