/* AdamW on a GPU. SPDX-License-Identifier: MIT */
#include "device/step_state.h"
#include "device/webgpu/tiles.h"
#include "ops/adamw/adamw.h"

/* n bytes as whole words of a buffer; *first is the byte of the first word at which they begin. */
static pt_tensor words_around(const pt_tensor *bytes, int64_t n, int64_t *first)
{
    pt_tensor words = pt_view(bytes, 1, 0, 0, 0);
    *first = words.offset % 4;
    words.offset -= *first;
    words.dtype = PT_I32;
    words.dim[0] = pt_div_up(*first + n, 4);
    return words;
}

static pt_status update(pt_device *device, const pt_adamw_args *a, int64_t first, int64_t n,
                        pt_error *err)
{
    static const pt_state_word words[] = {PT_STATE_LR,          PT_STATE_CORRECTION1,
                                          PT_STATE_CORRECTION2, PT_STATE_FACTOR,
                                          PT_STATE_OK,          PT_STATE_SKIPPED};
    int64_t blocks = pt_div_up(n, PT_ADAMW_BLOCK), decay_first;
    pt_tensor w = pt_wg_part(&a->w, first, n), g = pt_wg_part(&a->g, first, n);
    pt_tensor m = pt_wg_part(&a->m, first, n), v = pt_wg_part(&a->v, first, n);
    pt_tensor decay = pt_wg_part(&a->decay, first / PT_ADAMW_BLOCK, blocks);
    decay = words_around(&decay, blocks, &decay_first);
    pt_wg_call call = {
        .shader = "adamw",
        .entry = "update",
        .tensor =
            {{"w", &w}, {"g", &g}, {"m", &m}, {"v", &v}, {"decay", &decay}, {"state", &a->state}},
        .groups = {pt_div_up(n, PT_WG_TILE)},
        .work = 16 * (double)n};
    pt_wg_u32(&call, n);
    pt_wg_u32(&call, decay_first);
    pt_wg_f32(&call, a->beta1);
    pt_wg_f32(&call, a->beta2);
    pt_wg_f32(&call, 1 - a->beta1);
    pt_wg_f32(&call, 1 - a->beta2);
    pt_wg_f32(&call, a->eps);
    pt_wg_f32(&call, a->weight_decay);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) pt_wg_u32(&call, words[i]);
    return pt_wg_run(device, &call, err);
}

pt_status pt_adamw_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    (void)pass;
    const pt_adamw_args *a = args;
    int64_t n = pt_numel(&a->w), piece = pt_wg_piece(device, &a->w);
    if (pt_present(&a->copy))
        return pt_fail(err, PT_UNSUPPORTED, "adamw: a GPU stores no weights in bf16");
    pt_status status = PT_OK;
    for (int64_t first = 0; first < n && !status; first += piece)
        status = update(device, a, first, pt_min_i64(piece, n - first), err);
    return status;
}
