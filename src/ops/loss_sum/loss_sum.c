/* The step's loss: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

pt_status pt_loss_sum_check(const pt_loss_sum_args *a, pt_pass pass, pt_error *err)
{
    pt_op_check c = {.op = "loss_sum", .err = err};
    pt_want(&c, pass == PT_FORWARD, "there is no backward pass", NULL);
    pt_need_real(&c, &a->logp, "logp");
    pt_need_real(&c, &a->coef, "coef");
    pt_need_state(&c, &a->state);
    if (c.status) return c.status;
    pt_want(&c, pt_fits_count(&a->coef, pt_numel(&a->logp)), "coef must be (N), is", &a->coef);
    const pt_tensor *read[] = {&a->logp, &a->coef}, *written[] = {&a->state};
    pt_want_apart(&c, written, PT_COUNT(written), read, PT_COUNT(read));
    return c.status;
}
