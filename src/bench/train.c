/* Whole training steps, and where their time goes. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/strings.h"
#include "bench/steps.h"

typedef struct split {
    pt_device *device;
    pt_bench_row *row;
    double mark;
} split;

static double lap(split *s)
{
    double now = pt_clock_seconds(), took = now - s->mark;
    s->mark = now;
    return took;
}

static pt_status after_launch(void *ctx, pt_op op, pt_pass pass, const void *args, pt_error *err)
{
    split *s = ctx;
    (void)args;
    pt_status status = pt_bench_finish(s->device, err);
    s->row->split[op][pass] += lap(s);
    return status;
}

/* Steps of their own, so that the clock is not read inside the timed ones, nor a GPU waited for, which adds a fraction of a
 * millisecond to each launch. */
static pt_status measure_split(const pt_bench *b, pt_bench_row *row, pt_bench_steps *steps,
                               pt_error *err)
{
    split sp = {.device = b->device, .row = row};
    pt_status s = PT_OK;
    int64_t n = 0;
    double start = pt_clock_seconds();
    b->device->hook = after_launch;
    b->device->hook_ctx = &sp;
    for (; s == PT_OK && (n < 3 || pt_clock_seconds() - start < b->options.seconds); n++) {
        (void)lap(&sp);
        s = pt_bench_steps_call(steps, err);
        row->split_rest += lap(&sp);
    }
    b->device->hook = NULL;
    b->device->hook_ctx = NULL;
    for (int op = 0; op < PT_OP_COUNT; op++)
        for (int pass = 0; pass < PT_PASS_COUNT; pass++)
            row->split[op][pass] /= (double)(n * steps->each);
    row->split_rest /= (double)(n * steps->each);
    row->has_split = true;
    return s;
}

static pt_status measure_preset(pt_bench *b, const pt_preset *preset, pt_error *err)
{
    char shape[48];
    pt_bench_steps steps;
    pt_status s = pt_bench_steps_begin(&steps, b->device, preset, pt_bench_dtype(b), err);
    if (s) return s;
    pt_format(shape, sizeof shape, "B%lld T%lld", (long long)steps.B, (long long)steps.T);
    pt_bench_row *row = pt_bench_row_new(b, preset->name, shape, err);
    if (!row) s = PT_NO_MEMORY;
    pt_bench_work work = {
        .device = b->device, .ctx = &steps, .call = pt_bench_steps_call, .each = steps.each};
    if (s == PT_OK) {
        pt_bench_steps_amounts(&steps, row);
        s = pt_bench_warm_up(b, &work, err);
    }
    while (s == PT_OK && !pt_bench_enough(b, row, &work)) s = pt_bench_block(row, &work, err);
    if (s == PT_OK) s = measure_split(b, row, &steps, err);
    if (s == PT_OK) pt_bench_complete(b, row);
    pt_bench_steps_end(&steps);
    return s;
}

pt_status pt_bench_train(pt_bench *b, pt_error *err)
{
    const pt_preset *presets[16];
    int n;
    pt_status s = pt_bench_presets(b->options.presets, "tiny,small,medium,large,xl,reference,gpt2",
                                   presets, &n, err);
    for (int i = 0; i < n && s == PT_OK; i++)
        if (pt_bench_wants(b, presets[i]->name, "")) s = measure_preset(b, presets[i], err);
    return s;
}
