/* A quick measure of a machine. SPDX-License-Identifier: MIT */
#include "bench/probe.h"

#include "base/clock.h"
#include "bench/measure.h"
#include "ops/ops.h"

/* Waits for what was launched: on a device that defers work, a download does. */
static pt_status timed_call(pt_device *device, const pt_linear_args *args, double *seconds,
                            pt_error *err)
{
    float first[1];
    pt_download download;
    double start = pt_clock_seconds();
    pt_status s = pt_linear_forward(device, args, err);
    if (s == PT_OK) s = pt_download_begin(device, &args->y, first, sizeof first, &download, err);
    if (s == PT_OK) s = pt_submit(device, err);
    if (s == PT_OK) s = PT_PENDING;
    while (s == PT_PENDING) s = pt_download_poll(device, &download, err);
    *seconds = pt_clock_seconds() - start;
    return s;
}

pt_status pt_bench_probe(pt_device *device, int64_t n, double seconds, double *flop_rate,
                         pt_error *err)
{
    *flop_rate = 0;
    if (n < 1 || n > 1 << 14)
        return pt_fail(err, PT_BAD_INPUT, "a product of %lld by %lld: give 1 to %d", (long long)n,
                       (long long)n, 1 << 14);
    const int64_t dim[4] = {n, n, 0, 0};
    pt_bench_memory memory = {.device = device, .err = err};
    pt_linear_args args = {.x = pt_bench_floats(&memory, 1, dim),
                           .w = pt_bench_floats(&memory, 1, dim),
                           .y = pt_bench_floats(&memory, 1, dim)};
    pt_status s = memory.status;
    double until = pt_clock_seconds() + seconds, flop = 2.0 * (double)n * (double)n * (double)n;
    for (int calls = 0; s == PT_OK && (calls < 2 || pt_clock_seconds() < until); calls++) {
        double took = 0;
        s = timed_call(device, &args, &took, err);
        if (took > 0 && flop / took > *flop_rate) *flop_rate = flop / took;
    }
    pt_bench_release(&memory);
    return s;
}
