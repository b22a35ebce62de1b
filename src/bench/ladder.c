/* The ladder. SPDX-License-Identifier: MIT */
#include "bench/ladder.h"

#include "bench/square.h"

#define BLOCKS 5
#define BLOCK_SECONDS 0.03
#define LEAST_BLOCK 0.01 /* a shorter one is too much of waiting, and does not count */
#define WARM_SECONDS 0.1

struct pt_bench_ladder {
    pt_bench_square square;
    pt_bench_work work;
    pt_bench_timed timed;
    pt_bench_warmth warmth;
    pt_bench_samples seconds;
    double shortest;
    bool stopping;
};

pt_status pt_bench_ladder_new(pt_bench_ladder **out, pt_error *err)
{
    *out = pt_alloc(sizeof **out);
    return *out ? PT_OK : pt_fail(err, PT_NO_MEMORY, "no memory to measure");
}

void pt_bench_ladder_free(pt_bench_ladder *l)
{
    if (!l) return;
    pt_bench_timed_end(&l->timed);
    pt_bench_square_release(&l->square);
    pt_free(l->seconds.value);
    pt_free(l);
}

static pt_status check(int kernel, int64_t n, pt_error *err)
{
    if (n < 1 || n > PT_BENCH_MOST_SQUARE)
        return pt_fail(err, PT_BAD_INPUT, "a product of %lld by %lld: give 1 to %d", (long long)n,
                       (long long)n, PT_BENCH_MOST_SQUARE);
    if (kernel == PT_BENCH_LINEAR || pt_device_webgpu_kernel(kernel)) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "there is no kernel %d", kernel);
}

pt_status pt_bench_ladder_begin(pt_bench_ladder *l, pt_device *device, int kernel, int64_t n,
                                pt_error *err)
{
    pt_status s = check(kernel, n, err);
    if (s) return s;
    if (l->timed.under_way) return pt_fail(err, PT_BAD_INPUT, "another product is being timed");
    if (l->work.device != device) pt_bench_timed_end(&l->timed);
    s = pt_bench_square_make(&l->square, device, n, err);
    l->square.kernel = kernel;
    l->work = (pt_bench_work){
        .device = device, .ctx = &l->square, .call = pt_bench_square_call, .calls = 1};
    l->warmth = (pt_bench_warmth){.block = BLOCK_SECONDS, .least = WARM_SECONDS};
    l->seconds.n = 0;
    l->stopping = false;
    return s;
}

static pt_status count(pt_bench_ladder *l, double took, pt_error *err)
{
    if (took < LEAST_BLOCK) {
        l->work.calls *= 2;
        l->seconds.n = 0;
        return PT_OK;
    }
    if (l->seconds.n == 0 || took < l->shortest) l->shortest = took;
    return pt_bench_add_sample(&l->seconds, took / (double)l->work.calls, err);
}

pt_status pt_bench_ladder_poll(pt_bench_ladder *l, pt_bench_rung *out, pt_error *err)
{
    double took;
    *out = (pt_bench_rung){0};
    pt_status s = pt_bench_timed_poll(&l->timed, &l->work, &took, err);
    if (s || l->stopping) return s;
    if (!l->warmth.warm) pt_bench_warm(&l->warmth, &l->work, took);
    else s = count(l, took, err);
    if (s) return s;
    if (l->seconds.n < BLOCKS) return PT_PENDING;
    pt_bench_settle(&l->seconds);
    *out = (pt_bench_rung){.blocks = l->seconds.n,
                           .calls = l->work.calls,
                           .block = l->shortest,
                           .seconds = l->seconds.median};
    return PT_OK;
}

void pt_bench_ladder_stop(pt_bench_ladder *l) { l->stopping = true; }
