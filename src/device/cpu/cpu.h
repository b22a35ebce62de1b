/* What every x_cpu.c uses: the instruction set it is compiled for, and the names of its kernels.
 *
 * A *_cpu.c file is compiled once per instruction set. Work is split into chunks by the size of the problem, never
 * by the number of threads, and sums across chunks are taken in chunk order (base/threads.h). The one exception is the
 * product (gemm.h), whose elements are one chain each however C is cut.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_CPU_CPU_H
#define PT_DEVICE_CPU_CPU_H

#include "base/maths.h"
#include "device/device.h"
#include "device/step_state.h"

#ifndef PT_ISA
#define PT_ISA base
#define PT_ISA_base 1
#endif

#define PT_CPU_PASTE_(name, suffix) pt_##name##_cpu_##suffix
#define PT_CPU_PASTE(name, suffix) PT_CPU_PASTE_(name, suffix)
/* PT_CPU(linear_fwd) is pt_linear_fwd_cpu_avx2 … Kernels: NAME_fwd and NAME_bwd. */
#define PT_CPU(name) PT_CPU_PASTE(name, PT_ISA)

/* Ops whose activations may be stored in bf16 (ops.def: cpu 2) compile their x_cpu.c once more, with PT_STORED_BF16. Their
 * kernels are named PT_KERNEL(linear_fwd): pt_linear_fwd_cpu_avx2 or pt_linear_fwd_bf16_cpu_avx2. */
#if defined(PT_STORED_BF16)
#define PT_KERNEL(name) PT_CPU(name##_bf16)
#else
#define PT_KERNEL(name) PT_CPU(name)
#endif

/* Private scratch of each pool thread of the cpu device: packing buffers and tiles. */
#define PT_CPU_SCRATCH_BYTES (1536 * 1024)

static inline float *pt_floats(const pt_tensor *t) { return (float *)pt_host(t); }
static inline const int32_t *pt_ints(const pt_tensor *t) { return (const int32_t *)pt_host(t); }
static inline int64_t pt_int_at(const pt_tensor *t, int64_t i)
{
    return t->buffer ? ((const int32_t *)pt_host(t))[i] : 0;
}

#endif
