/* The ladder of the GPU's matrix products: each kernel at square sizes. SPDX-License-Identifier: MIT */
#include "base/strings.h"
#include "bench/square.h"

static pt_status call_fma(void *ctx, pt_error *err)
{
    const pt_bench_square *q = ctx;
    double flop;
    return pt_device_webgpu_fma(q->memory.device, &q->c, &flop, err);
}

/* What the GPU can do at most. */
static pt_status measure_fma(pt_bench *b, pt_bench_square *q, pt_error *err)
{
    if (!pt_bench_wants(b, "multiply-adds", "on registers")) return PT_OK;
    pt_bench_row *row = pt_bench_row_new(b, "multiply-adds", "on registers", err);
    if (!row) return PT_NO_MEMORY;
    pt_bench_work work = {.device = b->device, .ctx = q, .call = call_fma};
    pt_status s = pt_device_webgpu_fma(b->device, &q->c, &row->flop, err);
    return s == PT_OK ? pt_bench_measure(b, row, &work, err) : s;
}

static pt_status measure_kernel(pt_bench *b, pt_bench_square *q, const char *name, pt_error *err)
{
    char shape[48];
    long long n = (long long)q->n;
    pt_format(shape, sizeof shape, "%lld x %lld x %lld", n, n, n);
    if (!pt_bench_wants(b, name, shape)) return PT_OK;
    pt_bench_row *row = pt_bench_row_new(b, name, shape, err);
    if (!row) return PT_NO_MEMORY;
    row->flop = pt_bench_square_flop(q->n);
    row->bytes = 3.0 * 4.0 * (double)n * (double)n;
    pt_bench_work work = {.device = b->device, .ctx = q, .call = pt_bench_square_call};
    return pt_bench_measure(b, row, &work, err);
}

pt_status pt_bench_matmul(pt_bench *b, pt_error *err)
{
    static const int64_t sizes[] = {256, 512, 1024, 2048, 4096};
    pt_status s = PT_OK;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && s == PT_OK; i++) {
        pt_bench_square q = {0};
        s = pt_bench_square_make(&q, b->device, sizes[i], err);
        const char *name;
        if (s == PT_OK && i == 0) s = measure_fma(b, &q, err);
        for (; s == PT_OK && (name = pt_device_webgpu_kernel(q.kernel)); q.kernel++)
            if (!pt_device_webgpu_kernel_lacks(b->device, q.kernel))
                s = measure_kernel(b, &q, name, err);
        pt_bench_square_release(&q);
    }
    return s;
}
