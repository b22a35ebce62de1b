/* RMS normalisation on a GPU. SPDX-License-Identifier: MIT */
#include "device/webgpu/tiles.h"
#include "ops/rmsnorm/rmsnorm.h"

/* The members of P. No parts: no dw. */
static void add_words(pt_wg_call *call, const pt_rmsnorm_args *a, int64_t n, int64_t channels,
                      bool parts)
{
    pt_wg_u32(call, n);
    pt_wg_u32(call, channels);
    pt_wg_u32(call, pt_wg_row_side(channels));
    pt_wg_f32(call, a->eps);
    pt_wg_u32(call, a->dx_accumulate);
    pt_wg_u32(call, parts ? pt_div_up(n, pt_wg_block_rows(n)) : 0);
    pt_wg_u32(call, pt_wg_block_rows(n));
    pt_wg_u32(call, parts ? pt_div_up(channels, 16) : 0);
}

static pt_status forward(pt_device *device, const pt_rmsnorm_args *a, pt_error *err)
{
    int64_t n = pt_rows(&a->x), channels = pt_last_dim(&a->x);
    pt_wg_call call = {.shader = "rmsnorm",
                       .entry = "forward",
                       .tensor = {{"x", &a->x}, {"w", &a->w}, {"y", &a->y}, {"rstd", &a->rstd}},
                       .groups = {pt_wg_row_groups(n, channels)},
                       .work = 4 * (double)pt_numel(&a->x)};
    add_words(&call, a, n, channels, false);
    return pt_wg_run(device, &call, err);
}

/* The sums of dw over blocks of rows. */
static pt_status begin_dw(pt_device *device, const pt_rmsnorm_args *a, const pt_tensor *parts,
                          pt_error *err)
{
    int64_t n = pt_rows(&a->dy), channels = pt_last_dim(&a->dy);
    pt_wg_call call = {
        .shader = "rmsnorm",
        .entry = "part",
        .tensor = {{"x", &a->x}, {"rstd", &a->rstd}, {"dy", &a->dy}, {"parts", parts}},
        .groups = {pt_div_up(pt_numel(parts), 256)},
        .work = 2 * (double)pt_numel(&a->dy)};
    add_words(&call, a, n, channels, true);
    return pt_wg_run(device, &call, err);
}

static pt_status backward(pt_device *device, const pt_rmsnorm_args *a, pt_error *err)
{
    int64_t n = pt_rows(&a->dy), channels = pt_last_dim(&a->dy);
    int64_t blocks = pt_div_up(n, pt_wg_block_rows(n));
    bool wants_w = pt_present(&a->dw), wants_x = pt_present(&a->dx);
    pt_tensor parts = {0};
    pt_status status = PT_OK;
    if (wants_w) { /* first: dx may overwrite dy */
        status = pt_wg_scratch(device, blocks * channels * 4, &parts, err);
        if (!status) status = begin_dw(device, a, &parts, err);
    }
    if (status || (!wants_w && !wants_x)) return status;
    pt_wg_call call = {.shader = "rmsnorm",
                       .entry = "backward",
                       .tensor = {{"x", &a->x},
                                  {"w", &a->w},
                                  {"rstd", &a->rstd},
                                  {"dy", &a->dy},
                                  {"dx", &a->dx},
                                  {"dw", &a->dw},
                                  {"parts", &parts}},
                       .groups = {(wants_w ? pt_div_up(channels, 16) : 0) +
                                  (wants_x ? pt_wg_row_groups(n, channels) : 0)},
                       .work = 6 * (double)pt_numel(&a->dy)};
    add_words(&call, a, n, channels, wants_w);
    return pt_wg_run(device, &call, err);
}

pt_status pt_rmsnorm_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    return pass == PT_FORWARD ? forward(device, args, err) : backward(device, args, err);
}
