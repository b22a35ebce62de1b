/* The end of a step's gradients: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

pt_status pt_step_verdict_check(const pt_step_verdict_args *a, pt_pass pass, pt_error *err)
{
    pt_op_check c = {.op = "step_verdict", .err = err};
    pt_want(&c, pass == PT_FORWARD, "there is no backward pass", NULL);
    pt_need_state(&c, &a->state);
    pt_need_real(&c, &a->ring, "ring");
    if (c.status) return c.status;
    pt_want(&c, pt_last_dim(&a->ring) == PT_RING_WORDS, "ring must be (R,5), is", &a->ring);
    pt_want(&c, a->slot >= 0 && a->slot < pt_rows(&a->ring), "slot lies outside the ring",
            &a->ring);
    pt_want(&c, pt_apart(&a->ring, &a->state), "ring overlaps the state", &a->ring);
    return c.status;
}
