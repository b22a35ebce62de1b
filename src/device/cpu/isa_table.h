/* The kernel tables of the cpu device, one per instruction set of this build.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_CPU_ISA_TABLE_H
#define PT_DEVICE_CPU_ISA_TABLE_H

#include "device/cpu/probe.h"

/* Overwrites the entries that this instruction set has kernels for. Those named bf16: the kernels of activations
 * that are stored in bf16, of the ops that ops.def gives a 2. */
void pt_isa_table_cpu_base(pt_kernel_table *table);
void pt_isa_table_cpu_avx2(pt_kernel_table *table);
void pt_isa_table_cpu_avx2_strict(pt_kernel_table *table);
void pt_isa_table_cpu_avx512_strict(pt_kernel_table *table);
void pt_isa_table_cpu_neon_strict(pt_kernel_table *table);
void pt_isa_table_cpu_avx512(pt_kernel_table *table);
void pt_isa_table_cpu_neon(pt_kernel_table *table);
void pt_isa_table_cpu_wasm(pt_kernel_table *table);
void pt_isa_table_cpu_wasm_relaxed(pt_kernel_table *table);

void pt_isa_table_bf16_cpu_base(pt_kernel_table *table);
void pt_isa_table_bf16_cpu_avx2(pt_kernel_table *table);
void pt_isa_table_bf16_cpu_avx512(pt_kernel_table *table);
void pt_isa_table_bf16_cpu_amx(pt_kernel_table *table);
void pt_isa_table_bf16_cpu_neon(pt_kernel_table *table);

/* Its measures of the processor. */
void pt_probes_cpu_base(pt_cpu_probes *probes);
void pt_probes_cpu_avx2(pt_cpu_probes *probes);
void pt_probes_cpu_avx2_strict(pt_cpu_probes *probes);
void pt_probes_cpu_avx512_strict(pt_cpu_probes *probes);
void pt_probes_cpu_neon_strict(pt_cpu_probes *probes);
void pt_probes_cpu_avx512(pt_cpu_probes *probes);
void pt_probes_cpu_neon(pt_cpu_probes *probes);
void pt_probes_cpu_wasm(pt_cpu_probes *probes);
void pt_probes_cpu_wasm_relaxed(pt_cpu_probes *probes);

/* Of products of bf16: see device/peak.h. */
double pt_fma_bf16_cpu_base(pt_pool *pool, int64_t blocks);
double pt_fma_bf16_cpu_avx2(pt_pool *pool, int64_t blocks);
double pt_fma_bf16_cpu_avx512(pt_pool *pool, int64_t blocks);
double pt_fma_bf16_cpu_amx(pt_pool *pool, int64_t blocks);
double pt_fma_bf16_cpu_neon(pt_pool *pool, int64_t blocks);
double pt_fma_bf16_cpu_avx2_strict(pt_pool *pool, int64_t blocks);
double pt_fma_bf16_cpu_avx512_strict(pt_pool *pool, int64_t blocks);
double pt_fma_bf16_cpu_neon_strict(pt_pool *pool, int64_t blocks);
double pt_fma_bf16_cpu_wasm(pt_pool *pool, int64_t blocks);

#endif
