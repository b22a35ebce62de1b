/* Loss spikes in a run: what reaches the weights, what is told, and what may not change anything.
 * The spike is real: one step's windows come from a stretch of bytes that no other step has seen.
 * SPDX-License-Identifier: MIT */
#include "train/test_run.h"
#include "train/trainer_internal.h"

#define STEPS 110
#define SPIKE 100 /* the step of odd bytes */
#define BATCH 8
#define BYTES 4096
#define ODD 3000

typedef struct outcome {
    test_run run;
    double loss[STEPS + 1], lr[STEPS + 1];
    int64_t steps, told; /* of the newest step, and how many were told */
    int64_t n_spikes, n_marked;
    pt_spike_report spike;
    char bad[128];
    int64_t rollbacks, from;
    double lr_scale;
    int64_t harm_after; /* this step, once: every weight of the head times `harm` */
    float harm;
} outcome;

static pt_error err;
static uint8_t corpus[BYTES];
static int64_t starts[STEPS * BATCH];

/* What a broken memory or a bad kernel would do. */
static void do_harm(outcome *o)
{
    const pt_params *params = &pt_trainer_model(o->run.trainer)->params;
    const pt_param *p = pt_params_find(params, "ln_final.weight");
    float w[64];
    for (int64_t i = 0; i < p->n; i++) w[i] = o->harm;
    CHECK_OK(pt_trainer_load(o->run.trainer, p - params->list, w, NULL, NULL, &err), err);
    o->harm_after = 0;
}

static pt_status on_step(void *ctx, const pt_step_report *r, pt_error *e)
{
    (void)e;
    outcome *o = ctx;
    o->loss[r->step] = r->loss;
    o->lr[r->step] = r->lr;
    o->steps = r->step;
    o->told++;
    o->n_marked += r->spike;
    if (r->step == o->harm_after) do_harm(o);
    return PT_OK;
}

static pt_status on_spiked(void *ctx, const pt_spike_report *r, pt_error *e)
{
    (void)e;
    outcome *o = ctx;
    o->n_spikes++;
    o->spike = *r;
    snprintf(o->bad, sizeof o->bad, "%s", r->bad ? r->bad : "");
    return PT_OK;
}

static pt_status restore(outcome *o, const pt_strbuf *from, pt_error *e)
{
    pt_tinygpt *file = NULL;
    pt_status s = pt_tinygpt_open(&file, (const uint8_t *)from->data, (int64_t)from->len, e);
    if (s == PT_OK) s = pt_tinygpt_verify(file, e);
    if (s == PT_OK) s = pt_trainer_restore(o->run.trainer, file, e);
    pt_tinygpt_close(file);
    return s;
}

static pt_status on_roll_back(void *ctx, int64_t from, double lr_scale, pt_error *e)
{
    outcome *o = ctx;
    o->rollbacks++;
    o->from = from;
    o->lr_scale = lr_scale;
    return restore(o, &o->run.file, e);
}

static pt_train_options options_of(pt_on_spike on, int64_t steps, int64_t read_every)
{
    static const char sentence[] = "the quick brown fox jumps over the lazy dog. ";
    pt_train_options o = pt_train_defaults();
    for (int64_t i = 0; i < BYTES; i++) corpus[i] = (uint8_t)sentence[i % 45];
    for (int64_t i = 0; i < 60; i++) corpus[ODD + i] = (uint8_t)(200 + i * 17 % 53);
    for (int64_t g = 0; g < STEPS * BATCH; g++)
        starts[g] = g / BATCH == SPIKE - 1 ? ODD + g % BATCH : g * 7 % (ODD - 20);
    o.steps = steps;
    o.batch = BATCH;
    o.lr = 5e-3;
    o.eval_batches = 1;
    o.starts = starts;
    o.n_starts = STEPS * BATCH;
    o.on_spike = on;
    o.read_every = read_every;
    return o;
}

static pt_status start_run(outcome *o, const char *kind, const pt_train_options *options)
{
    pt_model_config config = {.n_layers = 1, .d_model = 32, .n_heads = 2, .ctx = 16};
    pt_model_config_complete(&config);
    pt_trainer_desc desc = {.config = config,
                            .options = *options,
                            .corpus = corpus,
                            .corpus_bytes = BYTES,
                            .events = {.ctx = o,
                                       .step = on_step,
                                       .spiked = on_spiked,
                                       .roll_back = on_roll_back,
                                       .save_begin = test_run_save_begin,
                                       .save_end = test_run_save_end}};
    *o = (outcome){0};
    return test_run_open(&o->run, kind, NULL, &desc, &err);
}

