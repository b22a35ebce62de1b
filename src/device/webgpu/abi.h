/* The part of webgpu.h that host_native.c uses, as the WebGPU headers of 2025 define it (webgpu-native/webgpu-headers; Dawn and
 * wgpu-native follow them). The library ships no header, so these are declared here and put to a test when it is loaded.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_ABI_H
#define PT_DEVICE_WEBGPU_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef struct WGPUObject *WGPUInstance, *WGPUAdapter, *WGPUDevice, *WGPUQueue, *WGPUBuffer,
    *WGPUBindGroupLayout, *WGPUPipelineLayout, *WGPUShaderModule, *WGPUComputePipeline,
    *WGPUBindGroup, *WGPUCommandEncoder, *WGPUComputePassEncoder, *WGPUCommandBuffer;

typedef struct WGPUStringView {
    const char *data;
    size_t length; /* SIZE_MAX: to the NUL */
} WGPUStringView;

typedef struct WGPUChained {
    struct WGPUChained *next;
    uint32_t type;
} WGPUChained;

typedef struct WGPUFuture {
    uint64_t id;
} WGPUFuture;

enum {
    WGPU_CALLBACK_PROCESS_EVENTS = 2,
    WGPU_STATUS_SUCCESS = 1, /* of every callback */
    WGPU_BACKEND_NULL = 1,
    WGPU_POWER_HIGH = 2,
    WGPU_ADAPTER_CPU = 3,
    WGPU_TYPE_WGSL = 2,
    WGPU_TYPE_TOGGLES = 327690, /* Dawn's */
    WGPU_FILTER_VALIDATION = 1,
    WGPU_ERROR_VALIDATION = 2,
    WGPU_ERROR_OUT_OF_MEMORY = 3,
    WGPU_BINDING_UNIFORM = 2,
    WGPU_BINDING_STORAGE = 3,
    WGPU_STAGE_COMPUTE = 4,
    WGPU_MAP_READ = 1,
    WGPU_USAGE_MAP_READ = 1,
    WGPU_USAGE_COPY_SRC = 4,
    WGPU_USAGE_COPY_DST = 8,
    WGPU_USAGE_UNIFORM = 64,
    WGPU_USAGE_STORAGE = 128
};

typedef struct WGPULimits {
    WGPUChained *next;
    uint32_t texture_1d, texture_2d, texture_3d, texture_layers, bind_groups, bind_groups_vertex,
        bindings_per_group, dynamic_uniform, dynamic_storage, sampled_textures, samplers,
        storage_buffers, storage_textures, uniform_buffers;
    uint64_t uniform_bytes, storage_bytes;
    uint32_t uniform_alignment, storage_alignment, vertex_buffers;
    uint64_t buffer_bytes;
    uint32_t vertex_attributes, vertex_stride, inter_stage, color_attachments, color_bytes,
        workgroup_bytes, invocations, workgroup_x, workgroup_y, workgroup_z, workgroups, immediate,
        /* wgpu-native ends here */
        vertex_storage_buffers, vertex_storage_textures, fragment_storage_buffers,
        fragment_storage_textures;
} WGPULimits;

typedef struct WGPUAdapterInfo {
    WGPUChained *next;
    WGPUStringView vendor, architecture, device, description;
    uint32_t backend, type, vendor_id, device_id, subgroup_min, subgroup_max;
} WGPUAdapterInfo;

typedef struct WGPURequestAdapterOptions {
    WGPUChained *next;
    uint32_t feature_level, power, force_fallback, backend;
    void *surface;
} WGPURequestAdapterOptions;

typedef void (*WGPUCallback)(void);
typedef struct WGPUCallbackInfo {
    WGPUChained *next;
    uint32_t mode;
    WGPUCallback callback; /* cast from what each function wants */
    void *user1, *user2;
} WGPUCallbackInfo;

typedef struct WGPUErrorCallbackInfo {
    WGPUChained *next;
    WGPUCallback callback;
    void *user1, *user2;
} WGPUErrorCallbackInfo;

typedef struct WGPUDeviceDescriptor {
    WGPUChained *next;
    WGPUStringView label;
    size_t n_features;
    const uint32_t *features;
    const WGPULimits *limits;
    struct {
        WGPUChained *next;
        WGPUStringView label;
    } queue;
    WGPUCallbackInfo lost;
    WGPUErrorCallbackInfo error;
} WGPUDeviceDescriptor;

