/* Layer normalisation: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

static void check_forward(pt_op_check *c, const pt_layernorm_args *a)
{
    pt_need_stored(c, &a->x, "x");
    pt_need_real(c, &a->w, "w");
    pt_may_real(c, &a->b, "b");
    pt_need_stored(c, &a->y, "y");
    pt_need_real(c, &a->mean, "mean");
    pt_need_real(c, &a->rstd, "rstd");
    if (c->status) return;
    int64_t n = pt_rows(&a->x), channels = pt_last_dim(&a->x);
    pt_want(c, a->eps > 0 && pt_is_finite(a->eps), "eps must be positive", NULL);
    pt_want(c, pt_fits_count(&a->w, channels), "w must be (C), is", &a->w);
    pt_want(c, pt_fits_count(&a->b, channels), "b must be (C), is", &a->b);
    pt_want(c, pt_fits_rows(&a->y, n, channels), "y must be (N,C), is", &a->y);
    pt_want(c, pt_fits_count(&a->mean, n), "mean must be (N), is", &a->mean);
    pt_want(c, pt_fits_count(&a->rstd, n), "rstd must be (N), is", &a->rstd);
    pt_want(c, pt_same_or_apart(&a->y, &a->x), "y overlaps x in part", &a->y);
    const pt_tensor *read[] = {&a->w, &a->b}, *written[] = {&a->y, &a->mean, &a->rstd};
    pt_want_apart(c, written, PT_COUNT(written), read, PT_COUNT(read));
    pt_want(c, pt_apart(&a->mean, &a->x) && pt_apart(&a->rstd, &a->x), "mean or rstd overlap x",
            &a->x);
}

static void check_backward(pt_op_check *c, const pt_layernorm_args *a)
{
    pt_need_stored(c, &a->dy, "dy");
    pt_need_stored(c, &a->x, "x");
    pt_need_real(c, &a->w, "w");
    pt_need_real(c, &a->mean, "mean");
    pt_need_real(c, &a->rstd, "rstd");
    pt_may_stored(c, &a->dx, "dx");
    pt_may_real(c, &a->dw, "dw");
    pt_may_real(c, &a->db, "db");
    if (c->status) return;
    int64_t n = pt_rows(&a->dy), channels = pt_last_dim(&a->dy);
    pt_want(c, pt_fits_rows(&a->x, n, channels), "x must be (N,C), is", &a->x);
    pt_want(c, pt_fits_count(&a->w, channels), "w must be (C), is", &a->w);
    pt_want(c, pt_fits_count(&a->mean, n), "mean must be (N), is", &a->mean);
    pt_want(c, pt_fits_count(&a->rstd, n), "rstd must be (N), is", &a->rstd);
    pt_want(c, pt_fits_rows(&a->dx, n, channels), "dx must be (N,C), is", &a->dx);
    pt_want(c, pt_fits_count(&a->dw, channels), "dw must be (C), is", &a->dw);
    pt_want(c, pt_fits_count(&a->db, channels), "db must be (C), is", &a->db);
    pt_want(c, pt_same_or_apart(&a->dx, &a->dy), "dx overlaps dy in part", &a->dx);
    const pt_tensor *read[] = {&a->x, &a->w, &a->mean, &a->rstd};
    const pt_tensor *written[] = {&a->dx, &a->dw, &a->db};
    pt_want_apart(c, written, PT_COUNT(written), read, PT_COUNT(read));
    pt_want(c, pt_apart(&a->dw, &a->dy) && pt_apart(&a->db, &a->dy), "dw or db overlap dy", &a->dy);
}

pt_status pt_layernorm_check(const pt_layernorm_args *a, pt_pass pass, pt_error *err)
{
    pt_op_check c = {.op = "layernorm", .err = err};
    if (pass == PT_FORWARD) check_forward(&c, a);
    else check_backward(&c, a);
    return c.status;
}
