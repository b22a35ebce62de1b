/* Check, launch, hook: the one way an op runs. SPDX-License-Identifier: MIT */
#include "ops/op_check.h"

typedef pt_status (*check_fn)(const void *args, pt_pass pass, pt_error *err);

typedef struct op_entry {
    check_fn check;
    size_t args_bytes;
} op_entry;

/* One adapter per op, so that the checks are called through their own type. */
#define PT_OP(name, tensors, backward, cpu, formula)                                  \
    static pt_status check_##name(const void *args, pt_pass pass, pt_error *err)      \
    {                                                                                 \
        return pt_##name##_check((const pt_##name##_args *)args, pass, err);          \
    }                                                                                 \
    _Static_assert(sizeof(pt_##name##_args) >= (tensors) * sizeof(pt_tensor), #name); \
    _Static_assert(sizeof(pt_##name##_args) <= PT_OP_MAX_ARGS_BYTES, #name);
#include "tensor/ops.def"
#undef PT_OP

static const op_entry entries[PT_OP_COUNT] = {
#define PT_OP(name, tensors, backward, cpu, formula) {check_##name, sizeof(pt_##name##_args)},
#include "tensor/ops.def"
#undef PT_OP
};

static pt_status check_bounds(const pt_op_info *info, const void *args, pt_error *err)
{
    const pt_tensor *t = pt_op_tensors(args);
    for (int i = 0; i < info->n_tensors; i++)
        if (pt_present(&t[i]) && !pt_in_bounds(&t[i]))
            return pt_op_bad(err, info->name, "a tensor reaches beyond its buffer", &t[i]);
    return PT_OK;
}

pt_status pt_op_run(pt_device *device, pt_op op, pt_pass pass, const void *args, pt_error *err)
{
    pt_status s = check_bounds(pt_op_info_of(op), args, err);
    if (s == PT_OK) s = entries[op].check(args, pass, err);
    if (s == PT_OK) s = pt_device_launch(device, op, pass, args, entries[op].args_bytes, err);
    if (s == PT_OK && device->hook) s = device->hook(device->hook_ctx, op, pass, args, err);
    return s;
}

pt_status pt_op_bad(pt_error *err, const char *op, const char *what, const pt_tensor *t)
{
    char text[96] = "";
    if (t && pt_present(t)) pt_tensor_describe(t, text, sizeof text);
    return pt_fail(err, PT_INTERNAL, "op %s: %s %s", op, what, text);
}

bool pt_is_real(const pt_tensor *t)
{
    return pt_present(t) && (t->dtype == PT_F32 || t->dtype == PT_F64);
}

bool pt_in_bounds(const pt_tensor *t)
{
    int64_t bytes = pt_tensor_bytes(t);
    return bytes >= 0 && t->offset >= 0 && t->offset <= t->buffer->bytes - bytes;
}
