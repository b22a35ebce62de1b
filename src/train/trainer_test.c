/* The trainer: what may not change a run, what must stop it, and what it must not do.
 * SPDX-License-Identifier: MIT */
#include "model/load_tinygpt.h"
#include "train/test_run.h"

#define MAX_STEPS 512

typedef struct outcome {
    test_run run;
    double loss[MAX_STEPS], norm[MAX_STEPS];
    int64_t steps, evaluations, samples;
    double val_loss;
    char sample[256];
    int64_t allocations[MAX_STEPS]; /* count after each step */
} outcome;

static pt_error err;
static const char *run_isa; /* of start_run's cpu; NULL: the best */

static pt_status on_step(void *ctx, const pt_step_report *r, pt_error *e)
{
    (void)e;
    outcome *o = ctx;
    o->loss[o->steps] = r->loss;
    o->norm[o->steps] = r->grad_norm;
    o->allocations[o->steps] = pt_alloc_count();
    o->steps++;
    return r->step == o->steps ? PT_OK : PT_INTERNAL;
}

static pt_status on_evaluated(void *ctx, int64_t step, double val_loss, pt_error *e)
{
    (void)step, (void)e;
    ((outcome *)ctx)->evaluations++;
    ((outcome *)ctx)->val_loss = val_loss;
    return PT_OK;
}

static pt_status on_sampled(void *ctx, int64_t step, const char *bytes, int64_t n, pt_error *e)
{
    (void)step, (void)e;
    outcome *o = ctx;
    o->samples++;
    memcpy(o->sample, bytes, (size_t)n);
    o->sample[n] = 0;
    return PT_OK;
}

/* Every character once, so that one character tells where in the text a window begins: a model can
 * reach a loss of zero. */
static const char sentence[] =
    "qwertyuiopasdfghjklzxcvbnm ,.QWERTYUIOPASDFGHJKLZXCVBNM!?0123456789";

static const uint8_t *corpus(void)
{
    static uint8_t text[4096];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)sentence[i % (sizeof sentence - 1)];
    return text;
}

static pt_model_config small_model(void)
{
    pt_model_config c = {.n_layers = 2, .d_model = 32, .n_heads = 2, .ctx = 16};
    pt_model_config_complete(&c);
    return c;
}

static pt_train_options short_run(void)
{
    pt_train_options o = pt_train_defaults();
    o.steps = 12;
    o.batch = 8;
    o.lr = 2e-3;
    o.eval_batches = 2;
    o.sample_tokens = 20;
    return o;
}

/* kind: "ref", "cpu", "fake" (over ref). The trainer is left open for a look; test_run_close ends it. */
static pt_status start_run(outcome *o, const char *kind, int threads,
                           const pt_train_options *options)
{
    pt_model_config config = small_model();
    pt_cpu_options cpu = {.threads = threads, .isa = run_isa};
    pt_trainer_desc desc = {.config = config,
                            .options = *options,
                            .corpus = corpus(),
                            .corpus_bytes = 4096,
                            .events = {.ctx = o,
                                       .step = on_step,
                                       .evaluated = on_evaluated,
                                       .sampled = on_sampled,
                                       .save_begin = test_run_save_begin,
                                       .save_end = test_run_save_end}};
    memset(o, 0, sizeof *o);
    return test_run_open(&o->run, kind, &cpu, &desc, &err);
}

static pt_status finish_run(outcome *o) { return test_run_finish(&o->run, &err); }

static void run(outcome *o, const char *kind, int threads, const pt_train_options *options)
{
    CHECK_OK(start_run(o, kind, threads, options), err);
    CHECK_OK(finish_run(o), err);
    CHECK_INT(o->steps, options->steps);
}

static void check_same_curve(const outcome *a, const outcome *b)
{
    CHECK_INT(a->steps, b->steps);
    CHECK(memcmp(a->loss, b->loss, sizeof a->loss) == 0);
    CHECK(memcmp(a->norm, b->norm, sizeof a->norm) == 0);
}

