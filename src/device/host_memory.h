/* Memory and queue of the host devices (ref, cpu): plain memory, and work done inside the call.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_HOST_MEMORY_H
#define PT_DEVICE_HOST_MEMORY_H

#include "device/device.h"

pt_status pt_host_buffer_new(pt_device *, int64_t bytes, pt_buffer *out, pt_error *);
void pt_host_buffer_free(pt_device *, pt_buffer *);
pt_status pt_host_upload(pt_device *, const pt_tensor *, const void *, int64_t, pt_error *);
pt_status pt_host_download_begin(pt_device *, const pt_tensor *, void *, int64_t, pt_download *,
                                 pt_error *);
pt_status pt_host_download_poll(pt_device *, pt_download *, pt_error *);
pt_status pt_host_fill_zero(pt_device *, const pt_tensor *, pt_error *);
pt_status pt_host_copy(pt_device *, const pt_tensor *, const pt_tensor *, pt_error *);
pt_status pt_host_submit(pt_device *, pt_error *);

#endif
