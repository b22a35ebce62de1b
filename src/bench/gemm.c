/* The three products of a linear layer. SPDX-License-Identifier: MIT */
#include "base/strings.h"
#include "bench/measure.h"
#include "ops/ops.h"

typedef struct gemm_case {
    pt_device *device;
    pt_linear_args args;
    pt_pass pass;
} gemm_case;

static pt_status call(void *ctx, pt_error *err)
{
    const gemm_case *c = ctx;
    return pt_op_run(c->device, PT_OP_linear, c->pass, &c->args, err);
}

/* M rows through a layer from I to O channels. */
typedef struct layer {
    int64_t M, I, O;
    pt_dtype dtype;
} layer;

static pt_status measure_form(pt_bench *b, const layer *l, int form, pt_error *err)
{
    static const char *const names[2][3] = {{"NT", "NN", "TN"}, {"NT bf16", "NN bf16", "TN bf16"}};
    const char *name = names[l->dtype == PT_BF16][form];
    char shape[48];
    pt_format(shape, sizeof shape, "M%lld %lld->%lld", (long long)l->M, (long long)l->I,
              (long long)l->O);
    if (!pt_bench_wants(b, name, shape)) return PT_OK;
    pt_bench_row *row = pt_bench_row_new(b, name, shape, err);
    if (!row) return PT_NO_MEMORY;
    row->dtype = l->dtype;
    pt_bench_memory m = {.device = b->device, .err = err};
    int64_t x[4] = {l->M, l->I, 0, 0}, y[4] = {l->M, l->O, 0, 0}, w[4] = {l->O, l->I, 0, 0};
    gemm_case c = {.device = b->device, .pass = form ? PT_BACKWARD : PT_FORWARD};
    if (form != 1) c.args.x = pt_bench_stored(&m, l->dtype, 1, x);
    if (form != 2) c.args.w = pt_bench_stored(&m, l->dtype, 0.05f, w);
    if (form == 0) c.args.y = pt_bench_stored(&m, l->dtype, 1, y);
    else c.args.dy = pt_bench_stored(&m, l->dtype, 1, y);
    if (form == 1) c.args.dx = pt_bench_stored(&m, l->dtype, 1, x);
    if (form == 2) c.args.dw = pt_bench_floats(&m, 1, w);
    row->flop = 2.0 * (double)l->M * (double)l->I * (double)l->O;
    double rows = (double)(l->M * l->I) + (double)(l->M * l->O), weights = (double)(l->I * l->O);
    double size = (double)pt_dtype_bytes(l->dtype, 1);
    row->bytes = size * rows + (form == 2 ? 2 * 4 : size) * weights; /* dw: f32, read and written */
    pt_bench_work work = {.device = b->device, .ctx = &c, .call = call};
    pt_status s = m.status ? m.status : pt_bench_measure(b, row, &work, err);
    pt_bench_release(&m);
    return s;
}

static pt_status measure_layer(pt_bench *b, int64_t M, int64_t I, int64_t O, pt_error *err)
{
    pt_status s = PT_OK;
    for (int i = 0; i < (b->device->bf16 ? 6 : 3) && s == PT_OK; i++) {
        layer l = {M, I, O, i < 3 ? PT_F32 : PT_BF16};
        s = measure_form(b, &l, i % 3, err);
    }
    return s;
}

pt_status pt_bench_gemm(pt_bench *b, pt_error *err)
{
    static const int64_t widths[] = {48, 96, 128, 192, 256, 384, 768};
    pt_status s = PT_OK;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0] && s == PT_OK; i++) {
        int64_t C = widths[i], M = C < 256 ? 2048 : 1024;
        s = measure_layer(b, M, C, C, err);
        if (s == PT_OK) s = measure_layer(b, M, C, 4 * C, err);
        if (s == PT_OK) s = measure_layer(b, M, 4 * C, C, err);
        if (s == PT_OK) s = measure_layer(b, M, C, 256, err);
    }
    if (s == PT_OK) s = measure_layer(b, 256, 768, 768, err);
    if (s == PT_OK) s = measure_layer(b, 256, 768, 3072, err);
    if (s == PT_OK) s = measure_layer(b, 256, 3072, 768, err);
    if (s == PT_OK) s = measure_layer(b, 256, 768, 50257, err);
    return s;
}
