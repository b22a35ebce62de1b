/* Scaling: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

pt_status pt_scale_check(const pt_scale_args *a, pt_pass pass, pt_error *err)
{
    pt_op_check c = {.op = "scale", .err = err};
    pt_want(&c, pass == PT_FORWARD, "there is no backward pass", NULL);
    pt_need_real(&c, &a->x, "x");
    pt_need_real(&c, &a->y, "y");
    if (c.status) return c.status;
    pt_want(&c, pt_same_shape(&a->y, &a->x), "y must have the shape of x, is", &a->y);
    pt_want(&c, pt_same_or_apart(&a->y, &a->x), "y overlaps x in part", &a->y);
    return c.status;
}
