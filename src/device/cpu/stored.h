/* Activations and matrix weights as they are stored: floats, or with PT_STORED_BF16 the upper halves of floats. Kernels compute
 * in f32 either way; statistics and parameter gradients are always floats. To be included by *_cpu.c files only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_CPU_STORED_H
#define PT_DEVICE_CPU_STORED_H

#include "device/cpu/cpu.h"
#include "device/cpu/simd.h"

#if defined(PT_STORED_BF16)
typedef uint16_t pt_stored;
PT_SIMD pt_vf pt_vs_load(const pt_stored *p) { return pt_vf_load_bf16(p); }
PT_SIMD pt_vf pt_vs_load_n(const pt_stored *p, int64_t n) { return pt_vf_load_bf16_n(p, n); }
PT_SIMD void pt_vs_store(pt_stored *p, pt_vf a) { pt_vf_store_bf16(p, a); }
PT_SIMD void pt_vs_store_n(pt_stored *p, pt_vf a, int64_t n) { pt_vf_store_bf16_n(p, a, n); }
static inline float pt_get(const pt_stored *p) { return pt_float_from_bf16(*p); }
static inline void pt_put(pt_stored *p, float x) { *p = pt_bf16_from_float(x); }
#else
typedef float pt_stored;
PT_SIMD pt_vf pt_vs_load(const pt_stored *p) { return pt_vf_load(p); }
PT_SIMD pt_vf pt_vs_load_n(const pt_stored *p, int64_t n) { return pt_vf_load_n(p, n); }
PT_SIMD void pt_vs_store(pt_stored *p, pt_vf a) { pt_vf_store(p, a); }
PT_SIMD void pt_vs_store_n(pt_stored *p, pt_vf a, int64_t n) { pt_vf_store_n(p, a, n); }
static inline float pt_get(const pt_stored *p) { return *p; }
static inline void pt_put(pt_stored *p, float x) { *p = x; }
#endif

static inline pt_stored *pt_storage(const pt_tensor *t) { return (pt_stored *)pt_host(t); }

#endif
