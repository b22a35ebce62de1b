/* Going on from a checkpoint: the same file and figures in the end, also back and forth in one process, and what is not of
 * the run is refused. Whole run folders are broken in tests/fault/.
 * SPDX-License-Identifier: MIT */
#include "train/test_run.h"

#define MAX_STEPS 32

static pt_error err;

typedef struct outcome {
    test_run run;
    double loss[MAX_STEPS];
} outcome;

static pt_status on_step(void *ctx, const pt_step_report *r, pt_error *e)
{
    (void)e;
    ((outcome *)ctx)->loss[r->step] = r->loss;
    return PT_OK;
}

static pt_trainer_desc small_run(void)
{
    static uint8_t text[3000];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)("a tale of the sea; "[i % 19]);
    pt_trainer_desc desc = {
        .config = {.n_layers = 2, .d_model = 16, .n_heads = 2, .ctx = 8, .dropout = 0.2},
        .options = pt_train_defaults(),
        .corpus = text,
        .corpus_bytes = sizeof text};
    pt_model_config_complete(&desc.config);
    desc.options.steps = 14;
    desc.options.batch = 3;
    desc.options.accum = 2;
    desc.options.lr = 5e-3;
    desc.options.eval_every = 3;
    desc.options.eval_batches = 1;
    desc.options.sample_every = 4;
    desc.options.sample_tokens = 5;
    return desc;
}

static void open_run(outcome *o, pt_trainer_desc desc)
{
    *o = (outcome){0};
    desc.events = (pt_train_events){.ctx = o,
                                    .step = on_step,
                                    .save_begin = test_run_save_begin,
                                    .save_end = test_run_save_end};
    CHECK_OK(test_run_open(&o->run, "cpu", &(pt_cpu_options){.threads = 1}, &desc, &err), err);
}

static void run_until(outcome *o, int64_t step)
{
    while (pt_trainer_step(o->run.trainer) < step)
        CHECK_INT(pt_trainer_poll(o->run.trainer, &err), PT_PENDING);
}

static void finish(outcome *o) { CHECK_OK(test_run_finish(&o->run, &err), err); }

/* Byte for byte, but for the time of saving. */
static void check_same_file(const outcome *a, const outcome *b)
{
    static const char key[] = "\"savedAt\":\"";
    CHECK_INT(a->run.file.len, b->run.file.len);
    const char *at = strstr(a->run.file.data + 12, key);
    CHECK(at);
    size_t from = (size_t)(at - a->run.file.data), to = from + sizeof key - 1 + 24;
    CHECK(memcmp(a->run.file.data, b->run.file.data, from) == 0);
    CHECK(memcmp(a->run.file.data + to, b->run.file.data + to, a->run.file.len - to) == 0);
}

/* Stopped after `step`: its file. */
static void make_part(outcome *o, int64_t step)
{
    open_run(o, small_run());
    run_until(o, step);
    pt_trainer_stop(o->run.trainer);
    finish(o);
    CHECK_INT(pt_trainer_step(o->run.trainer), step);
}

TEST(the_rest_of_a_run_gives_the_same_file_and_figures)
{
    outcome whole, part, rest;
    open_run(&whole, small_run());
    finish(&whole);
    for (int64_t step = 1; step <= 14; step += step < 12 ? 2 : 1) {
        make_part(&part, step);
        pt_tinygpt *file = test_run_file(&part.run);
        open_run(&rest, small_run());
        CHECK_OK(pt_trainer_restore(rest.run.trainer, file, &err), err);
        CHECK_INT(pt_trainer_step(rest.run.trainer), step);
        finish(&rest);
        for (int64_t i = step + 1; i <= 14; i++) CHECK(rest.loss[i] == whole.loss[i]);
        check_same_file(&rest, &whole);
        CHECK(pt_trainer_train_loss(rest.run.trainer) == pt_trainer_train_loss(whole.run.trainer));
        CHECK(pt_trainer_val_loss(rest.run.trainer) == pt_trainer_val_loss(whole.run.trainer));
        CHECK_INT(pt_trainer_val_step(rest.run.trainer), 14);
        pt_tinygpt_close(file);
        test_run_close(&part.run);
        test_run_close(&rest.run);
    }
    test_run_close(&whole.run);
}

