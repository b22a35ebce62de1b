/* Linear layer on the GPU: three products, cut along O where the weights do not fit one binding. SPDX-License-Identifier: MIT */
#include "device/webgpu/matmul.h"
#include "device/webgpu/tiles.h"
#include "ops/linear/linear.h"

/* Of the outputs first … first+n-1. */
static pt_status forward(pt_device *device, const pt_linear_args *a, int64_t first, int64_t n,
                         pt_error *err)
{
    int64_t inputs = pt_last_dim(&a->x), outputs = pt_last_dim(&a->y);
    pt_tensor w = pt_slice(&a->w, first, n), b = pt_wg_part(&a->b, first, n);
    pt_wg_product p = {.a = {&a->x, 0, inputs, false},
                       .b = {&w, 0, inputs, true},
                       .c = {&a->y, first, outputs, false},
                       .bias = pt_present(&b) ? &b : NULL,
                       .m = pt_rows(&a->x),
                       .n = n,
                       .k = inputs};
    return pt_wg_matmul(device, &p, err);
}

static pt_status backward_x(pt_device *device, const pt_linear_args *a, int64_t first, int64_t n,
                            pt_error *err)
{
    int64_t inputs = pt_last_dim(&a->dx), outputs = pt_last_dim(&a->dy);
    pt_tensor w = pt_slice(&a->w, first, n);
    pt_wg_product p = {.a = {&a->dy, first, outputs, false},
                       .b = {&w, 0, inputs, false},
                       .c = {&a->dx, 0, inputs, false},
                       .m = pt_rows(&a->dy),
                       .n = inputs,
                       .k = n,
                       .accumulate = a->dx_accumulate || first > 0};
    return pt_wg_matmul(device, &p, err);
}

static pt_status backward_w(pt_device *device, const pt_linear_args *a, int64_t first, int64_t n,
                            pt_error *err)
{
    int64_t inputs = pt_last_dim(&a->x), outputs = pt_last_dim(&a->dy);
    pt_tensor dw = pt_slice(&a->dw, first, n);
    pt_wg_product p = {.a = {&a->dy, first, outputs, true},
                       .b = {&a->x, 0, inputs, false},
                       .c = {&dw, 0, inputs, false},
                       .m = n,
                       .n = inputs,
                       .k = pt_rows(&a->dy),
                       .accumulate = true};
    return pt_wg_matmul(device, &p, err);
}

typedef pt_status (*piece)(pt_device *, const pt_linear_args *, int64_t first, int64_t n,
                           pt_error *);

static pt_status in_pieces(pt_device *device, const pt_linear_args *a, const pt_tensor *weights,
                           piece run, pt_error *err)
{
    int64_t outputs = weights->dim[0], room = pt_wg_rows_that_fit(device, weights);
    if (room < outputs) room = pt_max_i64(room / 64 * 64, 1);
    pt_status s = PT_OK;
    for (int64_t first = 0; first < outputs && s == PT_OK; first += room)
        s = run(device, a, first, pt_min_i64(room, outputs - first), err);
    return s;
}

pt_status pt_linear_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    const pt_linear_args *a = args;
    pt_status s = PT_OK;
    if (pass == PT_FORWARD) return in_pieces(device, a, &a->w, forward, err);
    if (pt_present(&a->dx)) s = in_pieces(device, a, &a->w, backward_x, err);
    if (s == PT_OK && pt_present(&a->dw)) s = in_pieces(device, a, &a->dw, backward_w, err);
    if (s == PT_OK && pt_present(&a->db)) {
        pt_wg_matrix dy = {&a->dy, 0, pt_last_dim(&a->dy), false};
        s = pt_wg_column_sums(device, &dy, pt_rows(&a->dy), pt_last_dim(&a->dy), &a->db, err);
    }
    return s;
}
