/* SwiGLU: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

pt_status pt_swiglu_check(const pt_swiglu_args *a, pt_pass pass, pt_error *err)
{
    pt_op_check c = {.op = "swiglu", .err = err};
    pt_need_stored(&c, &a->gate, "gate");
    pt_need_stored(&c, &a->up, "up");
    const pt_tensor *inputs[] = {&a->gate, &a->up};
    if (pass == PT_FORWARD) {
        pt_need_stored(&c, &a->y, "y");
        if (c.status) return c.status;
        pt_want(&c, pt_same_shape(&a->up, &a->gate), "up must have the shape of gate, is", &a->up);
        pt_want(&c, pt_same_shape(&a->y, &a->gate), "y must have the shape of gate, is", &a->y);
        const pt_tensor *written[] = {&a->y};
        pt_want_apart(&c, written, PT_COUNT(written), inputs, PT_COUNT(inputs));
        return c.status;
    }
    pt_need_stored(&c, &a->dy, "dy");
    pt_may_stored(&c, &a->dgate, "dgate");
    pt_may_stored(&c, &a->dup, "dup");
    if (c.status) return c.status;
    pt_want(&c, pt_same_shape(&a->up, &a->gate), "up must have the shape of gate, is", &a->up);
    pt_want(&c, pt_same_shape(&a->dy, &a->gate), "dy must have the shape of gate, is", &a->dy);
    pt_want(&c, pt_fits_like(&a->dgate, &a->gate), "dgate must have the shape of gate, is",
            &a->dgate);
    pt_want(&c, pt_fits_like(&a->dup, &a->gate), "dup must have the shape of gate, is", &a->dup);
    const pt_tensor *written[] = {&a->dgate, &a->dup};
    pt_want_apart(&c, written, PT_COUNT(written), inputs, PT_COUNT(inputs));
    bool both = pt_present(&a->dgate) && pt_present(&a->dup);
    for (int i = 0; i < PT_COUNT(written); i++)
        pt_want(&c, both ? pt_apart(written[i], &a->dy) : pt_same_or_apart(written[i], &a->dy),
                "dgate or dup overlaps dy:", written[i]);
    return c.status;
}