static pt_status finish(outcome *o) { return test_run_finish(&o->run, &err); }

static pt_status run(outcome *o, const char *kind, const pt_train_options *options)
{
    CHECK_OK(start_run(o, kind, options), err);
    return finish(o);
}

static void run_well(outcome *o, const char *kind, const pt_train_options *options)
{
    CHECK_OK(run(o, kind, options), err);
    CHECK_INT(o->steps, options->steps);
}

/* The weights and moments that were saved, and the step that the file is of. */
static pt_tinygpt *open_file(const outcome *o, int64_t step)
{
    pt_tinygpt *file = test_run_file(&o->run);
    CHECK_INT(pt_tinygpt_get(file)->step, step);
    return file;
}

static void check_same_body(const outcome *a, int64_t step_a, const outcome *b, int64_t step_b,
                            bool same)
{
    pt_tinygpt *x = open_file(a, step_a), *y = open_file(b, step_b);
    int64_t bytes = pt_trainer_n_params(a->run.trainer) * 12; /* w, m, v; the step comes before */
    CHECK((memcmp(a->run.file.data + a->run.file.len - bytes,
                  b->run.file.data + b->run.file.len - bytes, (size_t)bytes) == 0) == same);
    pt_tinygpt_close(x);
    pt_tinygpt_close(y);
}

static void check_spike(const outcome *o, pt_on_spike did)
{
    CHECK_INT(o->n_spikes, 1);
    CHECK_INT(o->n_marked, 1);
    CHECK_INT(pt_trainer_spikes(o->run.trainer), 1);
    CHECK_INT(o->spike.step, SPIKE);
    CHECK_INT(o->spike.did, did);
    CHECK(o->spike.loss == o->loss[SPIKE] && o->spike.loss > o->spike.limit);
    double sum = 0;
    for (int64_t i = SPIKE - 50; i < SPIKE; i++) sum += o->loss[i];
    CHECK_CLOSE(o->spike.limit, 3 * sum / 50, 1e-6);
}

TEST(warning_changes_nothing)
{
    outcome off, warn;
    pt_train_options options = options_of(PT_SPIKE_OFF, STEPS, 1);
    run_well(&off, "cpu", &options);
    CHECK_INT(off.n_spikes, 0);
    CHECK_INT(off.n_marked, 0);
    options = options_of(PT_SPIKE_WARN, STEPS, 1);
    run_well(&warn, "cpu", &options);
    check_spike(&warn, PT_SPIKE_WARN);
    CHECK(memcmp(off.loss, warn.loss, sizeof off.loss) == 0);
    check_same_body(&off, STEPS, &warn, STEPS, true);
    CHECK(!strstr(off.run.file.data + 12, "\"spikes\"") &&
          strstr(warn.run.file.data + 12, "\"spikes\""));
    test_run_close(&off.run);
    test_run_close(&warn.run);
}

/* After the spiking step the weights and moments are those before it; the next step changes them again. */
TEST(skip_leaves_out_this_step_and_no_other)
{
    outcome before, at, after, warned;
    pt_train_options options = options_of(PT_SPIKE_SKIP, SPIKE - 1, 1);
    run_well(&before, "cpu", &options);
    options.steps = SPIKE;
    run_well(&at, "cpu", &options);
    check_spike(&at, PT_SPIKE_SKIP);
    check_same_body(&before, SPIKE - 1, &at, SPIKE, true);
    options.steps = STEPS;
    run_well(&after, "cpu", &options);
    check_spike(&after, PT_SPIKE_SKIP);
    check_same_body(&at, SPIKE, &after, STEPS, false);
    options.on_spike = PT_SPIKE_WARN;
    run_well(&warned, "cpu", &options);
    CHECK(memcmp(after.loss, warned.loss, (SPIKE + 1) * sizeof(double)) == 0);
    CHECK(after.loss[SPIKE + 1] < warned.loss[SPIKE + 1]); /* the odd bytes did their harm there */
    test_run_close(&before.run);
    test_run_close(&at.run);
    test_run_close(&after.run);
    test_run_close(&warned.run);
}

