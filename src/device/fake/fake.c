/* The fake device: a host device with the patience test built in.
 *
 * Everything is recorded; nothing happens before it was submitted and a later download is polled.
 * A download answers PT_PENDING a chosen number of times, and its destination holds garbage until
 * the poll that answers PT_OK. Polling a download that was never submitted is an error: on a GPU
 * it would hang. Buffers have no host address. So code that runs on this device waits nowhere and
 * reads nothing early.
 * SPDX-License-Identifier: MIT */
#include "device/device.h"

typedef enum record_kind {
    RECORD_UPLOAD,
    RECORD_DOWNLOAD,
    RECORD_ZERO,
    RECORD_COPY,
    RECORD_LAUNCH
} record_kind;

typedef struct record {
    record_kind kind;
    pt_op op;
    pt_pass pass;
    uint64_t ticket; /* DOWNLOAD */
    pt_tensor a, b;  /* destination, source */
    void *bytes;     /* UPLOAD: owned copy; DOWNLOAD: the caller's; LAUNCH: owned args */
    int64_t n;
    struct record *next;
} record;

typedef struct fake_device {
    pt_device base;
    pt_device *inner;
    int polls; /* PENDING answers per download */
    record *first, **last;
    record **submitted;     /* end of the submitted part of the list */
    uint64_t tickets, done; /* given out, completed (in order) */
    int waited;             /* polls of the oldest open download so far */
} fake_device;

/* The inner device's buffer behind one of ours. */
static pt_tensor inner_tensor(const pt_tensor *t)
{
    pt_tensor inner = *t;
    if (t->buffer) inner.buffer = (pt_buffer *)(uintptr_t)t->buffer->handle;
    return inner;
}

static record *add_record(fake_device *fake, record_kind kind, int64_t owned_bytes, pt_error *err)
{
    record *r = pt_alloc(sizeof *r);
    void *bytes = owned_bytes ? pt_alloc((size_t)owned_bytes) : NULL;
    if (!r || (owned_bytes && !bytes)) {
        pt_free(r);
        pt_free(bytes);
        (void)pt_fail(err, PT_NO_MEMORY, "no memory to record work");
        return NULL;
    }
    r->kind = kind;
    r->bytes = bytes;
    *fake->last = r;
    fake->last = &r->next;
    return r;
}

static pt_status fake_buffer_new(pt_device *device, int64_t bytes, pt_buffer *out, pt_error *err)
{
    pt_buffer *inner = NULL;
    pt_status s = pt_buffer_new(((fake_device *)device)->inner, bytes, &inner, err);
    out->handle = (uint64_t)(uintptr_t)inner;
    return s;
}

static void fake_buffer_free(pt_device *device, pt_buffer *buffer)
{
    (void)device;
    pt_buffer_free((pt_buffer *)(uintptr_t)buffer->handle);
}

static pt_status fake_upload(pt_device *device, const pt_tensor *dst, const void *src,
                             int64_t bytes, pt_error *err)
{
    record *r = add_record((fake_device *)device, RECORD_UPLOAD, bytes, err);
    if (!r) return PT_NO_MEMORY;
    if (bytes) memcpy(r->bytes, src, (size_t)bytes);
    r->a = inner_tensor(dst);
    r->n = bytes;
    return PT_OK;
}

static pt_status fake_download_begin(pt_device *device, const pt_tensor *src, void *dst,
                                     int64_t bytes, pt_download *download, pt_error *err)
{
    fake_device *fake = (fake_device *)device;
    record *r = add_record(fake, RECORD_DOWNLOAD, 0, err);
    if (!r) return PT_NO_MEMORY;
    memset(dst, 0xA5, (size_t)bytes);
    r->b = inner_tensor(src);
    r->bytes = dst;
    r->n = bytes;
    download->ticket = r->ticket = ++fake->tickets;
    return PT_OK;
}

static pt_status fake_fill_zero(pt_device *device, const pt_tensor *t, pt_error *err)
{
    record *r = add_record((fake_device *)device, RECORD_ZERO, 0, err);
    if (!r) return PT_NO_MEMORY;
    r->a = inner_tensor(t);
    return PT_OK;
}

static pt_status fake_copy(pt_device *device, const pt_tensor *dst, const pt_tensor *src,
                           pt_error *err)
{
    record *r = add_record((fake_device *)device, RECORD_COPY, 0, err);
    if (!r) return PT_NO_MEMORY;
    r->a = inner_tensor(dst);
    r->b = inner_tensor(src);
    return PT_OK;
}

