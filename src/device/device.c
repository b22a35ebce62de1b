/* Devices: the part every device shares. SPDX-License-Identifier: MIT */
#include "device/device.h"

#include "base/platform.h"

pt_status pt_buffer_new(pt_device *device, int64_t bytes, pt_buffer **out, pt_error *err)
{
    *out = NULL;
    pt_buffer *buffer = pt_alloc(sizeof *buffer);
    if (!buffer) return pt_fail(err, PT_NO_MEMORY, "no memory for a buffer");
    pt_status s = device->vtable->buffer_new(device, bytes, buffer, err);
    if (s) {
        pt_free(buffer);
        return s;
    }
    buffer->device = device;
    buffer->bytes = bytes;
    device->allocated_bytes += bytes;
    *out = buffer;
    return PT_OK;
}

void pt_buffer_free(pt_buffer *buffer)
{
    if (!buffer) return;
    buffer->device->allocated_bytes -= buffer->bytes;
    buffer->device->vtable->buffer_free(buffer->device, buffer);
    pt_free(buffer);
}

static pt_status refuse_beyond_machine(const pt_device *device, const pt_plan *plan, pt_error *err)
{
    int64_t have = pt_platform_memory_bytes(), need = pt_plan_total_bytes(plan);
    if (device->own_memory) need = plan->arena_bytes[PT_ARENA_HOST];
    if (!have || need <= have) return PT_OK;
    return pt_fail(
        err, PT_NO_MEMORY,
        "needs %.1f GB of memory, this machine has %.1f GB: choose a smaller model, batch "
        "or context, or recompute more",
        (double)need / 1e9, (double)have / 1e9);
}

pt_status pt_device_allocate_plan(pt_device *device, pt_plan *plan, pt_error *err)
{
    pt_status s = pt_plan_check(plan, err);
    if (s == PT_OK) s = refuse_beyond_machine(device, plan, err);
    if (s) return s;
    for (int arena = 0; arena < PT_ARENA_HOST; arena++) {
        if (!plan->arena_bytes[arena]) continue;
        s = pt_buffer_new(device, plan->arena_bytes[arena], &plan->buffer[arena], err);
        if (s) {
            pt_device_release_plan(plan);
            return s;
        }
    }
    for (int64_t i = 0; i < plan->n_entries; i++)
        plan->entries[i].tensor.buffer = plan->buffer[plan->entries[i].arena];
    return PT_OK;
}

void pt_device_release_plan(pt_plan *plan)
{
    for (int arena = 0; arena < PT_ARENA_COUNT; arena++) {
        pt_buffer_free(plan->buffer[arena]);
        plan->buffer[arena] = NULL;
    }
    for (int64_t i = 0; i < plan->n_entries; i++) plan->entries[i].tensor.buffer = NULL;
}

#define ROOM_PIECES 32

int64_t pt_device_room(pt_device *device, int64_t most)
{
    pt_buffer *piece[4 * ROOM_PIECES];
    int64_t bytes = pt_div_up(most, ROOM_PIECES), n = 0;
    if (device->largest_buffer) bytes = pt_min_i64(bytes, device->largest_buffer);
    while (n < 4 * ROOM_PIECES && n * bytes < most &&
           !pt_buffer_new(device, bytes, &piece[n], NULL))
        n++;
    for (int64_t i = 0; i < n; i++) pt_buffer_free(piece[i]);
    return pt_min_i64(n * bytes, most);
}

pt_status pt_upload(pt_device *device, const pt_tensor *dst, const void *src, int64_t bytes,
                    pt_error *err)
{
    return device->vtable->upload(device, dst, src, bytes, err);
}

pt_status pt_upload_floats(pt_device *device, const pt_tensor *dst, const float *values, int64_t n,
                           pt_error *err)
{
    if (device->compute == PT_F32)
        return pt_upload(device, dst, values, n * (int64_t)sizeof *values, err);
    double wide[256];
    pt_tensor flat = pt_view(dst, pt_numel(dst), 0, 0, 0);
    pt_status s = PT_OK;
    for (int64_t at = 0; at < n && s == PT_OK; at += 256) {
        int64_t some = pt_min_i64(256, n - at);
        pt_tensor part = pt_slice(&flat, at, some);
        for (int64_t i = 0; i < some; i++) wide[i] = (double)values[at + i];
        s = pt_upload(device, &part, wide, some * (int64_t)sizeof *wide, err);
    }
    return s;
}

pt_status pt_download_begin(pt_device *device, const pt_tensor *src, void *dst, int64_t bytes,
                            pt_download *download, pt_error *err)
{
    return device->vtable->download_begin(device, src, dst, bytes, download, err);
}

pt_status pt_download_poll(pt_device *device, pt_download *download, pt_error *err)
{
    pt_status s = device->vtable->download_poll(device, download, err);
    device->waits = s == PT_PENDING;
    return s;
}

pt_status pt_fill_zero(pt_device *device, const pt_tensor *t, pt_error *err)
{
    return device->vtable->fill_zero(device, t, err);
}

pt_status pt_copy(pt_device *device, const pt_tensor *dst, const pt_tensor *src, pt_error *err)
{
    return device->vtable->copy(device, dst, src, err);
}

pt_status pt_submit(pt_device *device, pt_error *err)
{
    return device->vtable->submit(device, err);
}

pt_status pt_device_require(const pt_device *device, pt_op op, pt_pass pass, pt_error *err)
{
    if (device->vtable->supports(device, op, pass)) return PT_OK;
    return pt_fail(err, PT_UNSUPPORTED, "device %s has no %s kernel for op %s", device->name,
                   pass == PT_FORWARD ? "forward" : "backward", pt_op_info_of(op)->name);
}

pt_status pt_device_ready(pt_device *device, pt_error *err)
{
    return device->vtable->ready ? device->vtable->ready(device, err) : PT_OK;
}

pt_status pt_device_require_packed(const pt_device *device, pt_dtype weights, pt_error *err)
{
    if (!pt_is_packed(weights) || device->packed) return PT_OK;
    return pt_fail(err, PT_UNSUPPORTED,
                   "device %s has no kernels for weights in %s: the devices webgpu, "
                   "webgpu-software and ref have",
                   device->name, weights == PT_ROWS_F16 ? "f16" : "int8");
}

pt_status pt_device_launch(pt_device *device, pt_op op, pt_pass pass, const void *args,
                           size_t args_bytes, pt_error *err)
{
    return device->vtable->launch(device, op, pass, args, args_bytes, err);
}

void pt_device_free(pt_device *device)
{
    if (device) device->vtable->free(device);
}
