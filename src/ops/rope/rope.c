/* Rotary positions: the check. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

pt_status pt_rope_check(const pt_rope_args *a, pt_pass pass, pt_error *err)
{
    bool forward = pass == PT_FORWARD;
    const pt_tensor *in = forward ? &a->x : &a->dy, *out = forward ? &a->y : &a->dx;
    pt_op_check c = {.op = "rope", .err = err};
    pt_need_stored(&c, in, forward ? "x" : "dy");
    pt_need_stored(&c, out, forward ? "y" : "dx");
    pt_need_real(&c, &a->freq, "freq");
    pt_may_ints(&c, &a->offset, "offset");
    pt_may_ints(&c, &a->doc_start, "doc_start");
    if (c.status) return c.status;

    int64_t B = in->dim[0], T = in->dim[1], D = in->dim[3];
    pt_want(&c, in->rank == 4 && D % 2 == 0, "x or dy must be (B,T,H,D) with even D, is", in);
    pt_want(&c, pt_same_shape(in, out), "y or dx must have the shape of its input, is", out);
    pt_want(&c, pt_fits_count(&a->freq, D / 2), "freq must be (D/2), is", &a->freq);
    pt_want(&c, pt_fits_count(&a->offset, B), "offset must be (B), is", &a->offset);
    pt_want(&c, pt_fits_count(&a->doc_start, B * T), "doc_start must be (B,T), is", &a->doc_start);
    pt_want(&c, pt_same_or_apart(in, out), "output overlaps input in part", out);
    const pt_tensor *read[] = {&a->freq, &a->offset, &a->doc_start};
    pt_want_apart(&c, &out, 1, read, PT_COUNT(read));
    return c.status;
}
