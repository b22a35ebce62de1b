/* Looking for infinities and NaNs: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

pt_status pt_check_finite_check(const pt_check_finite_args *a, pt_pass pass, pt_error *err)
{
    pt_op_check c = {.op = "check_finite", .err = err};
    pt_want(&c, pass == PT_FORWARD, "there is no backward pass", NULL);
    pt_need_stored(&c, &a->x, "x");
    pt_need_state(&c, &a->state);
    if (c.status) return c.status;
    pt_want(&c, a->id >= 0 && (double)a->id < PT_STATE_NO_BAD, "id is out of range", NULL);
    pt_want(&c, pt_apart(&a->x, &a->state), "x overlaps the state", &a->x);
    return c.status;
}
