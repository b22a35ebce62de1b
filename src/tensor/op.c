/* The op table's names and numbers. SPDX-License-Identifier: MIT */
#include "tensor/op.h"

static const pt_op_info infos[PT_OP_COUNT] = {
#define PT_OP(name, tensors, backward, cpu, formula) \
    {#name, tensors, backward, cpu, (cpu) >= 2, formula},
#include "tensor/ops.def"
#undef PT_OP
};

const pt_op_info *pt_op_info_of(pt_op op) { return &infos[op]; }
