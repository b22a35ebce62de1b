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

/* Rows first … first+n-1 of x, whose logits are in the workspace: `ld` elements from one to the next, which begin in fours where
 * there is room. */
typedef struct chunk {
    int64_t first, n, ld;
} chunk;

#define ROWS_UNIT 128 /* a multiple of the tiles' rows */

static chunk first_chunk(const pt_crossentropy_args *a)
{
    int64_t V = a->w.dim[0], all = pt_rows(&a->x), held = a->logits.dim[0];
    chunk c = {.ld = pt_round_up(V, 4)};
    if (held * V < c.ld) c.ld = V;
    int64_t most = pt_min_i64(held * V / c.ld, MOST_ROWS);
    c.n = pt_div_up(all, pt_div_up(all, most)); /* all chunks about the same */
    c.n = pt_min_i64(pt_round_up(c.n, ROWS_UNIT), most);
    if (c.n > ROWS_UNIT && c.n < all) c.n -= c.n % ROWS_UNIT;
    return c;
}

static pt_status logits(pt_device *device, const pt_crossentropy_args *a, const chunk *c,
                        pt_error *err)
{
    int64_t C = pt_last_dim(&a->x);
    pt_status s = PT_OK;
    piece v = {0};
    while (s == PT_OK && next_piece(device, &a->w, &v)) {
        pt_tensor w = pt_slice(&a->w, v.first, v.n);
        pt_wg_product p = {.a = {&a->x, c->first * C, C, false},
                           .b = {&w, 0, C, true},
                           .c = {&a->logits, v.first, c->ld, false},
                           .m = c->n,
                           .n = v.n,
                           .k = C};
        s = pt_wg_matmul(device, &p, err);
    }
    return s;
}

static pt_status softmax(pt_device *device, const pt_crossentropy_args *a, const char *entry,
                         const chunk *c, pt_error *err)
{
    int64_t V = a->w.dim[0];
    pt_wg_call call = {.shader = "crossentropy",
                       .entry = entry,
                       .tensor = {{"logits", &a->logits},
                                  {"target_id", &a->target},
                                  {"logp", &a->logp},
                                  {"lse", &a->lse},
                                  {"coef", &a->coef}},
                       .groups = {c->n, 1, 1},
                       .work = (double)c->n * (double)V};
    pt_wg_u32(&call, V);
    pt_wg_u32(&call, c->ld);
    pt_wg_u32(&call, c->first);
    pt_wg_u32(&call, pt_present(&a->logp) | pt_present(&a->lse) << 1);
    return pt_wg_run(device, &call, err);
}

static pt_status input_gradient(pt_device *device, const pt_crossentropy_args *a, const chunk *c,
                                pt_error *err)
{
    int64_t C = pt_last_dim(&a->x);
    pt_status s = PT_OK;
    piece v = {0};
    while (s == PT_OK && next_piece(device, &a->w, &v)) {
        pt_tensor w = pt_slice(&a->w, v.first, v.n);
        pt_wg_product p = {.a = {&a->logits, v.first, c->ld, false},
                           .b = {&w, 0, C, false},
                           .c = {&a->dx, c->first * C, C, false},
                           .m = c->n,
                           .n = C,
                           .k = v.n,
                           .accumulate = v.first > 0,
                           .mask = &a->target,
                           .mask_first = c->first,
                           .mask_m = true};
        s = pt_wg_matmul(device, &p, err);
    }
    return s;
}

static pt_status weight_gradient(pt_device *device, const pt_crossentropy_args *a, const chunk *c,
                                 pt_error *err)
{
    int64_t C = pt_last_dim(&a->x);
    pt_status s = PT_OK;
    piece v = {0};
    while (s == PT_OK && next_piece(device, &a->dw, &v)) {
        pt_tensor dw = pt_slice(&a->dw, v.first, v.n);
        pt_wg_product p = {.a = {&a->logits, v.first, c->ld, true},
                           .b = {&a->x, c->first * C, C, false},
                           .c = {&dw, 0, C, false},
                           .m = v.n,
                           .n = C,
                           .k = c->n,
                           .accumulate = true,
                           .mask = &a->target,
                           .mask_first = c->first,
                           .mask_k = true};
        s = pt_wg_matmul(device, &p, err);
    }
    return s;
}

pt_status pt_crossentropy_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    const pt_crossentropy_args *a = args;
    int64_t rows = pt_rows(&a->x);
    pt_status s = PT_OK;
    for (chunk c = first_chunk(a); c.first < rows && s == PT_OK; c.first += c.n) {
        c.n = pt_min_i64(c.n, rows - c.first);
        s = logits(device, a, &c, err);
        if (s == PT_OK)
            s = softmax(device, a, pass == PT_FORWARD ? "forward" : "backward", &c, err);
        if (pass == PT_FORWARD) continue;
        if (s == PT_OK && pt_present(&a->dx)) s = input_gradient(device, a, &c, err);
        if (s == PT_OK && pt_present(&a->dw)) s = weight_gradient(device, a, &c, err);
    }
    return s;
}