static void check_same_weights(const outcome *a, const outcome *b)
{
    const pt_tensor *x = &pt_trainer_model(a->run.trainer)->weights.flat;
    const pt_tensor *y = &pt_trainer_model(b->run.trainer)->weights.flat;
    CHECK(memcmp(pt_host(x), pt_host(y), (size_t)pt_tensor_bytes(x)) == 0);
}

static pt_status load_param(void *ctx, int64_t index, const float *w, const float *m,
                            const float *v, pt_error *e)
{
    return pt_trainer_load(ctx, index, w, m, v, e);
}

TEST(defaults_are_the_originals)
{
    pt_train_options o = pt_train_defaults();
    CHECK_CLOSE(o.lr, 3e-4, 0);
    CHECK_CLOSE(o.beta1, 0.9, 0);
    CHECK_CLOSE(o.beta2, 0.95, 0);
    CHECK_CLOSE(o.eps, 1e-8, 0);
    CHECK_CLOSE(o.weight_decay, 0.1, 0);
    CHECK_CLOSE(o.clip, 1.0, 0);
    CHECK_INT(o.seed, 42);
    CHECK_INT(o.batch, 16);
    CHECK_INT(o.accum, 1);
    CHECK_INT(o.warmup, 0);
    CHECK_INT(o.schedule, PT_SCHEDULE_CONSTANT);
    CHECK(!o.upstream_init);
}

/* How many of the device's threads have had work. */
static int working_threads(const outcome *o)
{
    pt_pool *pool = pt_device_cpu_pool(o->run.device);
    int working = 0;
    for (int i = 0; i < pt_pool_threads(pool); i++) working += pt_pool_chunks_run(pool, i) > 0;
    return working;
}

TEST(the_curve_has_the_same_bits_for_any_thread_count)
{
    static const int threads[] = {1, 2, 3, 8};
    pt_train_options options = short_run();
    outcome first, other;
    options.steps = 25;
    options.batch = 32;
    run(&first, "cpu", threads[0], &options);
    CHECK(first.loss[options.steps - 1] < first.loss[0] - 0.5);
    for (int i = 1; i < 4; i++) {
        /* A busy machine may keep a thread from its share for a whole short run, so several runs. */
        int wanted = threads[i] < 4 ? threads[i] : 4, most = 0;
        for (int attempt = 0; attempt < 20 && most < wanted; attempt++) {
            run(&other, "cpu", threads[i], &options);
            check_same_curve(&first, &other);
            check_same_weights(&first, &other);
            CHECK_INT(pt_pool_threads(pt_device_cpu_pool(other.run.device)), threads[i]);
            if (working_threads(&other) > most) most = working_threads(&other);
            test_run_close(&other.run);
        }
        CHECK(most >= wanted);
    }
    test_run_close(&first.run);
}

/* Without fused multiply-adds every instruction set computes the bits of plain C. */
TEST(strict_instruction_sets_agree_bit_for_bit)
{
    pt_train_options options = short_run();
    outcome base, strict;
    int n = 0;
    run_isa = "base";
    run(&base, "cpu", 2, &options);
    for (const char *const *isa = pt_device_cpu_isas(); *isa; isa++) {
        if (!strstr(*isa, "-strict")) continue;
        run_isa = *isa;
        run(&strict, "cpu", 2, &options);
        check_same_curve(&base, &strict);
        check_same_weights(&base, &strict);
        CHECK(base.val_loss == strict.val_loss);
        test_run_close(&strict.run);
        n++;
    }
    run_isa = NULL;
    test_run_close(&base.run);
    if (!n) SKIP("this machine has no instruction set beyond plain C");
}