typedef struct WGPUBufferDescriptor {
    WGPUChained *next;
    WGPUStringView label;
    uint64_t usage, bytes;
    uint32_t mapped;
} WGPUBufferDescriptor;

typedef struct WGPULayoutEntry {
    WGPUChained *next;
    uint32_t binding;
    uint64_t visibility;
    uint32_t array_size;
    struct {
        WGPUChained *next;
        uint32_t type, dynamic;
        uint64_t least_bytes;
    } buffer;
    struct {
        WGPUChained *next;
        uint32_t type;
    } sampler;
    struct {
        WGPUChained *next;
        uint32_t type, dimension, multisampled;
    } texture;
    struct {
        WGPUChained *next;
        uint32_t access, format, dimension;
    } storage_texture;
} WGPULayoutEntry;

typedef struct WGPULayoutDescriptor {
    WGPUChained *next;
    WGPUStringView label;
    size_t n;
    const WGPULayoutEntry *entries;
} WGPULayoutDescriptor;

typedef struct WGPUPipelineLayoutDescriptor {
    WGPUChained *next;
    WGPUStringView label;
    size_t n;
    const WGPUBindGroupLayout *layouts;
    uint32_t immediate;
} WGPUPipelineLayoutDescriptor;

typedef struct WGPUGroupEntry {
    WGPUChained *next;
    uint32_t binding;
    WGPUBuffer buffer;
    uint64_t offset, bytes;
    void *sampler, *view;
} WGPUGroupEntry;

typedef struct WGPUGroupDescriptor {
    WGPUChained *next;
    WGPUStringView label;
    WGPUBindGroupLayout layout;
    size_t n;
    const WGPUGroupEntry *entries;
} WGPUGroupDescriptor;

typedef struct WGPUShaderDescriptor {
    WGPUChained *next;
    WGPUStringView label;
} WGPUShaderDescriptor;

typedef struct WGPUShaderText {
    WGPUChained chain;
    WGPUStringView code;
} WGPUShaderText;

typedef struct WGPUPipelineDescriptor {
    WGPUChained *next;
    WGPUStringView label;
    WGPUPipelineLayout layout;
    struct {
        WGPUChained *next;
        WGPUShaderModule module;
        WGPUStringView entry;
        size_t n_constants;
        const void *constants;
    } compute;
} WGPUPipelineDescriptor;

typedef struct WGPUToggles { /* Dawn's */
    WGPUChained chain;
    size_t n_on;
    const char *const *on;
    size_t n_off;
    const char *const *off;
} WGPUToggles;

