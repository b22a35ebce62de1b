/* GELU: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

pt_status pt_gelu_check(const pt_gelu_args *a, pt_pass pass, pt_error *err)
{
    bool forward = pass == PT_FORWARD;
    pt_op_check c = {.op = "gelu", .err = err};
    pt_need_stored(&c, &a->x, "x");
    if (forward) {
        pt_need_stored(&c, &a->y, "y");
        if (c.status) return c.status;
        pt_want(&c, pt_same_shape(&a->y, &a->x), "y must have the shape of x, is", &a->y);
        pt_want(&c, pt_same_or_apart(&a->y, &a->x), "y overlaps x in part", &a->y);
        return c.status;
    }
    pt_need_stored(&c, &a->dy, "dy");
    pt_need_stored(&c, &a->dx, "dx");
    if (c.status) return c.status;
    pt_want(&c, pt_same_shape(&a->dy, &a->x), "dy must have the shape of x, is", &a->dy);
    pt_want(&c, pt_same_shape(&a->dx, &a->x), "dx must have the shape of x, is", &a->dx);
    pt_want(&c, pt_same_or_apart(&a->dx, &a->dy), "dx overlaps dy in part", &a->dx);
    pt_want(&c, pt_apart(&a->dx, &a->x), "dx overlaps x", &a->dx);
    return c.status;
}
