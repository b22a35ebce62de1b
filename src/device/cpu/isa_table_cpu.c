/* The kernels of one instruction set: entries that ops.def marks `cpu` override the reference's; compiled with
 * PT_STORED_BF16, those that it gives a 2.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/cpu.h"
#include "device/cpu/isa_table.h"

#define PT_OP(name, tensors, backward, cpu, formula)             \
    void PT_KERNEL(name##_fwd)(const void *args, pt_pool *pool); \
    void PT_KERNEL(name##_bwd)(const void *args, pt_pool *pool);
#include "tensor/ops.def"
#undef PT_OP

/* OVERRIDE_cpu_backward */
#define OVERRIDE_0_0(name)
#define OVERRIDE_0_1(name)
#define OVERRIDE_2_0(name) table->kernel[PT_OP_##name][PT_FORWARD] = PT_KERNEL(name##_fwd);
#define OVERRIDE_2_1(name) \
    OVERRIDE_2_0(name) table->kernel[PT_OP_##name][PT_BACKWARD] = PT_KERNEL(name##_bwd);
#if defined(__wasm__)
#define OVERRIDE_3_1(name)
#else
#define OVERRIDE_3_1(name) OVERRIDE_2_1(name)
#endif
#if defined(PT_STORED_BF16)
#define OVERRIDE_1_0(name)
#define OVERRIDE_1_1(name)
#else
#define OVERRIDE_1_0(name) OVERRIDE_2_0(name)
#define OVERRIDE_1_1(name) OVERRIDE_2_1(name)
#endif

void PT_KERNEL(isa_table)(pt_kernel_table *table)
{
#define PT_OP(name, tensors, backward, cpu, formula) OVERRIDE_##cpu##_##backward(name)
#include "tensor/ops.def"
#undef PT_OP
}