TEST(looking_changes_nothing)
{
    pt_train_options options = short_run();
    outcome plain, watched;
    run(&plain, "cpu", 2, &options);
    CHECK_INT(plain.evaluations, 1);
    options.eval_every = 1;
    options.sample_every = 2;
    options.save_every = 3;
    run(&watched, "cpu", 2, &options);
    CHECK_INT(watched.evaluations, 1 + options.steps);
    CHECK_INT(watched.samples, 1 + options.steps / 2);
    check_same_curve(&plain, &watched);
    check_same_weights(&plain, &watched);
    CHECK(plain.val_loss == watched.val_loss);
    test_run_close(&plain.run);
    test_run_close(&watched.run);
}

TEST(nothing_waits_and_nothing_is_read_early)
{
    pt_train_options options = short_run();
    options.eval_every = 5;
    options.sample_every = 4;
    outcome plain, fake;
    run(&plain, "ref", 1, &options);
    for (int64_t every = 1; every <= 7; every += 3) {
        options.read_every = every;
        run(&fake, "fake", 1, &options);
        check_same_curve(&plain, &fake);
        CHECK(plain.val_loss == fake.val_loss);
        CHECK_STR(fake.sample, plain.sample);
        pt_tinygpt *a = test_run_file(&plain.run), *b = test_run_file(&fake.run);
        CHECK_INT(pt_tinygpt_get(a)->crc, pt_tinygpt_get(b)->crc);
        pt_tinygpt_close(a);
        pt_tinygpt_close(b);
        test_run_close(&fake.run);
    }
    test_run_close(&plain.run);
}

TEST(accumulation_is_one_batch)
{
    static const int64_t shapes[3][2] = {{16, 1}, {4, 4}, {1, 16}};
    outcome runs[3];
    for (int i = 0; i < 3; i++) {
        pt_train_options options = short_run();
        options.batch = shapes[i][0];
        options.accum = shapes[i][1];
        options.lr = 3e-4;
        options.steps = 1; /* the gradients of the first step stay to be looked at */
        CHECK_OK(start_run(&runs[i], "cpu", 2, &options), err);
        CHECK_OK(finish_run(&runs[i]), err);
        if (!i) continue;
        const pt_tensor *flat = &pt_trainer_model(runs[0].run.trainer)->grads.flat;
        const float *a = pt_host(flat),
                    *b = pt_host(&pt_trainer_model(runs[i].run.trainer)->grads.flat);
        double off = 0, size = 0;
        for (int64_t k = 0; k < pt_numel(flat); k++) {
            off += (double)(a[k] - b[k]) * (double)(a[k] - b[k]);
            size += (double)a[k] * (double)a[k];
        }
        CHECK_CLOSE(pt_sqrt(off / size), 0, 1e-5);
        CHECK_CLOSE(runs[i].loss[0] / runs[0].loss[0], 1, 1e-6);
    }
    for (int i = 0; i < 3; i++) test_run_close(&runs[i].run);
    for (int i = 0; i < 3; i++) {
        pt_train_options options = short_run();
        options.batch = shapes[i][0];
        options.accum = shapes[i][1];
        options.lr = 3e-4;
        run(&runs[i], "cpu", 2, &options);
        for (int64_t k = 0; k < options.steps; k++)
            CHECK_CLOSE(runs[i].loss[k] / runs[0].loss[k], 1, 1e-6);
    }
    for (int i = 0; i < 3; i++) test_run_close(&runs[i].run);
}

TEST(a_few_kilobytes_can_be_learnt_by_heart)
{
    static const char *const kinds[] = {"ref", "cpu"};
    for (int i = 0; i < 2; i++) {
        outcome o;
        pt_train_options options = short_run();
        options.steps = 400;
        options.lr = 5e-3;
        options.schedule = PT_SCHEDULE_COSINE;
        options.warmup = 10;
        options.weight_decay = 0;
        options.batch = 6;
        run(&o, kinds[i], 2, &options);
        if (!(pt_trainer_train_loss(o.run.trainer) < 0.02))
            printf("%s: %g\n", kinds[i], pt_trainer_train_loss(o.run.trainer));
        CHECK(pt_trainer_train_loss(o.run.trainer) < 0.02);
        test_run_close(&o.run);
    }
}

