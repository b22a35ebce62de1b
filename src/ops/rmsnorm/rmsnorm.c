/* RMS normalisation: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

static void check_forward(pt_op_check *c, const pt_rmsnorm_args *a)
{
    pt_need_stored(c, &a->x, "x");
    pt_need_real(c, &a->w, "w");
    pt_need_stored(c, &a->y, "y");
    pt_need_real(c, &a->rstd, "rstd");
    if (c->status) return;
    int64_t n = pt_rows(&a->x), channels = pt_last_dim(&a->x);
    pt_want(c, a->eps > 0 && pt_is_finite(a->eps), "eps must be positive", NULL);
    pt_want(c, pt_fits_count(&a->w, channels), "w must be (C), is", &a->w);
    pt_want(c, pt_fits_rows(&a->y, n, channels), "y must be (N,C), is", &a->y);
    pt_want(c, pt_fits_count(&a->rstd, n), "rstd must be (N), is", &a->rstd);
    pt_want(c, pt_same_or_apart(&a->y, &a->x), "y overlaps x in part", &a->y);
    pt_want(c, pt_apart(&a->rstd, &a->x), "rstd overlaps x", &a->rstd);
    const pt_tensor *read[] = {&a->w}, *written[] = {&a->y, &a->rstd};
    pt_want_apart(c, written, PT_COUNT(written), read, PT_COUNT(read));
}

static void check_backward(pt_op_check *c, const pt_rmsnorm_args *a)
{
    pt_need_stored(c, &a->dy, "dy");
    pt_need_stored(c, &a->x, "x");
    pt_need_real(c, &a->w, "w");
    pt_need_real(c, &a->rstd, "rstd");
    pt_may_stored(c, &a->dx, "dx");
    pt_may_real(c, &a->dw, "dw");
    if (c->status) return;
    int64_t n = pt_rows(&a->dy), channels = pt_last_dim(&a->dy);
    pt_want(c, pt_fits_rows(&a->x, n, channels), "x must be (N,C), is", &a->x);
    pt_want(c, pt_fits_count(&a->w, channels), "w must be (C), is", &a->w);
    pt_want(c, pt_fits_count(&a->rstd, n), "rstd must be (N), is", &a->rstd);
    pt_want(c, pt_fits_rows(&a->dx, n, channels), "dx must be (N,C), is", &a->dx);
    pt_want(c, pt_fits_count(&a->dw, channels), "dw must be (C), is", &a->dw);
    pt_want(c, pt_same_or_apart(&a->dx, &a->dy), "dx overlaps dy in part", &a->dx);
    pt_want(c, pt_apart(&a->dw, &a->dy), "dw overlaps dy", &a->dw);
    const pt_tensor *read[] = {&a->x, &a->w, &a->rstd}, *written[] = {&a->dx, &a->dw};
    pt_want_apart(c, written, PT_COUNT(written), read, PT_COUNT(read));
}

pt_status pt_rmsnorm_check(const pt_rmsnorm_args *a, pt_pass pass, pt_error *err)
{
    pt_op_check c = {.op = "rmsnorm", .err = err};
    if (pass == PT_FORWARD) check_forward(&c, a);
    else check_backward(&c, a);
    return c.status;
}
