/* The device that a user's words name. SPDX-License-Identifier: MIT */
#include "device/device.h"

#define MOST_THREADS 1024

pt_status pt_device_choose(const pt_device_choice *c, pt_device **out, pt_error *err)
{
    *out = NULL;
    if (c->threads < 0 || c->threads > MOST_THREADS)
        return pt_fail(err, PT_BAD_INPUT, "--threads is %lld, it must be 0 to %d",
                       (long long)c->threads, MOST_THREADS);
    if (strcmp(c->device, "ref") == 0) return pt_device_ref_new(out, PT_F32, err);
    if (strncmp(c->device, "webgpu", 6) == 0) {
        pt_webgpu_options gpu = {.software = strcmp(c->device, "webgpu-software") == 0};
        if (gpu.software || c->device[6] == '\0') return pt_device_webgpu_new(out, &gpu, err);
    }
    if (strcmp(c->device, "cpu") != 0)
        return pt_fail(err, PT_BAD_INPUT,
                       "--device is '%s', it must be cpu, webgpu, webgpu-software or ref",
                       c->device);
    pt_cpu_options options = {.threads = (int)c->threads, .isa = c->isa};
    return pt_device_cpu_new(out, &options, err);
}

pt_pool *pt_device_pool(pt_device *device)
{
    return strcmp(device->name, "cpu") == 0 ? pt_device_cpu_pool(device) : NULL;
}