/* Nor does the first keep a second one, a few steps later, from being left out: however late the losses are read. */
TEST(skip_leaves_out_every_step_that_spikes)
{
    for (int64_t every = 1; every <= 5; every += 4) {
        outcome before, at;
        pt_train_options options = options_of(PT_SPIKE_SKIP, SPIKE + 6, every);
        for (int64_t g = 0; g < BATCH; g++) starts[(SPIKE + 6) * BATCH + g] = ODD + g;
        run_well(&before, "cpu", &options);
        CHECK_INT(before.n_spikes, 1);
        options.steps++;
        run_well(&at, "cpu", &options);
        CHECK_INT(at.n_spikes, 2);
        CHECK_INT(at.spike.step, SPIKE + 7);
        check_same_body(&before, SPIKE + 6, &at, SPIKE + 7, true);
        test_run_close(&before.run);
        test_run_close(&at.run);
    }
}

TEST(stop_ends_with_the_weights_before)
{
    static const int64_t reads[] = {1, 7, 64}; /* 64: other steps follow before the spike is read */
    for (int i = 0; i < 3; i++) {
        outcome before, stopped;
        pt_train_options options = options_of(PT_SPIKE_STOP, SPIKE - 1, reads[i]);
        run_well(&before, "cpu", &options);
        options.steps = STEPS;
        CHECK_INT(run(&stopped, "cpu", &options), PT_DIVERGED);
        CHECK(strstr(err.message, "step 100: a loss of ") && strstr(err.message, "saved as those"));
        CHECK_INT(stopped.told, SPIKE); /* the steps after it are nobody's */
        CHECK_INT(stopped.n_spikes, 1);
        CHECK_INT(stopped.spike.did, PT_SPIKE_STOP);
        CHECK_INT(pt_trainer_step(stopped.run.trainer), SPIKE - 1);
        check_same_body(&before, SPIKE - 1, &stopped, SPIKE - 1, true);
        test_run_close(&before.run);
        test_run_close(&stopped.run);
    }
}

/* For every way to read, one result: whatever the device's delays and whatever is looked at in between. */
TEST(delays_and_looking_change_nothing)
{
    for (int64_t every = 1; every <= 5; every += 4) {
        outcome plain, fake, watched;
        pt_train_options options = options_of(PT_SPIKE_SKIP, STEPS, every);
        run_well(&plain, "ref", &options);
        CHECK_INT(plain.n_spikes, 1);
        run_well(&fake, "fake", &options);
        options.eval_every = 5;
        options.save_every = 3;
        run_well(&watched, "ref", &options);
        CHECK(memcmp(plain.loss, fake.loss, sizeof plain.loss) == 0);
        CHECK(memcmp(plain.loss, watched.loss, sizeof plain.loss) == 0);
        check_same_body(&plain, STEPS, &fake, STEPS, true);
        check_same_body(&plain, STEPS, &watched, STEPS, true);
        test_run_close(&plain.run);
        test_run_close(&fake.run);
        test_run_close(&watched.run);
    }
}

/* The odd bytes come again after the rollback: then the step is left out, and the run goes on. */
TEST(the_step_of_a_rollback_is_left_out_when_it_spikes_again)
{
    for (int64_t every = 1; every <= 7; every += 6) {
        outcome o;
        pt_train_options options = options_of(PT_SPIKE_ROLLBACK, STEPS, every);
        options.save_every = 30;
        run_well(&o, "cpu", &options);
        CHECK_INT(o.rollbacks, 1);
        CHECK_INT(o.from, SPIKE);
        CHECK_INT(o.n_spikes, 2);
        CHECK_INT(o.spike.did, PT_SPIKE_SKIP);
        CHECK_INT(o.told, STEPS + 10); /* again from step 91 */
        CHECK_CLOSE(o.lr_scale, 0.5, 0);
        CHECK_CLOSE(o.lr[90], 5e-3, 1e-9);
        CHECK_CLOSE(o.lr[91], 2.5e-3, 1e-9);
        CHECK(strstr(o.run.file.data + 12, "\"rolledBackFrom\":[100]"));
        test_run_close(&o.run);
    }
}

