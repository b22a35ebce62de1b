/* The estimate of a run's time. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/test.h"
#include "bench/estimate.h"

static pt_error err;
static uint8_t corpus[1 << 16];

typedef struct case_of {
    pt_device *device;
    pt_trainer *trainer;
    pt_trainer_desc desc;
    pt_bench_estimate estimate;
    double took;
} case_of;

static void open_case(case_of *c, pt_model_config config, int64_t batch)
{
    *c = (case_of){0};
    memset(&err, 0, sizeof err);
    for (size_t i = 0; i < sizeof corpus; i++) corpus[i] = (uint8_t)(i * 31 % 61);
    pt_model_config_complete(&config);
    c->desc = (pt_trainer_desc){.config = config,
                                .options = pt_train_defaults(),
                                .corpus = corpus,
                                .corpus_bytes = sizeof corpus};
    c->desc.options.batch = batch;
    CHECK_OK(pt_device_cpu_new(&c->device, &(pt_cpu_options){.threads = 1}, &err), err);
}

static const pt_bench_estimate *estimate_rest(case_of *c, int64_t available, int64_t done)
{
    CHECK_OK(pt_trainer_new(&c->trainer, c->device, &c->desc, &err), err);
    double start = pt_clock_seconds();
    const pt_bench_estimate_desc d = {&c->desc, c->trainer, available, done};
    CHECK_OK(pt_bench_estimate_run(c->device, pt_device_pool(c->device), &d, &c->estimate, &err),
             err);
    c->took = pt_clock_seconds() - start;
    pt_trainer_free(c->trainer);
    return &c->estimate;
}

static const pt_bench_estimate *estimate(case_of *c, int64_t available)
{
    return estimate_rest(c, available, 0);
}

static void check_order(const pt_bench_estimate *e)
{
    CHECK(e->known && e->steps >= 1);
    CHECK(0 < e->low && e->low <= e->seconds && e->seconds <= e->high);
}

TEST(a_small_run_is_probed_as_it_is)
{
    case_of c;
    open_case(&c, (pt_model_config){.n_layers = 2, .d_model = 32, .n_heads = 2, .ctx = 16}, 4);
    c.desc.options.steps = 500;
    c.desc.options.eval_batches = 1;
    const pt_bench_estimate *e = estimate(&c, 0);
    check_order(e);
    CHECK(e->whole && e->rows == 4 && e->layers == 2 && e->tokens == 16);
    CHECK_CLOSE(e->seconds / (500 * e->step_seconds), 1,
                0.01); /* one evaluation is next to nothing */
    pt_device_free(c.device);
}

/* A run that goes on: the steps and evaluations that are left. */
TEST(only_what_is_left_is_estimated)
{
    case_of c;
    static const struct {
        int64_t steps, eval_every, done, left, evaluations;
    } runs[] = {{500, 0, 0, 500, 1},     {500, 100, 0, 500, 6},   {500, 100, 450, 50, 1},
                {500, 100, 400, 100, 1}, {450, 100, 310, 140, 2}, {450, 100, 410, 40, 1},
                {500, 0, 499, 1, 1},     {500, 100, 500, 0, 0},   {500, 100, 700, 0, 0}};
    open_case(&c, (pt_model_config){.n_layers = 1, .d_model = 32, .n_heads = 2, .ctx = 16}, 4);
    c.desc.options.eval_batches = 1 << 20; /* so that they count; and accum, so that a step is */
    c.desc.options.accum = 1000;           /* as good as a thousand micro-batches */
    for (int i = 0; i < 9; i++) {
        c.desc.options.steps = runs[i].steps;
        c.desc.options.eval_every = runs[i].eval_every;
        const pt_bench_estimate *e = estimate_rest(&c, 0, runs[i].done);
        double rest = e->seconds - e->step_seconds * (double)runs[i].left;
        CHECK(e->known && e->whole);
        /* of each, the forward third of a micro-batch */
        CHECK_CLOSE(rest / (e->step_seconds / 1000) / (1 << 20) * 3, runs[i].evaluations, 0.05);
    }
    pt_device_free(c.device);
}

