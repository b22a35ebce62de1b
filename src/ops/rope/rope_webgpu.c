/* Rotary positions on the GPU: one dispatch. SPDX-License-Identifier: MIT */
#include "device/webgpu/webgpu.h"
#include "ops/rope/rope.h"

#define ENOUGH_THREADS 65536 /* beyond them, a thread takes more heads, which have the same angle */

pt_status pt_rope_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    const pt_rope_args *a = args;
    bool forward = pass == PT_FORWARD;
    const pt_tensor *in = forward ? &a->x : &a->dy, *out = forward ? &a->y : &a->dx;
    int64_t rows = in->dim[0] * in->dim[1], heads = in->dim[2], pairs = in->dim[3] / 2;
    int64_t blocks = pt_min_i64(heads, pt_div_up(ENOUGH_THREADS, rows * pairs));
    int64_t heads_each = pt_div_up(heads, blocks);
    pt_wg_call c = {.shader = "rope",
                    .entry = "rope",
                    .tensor = {{"x", in},
                               {"y", out},
                               {"freq", &a->freq},
                               {"offset", &a->offset},
                               {"doc_start", &a->doc_start}},
                    .groups = {pt_div_up(rows * pt_div_up(heads, heads_each) * pairs, 64)},
                    .work = (double)pt_numel(in)};
    pt_wg_u32(&c, rows);
    pt_wg_u32(&c, in->dim[1]);
    pt_wg_u32(&c, heads);
    pt_wg_u32(&c, pairs);
    pt_wg_u32(&c, heads_each);
    pt_wg_u32(&c, a->interleaved);
    pt_wg_u32(&c, !forward);
    pt_wg_u32(&c, pt_present(&a->offset));
    pt_wg_u32(&c, pt_present(&a->doc_start));
    return pt_wg_run(device, &c, err);
}
