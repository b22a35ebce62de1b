/* Checkpoints on request, and runs that go on after their end. SPDX-License-Identifier: MIT */
#include "train/test_run.h"

#define MOST_STEPS 64

typedef struct outcome {
    test_run run;
    double loss[MOST_STEPS];
    int64_t steps;
} outcome;

static pt_error err;

static pt_status on_step(void *ctx, const pt_step_report *r, pt_error *e)
{
    (void)e;
    ((outcome *)ctx)->loss[r->step - 1] = r->loss;
    ((outcome *)ctx)->steps = r->step;
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
        desc.events.save_begin = test_run_save_begin;
        desc.events.save_end = test_run_save_end;
    }
    memset(o, 0, sizeof *o);
    CHECK_OK(test_run_open(&o->run, kind, &cpu, &desc, &err), err);
}

static void finish(outcome *o) { CHECK_OK(test_run_finish(&o->run, &err), err); }

static void check_file(const outcome *o, int64_t step)
{
    pt_tinygpt *file = test_run_file(&o->run);
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
            for (int64_t i = 0; i < polls; i++) pt_trainer_poll(o.run.trainer, &err);
            int64_t before = o.run.saves;
            pt_trainer_request_save(o.run.trainer);
            while (o.run.saves == before)
                CHECK_INT(pt_trainer_poll(o.run.trainer, &err), PT_PENDING);
            check_file(&o, o.run.saved_step);
            CHECK(o.run.saved_step == o.steps);
            finish(&o);
            check_file(&o, 6);
            CHECK(memcmp(o.loss, want.loss, sizeof o.loss) == 0);
            test_run_close(&o.run);
        }
        test_run_close(&want.run);
    }
}

TEST(a_run_that_is_over_is_saved_again_and_stays_over)
{
    outcome o;
    open_run(&o, "cpu", 3, 1, true);
    finish(&o);
    int64_t before = o.run.saves;
    CHECK_INT(pt_trainer_poll(o.run.trainer, &err), PT_OK);
    pt_trainer_request_save(o.run.trainer);
    finish(&o);
    CHECK_INT(o.run.saves, before + 1);
    CHECK_INT(o.steps, 3);
    check_file(&o, 3);
    test_run_close(&o.run);
}

TEST(a_request_without_anywhere_to_save_is_nothing)
{
    outcome o;
    open_run(&o, "cpu", 3, 1, false);
    pt_trainer_request_save(o.run.trainer);
    finish(&o);
    pt_trainer_request_save(o.run.trainer);
    CHECK_INT(pt_trainer_poll(o.run.trainer, &err), PT_OK);
    CHECK_INT(o.run.saves, 0);
    test_run_close(&o.run);
}

TEST(a_run_goes_on_as_if_it_had_been_given_the_steps_at_once)
{
    outcome whole, o;
    open_run(&whole, "cpu", 12, 1, true);
    finish(&whole);
    open_run(&o, "cpu", 5, 2, true);
    pt_error e = {0};
    CHECK_INT(pt_trainer_continue(o.run.trainer, 12, &e), PT_BAD_INPUT); /* not over */
    finish(&o);
    CHECK_INT(pt_trainer_continue(o.run.trainer, 5, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_trainer_continue(o.run.trainer, 2000000000, NULL), PT_BAD_INPUT);
    CHECK_OK(pt_trainer_continue(o.run.trainer, 9, &err), err);
    while (o.steps < 7) CHECK_INT(pt_trainer_poll(o.run.trainer, &err), PT_PENDING);
    pt_trainer_stop(o.run.trainer);
    finish(&o);
    CHECK(o.steps < 9);
    pt_trainer_request_save(o.run.trainer); /* the last thing done before going on */
    int64_t before = o.run.saves;
    while (o.run.saves == before) CHECK_INT(pt_trainer_poll(o.run.trainer, &err), PT_PENDING);
    CHECK_OK(pt_trainer_continue(o.run.trainer, 12, &err), err);
    finish(&o);
    CHECK(memcmp(o.loss, whole.loss, sizeof o.loss) == 0);
    check_file(&o, 12);
    test_run_close(&o.run);
    test_run_close(&whole.run);
}

PT_TEST_MAIN
