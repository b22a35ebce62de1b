/* Memory and queue of the host devices. SPDX-License-Identifier: MIT */
#include "device/host_memory.h"

pt_status pt_host_buffer_new(pt_device *device, int64_t bytes, pt_buffer *out, pt_error *err)
{
    out->data = (uint64_t)bytes <= SIZE_MAX ? pt_alloc((size_t)bytes) : NULL;
    if (out->data) return PT_OK;
    return pt_fail(err, PT_NO_MEMORY, "device %s: no memory for %lld bytes", device->name,
                   (long long)bytes);
}

void pt_host_buffer_free(pt_device *device, pt_buffer *buffer)
{
    (void)device;
    pt_free(buffer->data);
}

/* `bytes` from the start of t lie inside t, and t inside its buffer. */
static pt_status check_range(const pt_tensor *t, int64_t bytes, pt_error *err)
{
    int64_t size = pt_tensor_bytes(t), room = t->buffer->bytes - t->offset;
    if (bytes < 0 || bytes > size)
        return pt_fail(err, PT_INTERNAL, "a transfer of %lld bytes for a tensor of %lld",
                       (long long)bytes, (long long)size);
    if (t->offset < 0 || size > room)
        return pt_fail(err, PT_INTERNAL, "a tensor of %lld bytes at %lld of a buffer of %lld",
                       (long long)size, (long long)t->offset, (long long)t->buffer->bytes);
    return PT_OK;
}

pt_status pt_host_upload(pt_device *device, const pt_tensor *dst, const void *src, int64_t bytes,
                         pt_error *err)
{
    (void)device;
    pt_status s = check_range(dst, bytes, err);
    if (s == PT_OK && bytes) memcpy(pt_host(dst), src, (size_t)bytes);
    return s;
}

pt_status pt_host_download_begin(pt_device *device, const pt_tensor *src, void *dst, int64_t bytes,
                                 pt_download *download, pt_error *err)
{
    (void)device;
    download->ticket = 0;
    pt_status s = check_range(src, bytes, err);
    if (s == PT_OK && bytes) memcpy(dst, pt_host(src), (size_t)bytes);
    return s;
}

pt_status pt_host_download_poll(pt_device *device, pt_download *download, pt_error *err)
{
    (void)device, (void)download, (void)err;
    return PT_OK;
}

pt_status pt_host_fill_zero(pt_device *device, const pt_tensor *t, pt_error *err)
{
    (void)device;
    int64_t bytes = pt_tensor_bytes(t);
    pt_status s = check_range(t, bytes, err);
    if (s == PT_OK) memset(pt_host(t), 0, (size_t)bytes);
    return s;
}

pt_status pt_host_copy(pt_device *device, const pt_tensor *dst, const pt_tensor *src, pt_error *err)
{
    (void)device;
    int64_t bytes = pt_tensor_bytes(src);
    pt_status s = check_range(src, bytes, err);
    if (s == PT_OK) s = check_range(dst, bytes, err);
    if (s == PT_OK) memmove(pt_host(dst), pt_host(src), (size_t)bytes);
    return s;
}

pt_status pt_host_submit(pt_device *device, pt_error *err)
{
    (void)device, (void)err;
    return PT_OK;
}
