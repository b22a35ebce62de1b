/* The WebGPU device: every dispatch of every op is decided here in C, for a GPU that the host reaches (host.h): natively
 * through Dawn, in a browser through its own WebGPU. For the files ops/NAME/NAME_webgpu.c.
 *
 * A kernel is an entry point of ops/NAME/NAME.wgsl. That file declares its parameters and its tensors:
 *
 *   struct P { n: u32, eps: f32 }
 *   @group(0) @binding(0) var<uniform> p: P;
 *   @group(0) @binding(1) var<storage, read_write> x: array<f32>;
 *
 * one declaration per line, and a tensor's elements are always written `x[…]` with a u32 index. For a call, the text is made
 * anew (shader.c): tensors that the call does not name, or that are absent, become private variables that nothing reaches;
 * tensors that share memory become one binding; and where a tensor does not begin at a multiple of the binding alignment, its
 * offset is added to each index. Each binding is read_write, because WebGPU refuses a buffer that is bound both read-only and
 * writable, and tensors of one arena share a buffer. Element types: f32, u32, i32, vec4<f32> (the tensor's offset must then be
 * a multiple of 16 bytes), vec4<u32>. The 8 bytes from `struct P {` to the first member are needed as they stand.
 * prelude.wgsl precedes every shader, and before it go the shader's lines "enable …" and "diagnostic(…".
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_WEBGPU_H
#define PT_DEVICE_WEBGPU_WEBGPU_H

#include "device/device.h"

#define PT_WG_MOST_TENSORS 10
#define PT_WG_MOST_CONSTANTS 10
#define PT_WG_MOST_WORDS 48

/* One dispatch. Strings must be literals: pipelines are found again by their addresses or their text. */
typedef struct pt_wg_call {
    const char *shader; /* NAME: of NAME.wgsl, in whichever folder */
    const char *entry;  /* its @compute function */
    struct {
        const char *name;
        const pt_tensor *tensor;  /* absent is fine: see above */
    } tensor[PT_WG_MOST_TENSORS]; /* ends with the first without a name */
    struct {
        const char *name;
        uint32_t value;
    } constant
        [PT_WG_MOST_CONSTANTS]; /* `const NAME: u32 = VALUE;` before the text; each value is a pipeline of its own */
    uint32_t word
        [PT_WG_MOST_WORDS]; /* the members of P, in order, 4 bytes each: see pt_wg_u32, pt_wg_f32 */
    int n_words;
    /* Workgroups. groups[0] alone may be any number: it is folded into x and y, and flat_group() of the prelude gives the
     * index back, which may then be groups[0] or more: the kernel returns. 0 for [1] and [2] means 1. */
    int64_t groups[3];
    double
        work; /* multiply-adds, or elements touched, whichever is more: submissions are cut by it. At least 1. */
} pt_wg_call;

static inline void pt_wg_u32(pt_wg_call *call, int64_t value)
{
    call->word[call->n_words++] = (uint32_t)value;
}

static inline void pt_wg_f32(pt_wg_call *call, double value)
{
    union {
        float f;
        uint32_t u;
    } bits = {.f = (float)value};
    call->word[call->n_words++] = bits.u;
}

/* Records the dispatch. Errors: NO_MEMORY; UNSUPPORTED when a tensor is larger than one binding (see pt_wg_limits). */
pt_status pt_wg_run(pt_device *device, const pt_wg_call *call, pt_error *err);

typedef struct pt_wg_limits {
    int64_t binding_bytes;   /* of one tensor of a call, up to 256 bytes of alignment included */
    int64_t workgroup_bytes; /* of var<workgroup> */
    int64_t invocations;     /* of a workgroup: 256 at least */
    int64_t bindings;        /* tensors of a call: 8 at least */
    bool f16, subgroups, subgroup_matrix; /* can be enabled in a shader */
    bool software; /* an emulated GPU: kernels without barriers compile 100 times faster there */
} pt_wg_limits;
const pt_wg_limits *pt_wg_limits_of(const pt_device *device);

/* Elements of dimension 0 that one binding holds, at least 1: for ops that cut a tensor (with pt_slice) that does not fit. */
int64_t pt_wg_rows_that_fit(const pt_device *device, const pt_tensor *t);

/* A tensor of `bytes` for the rest of the calls of one op, not initialised: partial sums. Kept by the device, and shared by all ops;
 * valid until the next pt_wg_scratch. Errors: NO_MEMORY. */
pt_status pt_wg_scratch(pt_device *device, int64_t bytes, pt_tensor *out, pt_error *err);
/* The same beside it, valid until the next pt_wg_second_scratch: for what is read by calls that need the first. */
pt_status pt_wg_second_scratch(pt_device *device, int64_t bytes, pt_tensor *out, pt_error *err);

/* The kernels of an op, both passes: ops/NAME/NAME_webgpu.c. The arguments were checked by the op's check, are f32 (i32, u8), and
 * `args` may be read only during the call. */
#define PT_OP(name, tensors, backward, cpu, formula) \
    pt_status pt_##name##_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err);
#include "tensor/ops.def"
#undef PT_OP

#endif