TEST(steps_allocate_nothing)
{
    outcome o;
    pt_train_options options = short_run();
    options.steps = 30;
    run(&o, "cpu", 2, &options);
    for (int64_t i = 1; i < options.steps; i++) CHECK_INT(o.allocations[i], o.allocations[0]);
    test_run_close(&o.run);
}

TEST(a_bad_weight_is_named_and_nothing_is_updated)
{
    static const char *const kinds[] = {"cpu", "fake"};
    for (int i = 0; i < 2; i++) {
        outcome o;
        pt_train_options options = short_run();
        options.read_every = 5;
        CHECK_OK(start_run(&o, kinds[i], 2, &options), err);
        const pt_params *params = &pt_trainer_model(o.run.trainer)->params;
        const pt_param *bad = pt_params_find(params, "blocks.1.mlp.fc_in.weight");
        float *w = malloc((size_t)bad->n * sizeof *w);
        for (int64_t k = 0; k < bad->n; k++) w[k] = 0.01F;
        w[7] = (float)PT_NAN;
        CHECK_OK(pt_trainer_load(o.run.trainer, bad - params->list, w, NULL, NULL, &err), err);
        free(w);
        CHECK_INT(finish_run(&o), PT_DIVERGED);
        CHECK_INT(o.steps, 0);
        if (!strstr(err.message, "weight blocks.1.mlp.fc_in.weight")) printf("%s\n", err.message);
        CHECK(strstr(err.message, "weight blocks.1.mlp.fc_in.weight"));
        CHECK(strstr(err.message, "step 1 "));
        CHECK(strstr(err.message, "op linear, forward"));
        if (i == 0) { /* the other weights are those of the start */
            outcome fresh;
            CHECK_OK(start_run(&fresh, "cpu", 1, &options), err);
            const pt_param *other = pt_params_find(params, "blocks.0.attn.q_proj.weight");
            pt_tensor x = pt_param_tensor(other, &pt_trainer_model(o.run.trainer)->weights.flat);
            pt_tensor y =
                pt_param_tensor(other, &pt_trainer_model(fresh.run.trainer)->weights.flat);
            CHECK(memcmp(pt_host(&x), pt_host(&y), (size_t)pt_tensor_bytes(&x)) == 0);
            test_run_close(&fresh.run);
        }
        test_run_close(&o.run);
    }
}

TEST(a_run_that_explodes_stops_with_the_last_good_weights)
{
    outcome o, replay;
    pt_train_options options = short_run();
    options.steps = 200;
    options.lr = 900;
    options.clip = 0;
    options.weight_decay = 900;
    CHECK_OK(start_run(&o, "cpu", 2, &options), err);
    CHECK_INT(finish_run(&o), PT_DIVERGED);
    CHECK(o.steps >= 1 && o.steps < 200);
    CHECK(strstr(err.message, "first bad tensor") && strstr(err.message, "saved"));
    pt_tinygpt *file = test_run_file(&o.run);
    CHECK_INT(pt_tinygpt_get(file)->step, o.steps);
    pt_tinygpt_close(file);
    options.steps = o.steps;
    options.schedule = PT_SCHEDULE_CONSTANT;
    run(&replay, "cpu", 1, &options);
    check_same_weights(&o, &replay);
    test_run_close(&o.run);
    test_run_close(&replay.run);
}

TEST(a_stop_saves_and_ends)
{
    outcome o;
    pt_train_options options = short_run();
    CHECK_OK(start_run(&o, "cpu", 2, &options), err);
    while (o.steps < 4) CHECK_INT(pt_trainer_poll(o.run.trainer, &err), PT_PENDING);
    pt_trainer_stop(o.run.trainer);
    CHECK_OK(finish_run(&o), err);
    CHECK(o.steps < 7);
    pt_tinygpt *file = test_run_file(&o.run);
    CHECK_INT(pt_tinygpt_get(file)->step, o.steps);
    pt_tinygpt_close(file);
    test_run_close(&o.run);
}