/* name, result, arguments */
#define WGPU_FUNCTIONS(X)                                                                         \
    X(CreateInstance, WGPUInstance, (const void *))                                               \
    X(InstanceRelease, void, (WGPUInstance))                                                      \
    X(InstanceProcessEvents, void, (WGPUInstance))                                                \
    X(InstanceRequestAdapter, WGPUFuture,                                                         \
      (WGPUInstance, const WGPURequestAdapterOptions *, WGPUCallbackInfo))                        \
    X(AdapterRelease, void, (WGPUAdapter))                                                        \
    X(AdapterGetLimits, uint32_t, (WGPUAdapter, WGPULimits *))                                    \
    X(AdapterGetInfo, uint32_t, (WGPUAdapter, WGPUAdapterInfo *))                                 \
    X(AdapterInfoFreeMembers, void, (WGPUAdapterInfo))                                            \
    X(AdapterHasFeature, uint32_t, (WGPUAdapter, uint32_t))                                       \
    X(AdapterRequestDevice, WGPUFuture,                                                           \
      (WGPUAdapter, const WGPUDeviceDescriptor *, WGPUCallbackInfo))                              \
    X(DeviceRelease, void, (WGPUDevice))                                                          \
    X(DeviceDestroy, void, (WGPUDevice))                                                          \
    X(DeviceGetQueue, WGPUQueue, (WGPUDevice))                                                    \
    X(DeviceGetLimits, uint32_t, (WGPUDevice, WGPULimits *))                                      \
    X(DevicePushErrorScope, void, (WGPUDevice, uint32_t filter))                                  \
    X(DevicePopErrorScope, WGPUFuture, (WGPUDevice, WGPUCallbackInfo))                            \
    X(DeviceCreateBuffer, WGPUBuffer, (WGPUDevice, const WGPUBufferDescriptor *))                 \
    X(DeviceCreateBindGroupLayout, WGPUBindGroupLayout,                                           \
      (WGPUDevice, const WGPULayoutDescriptor *))                                                 \
    X(DeviceCreatePipelineLayout, WGPUPipelineLayout,                                             \
      (WGPUDevice, const WGPUPipelineLayoutDescriptor *))                                         \
    X(DeviceCreateShaderModule, WGPUShaderModule, (WGPUDevice, const WGPUShaderDescriptor *))     \
    X(DeviceCreateComputePipeline, WGPUComputePipeline,                                           \
      (WGPUDevice, const WGPUPipelineDescriptor *))                                               \
    X(DeviceCreateComputePipelineAsync, WGPUFuture,                                               \
      (WGPUDevice, const WGPUPipelineDescriptor *, WGPUCallbackInfo))                             \
    X(DeviceCreateBindGroup, WGPUBindGroup, (WGPUDevice, const WGPUGroupDescriptor *))            \
    X(DeviceCreateCommandEncoder, WGPUCommandEncoder, (WGPUDevice, const void *))                 \
    X(BufferDestroy, void, (WGPUBuffer))                                                          \
    X(BufferRelease, void, (WGPUBuffer))                                                          \
    X(BufferMapAsync, WGPUFuture, (WGPUBuffer, uint64_t, size_t, size_t, WGPUCallbackInfo))       \
    X(BufferGetConstMappedRange, const void *, (WGPUBuffer, size_t, size_t))                      \
    X(BufferUnmap, void, (WGPUBuffer))                                                            \
    X(BindGroupLayoutRelease, void, (WGPUBindGroupLayout))                                        \
    X(PipelineLayoutRelease, void, (WGPUPipelineLayout))                                          \
    X(ShaderModuleRelease, void, (WGPUShaderModule))                                              \
    X(ComputePipelineRelease, void, (WGPUComputePipeline))                                        \
    X(BindGroupRelease, void, (WGPUBindGroup))                                                    \
    X(CommandEncoderBeginComputePass, WGPUComputePassEncoder, (WGPUCommandEncoder, const void *)) \
    X(CommandEncoderCopyBufferToBuffer, void,                                                     \
      (WGPUCommandEncoder, WGPUBuffer, uint64_t, WGPUBuffer, uint64_t, uint64_t))                 \
    X(CommandEncoderClearBuffer, void, (WGPUCommandEncoder, WGPUBuffer, uint64_t, uint64_t))      \
    X(CommandEncoderFinish, WGPUCommandBuffer, (WGPUCommandEncoder, const void *))                \
    X(CommandEncoderRelease, void, (WGPUCommandEncoder))                                          \
    X(CommandBufferRelease, void, (WGPUCommandBuffer))                                            \
    X(ComputePassEncoderSetPipeline, void, (WGPUComputePassEncoder, WGPUComputePipeline))         \
    X(ComputePassEncoderSetBindGroup, void,                                                       \
      (WGPUComputePassEncoder, uint32_t, WGPUBindGroup, size_t, const uint32_t *))                \
    X(ComputePassEncoderDispatchWorkgroups, void,                                                 \
      (WGPUComputePassEncoder, uint32_t, uint32_t, uint32_t))                                     \
    X(ComputePassEncoderEnd, void, (WGPUComputePassEncoder))                                      \
    X(ComputePassEncoderRelease, void, (WGPUComputePassEncoder))                                  \
    X(QueueWriteBuffer, void, (WGPUQueue, WGPUBuffer, uint64_t, const void *, size_t))            \
    X(QueueSubmit, void, (WGPUQueue, size_t, const WGPUCommandBuffer *))                          \
    X(QueueOnSubmittedWorkDone, WGPUFuture, (WGPUQueue, WGPUCallbackInfo))                        \
    X(QueueRelease, void, (WGPUQueue))

#endif
