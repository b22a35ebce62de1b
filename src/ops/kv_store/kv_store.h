/* Appends keys and values to the cache.
 *   cache_k[slot[b], g, offset[b] + t, :] = k[b,t,g,:], the same for v
 * in   k, v (B,T,G,D)   offset (B) i32 or absent (0)   slot (B) i32 or absent (b)
 * out  cache_k, cache_v (S,G,P,D), offset[b] + T <= P
 * Exact.
 * May be stored in bf16, all alike: all. Then the f32 result, rounded.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_KV_STORE_H
#define PT_OPS_KV_STORE_H

#include "device/device.h"

typedef struct pt_kv_store_args {
    pt_tensor k, v, offset, slot, cache_k, cache_v;
} pt_kv_store_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_kv_store_check(const pt_kv_store_args *args, pt_pass pass, pt_error *err);

#endif