/* Also by a run that was stopped between the rollback and the step: the file remembers which it is. */
TEST(a_resumed_run_leaves_out_the_step_of_its_rollback)
{
    outcome whole, part, rest;
    pt_train_options options = options_of(PT_SPIKE_ROLLBACK, STEPS, 1);
    options.save_every = 30;
    run_well(&whole, "cpu", &options);
    CHECK_OK(start_run(&part, "cpu", &options), err);
    while (part.told < SPIKE + 5) CHECK_INT(pt_trainer_poll(part.run.trainer, &err), PT_PENDING);
    pt_trainer_stop(part.run.trainer);
    CHECK_OK(finish(&part), err);
    CHECK_OK(start_run(&rest, "cpu", &options), err);
    CHECK_OK(restore(&rest, &part.run.file, &err), err);
    CHECK_OK(finish(&rest), err);
    CHECK_INT(rest.rollbacks, 0);
    check_same_body(&whole, STEPS, &rest, STEPS, true);
    test_run_close(&whole.run);
    test_run_close(&part.run);
    test_run_close(&rest.run);
}

/* What was not finite the first time and spikes the second is left out, and costs no second rollback; what spikes
 * first cannot be left out when it is not finite then, so it costs one more. */
TEST(a_step_that_goes_bad_in_two_ways_is_left_out_once_it_can_be)
{
    for (int64_t bad_pass = 0; bad_pass < 2; bad_pass++) {
        outcome o;
        pt_train_options options = options_of(PT_SPIKE_ROLLBACK, STEPS, 1);
        options.save_every = 30;
        CHECK_OK(start_run(&o, "cpu", &options), err);
        o.harm = (float)PT_NAN;
        pt_status s = PT_PENDING;
        while (s == PT_PENDING) {
            if (o.rollbacks == bad_pass && o.steps == SPIKE - 5) o.harm_after = SPIKE - 1;
            s = pt_trainer_poll(o.run.trainer, &err);
        }
        CHECK_OK(s, err);
        CHECK_INT(o.steps, STEPS);
        CHECK_INT(o.rollbacks, 1 + bad_pass);
        CHECK_INT(o.from, SPIKE);
        CHECK_INT(o.n_spikes, 2 + bad_pass);
        CHECK_INT(o.spike.did, PT_SPIKE_SKIP);
        CHECK_CLOSE(o.lr_scale, bad_pass ? 0.25 : 0.5, 0);
        CHECK(strstr(o.run.file.data + 12,
                     bad_pass ? "\"rolledBackFrom\":[100,100]" : "\"rolledBackFrom\":[100]"));
        test_run_close(&o.run);
    }
}

/* A step that is not finite each time it is done again: three times, then the run ends. */
TEST(rollback_goes_back_three_times_and_then_stops)
{
    outcome o;
    pt_train_options options = options_of(PT_SPIKE_ROLLBACK, 60, 1);
    CHECK_OK(start_run(&o, "cpu", &options), err);
    pt_status s = PT_PENDING;
    o.harm = (float)PT_NAN;
    while (s == PT_PENDING) {
        o.harm_after = 5;
        s = pt_trainer_poll(o.run.trainer, &err);
    }
    CHECK_INT(s, PT_DIVERGED);
    CHECK(strstr(err.message, "step 6 went to infinity or NaN"));
    CHECK_INT(o.rollbacks, 3);
    CHECK_CLOSE(o.lr_scale, 0.125, 0);
    test_run_close(&o.run);
}

/* Harm that does not come again: the rest of the run is that of a run which had half the rate from there. */
static void check_recovery(float harm, const char *bad)
{
    outcome harmed, half;
    pt_strbuf file = {0};
    pt_train_options options = options_of(PT_SPIKE_ROLLBACK, 60, 1);
    options.save_every = 60;
    run_well(&harmed, "cpu", &options);
    pt_strbuf_append(&file, harmed.run.file.data, harmed.run.file.len);
    test_run_close(&harmed.run);
    options.steps = 90;
    CHECK_OK(start_run(&harmed, "cpu", &options), err);
    harmed.harm_after = 70;
    harmed.harm = harm;
    CHECK_OK(finish(&harmed), err);
    CHECK_INT(harmed.steps, 90);
    CHECK_INT(harmed.rollbacks, 1);
    CHECK_INT(harmed.from, 71);
    CHECK_INT(harmed.n_spikes, 1);
    CHECK_INT(harmed.spike.did, PT_SPIKE_ROLLBACK);
    CHECK(strstr(harmed.bad, bad) && !harmed.bad[0] == !bad[0]);
    CHECK_OK(start_run(&half, "cpu", &options), err);
    CHECK_OK(restore(&half, &file, &err), err);
    half.run.trainer->lr_scale = 0.5;
    CHECK_OK(finish(&half), err);
    check_same_body(&harmed, 90, &half, 90, true);
    test_run_close(&half.run);
    pt_strbuf_clear(&file);
    pt_strbuf_append(&file, harmed.run.file.data, harmed.run.file.len);
    test_run_close(&harmed.run);
    options.steps = 95; /* the rate of a run that goes on from the file is still halved */
    CHECK_OK(start_run(&harmed, "cpu", &options), err);
    CHECK_OK(restore(&harmed, &file, &err), err);
    CHECK_OK(finish(&harmed), err);
    CHECK_CLOSE(harmed.lr[95], 2.5e-3, 1e-9);
    test_run_close(&harmed.run);
    pt_strbuf_deinit(&file);
}

