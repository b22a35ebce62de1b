/* AdamW on a GPU. SPDX-License-Identifier: MIT */
#include "device/step_state.h"
#include "device/webgpu/tiles.h"
#include "ops/adamw/adamw.h"

/* A tensor of smaller elements as whole words of its buffer; *first is the byte of the first word at which it begins. */
static pt_tensor words_around(const pt_tensor *t, int64_t *first)
{
    pt_tensor words = *t;
    *first = t->offset % 4;
    words.offset -= *first;
    words = pt_view(&words, pt_div_up(*first + pt_tensor_bytes(t), 4), 0, 0, 0);
    words.dtype = PT_I32;
    return words;
}

/* The members of P. */
static void add_words(pt_wg_call *call, const pt_adamw_args *a, int64_t n, int64_t decay_first,
                      int64_t copy_first)
{
    static const pt_state_word words[] = {PT_STATE_LR,          PT_STATE_CORRECTION1,
                                          PT_STATE_CORRECTION2, PT_STATE_FACTOR,
                                          PT_STATE_OK,          PT_STATE_SKIPPED};
    pt_wg_u32(call, n);
    pt_wg_u32(call, decay_first);
    pt_wg_f32(call, a->beta1);
    pt_wg_f32(call, a->beta2);
    pt_wg_f32(call, 1 - a->beta1);
    pt_wg_f32(call, 1 - a->beta2);
    pt_wg_f32(call, a->eps);
    pt_wg_f32(call, a->weight_decay);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) pt_wg_u32(call, words[i]);
    pt_wg_u32(call, copy_first);
}

/* n elements from `first`. */
static pt_status update(pt_device *device, const pt_adamw_args *a, int64_t first, int64_t n,
                        pt_error *err)
{
    pt_tensor w = pt_wg_part(&a->w, first, n), g = pt_wg_part(&a->g, first, n);
    pt_tensor m = pt_wg_part(&a->m, first, n), v = pt_wg_part(&a->v, first, n);
    int64_t decay_first, blocks = pt_div_up(n, PT_ADAMW_BLOCK);
    pt_tensor decay = pt_wg_part(&a->decay, first / PT_ADAMW_BLOCK, blocks);
    decay = words_around(&decay, &decay_first);
    pt_wg_call call = {
        .shader = "adamw",
        .entry = "update",
        .tensor =
            {{"w", &w}, {"g", &g}, {"m", &m}, {"v", &v}, {"decay", &decay}, {"state", &a->state}},
        .groups = {pt_div_up(n, PT_WG_TILE)},
        .work = 16 * (double)n};
    add_words(&call, a, n, decay_first, 0);
    return pt_wg_run(device, &call, err);
}

/* The new w of n elements from `first` on, in bf16. */
static pt_status copy_rounded(pt_device *device, const pt_adamw_args *a, int64_t first, int64_t n,
                              pt_error *err)
{
    int64_t copy_first;
    pt_tensor w = pt_wg_part(&a->w, first, n), copy = pt_wg_part(&a->copy, first, n);
    copy = words_around(&copy, &copy_first);
    pt_wg_call call = {.shader = "adamw",
                       .entry = "round",
                       .tensor = {{"w", &w}, {"copy", &copy}, {"state", &a->state}},
                       .groups = {pt_div_up(pt_numel(&copy), 256)},
                       .work = 2 * (double)n};
    add_words(&call, a, n, 0, copy_first / 2);
    return pt_wg_run(device, &call, err);
}

pt_status pt_adamw_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    (void)pass;
    const pt_adamw_args *a = args;
    int64_t n = pt_numel(&a->w), piece = pt_wg_piece(device, &a->w);
    pt_status status = PT_OK;
    for (int64_t first = 0; first < n && !status; first += piece) {
        int64_t count = pt_min_i64(piece, n - first);
        status = update(device, a, first, count, err);
        if (!status && pt_present(&a->copy)) status = copy_rounded(device, a, first, count, err);
    }
    return status;
}
