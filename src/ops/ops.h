/* The typed calls of every op: pt_NAME_forward(device, &args, err) and pt_NAME_backward, made from
 * ops.def. Each checks shapes and dtypes (ops/NAME/NAME.c), records the launch, and then calls the device's
 * hook if one is set. The args are copied.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_OPS_H
#define PT_OPS_OPS_H

#include "ops/add/add.h"
#include "ops/adamw/adamw.h"
#include "ops/attention/attention.h"
#include "ops/check_finite/check_finite.h"
#include "ops/crossentropy/crossentropy.h"
#include "ops/dropout/dropout.h"
#include "ops/embedding/embedding.h"
#include "ops/gelu/gelu.h"
#include "ops/kv_store/kv_store.h"
#include "ops/layernorm/layernorm.h"
#include "ops/linear/linear.h"
#include "ops/loss_sum/loss_sum.h"
#include "ops/rmsnorm/rmsnorm.h"
#include "ops/rope/rope.h"
#include "ops/scale/scale.h"
#include "ops/sqnorm/sqnorm.h"
#include "ops/step_verdict/step_verdict.h"
#include "ops/swiglu/swiglu.h"

/* Check, launch, hook. `args` is the op's own struct. */
pt_status pt_op_run(pt_device *device, pt_op op, pt_pass pass, const void *args, pt_error *err);
/* The op's tensors: the argument struct begins with them. */
static inline const pt_tensor *pt_op_tensors(const void *args) { return (const pt_tensor *)args; }
/* t is present and f32 or f64. */
bool pt_is_real(const pt_tensor *t);

#define PT_OP(name, tensors, backward, cpu, formula)                                              \
    static inline pt_status pt_##name##_forward(pt_device *device, const pt_##name##_args *args,  \
                                                pt_error *err)                                    \
    {                                                                                             \
        return pt_op_run(device, PT_OP_##name, PT_FORWARD, args, err);                            \
    }                                                                                             \
    static inline pt_status pt_##name##_backward(pt_device *device, const pt_##name##_args *args, \
                                                 pt_error *err)                                   \
    {                                                                                             \
        return pt_op_run(device, PT_OP_##name, PT_BACKWARD, args, err);                           \
    }
#include "tensor/ops.def"
#undef PT_OP

#endif
