/* Appending to the cache on the GPU: one dispatch. SPDX-License-Identifier: MIT */
#include "device/webgpu/webgpu.h"
#include "ops/kv_store/kv_store.h"

pt_status pt_kv_store_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    (void)pass; /* there is no backward pass */
    const pt_kv_store_args *a = args;
    int64_t n = pt_numel(&a->k);
    pt_wg_call c = {.shader = "kv_store",
                    .entry = "store",
                    .tensor = {{"k", &a->k},
                               {"v", &a->v},
                               {"offset", &a->offset},
                               {"slot", &a->slot},
                               {"cache_k", &a->cache_k},
                               {"cache_v", &a->cache_v}},
                    .groups = {pt_div_up(n, 64)},
                    .work = (double)n};
    pt_wg_u32(&c, n);
    pt_wg_u32(&c, a->k.dim[1]);
    pt_wg_u32(&c, a->k.dim[2]);
    pt_wg_u32(&c, a->k.dim[3]);
    pt_wg_u32(&c, a->cache_k.dim[2]);
    pt_wg_u32(&c, pt_present(&a->offset));
    pt_wg_u32(&c, pt_present(&a->slot));
    return pt_wg_run(device, &c, err);
}
