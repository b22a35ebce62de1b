/* Linear layer: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

static void check_forward(pt_op_check *c, const pt_linear_args *a)
{
    pt_need_stored(c, &a->x, "x");
    pt_need_weights(c, &a->w, "w");
    pt_may_real(c, &a->b, "b");
    if (pt_present(&a->y) && pt_is_real(&a->y)) pt_need_real(c, &a->y, "y");
    else pt_need_stored(c, &a->y, "y");
    if (c->status) return;
    int64_t outputs = pt_rows(&a->w);
    pt_want(c, pt_last_dim(&a->w) == pt_last_dim(&a->x), "w must be (O,I), is", &a->w);
    pt_want(c, pt_fits_count(&a->b, outputs), "b must be (O), is", &a->b);
    pt_want(c, pt_fits_rows(&a->y, pt_rows(&a->x), outputs), "y must be (N,O), is", &a->y);
    const pt_tensor *read[] = {&a->x, &a->w, &a->b}, *written[] = {&a->y};
    pt_want_apart(c, written, PT_COUNT(written), read, PT_COUNT(read));
}

static void check_backward(pt_op_check *c, const pt_linear_args *a)
{
    bool needs_w = pt_present(&a->dx), needs_x = pt_present(&a->dw);
    pt_need_stored(c, &a->dy, "dy");
    pt_may_stored(c, &a->dx, "dx");
    pt_may_real(c, &a->dw, "dw");
    pt_may_real(c, &a->db, "db");
    if (needs_w) pt_need_stored(c, &a->w, "w");
    if (needs_x) pt_need_stored(c, &a->x, "x");
    if (c->status) return;
    int64_t n = pt_rows(&a->dy), outputs = pt_last_dim(&a->dy);
    pt_want(c, pt_fits_count(&a->db, outputs), "db must be (O), is", &a->db);
    if (needs_w) {
        pt_want(c, pt_fits_rows(&a->w, outputs, pt_last_dim(&a->dx)), "w must be (O,I), is", &a->w);
        pt_want(c, pt_rows(&a->dx) == n, "dx must be (N,I), is", &a->dx);
    }
    if (needs_x) {
        pt_want(c, pt_fits_rows(&a->dw, outputs, pt_last_dim(&a->x)), "dw must be (O,I), is",
                &a->dw);
        pt_want(c, pt_rows(&a->x) == n, "x must be (N,I), is", &a->x);
    }
    const pt_tensor *read[] = {&a->dy, needs_x ? &a->x : NULL, needs_w ? &a->w : NULL};
    const pt_tensor *written[] = {&a->dx, &a->dw, &a->db};
    pt_want_apart(c, written, PT_COUNT(written), read, PT_COUNT(read));
}

pt_status pt_linear_check(const pt_linear_args *a, pt_pass pass, pt_error *err)
{
    pt_op_check c = {.op = "linear", .err = err};
    if (pass == PT_FORWARD) check_forward(&c, a);
    else check_backward(&c, a);
    return c.status;
}
