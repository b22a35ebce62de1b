/* Layer normalisation on a GPU. SPDX-License-Identifier: MIT */
#include "device/webgpu/tiles.h"
#include "ops/layernorm/layernorm.h"

/* The members of P. No parts: neither dw nor db. */
static void add_words(pt_wg_call *call, const pt_layernorm_args *a, int64_t n, int64_t channels,
                      bool parts)
{
    pt_wg_u32(call, n);
    pt_wg_u32(call, channels);
    pt_wg_u32(call, pt_wg_row_side(channels));
    pt_wg_f32(call, a->eps);
    pt_wg_u32(call, a->dx_accumulate);
    pt_wg_u32(call, parts ? pt_div_up(n, pt_wg_block_rows(n)) : 0);
    pt_wg_u32(call, pt_wg_block_rows(n));
    pt_wg_u32(call, parts ? pt_div_up(2 * channels, 16) : 0);
    pt_wg_u32(call, pt_present(&a->b));
    pt_wg_u32(call, pt_present(&a->dw));
    pt_wg_u32(call, pt_present(&a->db));
}

static pt_status forward(pt_device *device, const pt_layernorm_args *a, pt_error *err)
{
    int64_t n = pt_rows(&a->x), channels = pt_last_dim(&a->x);
    pt_wg_call call = {.shader = "layernorm",
                       .entry = "forward",
                       .tensor = {{"x", &a->x},
                                  {"w", &a->w},
                                  {"b", &a->b},
                                  {"y", &a->y},
                                  {"mean", &a->mean},
                                  {"rstd", &a->rstd}},
                       .groups = {pt_wg_row_groups(n, channels)},
                       .work = 6 * (double)pt_numel(&a->x)};
    add_words(&call, a, n, channels, false);
    return pt_wg_run(device, &call, err);
}

/* The sums of dw and db over blocks of rows, and a copy of mean and rstd. */
static pt_status begin_parameters(pt_device *device, const pt_layernorm_args *a,
                                  const pt_tensor *parts, pt_error *err)
{
    int64_t n = pt_rows(&a->dy), channels = pt_last_dim(&a->dy);
    pt_wg_call call = {.shader = "layernorm",
                       .entry = "part",
                       .tensor = {{"x", &a->x},
                                  {"mean", &a->mean},
                                  {"rstd", &a->rstd},
                                  {"dy", &a->dy},
                                  {"parts", parts}},
                       .groups = {pt_div_up(pt_div_up(n, pt_wg_block_rows(n)) * channels, 256)},
                       .work = 4 * (double)pt_numel(&a->dy)};
    add_words(&call, a, n, channels, true);
    return pt_wg_run(device, &call, err);
}

/* dx, and the end of the sums in `parts`, which is absent if there are none. */
static pt_status end(pt_device *device, const pt_layernorm_args *a, const pt_tensor *parts,
                     pt_error *err)
{
    static const pt_tensor absent;
    int64_t n = pt_rows(&a->dy), channels = pt_last_dim(&a->dy);
    bool sums = pt_present(parts);
    pt_wg_call call = {.shader = "layernorm",
                       .entry = "backward",
                       .tensor = {{"x", &a->x},
                                  {"w", &a->w},
                                  {"mean", sums ? &absent : &a->mean},
                                  {"rstd", sums ? &absent : &a->rstd},
                                  {"dy", &a->dy},
                                  {"dx", &a->dx},
                                  {"dw", &a->dw},
                                  {"db", &a->db},
                                  {"parts", parts}},
                       .groups = {(sums ? pt_div_up(2 * channels, 16) : 0) +
                                  (pt_present(&a->dx) ? pt_wg_row_groups(n, channels) : 0)},
                       .work = 8 * (double)pt_numel(&a->dy)};
    add_words(&call, a, n, channels, sums);
    return pt_wg_run(device, &call, err);
}

static pt_status backward(pt_device *device, const pt_layernorm_args *a, pt_error *err)
{
    int64_t n = pt_rows(&a->dy), channels = pt_last_dim(&a->dy);
    int64_t blocks = pt_div_up(n, pt_wg_block_rows(n));
    pt_tensor parts = {0};
    pt_status status = PT_OK;
    if (pt_present(&a->dw) || pt_present(&a->db)) { /* first: dx may overwrite dy */
        status = pt_wg_scratch(device, (blocks * channels + n) * 2 * 4, &parts, err);
        if (!status) status = begin_parameters(device, a, &parts, err);
    }
    if (status || (!pt_present(&parts) && !pt_present(&a->dx))) return status;
    return end(device, a, &parts, err);
}

pt_status pt_layernorm_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    return pass == PT_FORWARD ? forward(device, args, err) : backward(device, args, err);
}
