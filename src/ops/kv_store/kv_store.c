/* Appending to the cache: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

pt_status pt_kv_store_check(const pt_kv_store_args *a, pt_pass pass, pt_error *err)
{
    const pt_tensor *k = &a->k, *cache = &a->cache_k;
    pt_op_check c = {.op = "kv_store", .err = err};
    pt_want(&c, pass == PT_FORWARD, "there is no backward pass", NULL);
    pt_need_stored(&c, k, "k");
    pt_need_stored(&c, &a->v, "v");
    pt_need_stored(&c, cache, "cache_k");
    pt_need_stored(&c, &a->cache_v, "cache_v");
    pt_may_ints(&c, &a->offset, "offset");
    pt_may_ints(&c, &a->slot, "slot");
    if (c.status) return c.status;

    pt_want(&c, k->rank == 4, "k must be (B,T,G,D), is", k);
    pt_want(&c, pt_same_shape(k, &a->v), "v must have the shape of k, is", &a->v);
    pt_want(&c, cache->rank == 4 && cache->dim[1] == k->dim[2] && cache->dim[3] == k->dim[3],
            "cache_k must be (S,G,P,D), is", cache);
    pt_want(&c, pt_same_shape(cache, &a->cache_v), "cache_v must have the shape of cache_k, is",
            &a->cache_v);
    pt_want(&c, k->dim[1] <= cache->dim[2], "the cache must hold T positions, is", cache);
    pt_want(&c, pt_present(&a->slot) || k->dim[0] <= cache->dim[0],
            "the cache must hold B rows, is", cache);
    pt_want(&c, pt_fits_count(&a->offset, k->dim[0]), "offset must be (B), is", &a->offset);
    pt_want(&c, pt_fits_count(&a->slot, k->dim[0]), "slot must be (B), is", &a->slot);
    const pt_tensor *read[] = {k, &a->v, &a->offset, &a->slot};
    const pt_tensor *written[] = {cache, &a->cache_v};
    pt_want_apart(&c, written, PT_COUNT(written), read, PT_COUNT(read));
    return c.status;
}
