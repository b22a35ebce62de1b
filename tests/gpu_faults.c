/* Stands between the program and the library of POSTTRAIN_WEBGPU in tests, and fails on purpose:
 *
 *   GPU_FAULTS_LOSE="60 5"   the first device opened is lost at its 60th dispatch, the second at its 5th, others never
 *   GPU_FAULTS_ROOM=1000000  a device gives so many bytes in buffers, and has no memory for more
 *   GPU_FAULTS_REAL=1        an emulated GPU says that it is a real one
 *
 * What is not defined here, the loader finds in the library behind it: libgpu_behind.so, which this one needs.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "device/webgpu/abi.h"

#define EXPORT __attribute__((visibility("default")))
#define LOST_UNKNOWN 1
#define DISCRETE 1

/* A function of the library behind: `variable.call(…)`. */
#define BEHIND(variable, name, result, ...) \
    union {                                 \
        void *address;                      \
        result (*call)(__VA_ARGS__);        \
    } variable = {dlsym(RTLD_NEXT, name)}

EXPORT uint32_t wgpuAdapterGetInfo(WGPUAdapter adapter, WGPUAdapterInfo *info);
EXPORT WGPUQueue wgpuDeviceGetQueue(WGPUDevice of);
EXPORT void wgpuComputePassEncoderDispatchWorkgroups(WGPUComputePassEncoder pass, uint32_t x,
                                                     uint32_t y, uint32_t z);
EXPORT WGPUBuffer wgpuDeviceCreateBuffer(WGPUDevice of, const WGPUBufferDescriptor *descriptor);
EXPORT void wgpuBufferDestroy(WGPUBuffer buffer);

static WGPUDevice device; /* the one opened last */
static int opened;
static int64_t dispatches, held; /* of it; held: bytes */

static WGPUStringView view(const char *text) { return (WGPUStringView){text, strlen(text)}; }

/* Number n of a list, from 1; 0 where it has no such. */
static int64_t number_of(const char *list, int n)
{
    int64_t value = 0;
    char *end = NULL;
    for (; list && n > 0; n--, list = end) {
        value = strtoll(list, &end, 10);
        if (end == list) return 0;
    }
    return value;
}

uint32_t wgpuAdapterGetInfo(WGPUAdapter adapter, WGPUAdapterInfo *info)
{
    BEHIND(get, "wgpuAdapterGetInfo", uint32_t, WGPUAdapter, WGPUAdapterInfo *);
    uint32_t status = get.call(adapter, info);
    if (getenv("GPU_FAULTS_REAL")) info->type = DISCRETE;
    return status;
}

WGPUQueue wgpuDeviceGetQueue(WGPUDevice of)
{
    BEHIND(get, "wgpuDeviceGetQueue", WGPUQueue, WGPUDevice);
    device = of;
    opened++;
    dispatches = held = 0;
    return get.call(of);
}

void wgpuComputePassEncoderDispatchWorkgroups(WGPUComputePassEncoder pass, uint32_t x, uint32_t y,
                                              uint32_t z)
{
    BEHIND(dispatch, "wgpuComputePassEncoderDispatchWorkgroups", void, WGPUComputePassEncoder,
           uint32_t, uint32_t, uint32_t);
    BEHIND(lose, "wgpuDeviceForceLoss", void, WGPUDevice, uint32_t, WGPUStringView);
    dispatch.call(pass, x, y, z);
    if (++dispatches == number_of(getenv("GPU_FAULTS_LOSE"), opened))
        lose.call(device, LOST_UNKNOWN, view("it was taken away"));
}

WGPUBuffer wgpuDeviceCreateBuffer(WGPUDevice of, const WGPUBufferDescriptor *descriptor)
{
    BEHIND(create, "wgpuDeviceCreateBuffer", WGPUBuffer, WGPUDevice, const WGPUBufferDescriptor *);
    BEHIND(inject, "wgpuDeviceInjectError", void, WGPUDevice, uint32_t, WGPUStringView);
    int64_t room = number_of(getenv("GPU_FAULTS_ROOM"), 1);
    held += (int64_t)descriptor->bytes;
    if (room && held > room) inject.call(of, WGPU_ERROR_OUT_OF_MEMORY, view("there is no more"));
    return create.call(of, descriptor);
}

void wgpuBufferDestroy(WGPUBuffer buffer)
{
    BEHIND(size_of, "wgpuBufferGetSize", uint64_t, WGPUBuffer);
    BEHIND(destroy, "wgpuBufferDestroy", void, WGPUBuffer);
    held -= (int64_t)size_of.call(buffer);
    destroy.call(buffer);
}
