/* Appending to the cache: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/kv_store/kv_store.h"

void PT_REF(kv_store_fwd)(const void *args, pt_pool *pool);
void PT_REF(kv_store_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_kv_store_args *a = args;
    int64_t B = a->k.dim[0], T = a->k.dim[1], G = a->k.dim[2], D = a->k.dim[3];
    int64_t P = a->cache_k.dim[2];
    for (int64_t b = 0; b < B; b++) {
        int64_t slot = pt_present(&a->slot) ? pt_int_at(&a->slot, b) : b;
        int64_t first = pt_int_at(&a->offset, b);
        for (int64_t tg = 0; tg < T * G; tg++) {
            int64_t from = (b * T * G + tg) * D;
            int64_t to = ((slot * G + tg % G) * P + first + tg / G) * D;
            for (int64_t d = 0; d < D; d++) {
                pt_reals(&a->cache_k)[to + d] = pt_reals(&a->k)[from + d];
                pt_reals(&a->cache_v)[to + d] = pt_reals(&a->v)[from + d];
            }
        }
    }
}