/* Stopped at every poll of a run that saves, evaluates and samples: it always ends, soon, with a file of
 * the steps that were done. */
TEST(a_stop_at_any_moment_saves_what_is_done)
{
    pt_train_options options = short_run();
    options.steps = 4;
    options.accum = 2;
    options.eval_every = 2;
    options.sample_every = 1;
    options.save_every = 2;
    for (int64_t polls = 0;; polls++) {
        outcome o;
        pt_status s = PT_PENDING;
        options.read_every = 1 + polls % 3;
        CHECK_OK(start_run(&o, "fake", 1, &options), err);
        for (int64_t i = 0; i < polls && s == PT_PENDING; i++)
            s = pt_trainer_poll(o.run.trainer, &err);
        if (s == PT_OK) {
            test_run_close(&o.run);
            break;
        }
        pt_trainer_stop(o.run.trainer);
        int64_t more = 0;
        for (; s == PT_PENDING; more++) s = pt_trainer_poll(o.run.trainer, &err);
        CHECK_OK(s, err);
        CHECK(more < 700); /* a save is about 110 tensors of up to 5 polls */
        pt_tinygpt *file = test_run_file(&o.run);
        CHECK_INT(pt_tinygpt_get(file)->step, o.steps);
        pt_tinygpt_close(file);
        test_run_close(&o.run);
        polls += PT_SANITIZED ? 23 : polls > 40 ? 17 : 0;
    }
}

/* Without anything that is due at the end, and with a ring that the steps don't fill. */
TEST(a_run_ends_at_its_last_step)
{
    pt_device *device = NULL;
    outcome o = {0};
    pt_trainer_desc desc = {.config = small_model(),
                            .options = short_run(),
                            .corpus = corpus(),
                            .corpus_bytes = 100, /* nothing held out */
                            .events = {.ctx = &o, .step = on_step}};
    desc.options.steps = 10;
    desc.options.read_every = 4;
    CHECK_OK(pt_device_ref_new(&device, PT_F32, &err), err);
    CHECK_OK(pt_trainer_new(&o.run.trainer, device, &desc, &err), err);
    CHECK_OK(pt_trainer_begin(o.run.trainer, NULL, &err), err);
    CHECK_OK(finish_run(&o), err);
    CHECK_INT(o.steps, 10);
    CHECK_INT(pt_trainer_step(o.run.trainer), 10);
    pt_trainer_free(o.run.trainer);
    pt_device_free(device);
}

/* Stopped, its file loaded into a new trainer: the rest of the curve is the one it would have had. */
TEST(a_loaded_file_continues_the_curve)
{
    outcome whole, part, rest;
    pt_train_options options = short_run();
    options.accum = 2;
    run(&whole, "cpu", 2, &options);
    CHECK_OK(start_run(&part, "cpu", 2, &options), err);
    while (part.steps < 5) CHECK_INT(pt_trainer_poll(part.run.trainer, &err), PT_PENDING);
    pt_trainer_stop(part.run.trainer);
    CHECK_OK(finish_run(&part), err);
    pt_tinygpt *file = test_run_file(&part.run);
    CHECK_OK(start_run(&rest, "cpu", 2, &options), err);
    CHECK_OK(pt_tinygpt_visit(file, &pt_trainer_model(rest.run.trainer)->params, true, load_param,
                              rest.run.trainer, &err),
             err);
    pt_trainer_set_step(rest.run.trainer, part.steps);
    rest.steps = part.steps;
    CHECK_OK(finish_run(&rest), err);
    for (int64_t i = part.steps; i < options.steps; i++) CHECK(rest.loss[i] == whole.loss[i]);
    check_same_weights(&whole, &rest);
    pt_tinygpt_close(file);
    test_run_close(&whole.run);
    test_run_close(&part.run);
    test_run_close(&rest.run);
}

