/* Attention: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

static void check_keys(pt_op_check *c, const pt_attention_args *a)
{
    const pt_tensor *q = &a->q, *k = &a->k;
    int64_t B = q->dim[0], T = q->dim[1], H = q->dim[2], D = q->dim[3];
    int64_t G = a->cached ? k->dim[1] : k->dim[2];
    pt_want(c, q->rank == 4 && D <= 256, "q must be (B,T,H,D) with D <= 256, is", q);
    pt_want(c, k->rank == 4 && k->dim[3] == D && H % G == 0,
            "k must have D channels and a number of heads that divides H, is", k);
    pt_want(c, pt_same_shape(k, &a->v), "v must have the shape of k, is", &a->v);
    pt_want(c, pt_fits_count(&a->doc_start, B * T), "doc_start must be (B,T), is", &a->doc_start);
    pt_want(c, a->window >= 0, "window must not be negative", NULL);
    pt_want(c, a->scale >= 0 && pt_is_finite(a->scale), "scale must be 0 or positive", NULL);
    if (!a->cached) {
        pt_want(c, k->dim[0] == B && k->dim[1] == T, "k must be (B,T,G,D), is", k);
        pt_want(c, !pt_present(&a->offset), "offset is for cached attention only", NULL);
        pt_want(c, !pt_present(&a->slot), "slot is for cached attention only", NULL);
        return;
    }
    pt_want(c, T <= k->dim[2], "the cache (S,G,P,D) must hold T positions, is", k);
    pt_want(c, pt_present(&a->slot) || B <= k->dim[0], "the cache must hold B rows, is", k);
    pt_want(c, pt_fits_count(&a->offset, B), "offset must be (B), is", &a->offset);
    pt_want(c, pt_fits_count(&a->slot, B), "slot must be (B), is", &a->slot);
}

static void check_forward(pt_op_check *c, const pt_attention_args *a)
{
    pt_need_stored(c, &a->o, "o");
    pt_may_real(c, &a->lse, "lse");
    if (c->status) return;
    check_keys(c, a);
    int64_t rows = a->q.dim[0] * a->q.dim[1] * a->q.dim[2];
    pt_want(c, pt_same_shape(&a->o, &a->q), "o must have the shape of q, is", &a->o);
    pt_want(c, pt_fits_count(&a->lse, rows), "lse must be (B,H,T), is", &a->lse);
    const pt_tensor *read[] = {&a->q, &a->k, &a->v, &a->doc_start, &a->offset, &a->slot};
    const pt_tensor *written[] = {&a->o, &a->lse};
    pt_want_apart(c, written, PT_COUNT(written), read, PT_COUNT(read));
}

static void check_backward(pt_op_check *c, const pt_attention_args *a)
{
    pt_need_stored(c, &a->o, "o");
    pt_need_real(c, &a->lse, "lse");
    pt_need_stored(c, &a->d_o, "d_o");
    pt_need_stored(c, &a->dq, "dq");
    pt_need_stored(c, &a->dk, "dk");
    pt_need_stored(c, &a->dv, "dv");
    pt_need_real(c, &a->delta, "delta");
    pt_want(c, !a->cached, "there is no backward pass through the cache", NULL);
    if (c->status) return;
    check_keys(c, a);
    int64_t rows = a->q.dim[0] * a->q.dim[1] * a->q.dim[2];
    pt_want(c, pt_same_shape(&a->o, &a->q), "o must have the shape of q, is", &a->o);
    pt_want(c, pt_same_shape(&a->d_o, &a->q), "d_o must have the shape of q, is", &a->d_o);
    pt_want(c, pt_same_shape(&a->dq, &a->q), "dq must have the shape of q, is", &a->dq);
    pt_want(c, pt_same_shape(&a->dk, &a->k), "dk must have the shape of k, is", &a->dk);
    pt_want(c, pt_same_shape(&a->dv, &a->v), "dv must have the shape of v, is", &a->dv);
    pt_want(c, pt_fits_count(&a->lse, rows), "lse must be (B,H,T), is", &a->lse);
    pt_want(c, pt_fits_count(&a->delta, rows), "delta must be (B,H,T), is", &a->delta);
    const pt_tensor *read[] = {&a->q, &a->k, &a->v, &a->doc_start, &a->o, &a->lse, &a->d_o};
    const pt_tensor *written[] = {&a->dq, &a->dk, &a->dv, &a->delta};
    pt_want_apart(c, written, PT_COUNT(written), read, PT_COUNT(read));
}

pt_status pt_attention_check(const pt_attention_args *a, pt_pass pass, pt_error *err)
{
    pt_op_check c = {.op = "attention", .err = err};
    pt_need_stored(&c, &a->q, "q");
    pt_need_stored(&c, &a->k, "k");
    pt_need_stored(&c, &a->v, "v");
    pt_may_ints(&c, &a->doc_start, "doc_start");
    pt_may_ints(&c, &a->offset, "offset");
    pt_may_ints(&c, &a->slot, "slot");
    if (pass == PT_FORWARD) check_forward(&c, a);
    else check_backward(&c, a);
    return c.status;
}
