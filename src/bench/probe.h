/* A quick measure of a machine, for choosing what to run on it: one matrix product, over and over, for a fraction of a second.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BENCH_PROBE_H
#define PT_BENCH_PROBE_H

#include "device/device.h"

/* The best rate, in operations per second, of y = x w^T with x (n,n) and w (n,n), by the linear op on all threads of
 * the device, in calls that take about `seconds` in all, at least two. Nothing may be in flight. Errors: BAD_INPUT for n < 1,
 * NO_MEMORY. */
pt_status pt_bench_probe(pt_device *device, int64_t n, double seconds, double *flop_rate,
                         pt_error *err);

#endif
