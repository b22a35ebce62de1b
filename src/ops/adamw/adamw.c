/* AdamW: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

pt_status pt_adamw_check(const pt_adamw_args *a, pt_pass pass, pt_error *err)
{
    pt_op_check c = {.op = "adamw", .err = err};
    pt_want(&c, pass == PT_FORWARD, "there is no backward pass", NULL);
    pt_need_real(&c, &a->w, "w");
    pt_need_real(&c, &a->g, "g");
    pt_need_real(&c, &a->m, "m");
    pt_need_real(&c, &a->v, "v");
    pt_need_bytes(&c, &a->decay, "decay");
    pt_need_state(&c, &a->state);
    pt_may_bf16(&c, &a->copy, "copy");
    if (c.status) return c.status;

    int64_t n = pt_numel(&a->w);
    pt_want(&c, pt_fits_count(&a->g, n), "g must be (N), is", &a->g);
    pt_want(&c, pt_fits_count(&a->m, n), "m must be (N), is", &a->m);
    pt_want(&c, pt_fits_count(&a->v, n), "v must be (N), is", &a->v);
    pt_want(&c, pt_fits_count(&a->copy, n), "copy must be (N), is", &a->copy);
    pt_want(&c, pt_fits_count(&a->decay, pt_div_up(n, PT_ADAMW_BLOCK)),
            "decay must hold one byte per 64 elements, is", &a->decay);
    pt_want(&c, a->beta1 >= 0 && a->beta1 < 1, "beta1 must be at least 0 and below 1", NULL);
    pt_want(&c, a->beta2 >= 0 && a->beta2 < 1, "beta2 must be at least 0 and below 1", NULL);
    pt_want(&c, a->eps >= 0 && pt_is_finite(a->eps), "eps must not be negative", NULL);
    pt_want(&c, a->weight_decay >= 0 && pt_is_finite(a->weight_decay),
            "weight_decay must not be negative", NULL);
    const pt_tensor *read[] = {&a->g, &a->decay, &a->state},
                    *written[] = {&a->w, &a->m, &a->v, &a->copy};
    pt_want_apart(&c, written, PT_COUNT(written), read, PT_COUNT(read));
    return c.status;
}
