/* How one call reaches its tensors: the ranges of buffers that are bound, and which of them each tensor is in.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_BINDINGS_H
#define PT_DEVICE_WEBGPU_BINDINGS_H

#include "device/webgpu/host.h"
#include "device/webgpu/shader.h"

#define PT_WG_BUFFER_UNIT 256 /* bytes that the size of every buffer is a multiple of */

/* What tells one group of bindings from another. */
typedef struct pt_wg_ranges {
    pt_gpu_range range[PT_WG_MOST_TENSORS];
    int32_t n, padding;
} pt_wg_ranges;

typedef struct pt_wg_bindings {
    pt_wg_ranges ranges;
    pt_shader_use use[PT_SHADER_MOST_NAMES]; /* of each tensor that the shader declares */
    uint32_t
        offset[PT_WG_MOST_TENSORS]; /* of each tensor of the call, in elements, within its range */
} pt_wg_bindings;

/* alignment: of a range's begin, bytes. Errors: UNSUPPORTED when a range is larger than the GPU binds at once, INTERNAL
 * when the call does not fit the shader. */
pt_status pt_wg_bind(const pt_wg_limits *limits, int64_t alignment, const pt_shader *shader,
                     const pt_wg_call *call, pt_wg_bindings *out, pt_error *err);

#endif
