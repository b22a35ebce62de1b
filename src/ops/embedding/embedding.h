/* Token embedding plus, where given, learned positions.
 *   x[b,t,:] = token[ids[b,t],:] + position[p,:]     p = offset[b] + t - doc_start[b,t]
 * in   ids (B,T) i32, 0 <= id < V     token (V,C)     position (P,C) or absent
 *      doc_start (B,T) i32 or absent: index (in the numbering offset[b] + t) of the first token of the token's document
 *      offset (B) i32 or absent: index of the row's first token (generation)
 * out  x (B,T,C)
 * bwd  dtoken[id] += dx, dposition[p] += dx, each if present (parameter gradients accumulate).
 * Sums over tokens in index order (b, then t). Ids and positions out of range are our bug: the data
 * and the tokenizer check them. Parity tolerance 1e-6 relative. Source: Radford et al. 2019 (GPT-2).
 * May be stored in bf16, all alike: token, position, x, dx. Then the f32 result, rounded.
 * token may be packed (tensor/packed.h) in the forward pass.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_EMBEDDING_H
#define PT_OPS_EMBEDDING_H

#include "device/device.h"

typedef struct pt_embedding_args {
    pt_tensor ids, token, position, doc_start, offset, x;
    pt_tensor dx, dtoken, dposition;
} pt_embedding_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_embedding_check(const pt_embedding_args *args, pt_pass pass, pt_error *err);

#endif
