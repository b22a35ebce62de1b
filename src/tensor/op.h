/* The ops by number and name, from ops.def. What each computes: ops/NAME/NAME.h.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TENSOR_OP_H
#define PT_TENSOR_OP_H

#include "base/mem.h"

typedef enum pt_op {
#define PT_OP(name, tensors, backward, cpu, formula) PT_OP_##name,
#include "tensor/ops.def"
#undef PT_OP
    PT_OP_COUNT
} pt_op;

typedef enum pt_pass { PT_FORWARD, PT_BACKWARD, PT_PASS_COUNT } pt_pass;

typedef struct pt_op_info {
    const char *name;
    int n_tensors; /* the argument struct begins with this many pt_tensor */
    bool has_backward;
    bool has_cpu;
    bool has_cpu_bf16; /* also for activations stored in bf16 */
    const char *formula;
} pt_op_info;

const pt_op_info *pt_op_info_of(pt_op op);

/* No op has more tensors, and no argument struct is larger: devices that record work copy it. */
#define PT_OP_MAX_TENSORS 16
#define PT_OP_MAX_ARGS_BYTES 1280

#endif
