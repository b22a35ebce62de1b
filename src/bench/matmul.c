/* The ladder of the GPU's matrix products: each kernel at square sizes. SPDX-License-Identifier: MIT */
#include "base/strings.h"
#include "bench/measure.h"

typedef struct matmul_case {
    pt_device *device;
    int kernel;
    pt_tensor a, b, c;
} matmul_case;

static pt_status call(void *ctx, pt_error *err)
{
    const matmul_case *m = ctx;
    return pt_device_webgpu_product(m->device, m->kernel, &m->a, &m->b, &m->c, err);
}

static pt_status call_fma(void *ctx, pt_error *err)
{
    const matmul_case *m = ctx;
    double flop;
    return pt_device_webgpu_fma(m->device, &m->c, &flop, err);
}

/* What the GPU can do at most. */
static pt_status measure_fma(pt_bench *b, matmul_case *m, pt_error *err)
{
    if (!pt_bench_wants(b, "multiply-adds", "on registers")) return PT_OK;
    pt_bench_row *row = pt_bench_row_new(b, "multiply-adds", "on registers", err);
    if (!row) return PT_NO_MEMORY;
    pt_bench_work work = {.device = b->device, .ctx = m, .call = call_fma};
    pt_status s = pt_device_webgpu_fma(m->device, &m->c, &row->flop, err);
    return s == PT_OK ? pt_bench_measure(b, row, &work, err) : s;
}

static pt_status measure_kernel(pt_bench *b, matmul_case *m, const char *name, int64_t n,
                                pt_error *err)
{
    char shape[48];
    pt_format(shape, sizeof shape, "%lld x %lld x %lld", (long long)n, (long long)n, (long long)n);
    if (!pt_bench_wants(b, name, shape)) return PT_OK;
    pt_bench_row *row = pt_bench_row_new(b, name, shape, err);
    if (!row) return PT_NO_MEMORY;
    row->flop = 2.0 * (double)n * (double)n * (double)n;
    row->bytes = 3.0 * 4.0 * (double)n * (double)n;
    pt_bench_work work = {.device = b->device, .ctx = m, .call = call};
    return pt_bench_measure(b, row, &work, err);
}

pt_status pt_bench_matmul(pt_bench *b, pt_error *err)
{
    static const int64_t sizes[] = {256, 512, 1024, 2048, 4096};
    if (strcmp(b->device->name, "webgpu") != 0)
        return pt_fail(err, PT_BAD_INPUT,
                       "bench matmul compares the kernels of a GPU: give --device webgpu (gemm is "
                       "for the processor)");
    pt_status s = PT_OK;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && s == PT_OK; i++) {
        pt_bench_memory memory = {.device = b->device, .err = err};
        const int64_t dim[4] = {sizes[i], sizes[i], 0, 0};
        matmul_case m = {.device = b->device};
        m.a = pt_bench_floats(&memory, 1, dim);
        m.b = pt_bench_floats(&memory, 1, dim);
        m.c = pt_bench_floats(&memory, 1, dim);
        s = memory.status;
        const char *name;
        if (s == PT_OK && i == 0) s = measure_fma(b, &m, err);
        for (m.kernel = 0; s == PT_OK && (name = pt_device_webgpu_kernel(m.kernel)); m.kernel++)
            if (!pt_device_webgpu_kernel_lacks(b->device, m.kernel))
                s = measure_kernel(b, &m, name, sizes[i], err);
        pt_bench_release(&memory);
    }
    return s;
}
