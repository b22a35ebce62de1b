/* A quick measure of a machine. SPDX-License-Identifier: MIT */
#include "bench/probe.h"

#include "base/clock.h"
#include "bench/square.h"

pt_status pt_bench_probe(pt_device *device, int64_t n, double seconds, double *flop_rate,
                         pt_error *err)
{
    *flop_rate = 0;
    if (n < 1 || n > PT_BENCH_MOST_SQUARE)
        return pt_fail(err, PT_BAD_INPUT, "a product of %lld by %lld: give 1 to %d", (long long)n,
                       (long long)n, PT_BENCH_MOST_SQUARE);
    pt_bench_square square = {.kernel = PT_BENCH_LINEAR};
    pt_status s = pt_bench_square_make(&square, device, n, err);
    pt_bench_work work = {
        .device = device, .ctx = &square, .call = pt_bench_square_call, .calls = 1};
    double until = pt_clock_seconds() + seconds, flop = pt_bench_square_flop(n);
    for (int calls = 0; s == PT_OK && (calls < 2 || pt_clock_seconds() < until); calls++) {
        double took = 0;
        s = pt_bench_wait(&work, &took, err);
        if (took > 0 && flop / took > *flop_rate) *flop_rate = flop / took;
    }
    pt_bench_square_release(&square);
    return s;
}
