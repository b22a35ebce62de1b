/* Dropout: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

pt_status pt_dropout_check(const pt_dropout_args *a, pt_pass pass, pt_error *err)
{
    bool forward = pass == PT_FORWARD;
    const pt_tensor *in = forward ? &a->x : &a->dy, *out = forward ? &a->y : &a->dx;
    pt_op_check c = {.op = "dropout", .err = err};
    pt_need_stored(&c, in, forward ? "x" : "dy");
    pt_need_stored(&c, out, forward ? "y" : "dx");
    if (c.status) return c.status;
    pt_want(&c, a->p >= 0 && a->p < 1, "p must be at least 0 and below 1", NULL);
    pt_want(&c, a->first >= 0 && a->first % 4 == 0, "first must be a multiple of 4", NULL);
    pt_want(&c, pt_same_shape(in, out), "y or dx must have the shape of its input, is", out);
    pt_want(&c, pt_same_or_apart(in, out), "output overlaps input in part", out);
    return c.status;
}
