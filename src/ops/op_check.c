/* Words for the checks. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

#include "base/format.h"

void pt_want(pt_op_check *c, bool condition, const char *what, const pt_tensor *t)
{
    if (c->status == PT_OK && !condition) c->status = pt_op_bad(c->err, c->op, what, t);
}

static bool well_formed(const pt_tensor *t)
{
    if (t->rank < 1 || t->rank > PT_MAX_RANK) return false;
    for (int i = 0; i < PT_MAX_RANK; i++)
        if (t->dim[i] < 1 || (i >= t->rank && t->dim[i] != 1)) return false;
    return t->offset % pt_dtype_bytes(t->dtype, 1) == 0;
}

static void fail_tensor(pt_op_check *c, const char *name, const char *what, const pt_tensor *t)
{
    char text[96];
    pt_format(text, sizeof text, "%s %s", name, what);
    pt_want(c, false, text, t);
}

static void need(pt_op_check *c, const pt_tensor *t, pt_dtype dtype, const char *name)
{
    if (c->status) return;
    if (!pt_present(t)) {
        fail_tensor(c, name, "is missing", NULL);
        return;
    }
    const pt_device *device = t->buffer->device;
    if (!c->device) c->device = device;
    if (device != c->device) fail_tensor(c, name, "lives on another device:", t);
    else if (t->dtype != dtype) fail_tensor(c, name, "has the wrong dtype:", t);
    else if (!well_formed(t)) fail_tensor(c, name, "has a malformed shape or offset:", t);
}

void pt_need_real(pt_op_check *c, const pt_tensor *t, const char *name)
{
    bool real = !pt_present(t) || pt_is_real(t);
    pt_dtype compute = pt_present(t) ? t->buffer->device->compute : PT_F32;
    if (real) need(c, t, compute, name);
    else fail_tensor(c, name, "must be f32 or f64, is", t);
}

void pt_need_stored(pt_op_check *c, const pt_tensor *t, const char *name)
{
    if (pt_present(t) && t->dtype == PT_BF16 && t->buffer->device->bf16) need(c, t, PT_BF16, name);
    else pt_need_real(c, t, name);
    if (c->status) return;
    if (c->stored && t->dtype != c->stored_dtype)
        fail_tensor(c, name, "must have the dtype of the others:", t);
    c->stored = true;
    c->stored_dtype = t->dtype;
}

void pt_need_weights(pt_op_check *c, const pt_tensor *t, const char *name)
{
    bool packed = pt_present(t) && pt_is_packed(t->dtype) && t->buffer->device->packed;
    if (!packed) pt_need_stored(c, t, name);
    else need(c, t, t->dtype, name);
    if (c->status == PT_OK && packed && c->stored && c->stored_dtype != c->device->compute)
        fail_tensor(c, name, "must be stored like the others:", t);
}

void pt_need_ints(pt_op_check *c, const pt_tensor *t, const char *name)
{
    need(c, t, PT_I32, name);
}

void pt_need_bytes(pt_op_check *c, const pt_tensor *t, const char *name)
{
    need(c, t, PT_U8, name);
}

void pt_may_real(pt_op_check *c, const pt_tensor *t, const char *name)
{
    if (pt_present(t)) pt_need_real(c, t, name);
}

void pt_may_stored(pt_op_check *c, const pt_tensor *t, const char *name)
{
    if (pt_present(t)) pt_need_stored(c, t, name);
}

void pt_may_bf16(pt_op_check *c, const pt_tensor *t, const char *name)
{
    if (pt_present(t)) need(c, t, PT_BF16, name);
}

void pt_may_ints(pt_op_check *c, const pt_tensor *t, const char *name)
{
    if (pt_present(t)) pt_need_ints(c, t, name);
}

void pt_need_state(pt_op_check *c, const pt_tensor *t)
{
    pt_need_real(c, t, "state");
    if (c->status == PT_OK)
        pt_want(c, pt_numel(t) >= PT_STATE_COUNT, "state must hold 16 words, is", t);
}

bool pt_apart(const pt_tensor *a, const pt_tensor *b)
{
    if (!pt_present(a) || a->buffer != b->buffer) return true;
    return a->offset + pt_tensor_bytes(a) <= b->offset ||
           b->offset + pt_tensor_bytes(b) <= a->offset;
}

bool pt_same_or_apart(const pt_tensor *a, const pt_tensor *b)
{
    return pt_apart(a, b) || (a->offset == b->offset && pt_tensor_bytes(a) == pt_tensor_bytes(b));
}

void pt_want_apart(pt_op_check *c, const pt_tensor *const *out, int n_out,
                   const pt_tensor *const *in, int n_in)
{
    const char *what = "an output overlaps another tensor of the op:";
    for (int i = 0; i < n_out; i++) {
        if (!out[i]) continue;
        for (int j = 0; j < i; j++)
            if (out[j]) pt_want(c, pt_apart(out[i], out[j]), what, out[i]);
        for (int j = 0; j < n_in; j++)
            if (in[j]) pt_want(c, pt_apart(out[i], in[j]), what, out[i]);
    }
}