/* The mask of a sample depends on neither batch, accumulation, nor how long windows are. */
TEST(dropout_does_not_depend_on_accumulation)
{
    static const int64_t shapes[2][2] = {{4, 1}, {1, 4}};
    static const struct {
        int64_t width, heads, ctx, window;
    } models[] = {{32, 2, 16, 16}, {32, 2, 16, 7}, {15, 3, 15, 15}};
    for (int m = 0; m < 3; m++) {
        double loss[2];
        for (int i = 0; i < 2; i++) {
            outcome o = {0};
            pt_device *device = NULL;
            pt_trainer_desc desc = {.config = {.n_layers = 2,
                                               .d_model = models[m].width,
                                               .n_heads = models[m].heads,
                                               .ctx = models[m].ctx,
                                               .dropout = 0.4},
                                    .options = short_run(),
                                    .corpus = corpus(),
                                    .corpus_bytes = 4096,
                                    .events = {.ctx = &o, .step = on_step}};
            pt_model_config_complete(&desc.config);
            desc.options.steps = 1;
            desc.options.ctx = models[m].window;
            desc.options.batch = shapes[i][0];
            desc.options.accum = shapes[i][1];
            CHECK_OK(pt_device_cpu_new(&device, NULL, &err), err);
            CHECK_OK(pt_trainer_new(&o.run.trainer, device, &desc, &err), err);
            CHECK_OK(pt_trainer_begin(o.run.trainer, NULL, &err), err);
            CHECK_OK(finish_run(&o), err);
            loss[i] = o.loss[0];
            pt_trainer_free(o.run.trainer);
            pt_device_free(device);
        }
        CHECK_CLOSE(loss[1] / loss[0], 1, 1e-6);
    }
}

TEST(options_are_checked_by_name)
{
    struct {
        const char *name;
        pt_train_options options;
    } bad[8];
    for (int i = 0; i < 8; i++) bad[i].options = pt_train_defaults();
    bad[0].name = "steps", bad[0].options.steps = 0;
    bad[1].name = "batch", bad[1].options.batch = -1;
    bad[2].name = "accum", bad[2].options.accum = 0;
    bad[3].name = "lr", bad[3].options.lr = -1;
    bad[4].name = "beta2", bad[4].options.beta2 = 1;
    bad[5].name = "eval-batches", bad[5].options.eval_batches = 0;
    bad[6].name = "temperature", bad[6].options.sampler.temperature = -2;
    bad[7].name = "lr", bad[7].options.lr = PT_NAN;
    for (int i = 0; i < 8; i++) {
        memset(&err, 0, sizeof err);
        CHECK_INT(pt_train_options_check(&bad[i].options, &err), PT_BAD_INPUT);
        CHECK(strstr(err.message, bad[i].name) != NULL);
    }
}

TEST(every_failing_allocation_is_reported)
{
    outcome o;
    pt_train_options options = short_run();
    pt_model_config config = small_model();
    options.sample_every = 5;
    for (int64_t nth = 1;; nth++) {
        pt_trainer *trainer = NULL;
        pt_device *device = NULL;
        pt_trainer_desc desc = {.config = config,
                                .options = options,
                                .corpus = corpus(),
                                .corpus_bytes = 4096,
                                .events = {.ctx = &o,
                                           .save_begin = test_run_save_begin,
                                           .save_end = test_run_save_end}};
        memset(&err, 0, sizeof err);
        memset(&o, 0, sizeof o);
        CHECK_OK(pt_device_ref_new(&device, PT_F32, &err), err);
        pt_alloc_fail_after(nth);
        pt_status s = pt_trainer_new(&trainer, device, &desc, &err);
        if (s == PT_OK) s = pt_trainer_begin(trainer, NULL, &err);
        pt_alloc_fail_after(0);
        pt_trainer_free(trainer);
        pt_device_free(device);
        if (s == PT_OK) {
            CHECK(nth > 10);
            break;
        }
        CHECK_INT(s, PT_NO_MEMORY);
        CHECK(err.message[0]);
    }
}

PT_TEST_MAIN