TEST(a_trainer_goes_back_and_forth)
{
    outcome whole, part;
    open_run(&whole, small_run());
    finish(&whole);
    make_part(&part, 5);
    pt_tinygpt *file = test_run_file(&part.run);
    outcome o;
    open_run(&o, small_run());
    for (int64_t reach = 6; reach < 14; reach += 3) {
        run_until(&o, reach);
        memset(o.loss, 0, sizeof o.loss);
        CHECK_OK(pt_trainer_restore(o.run.trainer, file, &err), err);
    }
    finish(&o);
    for (int64_t i = 6; i <= 14; i++) CHECK(o.loss[i] == whole.loss[i]);
    check_same_file(&o, &whole);
    /* of a finished run nothing is left to do */
    pt_tinygpt *last = test_run_file(&whole.run);
    outcome again;
    open_run(&again, small_run());
    CHECK_OK(pt_trainer_restore(again.run.trainer, last, &err), err);
    finish(&again);
    CHECK_INT(again.run.file.len, 0);
    CHECK_INT(pt_trainer_restore(again.run.trainer, last, &err), PT_INTERNAL); /* it is over */
    pt_tinygpt_close(file);
    pt_tinygpt_close(last);
    test_run_close(&whole.run);
    test_run_close(&part.run);
    test_run_close(&o.run);
    test_run_close(&again.run);
}

static void check_refuses(const pt_tinygpt *file, const pt_trainer_desc *desc, const char *words)
{
    outcome o;
    open_run(&o, *desc);
    CHECK_INT(pt_trainer_restore(o.run.trainer, file, &err), PT_BAD_INPUT);
    if (!strstr(err.message, words)) printf("%s\n", err.message);
    CHECK(strstr(err.message, words));
    CHECK_INT(pt_trainer_step(o.run.trainer), 0);
    test_run_close(&o.run);
}

TEST(a_file_of_another_run_is_refused)
{
    outcome part;
    make_part(&part, 5);
    pt_tinygpt *file = test_run_file(&part.run);
    pt_trainer_desc desc = small_run();
    desc.options.seed = UINT64_MAX;
    check_refuses(file, &desc, "its seed is 42, the run's is 18446744073709551615");
    desc = small_run();
    desc.options.batch = 4;
    check_refuses(file, &desc, "had seen 30 samples, the run's batches make it 40");
    desc = small_run();
    desc.options.lr = 6e-3;
    check_refuses(file, &desc, "its lr is 0.005, the run's is 0.006");
    desc = small_run();
    desc.options.warmup = 3;
    check_refuses(file, &desc, "its warmup is 0, the run's is 3");
    desc = small_run();
    desc.config.dropout = 0.1;
    check_refuses(file, &desc, "its dropout is 0.2, the run's is 0.1");
    desc = small_run();
    desc.options.schedule = PT_SCHEDULE_COSINE;
    check_refuses(file, &desc, "its schedule is");
    desc = small_run();
    desc.config.n_layers = 3;
    check_refuses(file, &desc, "layers 2, the run's is 3");
    desc = small_run();
    desc.config.ctx = 16;
    check_refuses(file, &desc, "context 8, the run's is 16");
    pt_tinygpt_close(file);
    test_run_close(&part.run);
}

/* Under a constant rate a run may be made longer, and before the decay of wsd; under a cosine that would change every step. */
TEST(the_number_of_steps_counts_where_the_rate_falls)
{
    for (int kind = 0; kind < 4; kind++) {
        outcome part, o;
        pt_trainer_desc desc = small_run();
        bool wsd = kind >= 2; /* 2: the decay begins after the step that is done; 3: before */
        if (kind) desc.options.schedule = wsd ? PT_SCHEDULE_WSD : PT_SCHEDULE_COSINE;
        if (wsd) desc.options.decay_steps = kind == 2 ? 9 : 10;
        open_run(&part, desc);
        run_until(&part, 5);
        pt_trainer_stop(part.run.trainer);
        finish(&part);
        pt_tinygpt *file = test_run_file(&part.run);
        desc.options.steps = 20;
        open_run(&o, desc);
        CHECK_INT(pt_trainer_restore(o.run.trainer, file, &err), kind % 2 ? PT_BAD_INPUT : PT_OK);
        CHECK(kind % 2 == 0 || strstr(err.message, "its steps is 14, the run's is 20"));
        pt_tinygpt_close(file);
        test_run_close(&part.run);
        test_run_close(&o.run);
    }
}

TEST(a_failing_allocation_is_reported)
{
    outcome part, o;
    make_part(&part, 5);
    pt_tinygpt *file = test_run_file(&part.run);
    open_run(&o, small_run());
    int64_t nth = 1;
    for (pt_status s = PT_NO_MEMORY; s; nth++) {
        memset(&err, 0, sizeof err);
        pt_alloc_fail_after(nth);
        s = pt_trainer_restore(o.run.trainer, file, &err);
        pt_alloc_fail_after(0);
        CHECK(s == PT_OK || (s == PT_NO_MEMORY && err.message[0]));
    }
    CHECK(nth > 2);
    finish(&o);
    pt_tinygpt_close(file);
    test_run_close(&part.run);
    test_run_close(&o.run);
}

PT_TEST_MAIN
