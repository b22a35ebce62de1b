/* Blocks of calls on a device that may answer late. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "bench/measure.h"

/* What is read back once the calls are done. */
static pt_status begin(pt_bench_timed *t, const pt_bench_work *w, pt_error *err)
{
    pt_status s = PT_OK;
    if (!t->buffer) s = pt_buffer_new(w->device, sizeof t->word, &t->buffer, err);
    t->begun = pt_clock_seconds();
    for (int64_t i = 0; i < w->calls && s == PT_OK; i++) s = w->call(w->ctx, err);
    pt_tensor word = {.buffer = t->buffer, .dtype = PT_F32, .rank = 1, .dim = {1, 1, 1, 1}};
    if (s == PT_OK)
        s = pt_download_begin(w->device, &word, &t->word, sizeof t->word, &t->download, err);
    if (s == PT_OK) s = pt_submit(w->device, err);
    return s;
}

pt_status pt_bench_timed_poll(pt_bench_timed *t, const pt_bench_work *w, double *took,
                              pt_error *err)
{
    pt_status s = t->under_way ? PT_OK : begin(t, w, err);
    t->under_way = s == PT_OK;
    if (s == PT_OK) s = pt_download_poll(w->device, &t->download, err);
    if (s == PT_PENDING) return s;
    t->under_way = false;
    *took = pt_clock_seconds() - t->begun;
    return s;
}

void pt_bench_timed_end(pt_bench_timed *t)
{
    pt_buffer_free(t->buffer);
    *t = (pt_bench_timed){0};
}

pt_status pt_bench_wait(const pt_bench_work *w, double *took, pt_error *err)
{
    pt_bench_timed t = {0};
    pt_status s;
    do s = pt_bench_timed_poll(&t, w, took, err);
    while (s == PT_PENDING);
    pt_bench_timed_end(&t);
    return s;
}

void pt_bench_warm(pt_bench_warmth *warmth, pt_bench_work *w, double took)
{
    if (!warmth->compiled) {
        warmth->compiled = true;
        return;
    }
    warmth->spent += took;
    if (took < warmth->block / 4) {
        w->calls *= 2;
        return;
    }
    warmth->warm = warmth->spent >= warmth->least;
    if (warmth->warm) w->calls = pt_max_i64(1, (int64_t)((double)w->calls * warmth->block / took));
}
