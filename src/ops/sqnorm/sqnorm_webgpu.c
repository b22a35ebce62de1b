/* Squared norm on a GPU. SPDX-License-Identifier: MIT */
#include "device/step_state.h"
#include "device/webgpu/tiles.h"
#include "ops/sqnorm/sqnorm.h"

#define MOST_GROUPS 1056 /* of a piece: as many as a large GPU runs at once */
#define GROUP_TILES 4    /* fewer, where each would have less than that to do */

static int64_t groups_of(int64_t n)
{
    return pt_min_i64(pt_div_up(n, GROUP_TILES * PT_WG_TILE), MOST_GROUPS);
}

/* The sums of one piece, from parts[first_part] on; straight to the state where there are no parts. */
static pt_status add_squares(pt_device *device, const pt_sqnorm_args *a, const pt_tensor *x,
                             const pt_tensor *parts, int64_t first_part, pt_error *err)
{
    int64_t n = pt_numel(x), groups = groups_of(n);
    pt_wg_call call = {.shader = "sqnorm",
                       .entry = "add_squares",
                       .tensor = {{"x", x}, {"parts", parts}, {"state", &a->state}},
                       .groups = {groups},
                       .work = 8 * (double)n};
    pt_wg_u32(&call, n);
    pt_wg_u32(&call, PT_STATE_SQNORM);
    pt_wg_u32(&call, groups);
    pt_wg_u32(&call, first_part);
    pt_wg_u32(&call, !pt_present(parts));
    return pt_wg_run(device, &call, err);
}

static pt_status add_parts(pt_device *device, const pt_sqnorm_args *a, const pt_tensor *parts,
                           int64_t n, pt_error *err)
{
    pt_wg_call call = {.shader = "sqnorm",
                       .entry = "add_parts",
                       .tensor = {{"parts", parts}, {"state", &a->state}},
                       .groups = {1},
                       .work = 8 * (double)n};
    pt_wg_u32(&call, n);
    pt_wg_u32(&call, PT_STATE_SQNORM);
    return pt_wg_run(device, &call, err);
}

pt_status pt_sqnorm_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    (void)pass;
    const pt_sqnorm_args *a = args;
    int64_t n = pt_numel(&a->x), piece = pt_wg_piece(device, &a->x), n_parts = 0;
    int64_t most_parts = pt_div_up(n, piece) * groups_of(piece);
    pt_tensor parts = {0};
    pt_status status = PT_OK;
    if (most_parts > 1) /* of two floats each */
        status = pt_wg_scratch(device, most_parts * 2 * 4, &parts, err);
    for (int64_t first = 0; first < n && !status; first += piece) {
        int64_t count = pt_min_i64(piece, n - first);
        pt_tensor x = pt_wg_part(&a->x, first, count);
        status = add_squares(device, a, &x, &parts, n_parts, err);
        n_parts += groups_of(count);
    }
    if (status || !pt_present(&parts)) return status;
    return add_parts(device, a, &parts, n_parts, err);
}