static bool fake_supports(const pt_device *device, pt_op op, pt_pass pass)
{
    const pt_device *inner = ((const fake_device *)device)->inner;
    return inner->vtable->supports(inner, op, pass);
}

static pt_status fake_launch(pt_device *device, pt_op op, pt_pass pass, const void *args,
                             size_t args_bytes, pt_error *err)
{
    record *r = add_record((fake_device *)device, RECORD_LAUNCH, (int64_t)args_bytes, err);
    if (!r) return PT_NO_MEMORY;
    memcpy(r->bytes, args, args_bytes);
    pt_tensor *tensors = r->bytes;
    for (int i = 0; i < pt_op_info_of(op)->n_tensors; i++) tensors[i] = inner_tensor(&tensors[i]);
    r->op = op;
    r->pass = pass;
    r->n = (int64_t)args_bytes;
    return PT_OK;
}

static pt_status fake_submit(pt_device *device, pt_error *err)
{
    (void)err;
    fake_device *fake = (fake_device *)device;
    fake->submitted = fake->last;
    return PT_OK;
}

static pt_status run_record(fake_device *fake, const record *r, pt_error *err)
{
    pt_device *inner = fake->inner;
    pt_download done;
    switch (r->kind) {
    case RECORD_UPLOAD: return pt_upload(inner, &r->a, r->bytes, r->n, err);
    case RECORD_DOWNLOAD:
        fake->done = r->ticket;
        return pt_download_begin(inner, &r->b, r->bytes, r->n, &done, err);
    case RECORD_ZERO: return pt_fill_zero(inner, &r->a, err);
    case RECORD_COPY: return pt_copy(inner, &r->a, &r->b, err);
    case RECORD_LAUNCH: return pt_device_launch(inner, r->op, r->pass, r->bytes, (size_t)r->n, err);
    }
    return PT_INTERNAL;
}

static void drop_first(fake_device *fake)
{
    record *r = fake->first;
    fake->first = r->next;
    if (fake->last == &r->next) fake->last = &fake->first;
    if (fake->submitted == &r->next) fake->submitted = &fake->first;
    if (r->kind == RECORD_UPLOAD || r->kind == RECORD_LAUNCH) pt_free(r->bytes);
    pt_free(r);
}

static pt_status fake_download_poll(pt_device *device, pt_download *download, pt_error *err)
{
    fake_device *fake = (fake_device *)device;
    if (download->ticket <= fake->done) return PT_OK;
    if (fake->waited++ < fake->polls) return PT_PENDING;
    fake->waited = 0;
    while (fake->done < download->ticket) {
        if (fake->submitted == &fake->first)
            return pt_fail(err, PT_INTERNAL, "a download was polled that was never submitted");
        pt_status s = run_record(fake, fake->first, err);
        drop_first(fake);
        if (s) return s;
    }
    return PT_OK;
}

static void fake_free(pt_device *device)
{
    fake_device *fake = (fake_device *)device;
    while (fake->first) drop_first(fake);
    pt_device_free(fake->inner);
    pt_free(fake);
}

static const pt_device_vtable fake_vtable = {
    .buffer_new = fake_buffer_new,
    .buffer_free = fake_buffer_free,
    .upload = fake_upload,
    .download_begin = fake_download_begin,
    .download_poll = fake_download_poll,
    .fill_zero = fake_fill_zero,
    .copy = fake_copy,
    .supports = fake_supports,
    .launch = fake_launch,
    .submit = fake_submit,
    .free = fake_free,
};

pt_status pt_device_fake_new(pt_device **out, pt_device *inner, int polls, pt_error *err)
{
    *out = NULL;
    fake_device *fake = pt_alloc(sizeof *fake);
    if (!fake) return pt_fail(err, PT_NO_MEMORY, "no memory for device fake");
    fake->base.vtable = &fake_vtable;
    fake->base.name = "fake";
    fake->base.detail = inner->name;
    fake->base.compute = inner->compute;
    fake->base.bf16 = inner->bf16;
    fake->base.packed = inner->packed;
    fake->inner = inner;
    fake->polls = polls;
    fake->last = fake->submitted = &fake->first;
    *out = &fake->base;
    return PT_OK;
}