TEST(rollback_recovers_from_a_spike) { check_recovery(300, ""); }
TEST(rollback_recovers_from_nan) { check_recovery((float)PT_NAN, "weight ln_final.weight"); }

/* Before the first regular checkpoint the run goes back to its start, which is saved for that. */
TEST(rollback_before_the_first_checkpoint_goes_to_the_start)
{
    outcome o, half;
    pt_train_options options = options_of(PT_SPIKE_ROLLBACK, 60, 1);
    CHECK_OK(start_run(&o, "cpu", &options), err);
    o.harm_after = 55;
    o.harm = 300;
    CHECK_OK(finish(&o), err);
    CHECK_INT(o.rollbacks, 1);
    options.lr /= 2;
    run_well(&half, "cpu", &options);
    check_same_body(&o, 60, &half, 60, true);
    test_run_close(&o.run);
    test_run_close(&half.run);
}

/* Stopped by the user in the middle of it all and gone on with: the same bits. */
TEST(a_resumed_run_skips_the_same_step)
{
    for (int64_t every = 1; every <= 4; every += 3) {
        for (int64_t cut = SPIKE - 6; cut < SPIKE; cut += 2) {
            outcome whole, part, rest;
            pt_train_options options = options_of(PT_SPIKE_SKIP, STEPS, every);
            run_well(&whole, "cpu", &options);
            CHECK_OK(start_run(&part, "cpu", &options), err);
            while (part.steps < cut) CHECK_INT(pt_trainer_poll(part.run.trainer, &err), PT_PENDING);
            pt_trainer_stop(part.run.trainer);
            CHECK_OK(finish(&part), err);
            CHECK_OK(start_run(&rest, "cpu", &options), err);
            CHECK_OK(restore(&rest, &part.run.file, &err), err);
            CHECK_OK(finish(&rest), err);
            CHECK_INT(part.n_spikes + rest.n_spikes, 1);
            check_same_body(&whole, STEPS, &rest, STEPS, true);
            test_run_close(&whole.run);
            test_run_close(&part.run);
            test_run_close(&rest.run);
        }
    }
}

/* ---- a GPU, whose losses are read eight steps at a time: what the processor says, it says ---- */

#define LATE 8

static bool no_gpu(void)
{
    const char *library = getenv("POSTTRAIN_WEBGPU");
    return !library || !*library;
}

/* From step 96 on the same run on both: an emulated GPU is slow. */
static void run_twice(outcome both[2], const pt_train_options *options, pt_status ends)
{
    outcome first;
    CHECK_OK(start_run(&first, "cpu", options), err);
    while (first.told < SPIKE - 4) CHECK_INT(pt_trainer_poll(first.run.trainer, &err), PT_PENDING);
    pt_trainer_stop(first.run.trainer);
    CHECK_OK(finish(&first), err);
    for (int i = 0; i < 2; i++) {
        pt_train_options o = *options;
        if (i) o.read_every = 0; /* the GPU's own */
        CHECK_OK(start_run(&both[i], i ? "webgpu" : "cpu", &o), err);
        pt_strbuf_append(&both[i].run.file, first.run.file.data, first.run.file.len);
        CHECK_OK(restore(&both[i], &first.run.file, &err), err);
        CHECK_INT(finish(&both[i]), ends);
    }
    CHECK_INT(both[1].run.trainer->options.read_every, LATE);
    CHECK_INT(both[1].steps, both[0].steps);
    CHECK_INT(both[1].told, both[0].told);
    CHECK_INT(both[1].n_spikes, both[0].n_spikes);
    CHECK_INT(both[1].spike.step, both[0].spike.step);
    CHECK_INT(both[1].spike.did, both[0].spike.did);
    CHECK_INT(both[1].rollbacks, both[0].rollbacks);
    CHECK_INT(pt_trainer_step(both[1].run.trainer), pt_trainer_step(both[0].run.trainer));
    for (int64_t i = SPIKE - 3; i <= both[0].steps; i++)
        CHECK_CLOSE(both[1].loss[i], both[0].loss[i], 1e-4 * both[0].loss[i]);
    test_run_close(&first.run);
}

