/* The same step with more and more threads, alone and beside a busy process. SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "base/strings.h"
#include "bench/steps.h"

#define MAX_RUNS 16

typedef struct run {
    pt_device *device;
    pt_bench_steps steps;
    pt_bench_work work;
    pt_bench_row *row;
} run;

typedef struct runs {
    pt_bench *bench;
    const pt_preset *preset;
    run list[MAX_RUNS];
    int n;
} runs;

/* 1 … most; above 8 only each doubling, and the most. */
static pt_status begin_runs(runs *r, int most, pt_error *err)
{
    pt_status s = PT_OK;
    for (int t = 1; t <= most && r->n < MAX_RUNS && s == PT_OK;) {
        run *one = &r->list[r->n];
        s = r->bench->options.device_new(r->bench->options.ctx, t, &one->device, err);
        if (s) return s;
        r->n++;
        s = pt_bench_steps_begin(&one->steps, one->device, r->preset, pt_bench_dtype(r->bench),
                                 err);
        one->work =
            (pt_bench_work){.device = one->device, .ctx = &one->steps, .call = pt_bench_steps_call};
        int next = t < 8 ? t + 1 : 2 * t;
        t = t < most && next > most ? most : next;
    }
    return s;
}

static void end_runs(runs *r)
{
    for (int i = 0; i < r->n; i++) {
        pt_bench_steps_end(&r->list[i].steps);
        pt_device_free(r->list[i].device);
    }
}

/* Median over the rounds of what one thread took, in the same round, to what this took. */
static pt_status set_speed_up(pt_bench_row *row, const pt_bench_row *one_thread, pt_error *err)
{
    pt_bench_samples ratio = {0};
    pt_status s = PT_OK;
    int64_t n = pt_min_i64(row->seconds.n, one_thread->seconds.n);
    for (int64_t i = 0; i < n && s == PT_OK; i++)
        s = pt_bench_add_sample(&ratio, one_thread->seconds.value[i] / row->seconds.value[i], err);
    pt_bench_settle(&ratio);
    row->speed_up = ratio.median;
    pt_free(ratio.value);
    return s;
}

/* Blocks of all thread counts in turns, so that a passing load meets each of them. */
static pt_status measure_runs(runs *r, int neighbours, pt_error *err)
{
    pt_status s = PT_OK;
    for (int i = 0; i < r->n && s == PT_OK; i++) {
        run *one = &r->list[i];
        one->row = pt_bench_row_new(r->bench, r->preset->name,
                                    neighbours ? "beside a busy process" : "alone", err);
        if (!one->row) return PT_NO_MEMORY;
        one->row->threads = pt_pool_threads(pt_device_cpu_pool(one->device));
        one->row->neighbours = neighbours;
        pt_bench_steps_amounts(&one->steps, one->row);
        s = pt_bench_warm_up(r->bench, &one->work, err);
    }
    bool enough = false;
    while (s == PT_OK && !enough) {
        enough = true;
        for (int i = 0; i < r->n && s == PT_OK; i++) {
            s = pt_bench_block(r->list[i].row, &r->list[i].work, err);
            enough &= pt_bench_enough(r->bench, r->list[i].row, &r->list[i].work);
        }
    }
    for (int i = 0; i < r->n && s == PT_OK; i++) {
        pt_bench_row *row = r->list[i].row;
        s = set_speed_up(row, r->list[0].row, err);
        if (s == PT_OK) pt_bench_complete(r->bench, row);
    }
    return s;
}

static pt_status measure_preset(pt_bench *b, const pt_preset *preset, pt_error *err)
{
    runs r = {.bench = b, .preset = preset};
    pt_status s = begin_runs(&r, b->all.threads, err);
    if (s == PT_OK) s = measure_runs(&r, 0, err);
    if (s == PT_OK && b->options.neighbour) {
        s = b->options.neighbour(b->options.ctx, true, err);
        if (s == PT_OK) s = measure_runs(&r, 1, err);
        pt_status ended = b->options.neighbour(b->options.ctx, false, s ? NULL : err);
        if (s == PT_OK) s = ended;
    }
    end_runs(&r);
    return s;
}

pt_status pt_bench_threads(pt_bench *b, pt_error *err)
{
    const pt_preset *presets[16];
    int n;
    pt_status s = pt_bench_presets(b->options.presets, "reference", presets, &n, err);
    if (s == PT_OK && !b->options.device_new)
        return pt_fail(err, PT_INTERNAL, "bench: no way to make devices");
    for (int i = 0; i < n && s == PT_OK; i++) s = measure_preset(b, presets[i], err);
    return s;
}
