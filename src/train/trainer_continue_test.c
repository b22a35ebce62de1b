/* Checkpoints on request, and runs that go on after their end. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "io/tinygpt.h"
#include "train/trainer.h"

#define MOST_STEPS 64

typedef struct outcome {
    double loss[MOST_STEPS];
    int64_t steps, saves, saved_step;
    pt_strbuf file;
    pt_trainer *trainer;
    pt_device *device;
} outcome;

static pt_error err;

static pt_status on_step(void *ctx, const pt_step_report *r, pt_error *e)
{
    (void)e;
    ((outcome *)ctx)->loss[r->step - 1] = r->loss;
    ((outcome *)ctx)->steps = r->step;
    return PT_OK;
}

static pt_status on_save_begin(void *ctx, int64_t step, pt_sink *sink, pt_error *e)
{
    (void)e;
    outcome *o = ctx;
    pt_strbuf_clear(&o->file);
    o->saved_step = step;
    *sink = pt_sink_to_strbuf(&o->file);
    return PT_OK;
}

static pt_status on_save_end(void *ctx, int64_t step, bool failed, pt_error *e)
{
    (void)step, (void)e;
    ((outcome *)ctx)->saves += !failed;
    return PT_OK;
}

static void open_run(outcome *o, const char *kind, int64_t steps, int64_t read_every, bool saves)
{
    static uint8_t text[2048];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)('a' + (i * i + i / 7) % 26);
    pt_cpu_options cpu = {.threads = 2};
    pt_trainer_desc desc = {.config = {.n_layers = 1, .d_model = 16, .n_heads = 2, .ctx = 8},
                            .options = pt_train_defaults(),
                            .corpus = text,
                            .corpus_bytes = sizeof text,
                            .events = {.ctx = o, .step = on_step}};
    pt_model_config_complete(&desc.config);
    desc.options.steps = steps;
    desc.options.batch = 2;
    desc.options.eval_batches = 1;
    desc.options.read_every = read_every;
    if (saves) {
        desc.events.save_begin = on_save_begin;
        desc.events.save_end = on_save_end;
    }
    memset(o, 0, sizeof *o);
    memset(&err, 0, sizeof err);
    if (strcmp(kind, "cpu") == 0) CHECK_OK(pt_device_cpu_new(&o->device, &cpu, &err), err);
    else CHECK_OK(pt_device_ref_new(&o->device, PT_F32, &err), err);
    if (strcmp(kind, "fake") == 0)
        CHECK_OK(pt_device_fake_new(&o->device, o->device, 3, &err), err);
    CHECK_OK(pt_trainer_new(&o->trainer, o->device, &desc, &err), err);
    CHECK_OK(pt_trainer_begin(o->trainer, NULL, &err), err);
}

static void finish(outcome *o)
{
    pt_status s = PT_PENDING;
    while (s == PT_PENDING) s = pt_trainer_poll(o->trainer, &err);
    CHECK_OK(s, err);
}

static void close_run(outcome *o)
{
    pt_trainer_free(o->trainer);
    pt_device_free(o->device);
    pt_strbuf_deinit(&o->file);
}

static void check_file(const outcome *o, int64_t step)
{
    pt_tinygpt *file = NULL;
    CHECK_OK(pt_tinygpt_open(&file, (const uint8_t *)o->file.data, (int64_t)o->file.len, &err),
             err);
    CHECK_OK(pt_tinygpt_verify(file, &err), err);
    CHECK_INT(pt_tinygpt_get(file)->step, step);
    pt_tinygpt_close(file);
}

/* Asked for at every poll of a run: each request is one checkpoint, of a step that is complete, and the curve stays. */
TEST(a_save_can_be_asked_for_at_any_moment)
{
    static const char *const kinds[] = {"cpu", "fake"};
    for (int kind = 0; kind < 2; kind++) {
        outcome want, o;
        open_run(&want, kinds[kind], 6, 1, true);
        finish(&want);
        for (int64_t polls = 0; polls < 40; polls++) {
            open_run(&o, kinds[kind], 6, 1 + polls % 3, true);
            for (int64_t i = 0; i < polls; i++) pt_trainer_poll(o.trainer, &err);
            int64_t before = o.saves;
            pt_trainer_request_save(o.trainer);
            while (o.saves == before) CHECK_INT(pt_trainer_poll(o.trainer, &err), PT_PENDING);
            check_file(&o, o.saved_step);
            CHECK(o.saved_step == o.steps);
            finish(&o);
            check_file(&o, 6);
            CHECK(memcmp(o.loss, want.loss, sizeof o.loss) == 0);
            close_run(&o);
        }
        close_run(&want);
    }
}

TEST(a_run_that_is_over_is_saved_again_and_stays_over)
{
    outcome o;
    open_run(&o, "cpu", 3, 1, true);
    finish(&o);
    int64_t before = o.saves;
    CHECK_INT(pt_trainer_poll(o.trainer, &err), PT_OK);
    pt_trainer_request_save(o.trainer);
    finish(&o);
    CHECK_INT(o.saves, before + 1);
    CHECK_INT(o.steps, 3);
    check_file(&o, 3);
    close_run(&o);
}

TEST(a_request_without_anywhere_to_save_is_nothing)
{
    outcome o;
    open_run(&o, "cpu", 3, 1, false);
    pt_trainer_request_save(o.trainer);
    finish(&o);
    pt_trainer_request_save(o.trainer);
    CHECK_INT(pt_trainer_poll(o.trainer, &err), PT_OK);
    CHECK_INT(o.saves, 0);
    close_run(&o);
}

TEST(a_run_goes_on_as_if_it_had_been_given_the_steps_at_once)
{
    outcome whole, o;
    open_run(&whole, "cpu", 12, 1, true);
    finish(&whole);
    open_run(&o, "cpu", 5, 2, true);
    pt_error e = {0};
    CHECK_INT(pt_trainer_continue(o.trainer, 12, &e), PT_BAD_INPUT); /* not over */
    finish(&o);
    CHECK_INT(pt_trainer_continue(o.trainer, 5, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_trainer_continue(o.trainer, 2000000000, NULL), PT_BAD_INPUT);
    CHECK_OK(pt_trainer_continue(o.trainer, 9, &err), err);
    while (o.steps < 7) CHECK_INT(pt_trainer_poll(o.trainer, &err), PT_PENDING);
    pt_trainer_stop(o.trainer);
    finish(&o);
    CHECK(o.steps < 9);
    pt_trainer_request_save(o.trainer); /* the last thing done before going on */
    int64_t before = o.saves;
    while (o.saves == before) CHECK_INT(pt_trainer_poll(o.trainer, &err), PT_PENDING);
    CHECK_OK(pt_trainer_continue(o.trainer, 12, &err), err);
    finish(&o);
    CHECK(memcmp(o.loss, whole.loss, sizeof o.loss) == 0);
    check_file(&o, 12);
    close_run(&o);
    close_run(&whole);
}

PT_TEST_MAIN
