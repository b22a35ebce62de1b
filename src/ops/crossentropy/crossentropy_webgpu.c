/* The chunked head on the GPU: products and a softmax, for one chunk of rows after the other. SPDX-License-Identifier: MIT */
#include "device/webgpu/matmul.h"
#include "ops/crossentropy/crossentropy.h"

/* Rows of a dispatch: one workgroup each. */
#define MOST_ROWS 65535

/* The parts of the head that one binding holds, one after the other. */
typedef struct piece {
    int64_t first, n; /* of V */
} piece;

static bool next_piece(const pt_device *device, const pt_tensor *w, piece *p)
{
    int64_t room = pt_wg_rows_that_fit(device, w);
    p->first += p->n;
    p->n = pt_min_i64(room, w->dim[0] - p->first);
    return p->n > 0;
}

/* Rows first … first+n-1 of x into the workspace. */
static pt_status logits(pt_device *device, const pt_crossentropy_args *a, int64_t first, int64_t n,
                        pt_error *err)
{
    int64_t C = pt_last_dim(&a->x), V = a->w.dim[0];
    pt_status s = PT_OK;
    piece v = {0};
    while (s == PT_OK && next_piece(device, &a->w, &v)) {
        pt_tensor w = pt_slice(&a->w, v.first, v.n);
        pt_wg_product p = {.a = {&a->x, first * C, C, false},
                           .b = {&w, 0, C, true},
                           .c = {&a->logits, v.first, V, false},
                           .m = n,
                           .n = v.n,
                           .k = C};
        s = pt_wg_matmul(device, &p, err);
    }
    return s;
}

static pt_status softmax(pt_device *device, const pt_crossentropy_args *a, const char *entry,
                         int64_t first, int64_t n, pt_error *err)
{
    int64_t V = a->w.dim[0];
    pt_wg_call call = {.shader = "crossentropy",
                       .entry = entry,
                       .tensor = {{"logits", &a->logits},
                                  {"target_id", &a->target},
                                  {"logp", &a->logp},
                                  {"lse", &a->lse},
                                  {"coef", &a->coef}},
                       .groups = {n, 1, 1},
                       .work = (double)n * (double)V};
    pt_wg_u32(&call, V);
    pt_wg_u32(&call, first);
    pt_wg_u32(&call, pt_present(&a->logp) | pt_present(&a->lse) << 1);
    return pt_wg_run(device, &call, err);
}

static pt_status input_gradient(pt_device *device, const pt_crossentropy_args *a, int64_t first,
                                int64_t n, pt_error *err)
{
    int64_t C = pt_last_dim(&a->x), V = a->w.dim[0];
    pt_status s = PT_OK;
    piece v = {0};
    while (s == PT_OK && next_piece(device, &a->w, &v)) {
        pt_tensor w = pt_slice(&a->w, v.first, v.n);
        pt_wg_product p = {.a = {&a->logits, v.first, V, false},
                           .b = {&w, 0, C, false},
                           .c = {&a->dx, first * C, C, false},
                           .m = n,
                           .n = C,
                           .k = v.n,
                           .accumulate = v.first > 0,
                           .mask = &a->target,
                           .mask_first = first,
                           .mask_m = true};
        s = pt_wg_matmul(device, &p, err);
    }
    return s;
}

static pt_status weight_gradient(pt_device *device, const pt_crossentropy_args *a, int64_t first,
                                 int64_t n, pt_error *err)
{
    int64_t C = pt_last_dim(&a->x), V = a->dw.dim[0];
    pt_status s = PT_OK;
    piece v = {0};
    while (s == PT_OK && next_piece(device, &a->dw, &v)) {
        pt_tensor dw = pt_slice(&a->dw, v.first, v.n);
        pt_wg_product p = {.a = {&a->logits, v.first, V, true},
                           .b = {&a->x, first * C, C, false},
                           .c = {&dw, 0, C, false},
                           .m = v.n,
                           .n = C,
                           .k = n,
                           .accumulate = true,
                           .mask = &a->target,
                           .mask_first = first,
                           .mask_k = true};
        s = pt_wg_matmul(device, &p, err);
    }
    return s;
}

pt_status pt_crossentropy_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    const pt_crossentropy_args *a = args;
    int64_t rows = pt_rows(&a->x), chunk = pt_min_i64(a->logits.dim[0], MOST_ROWS);
    pt_status s = PT_OK;
    for (int64_t first = 0; first < rows && s == PT_OK; first += chunk) {
        int64_t n = pt_min_i64(chunk, rows - first);
        s = logits(device, a, first, n, err);
        if (s == PT_OK)
            s = softmax(device, a, pass == PT_FORWARD ? "forward" : "backward", first, n, err);
        if (pass == PT_FORWARD) continue;
        if (s == PT_OK && pt_present(&a->dx)) s = input_gradient(device, a, first, n, err);
        if (s == PT_OK && pt_present(&a->dw)) s = weight_gradient(device, a, first, n, err);
    }
    return s;
}
