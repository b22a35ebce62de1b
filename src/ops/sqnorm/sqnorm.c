/* Squared norm: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

pt_status pt_sqnorm_check(const pt_sqnorm_args *a, pt_pass pass, pt_error *err)
{
    pt_op_check c = {.op = "sqnorm", .err = err};
    pt_want(&c, pass == PT_FORWARD, "there is no backward pass", NULL);
    pt_need_real(&c, &a->x, "x");
    pt_need_state(&c, &a->state);
    if (c.status) return c.status;
    pt_want(&c, pt_apart(&a->x, &a->state), "x overlaps the state", &a->x);
    return c.status;
}
