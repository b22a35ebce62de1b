/* Products of square matrices. SPDX-License-Identifier: MIT */
#include "bench/square.h"

#include "ops/ops.h"

pt_status pt_bench_square_make(pt_bench_square *q, pt_device *device, int64_t n, pt_error *err)
{
    if (q->n == n && q->memory.device == device) return PT_OK;
    const int64_t dim[4] = {n, n, 0, 0};
    pt_bench_square_release(q);
    q->memory = (pt_bench_memory){.device = device, .err = err};
    q->a = pt_bench_floats(&q->memory, 1, dim);
    q->b = pt_bench_floats(&q->memory, 1, dim);
    q->c = pt_bench_floats(&q->memory, 1, dim);
    pt_status s = q->memory.status;
    if (s) pt_bench_square_release(q);
    else q->n = n;
    return s;
}

void pt_bench_square_release(pt_bench_square *q)
{
    pt_bench_release(&q->memory);
    *q = (pt_bench_square){.kernel = q->kernel};
}

double pt_bench_square_flop(int64_t n) { return 2.0 * (double)n * (double)n * (double)n; }

pt_status pt_bench_square_call(void *ctx, pt_error *err)
{
    const pt_bench_square *q = ctx;
    pt_device *device = q->memory.device;
    pt_linear_args linear = {.x = q->a, .w = q->b, .y = q->c};
    if (q->kernel == PT_BENCH_LINEAR) return pt_linear_forward(device, &linear, err);
    return pt_device_webgpu_product(device, q->kernel, &q->a, &q->b, &q->c, err);
}