static void close_both(outcome both[2])
{
    test_run_close(&both[0].run);
    test_run_close(&both[1].run);
}

TEST(a_gpu_leaves_out_a_spike_that_is_read_late)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    outcome both[2];
    pt_train_options options = options_of(PT_SPIKE_SKIP, STEPS, LATE);
    run_twice(both, &options, PT_OK);
    CHECK_INT(both[1].n_spikes, 1);
    CHECK_INT(both[1].spike.step, SPIKE);
    CHECK_INT(both[1].spike.did, PT_SPIKE_SKIP);
    CHECK_CLOSE(both[1].spike.limit, both[0].spike.limit, 1e-3 * both[0].spike.limit);
    CHECK(both[1].loss[SPIKE + 1] < both[1].spike.limit); /* the odd bytes did no harm */
    close_both(both);
}

TEST(a_gpu_stops_at_a_spike_that_is_read_late)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    outcome both[2];
    pt_train_options options = options_of(PT_SPIKE_STOP, STEPS, LATE);
    run_twice(both, &options, PT_DIVERGED);
    CHECK(strstr(err.message, "step 100: a loss of ") && strstr(err.message, "saved as those"));
    CHECK_INT(both[1].run.saved_step, SPIKE - 1);
    close_both(both);
}

TEST(a_gpu_rolls_back_from_a_spike_that_is_read_late)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    outcome both[2];
    pt_train_options options = options_of(PT_SPIKE_ROLLBACK, STEPS, LATE);
    run_twice(both, &options, PT_OK);
    CHECK_INT(both[1].rollbacks, 1);
    CHECK_INT(both[1].from, SPIKE);
    CHECK_INT(both[1].told, STEPS - (SPIKE - 4) + 4); /* again from step 97 */
    CHECK_CLOSE(both[1].lr[SPIKE - 3], 2.5e-3, 1e-9);
    close_both(both);
}

/* The bad step, its first bad tensor and the op that made it are named as the processor names them. */
TEST(a_gpu_names_what_is_not_finite)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    static const float harms[] = {(float)PT_NAN, 3e38f};
    for (int i = 0; i < 2; i++) {
        char said[2][sizeof err.message];
        for (int k = 0; k < 2; k++) {
            outcome o;
            pt_train_options options = options_of(PT_SPIKE_WARN, 40, LATE);
            CHECK_OK(start_run(&o, k ? "webgpu" : "cpu", &options), err);
            o.harm_after = 2 * LATE;
            o.harm = harms[i];
            CHECK_INT(finish(&o), PT_DIVERGED);
            CHECK_INT(o.steps, 2 * LATE); /* of the six behind it, none counts */
            CHECK_INT(o.run.saved_step, 2 * LATE);
            snprintf(said[k], sizeof said[k], "%s", err.message);
            test_run_close(&o.run);
        }
        CHECK(strstr(said[0], "step 17 went to infinity or NaN; first bad tensor: "));
        CHECK_STR(said[1], said[0]);
    }
}

TEST(a_gpu_that_explodes_ends_where_the_processor_does)
{
    if (no_gpu()) SKIP("no library that offers webgpu.h: make webgpu");
    outcome both[2];
    pt_train_options options = options_of(PT_SPIKE_WARN, 40, LATE);
    options.lr = options.weight_decay = 900;
    options.clip = 0;
    char said[2][sizeof err.message];
    for (int i = 0; i < 2; i++) {
        CHECK_INT(run(&both[i], i ? "webgpu" : "cpu", &options), PT_DIVERGED);
        snprintf(said[i], sizeof said[i], "%s", err.message);
    }
    CHECK(both[0].steps >= 1 && both[0].steps < 40);
    CHECK_STR(said[1], said[0]);
    close_both(both);
}

PT_TEST_MAIN
