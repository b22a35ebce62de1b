/* A GPU trains, checks, writes and saves for a while, and holds no more at the end than when everything had happened once.
 * SOAK_SECONDS (2). Skipped without a library that offers webgpu.h. SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/clock.h"
#include "train/test_run.h"

#define ROUND 10 /* steps in which everything happens once */

typedef struct soak {
    test_run run;
    int64_t steps, checks, samples;
} soak;

static pt_error err;

static pt_status on_step(void *ctx, const pt_step_report *r, pt_error *e)
{
    (void)e;
    ((soak *)ctx)->steps = r->step;
    CHECK(pt_is_finite(r->loss));
    return PT_OK;
}

static pt_status on_evaluated(void *ctx, int64_t step, double loss, pt_error *e)
{
    (void)step, (void)loss, (void)e;
    ((soak *)ctx)->checks++;
    return PT_OK;
}

static void begin(soak *s)
{
    static uint8_t text[4096];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)('a' + (i * i + i / 7) % 26);
    pt_trainer_desc desc = {.config = {.n_layers = 1, .d_model = 16, .n_heads = 2, .ctx = 16},
                            .options = pt_train_defaults(),
                            .corpus = text,
                            .corpus_bytes = sizeof text,
                            .events = {.ctx = s,
                                       .step = on_step,
                                       .evaluated = on_evaluated,
                                       .save_begin = test_run_save_begin,
                                       .save_end = test_run_save_end}};
    pt_model_config_complete(&desc.config);
    desc.options.steps = 1000000000;
    desc.options.batch = 4;
    desc.options.eval_batches = 1;
    desc.options.eval_every = desc.options.sample_every = desc.options.save_every = ROUND;
    desc.options.sample_tokens = 4;
    CHECK_OK(pt_device_webgpu_new(&s->run.device, &(pt_webgpu_options){.software = true}, &err),
             err);
    CHECK_OK(pt_trainer_new(&s->run.trainer, s->run.device, &desc, &err), err);
    CHECK_OK(pt_trainer_begin(s->run.trainer, NULL, &err), err);
}

static void train_until(soak *s, int64_t steps, double until)
{
    while (s->steps < steps || pt_clock_seconds() < until)
        CHECK_INT(pt_trainer_poll(s->run.trainer, &err), PT_PENDING);
}

TEST(a_gpu_holds_the_same_at_the_end)
{
    const char *library = getenv("POSTTRAIN_WEBGPU"), *wanted = getenv("SOAK_SECONDS");
    if (!library || !*library) SKIP("no library that offers webgpu.h: make webgpu");
    double seconds = wanted && *wanted ? strtod(wanted, NULL) : 2;
    soak s = {0};
    int64_t buffers[2], bytes[2];
    begin(&s);
    train_until(&s, 2 * ROUND + 1, 0);
    pt_device_webgpu_census(s.run.device, &buffers[0], &bytes[0]);
    int64_t first = s.steps;
    train_until(&s, 4 * ROUND + 1, pt_clock_seconds() + seconds);
    pt_device_webgpu_census(s.run.device, &buffers[1], &bytes[1]);
    printf("note: %lld steps on a GPU after the first %lld, %lld buffers of %lld bytes before and "
           "%lld of %lld after\n",
           (long long)(s.steps - first), (long long)first, (long long)buffers[0],
           (long long)bytes[0], (long long)buffers[1], (long long)bytes[1]);
    CHECK_INT(buffers[1], buffers[0]);
    CHECK_INT(bytes[1], bytes[0]);
    CHECK(s.run.saves >= 4 && s.checks >= 4);
    test_run_close(&s.run);
}

PT_TEST_MAIN
