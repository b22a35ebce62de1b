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

/* The workspace: rows of logits at once, and elements from one to the next, which begin in fours where there is room. */
typedef struct workspace {
    int64_t rows, ld;
} workspace;

#define ROWS_UNIT 128 /* a multiple of the tiles' rows */

static workspace workspace_of(const pt_crossentropy_args *a)
{
    int64_t V = a->w.dim[0], all = pt_rows(&a->x), held = a->logits.dim[0];
    workspace w = {.ld = pt_round_up(V, 4)};
    if (held * V < w.ld) w.ld = V;
    int64_t most = pt_min_i64(held * V / w.ld, MOST_ROWS);
    w.rows = pt_div_up(all, pt_div_up(all, most)); /* chunks of about the same size */
    w.rows = pt_min_i64(pt_round_up(w.rows, ROWS_UNIT), most);
    if (w.rows > ROWS_UNIT && w.rows < all) w.rows -= w.rows % ROWS_UNIT;
    return w;
}

/* Rows first … first+n-1 of x into the workspace. */
static pt_status logits(pt_device *device, const pt_crossentropy_args *a, int64_t ld, int64_t first,
                        int64_t n, pt_error *err)
{
    int64_t C = pt_last_dim(&a->x);
    pt_status s = PT_OK;
    piece v = {0};
    while (s == PT_OK && next_piece(device, &a->w, &v)) {
        pt_tensor w = pt_slice(&a->w, v.first, v.n);
        pt_wg_product p = {.a = {&a->x, first * C, C, false},
                           .b = {&w, 0, C, true},
                           .c = {&a->logits, v.first, ld, false},
                           .m = n,
                           .n = v.n,
                           .k = C};
        s = pt_wg_matmul(device, &p, err);
    }
    return s;
}

static pt_status softmax(pt_device *device, const pt_crossentropy_args *a, const char *entry,
                         int64_t ld, int64_t first, int64_t n, pt_error *err)
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
    pt_wg_u32(&call, ld);
    pt_wg_u32(&call, first);
    pt_wg_u32(&call, pt_present(&a->logp) | pt_present(&a->lse) << 1);
    return pt_wg_run(device, &call, err);
}

static pt_status input_gradient(pt_device *device, const pt_crossentropy_args *a, int64_t ld,
                                int64_t first, int64_t n, pt_error *err)
{
    int64_t C = pt_last_dim(&a->x);
    pt_status s = PT_OK;
    piece v = {0};
    while (s == PT_OK && next_piece(device, &a->w, &v)) {
        pt_tensor w = pt_slice(&a->w, v.first, v.n);
        pt_wg_product p = {.a = {&a->logits, v.first, ld, false},
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

static pt_status weight_gradient(pt_device *device, const pt_crossentropy_args *a, int64_t ld,
                                 int64_t first, int64_t n, pt_error *err)
{
    int64_t C = pt_last_dim(&a->x);
    pt_status s = PT_OK;
    piece v = {0};
    while (s == PT_OK && next_piece(device, &a->dw, &v)) {
        pt_tensor dw = pt_slice(&a->dw, v.first, v.n);
        pt_wg_product p = {.a = {&a->logits, v.first, ld, true},
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
    int64_t rows = pt_rows(&a->x);
    workspace w = workspace_of(a);
    pt_status s = PT_OK;
    for (int64_t first = 0; first < rows && s == PT_OK; first += w.rows) {
        int64_t n = pt_min_i64(w.rows, rows - first);
        s = logits(device, a, w.ld, first, n, err);
        if (s == PT_OK)
            s = softmax(device, a, pass == PT_FORWARD ? "forward" : "backward", w.ld, first, n,
                        err);
        if (pass == PT_FORWARD) continue;
        if (s == PT_OK && pt_present(&a->dx)) s = input_gradient(device, a, w.ld, first, n, err);
        if (s == PT_OK && pt_present(&a->dw)) s = weight_gradient(device, a, w.ld, first, n, err);
    }
    return s;
}
