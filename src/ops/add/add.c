/* Addition: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

pt_status pt_add_check(const pt_add_args *a, pt_pass pass, pt_error *err)
{
    pt_op_check c = {.op = "add", .err = err};
    pt_want(&c, pass == PT_FORWARD, "there is no backward pass", NULL);
    pt_need_stored(&c, &a->a, "a");
    pt_need_stored(&c, &a->b, "b");
    pt_need_stored(&c, &a->y, "y");
    if (c.status) return c.status;
    pt_want(&c, pt_same_shape(&a->b, &a->a), "b must have the shape of a, is", &a->b);
    pt_want(&c, pt_same_shape(&a->y, &a->a), "y must have the shape of a, is", &a->y);
    pt_want(&c, pt_same_or_apart(&a->y, &a->a), "y overlaps a in part", &a->y);
    pt_want(&c, pt_same_or_apart(&a->y, &a->b), "y overlaps b in part", &a->y);
    return c.status;
}
