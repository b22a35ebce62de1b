/* Appending to the cache on the CPU: rows are copied, split over the threads by token.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/stored.h"
#include "ops/kv_store/kv_store.h"

#define CHUNK_TOKENS 16

void PT_KERNEL(kv_store_fwd)(const void *args, pt_pool *pool);

static void store_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_kv_store_args *a = ctx;
    int64_t B = a->k.dim[0], T = a->k.dim[1], G = a->k.dim[2], D = a->k.dim[3];
    int64_t P = a->cache_k.dim[2];
    size_t bytes = (size_t)D * sizeof(pt_stored);
    int64_t first = chunk * CHUNK_TOKENS, end = first + CHUNK_TOKENS;
    for (int64_t bt = first; bt < end && bt < B * T; bt++) {
        int64_t b = bt / T, t = bt % T;
        int64_t slot = pt_present(&a->slot) ? pt_int_at(&a->slot, b) : b;
        int64_t at = pt_int_at(&a->offset, b) + t;
        for (int64_t g = 0; g < G; g++) {
            int64_t from = (bt * G + g) * D, to = ((slot * G + g) * P + at) * D;
            memcpy(pt_storage(&a->cache_k) + to, pt_storage(&a->k) + from, bytes);
            memcpy(pt_storage(&a->cache_v) + to, pt_storage(&a->v) + from, bytes);
        }
    }
}

void PT_KERNEL(kv_store_fwd)(const void *args, pt_pool *pool)
{
    pt_kv_store_args a = *(const pt_kv_store_args *)args;
    int64_t tokens = a.k.dim[0] * a.k.dim[1];
    pt_pool_run(pool, pt_div_up(tokens, CHUNK_TOKENS), store_chunk, &a);
}
