/* Measures of the processor: what no kernel can beat. See pt_device_cpu_fma and pt_device_cpu_triad in device/device.h.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_CPU_PROBE_H
#define PT_DEVICE_CPU_PROBE_H

#include "device/device.h"

typedef struct pt_cpu_probes {
    /* pool NULL: on the calling thread. */
    double (*fma)(pt_pool *pool, int64_t blocks);
    double (*triad)(pt_pool *pool, const pt_tensor *a, const pt_tensor *b, const pt_tensor *c);
} pt_cpu_probes;

#endif
