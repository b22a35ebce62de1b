/* Quantiles, the count of a step's operations against the launches themselves, and sane limits.
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/test.h"
#include "bench/op_cases.h"
#include "bench/square.h"
#include "bench/steps.h"
#include "ops/ops.h"

static pt_error err;

static pt_device *cpu(int threads)
{
    pt_device *device = NULL;
    pt_cpu_options options = {.threads = threads};
    CHECK_OK(pt_device_cpu_new(&device, &options, &err), err);
    return device;
}

TEST(quantiles_lie_between_the_nearest_ranks)
{
    pt_bench_samples s = {0};
    for (int i = 0; i < 11; i++) CHECK_OK(pt_bench_add_sample(&s, (i * 7) % 11, &err), err);
    pt_bench_settle(&s);
    CHECK_CLOSE(s.median, 5, 0);
    CHECK_CLOSE(s.p10, 1, 1e-12);
    CHECK_CLOSE(s.p90, 9, 1e-12);
    CHECK_CLOSE(s.least, 0, 0);
    CHECK_CLOSE(s.most, 10, 0);
    CHECK_OK(pt_bench_add_sample(&s, 100, &err), err);
    pt_bench_settle(&s);
    CHECK_CLOSE(s.median, 5.5, 1e-12);
    pt_free(s.value);
    pt_bench_samples none = {0};
    pt_bench_settle(&none);
    CHECK(pt_is_nan(none.median));
}

TEST(many_samples_are_kept_in_order)
{
    pt_bench_samples s = {0};
    for (int i = 0; i < 1000; i++) CHECK_OK(pt_bench_add_sample(&s, 1000 - i, &err), err);
    pt_bench_settle(&s);
    CHECK_CLOSE(s.value[0], 1000, 0);
    CHECK_CLOSE(s.median, 500.5, 0);
    pt_free(s.value);
}

/* ---- operations ---- */

static double rows(const pt_tensor *t) { return (double)pt_rows(t); }
static double last(const pt_tensor *t) { return (double)pt_last_dim(t); }

static double linear_flop(const pt_linear_args *a, pt_pass pass)
{
    const pt_tensor *out = pass == PT_FORWARD ? &a->y : &a->dy;
    double product = 2 * rows(out) * rows(&a->w) * last(&a->w);
    if (pass == PT_FORWARD) return product;
    return product * (pt_present(&a->dx) + pt_present(&a->dw));
}

static pt_status count(void *ctx, pt_op op, pt_pass pass, const void *args, pt_error *e)
{
    double *sum = ctx;
    (void)e;
    if (op == PT_OP_linear) *sum += linear_flop(args, pass);
    if (op == PT_OP_crossentropy) {
        const pt_crossentropy_args *a = args;
        *sum += (pass == PT_FORWARD ? 2 : 6) * rows(&a->x) * rows(&a->w) * last(&a->w);
    }
    if (op == PT_OP_attention) { /* query t meets t+1 keys: q.k and p.v, and their four gradients */
        const pt_attention_args *a = args;
        for (int64_t t = 0; t < a->q.dim[1]; t++)
            *sum += (pass == PT_FORWARD ? 2 : 4) * 2.0 * (double)(t + 1) *
                    (double)(a->q.dim[0] * a->q.dim[2] * a->q.dim[3]);
    }
    return PT_OK;
}

/* `each`: steps whose losses are read together, which a call takes. */
static void check_step_flop(const pt_preset *preset, int each)
{
    pt_device *device = cpu(2);
    pt_bench_steps steps;
    device->read_every = each;
    CHECK_OK(pt_bench_steps_begin(&steps, device, preset, PT_F32, &err), err);
    CHECK_OK(pt_bench_steps_call(&steps, &err), err);
    double counted = 0;
    device->hook = count;
    device->hook_ctx = &counted;
    CHECK_OK(pt_bench_steps_call(&steps, &err), err);
    CHECK_INT(steps.each, each);
    CHECK_CLOSE(each * pt_bench_step_flop(&steps.config, steps.B, steps.T), counted, 0);
    pt_bench_steps_end(&steps);
    pt_device_free(device);
}

TEST(a_steps_operations_are_those_of_its_launches)
{
    check_step_flop(pt_preset_find("tiny"), 1);
    check_step_flop(pt_preset_find("tiny"), 3);
    pt_preset grouped = {
        .name = "grouped",
        .config = {.n_layers = 2, .d_model = 24, .n_heads = 4, .n_kv_heads = 2, .ctx = 7},
        .batch = 3};
    check_step_flop(&grouped, 1);
    grouped.config.mlp = PT_MLP_SWIGLU;
    grouped.config.positions = PT_POSITION_ROPE;
    grouped.config.norm = PT_NORM_RMS;
    check_step_flop(&grouped, 1);
}

TEST(a_token_of_reference_costs_5_31_million)
{
    pt_model_config c = pt_preset_find("reference")->config;
    pt_model_config_complete(&c);
    /* 6 (4 layers of 12 x 128^2 and a head of 256 x 128) + 6 x 4 x 128 x 129 */
    CHECK_CLOSE(pt_bench_step_flop(&c, 16, 128) / 2048, 4915200 + 396288, 0);
}

