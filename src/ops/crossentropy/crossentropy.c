/* The chunked head: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

static void check_backward(pt_op_check *c, const pt_crossentropy_args *a)
{
    pt_need_real(c, &a->coef, "coef");
    pt_may_stored(c, &a->dx, "dx");
    pt_may_real(c, &a->dw, "dw");
    if (c->status) return;
    int64_t n = pt_rows(&a->x), channels = pt_last_dim(&a->x);
    pt_want(c, pt_fits_count(&a->coef, n), "coef must be (N), is", &a->coef);
    pt_want(c, pt_fits_rows(&a->dx, n, channels), "dx must be (N,C), is", &a->dx);
    pt_want(c, pt_fits_rows(&a->dw, pt_rows(&a->w), channels), "dw must be (V,C), is", &a->dw);
}

pt_status pt_crossentropy_check(const pt_crossentropy_args *a, pt_pass pass, pt_error *err)
{
    bool forward = pass == PT_FORWARD;
    pt_op_check c = {.op = "crossentropy", .err = err};
    pt_need_stored(&c, &a->x, "x");
    if (forward) pt_need_weights(&c, &a->w, "w");
    else pt_need_stored(&c, &a->w, "w");
    pt_need_ints(&c, &a->target, "target");
    pt_need_real(&c, &a->logits, "logits");
    if (forward) pt_need_real(&c, &a->logp, "logp");
    else pt_may_real(&c, &a->logp, "logp");
    pt_may_real(&c, &a->lse, "lse");
    if (c.status) return c.status;

    int64_t n = pt_rows(&a->x);
    pt_want(&c, pt_last_dim(&a->w) == pt_last_dim(&a->x), "w must be (V,C), is", &a->w);
    pt_want(&c, pt_fits_count(&a->target, n), "target must be (N), is", &a->target);
    pt_want(&c, pt_last_dim(&a->logits) == pt_rows(&a->w), "logits must be (R,V), is", &a->logits);
    pt_want(&c, pt_fits_count(&a->logp, n), "logp must be (N), is", &a->logp);
    pt_want(&c, pt_fits_count(&a->lse, n), "lse must be (N), is", &a->lse);
    if (!forward) check_backward(&c, a);
    const pt_tensor *read[] = {&a->x, &a->w, &a->target, forward ? NULL : &a->coef};
    const pt_tensor *written[] = {&a->logits, &a->logp, &a->lse, forward ? NULL : &a->dx,
                                  forward ? NULL : &a->dw};
    pt_want_apart(&c, written, PT_COUNT(written), read, PT_COUNT(read));
    return c.status;
}
