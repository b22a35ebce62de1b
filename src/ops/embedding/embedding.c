/* Token and position embedding: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

pt_status pt_embedding_check(const pt_embedding_args *a, pt_pass pass, pt_error *err)
{
    bool forward = pass == PT_FORWARD;
    const pt_tensor *x = forward ? &a->x : &a->dx;
    const pt_tensor *token = forward ? &a->token : &a->dtoken;
    const pt_tensor *position = forward ? &a->position : &a->dposition;
    pt_op_check c = {.op = "embedding", .err = err};
    pt_need_ints(&c, &a->ids, "ids");
    pt_need_stored(&c, x, forward ? "x" : "dx");
    if (forward) pt_need_weights(&c, token, "token");
    else pt_may_real(&c, token, "dtoken");
    if (forward) pt_may_stored(&c, position, "position");
    else pt_may_real(&c, position, "dposition");
    pt_may_ints(&c, &a->doc_start, "doc_start");
    pt_may_ints(&c, &a->offset, "offset");
    if (c.status) return c.status;

    int64_t n = pt_numel(&a->ids), channels = pt_last_dim(x);
    pt_want(&c, a->ids.rank <= 2, "ids must be (B,T), is", &a->ids);
    pt_want(&c, pt_rows(x) == n, "x or dx must be (B,T,C), is", x);
    pt_want(&c, pt_fits_rows(token, token->dim[0], channels), "token or dtoken must be (V,C), is",
            token);
    pt_want(&c, pt_fits_rows(position, position->dim[0], channels),
            "position or dposition must be (P,C), is", position);
    pt_want(&c, pt_fits_count(&a->doc_start, n), "doc_start must be (B,T), is", &a->doc_start);
    pt_want(&c, pt_fits_count(&a->offset, a->ids.dim[0]), "offset must be (B), is", &a->offset);

    const pt_tensor *read[] = {&a->ids, &a->doc_start, &a->offset, forward ? token : x,
                               forward ? position : NULL};
    const pt_tensor *written[] = {forward ? x : token, forward ? NULL : position};
    pt_want_apart(&c, written, PT_COUNT(written), read, PT_COUNT(read));
    return c.status;
}