/* ---- presets, cases, limits ---- */

TEST(preset_lists)
{
    const pt_preset *out[16];
    int n = 0;
    CHECK_OK(pt_bench_presets("tiny,xl", "small", out, &n, &err), err);
    CHECK_INT(n, 2);
    CHECK_STR(out[1]->name, "xl");
    CHECK_OK(pt_bench_presets(NULL, "small", out, &n, &err), err);
    CHECK_INT(n, 1);
    CHECK(pt_bench_presets("tiny,tyni", "small", out, &n, &err) == PT_BAD_INPUT);
    err = (pt_error){0};
}

TEST(every_op_has_a_case_that_its_check_accepts)
{
    static const pt_bench_sizes sizes = {"odd", 2, 5, 12, 3, 20, 17, 131};
    pt_device *device = cpu(2);
    for (int op = 0; op < PT_OP_COUNT; op++) {
        pt_bench_op_case c = {.sizes = &sizes, .memory = {.device = device, .err = &err}};
        pt_bench_op_case_make(&c, (pt_op)op);
        CHECK_OK(c.memory.status, err);
        const pt_op_info *info = pt_op_info_of((pt_op)op);
        const pt_tensor *t = pt_op_tensors(c.args.bytes);
        CHECK(pt_present(&t[0]) || pt_present(&t[1]));
        for (int pass = 0; pass <= info->has_backward; pass++) {
            CHECK_OK(pt_op_run(device, (pt_op)op, (pt_pass)pass, c.args.bytes, &err), err);
            CHECK(c.elements[pass] > 0 || op == PT_OP_step_verdict);
        }
        pt_bench_release(&c.memory);
    }
    CHECK_INT(device->allocated_bytes, 0);
    pt_device_free(device);
}

TEST(the_peak_is_that_of_no_machine_impossible)
{
    pt_device *device = cpu(2);
    pt_bench bench;
    pt_bench_options options = {.seconds = 0.01, .array_bytes = 1 << 20};
    CHECK_OK(pt_bench_begin(&bench, device, &options, &err), err);
    CHECK_INT(bench.alone.threads, 1);
    CHECK(bench.alone.flop_rate.most > 1e8 && bench.alone.flop_rate.most < 2e12);
    CHECK(bench.all.flop_rate.most > 1e8 && bench.all.flop_rate.most < 4e12);
    CHECK(bench.alone.byte_rate.most > 1e8 && bench.alone.byte_rate.most < 1e13);
    pt_bench_end(&bench);
    options.seconds = -1;
    CHECK(pt_bench_begin(&bench, device, &options, &err) == PT_BAD_INPUT);
    pt_bench_end(&bench);
    CHECK_INT(device->allocated_bytes, 0);
    pt_device_free(device);
}

TEST(a_device_that_answers_late_is_measured_in_five_long_blocks)
{
    pt_device *device = NULL;
    pt_bench bench;
    pt_bench_options options = {.seconds = 0.01, .array_bytes = 1 << 20};
    pt_bench_square square = {.kernel = PT_BENCH_LINEAR};
    CHECK_OK(pt_device_ref_new(&device, PT_F32, &err), err);
    CHECK_OK(pt_device_fake_new(&device, device, 2, &err), err);
    CHECK_OK(pt_bench_begin(&bench, device, &options, &err), err);
    CHECK_OK(pt_bench_square_make(&square, device, 16, &err), err);
    pt_bench_work work = {.device = device, .ctx = &square, .call = pt_bench_square_call};
    pt_bench_row *row = pt_bench_row_new(&bench, "linear", "16 x 16 x 16", &err);
    CHECK(row != NULL);
    CHECK_OK(pt_bench_measure(&bench, row, &work, &err), err);
    CHECK_INT(row->seconds.n, 5);
    CHECK(work.calls > 10);
    CHECK(row->seconds.median * (double)work.calls > 0.01);
    CHECK_INT(row->beside.n, 0);
    pt_bench_end(&bench);
    pt_bench_square_release(&square);
    CHECK_INT(device->allocated_bytes, 0);
    pt_device_free(device);
}

/* A product can't beat multiply-adds on registers: one of the two counts would be wrong. */
TEST(no_product_beats_the_peak)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP("a sanitizer slows one of the two more");
#endif
    pt_device *device = cpu(1);
    pt_bench bench;
    pt_bench_options options = {.seconds = 0.05, .array_bytes = 1 << 20, .only = "M1024 256->1024"};
    CHECK_OK(pt_bench_begin(&bench, device, &options, &err), err);
    CHECK_OK(pt_bench_gemm(&bench, &err), err);
    CHECK_INT(bench.n_rows, 6); /* f32, bf16 */
    for (int i = 0; i < 6; i++) {
        const pt_bench_row *row = bench.rows[i];
        CHECK(row->seconds.n >= 3 && row->beside.n == row->seconds.n);
        CHECK(row->flop / row->seconds.least < 1.1 * row->beside.most);
        CHECK(row->of_peak > 0.001);
    }
    pt_bench_end(&bench);
    pt_device_free(device);
}

PT_TEST_MAIN