/* Options of the run that would stop a probe, or make it do something else, do not. */
TEST(the_runs_own_options_do_not_reach_the_probe)
{
    case_of c;
    static const int64_t starts[] = {1, 2, 3};
    open_case(&c, (pt_model_config){.n_layers = 1, .d_model = 32, .n_heads = 2, .ctx = 16}, 2);
    pt_train_options *o = &c.desc.options;
    o->steps = 3;
    o->schedule = PT_SCHEDULE_WSD;
    o->warmup = 1;
    o->decay_steps = 2;
    o->min_lr = 1e-4;
    o->lr = 900; /* with which a step would end in infinity */
    o->on_spike = PT_SPIKE_STOP;
    o->accum = 7;
    o->read_every = 5;
    o->eval_every = 1;
    o->sample_every = 1;
    o->upstream_init = true;
    o->starts = starts;
    o->n_starts = 3;
    check_order(estimate(&c, 0));
    pt_device_free(c.device);
}

TEST(a_large_run_is_probed_in_part)
{
    case_of c;
    open_case(&c, (pt_model_config){.n_layers = 40, .d_model = 512, .n_heads = 8, .ctx = 1024}, 64);
    const pt_bench_estimate *e = estimate(&c, 0);
    check_order(e);
    CHECK(!e->whole && e->rows < 64);
    CHECK(PT_SANITIZED || c.took < 20); /* about 2 s, on a busy machine as well */
    CHECK(e->step_seconds > 1);         /* 8.8e12 operations at most 1e12 a second */
    pt_device_free(c.device);
}

/* Its kernels are compiled in the first step, which takes longer than all others of a probe. */
TEST(a_compiler_is_no_part_of_the_steps_of_a_gpu)
{
    const char *library = getenv("POSTTRAIN_WEBGPU");
    if (!library || !*library) SKIP("no library that offers webgpu.h: make webgpu");
    case_of c;
    open_case(&c, (pt_model_config){.n_layers = 1, .d_model = 16, .n_heads = 2, .ctx = 16}, 1);
    pt_device_free(c.device);
    CHECK_OK(pt_device_webgpu_new(&c.device, &(pt_webgpu_options){.software = true}, &err), err);
    const pt_bench_estimate *e = estimate(&c, 0);
    check_order(e);
    CHECK(e->whole && e->step_seconds < c.took / 2);
    pt_device_free(c.device);
}

/* One layer of it is too much for a plain device, and nothing for a GPU: here the processor passes for one. */
TEST(a_wide_model_is_probed_on_a_gpu)
{
    case_of c;
    open_case(&c, (pt_model_config){.n_layers = 1, .d_model = 1024, .n_heads = 16, .ctx = 64}, 1);
    CHECK_OK(pt_trainer_new(&c.trainer, c.device, &c.desc, &err), err);
    for (int gpu = 0; gpu < 2; gpu++) {
        const pt_bench_estimate_desc d = {&c.desc, c.trainer, 0, 0};
        c.device->own_memory = gpu;
        CHECK_OK(pt_bench_estimate_run(c.device, NULL, &d, &c.estimate, &err), err);
        CHECK_INT(c.estimate.known, gpu);
    }
    pt_trainer_free(c.trainer);
    pt_device_free(c.device);
}

TEST(what_has_no_room_or_no_time_is_not_estimated)
{
    case_of c;
    open_case(&c, (pt_model_config){.n_layers = 2, .d_model = 32, .n_heads = 2, .ctx = 16}, 4);
    CHECK(!estimate(&c, 1000)->known);
    pt_device_free(c.device);
    open_case(&c, (pt_model_config){.n_layers = 1, .d_model = 16384, .n_heads = 64, .ctx = 64}, 1);
    CHECK(!estimate(&c, 0)->known);
    pt_device_free(c.device);
}

PT_TEST_MAIN
