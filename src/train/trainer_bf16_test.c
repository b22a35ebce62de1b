/* Training with matrices and activations in bf16: the curve of f32, the same bits however the work is shared, and files
 * that hold the f32 weights.
 * SPDX-License-Identifier: MIT */
#include "base/rng.h"
#include "model/load_tinygpt.h"
#include "ops/ops.h"
#include "train/test_run.h"

#define STEPS 300
#define CORPUS 20000

typedef struct outcome {
    test_run run;
    double loss[STEPS];
    int64_t n;
    double val_loss;
    char sample[64];
    int64_t step_bytes;
} outcome;

static pt_error err;

static pt_status on_step(void *ctx, const pt_step_report *r, pt_error *e)
{
    (void)e;
    ((outcome *)ctx)->loss[((outcome *)ctx)->n++] = r->loss;
    return PT_OK;
}

static pt_status on_evaluated(void *ctx, int64_t step, double val_loss, pt_error *e)
{
    (void)step, (void)e;
    ((outcome *)ctx)->val_loss = val_loss;
    return PT_OK;
}

static pt_status on_sampled(void *ctx, int64_t step, const char *bytes, int64_t n, pt_error *e)
{
    (void)step, (void)e;
    memcpy(((outcome *)ctx)->sample, bytes, (size_t)n);
    return PT_OK;
}

/* Each letter is followed by one of four, at random: a loss of ln 4 can be reached, but not much less. */
static const uint8_t *corpus(void)
{
    static uint8_t text[CORPUS];
    for (int64_t i = 1; i < CORPUS; i++) {
        double u = pt_rng_uniform(5, PT_STREAM_TEST, 0, (uint64_t)i);
        text[i] = (uint8_t)((text[i - 1] * 7 + 11 * (int)(u * 4) + 3) % 32);
    }
    return text;
}

typedef struct setting {
    bool bf16;
    int threads, recompute;
    int64_t steps;
    const char *isa;
    bool llama;
} setting;

static pt_trainer_desc describe(const setting *s, outcome *o)
{
    pt_trainer_desc desc = {
        .config = {.n_layers = 2, .d_model = 32, .n_heads = 2, .ctx = 16, .dropout = 0.05},
        .options = pt_train_defaults(),
        .corpus = corpus(),
        .corpus_bytes = CORPUS,
        .events = {.ctx = o,
                   .step = on_step,
                   .evaluated = on_evaluated,
                   .sampled = on_sampled,
                   .save_begin = test_run_save_begin,
                   .save_end = test_run_save_end}};
    if (s->llama) {
        desc.config.n_kv_heads = 1;
        desc.config.norm = PT_NORM_RMS;
        desc.config.positions = PT_POSITION_ROPE;
        desc.config.mlp = PT_MLP_SWIGLU;
        desc.config.no_bias = desc.config.qk_norm = desc.config.untied_head = true;
        desc.events.save_begin = NULL; /* not a model that the format holds */
    }
    pt_model_config_complete(&desc.config);
    desc.options.steps = s->steps;
    desc.options.batch = 8;
    desc.options.lr = 2e-3;
    desc.options.eval_batches = 2;
    desc.options.sample_every = s->steps;
    desc.options.sample_tokens = 40;
    desc.options.recompute = s->recompute;
    desc.options.bf16 = s->bf16;
    return desc;
}

static void open_run(const setting *s, outcome *o)
{
    memset(o, 0, sizeof *o);
    pt_trainer_desc desc = describe(s, o);
    pt_cpu_options cpu = {.threads = s->threads, .isa = s->isa};
    CHECK_OK(test_run_open(&o->run, "cpu", &cpu, &desc, &err), err);
    o->step_bytes = pt_trainer_plan(o->run.trainer)->arena_bytes[PT_ARENA_STEP];
}

static void train(const setting *s, outcome *o)
{
    open_run(s, o);
    CHECK_OK(test_run_finish(&o->run, &err), err);
}

static void expect_same(const outcome *a, const outcome *b)
{
    CHECK_INT(a->n, b->n);
    CHECK(memcmp(a->loss, b->loss, sizeof a->loss) == 0);
    CHECK(a->val_loss == b->val_loss);
    CHECK(memcmp(a->sample, b->sample, sizeof a->sample) == 0);
}

static bool has_bf16(const char *isa) { return !pt_str_ends(isa, "-strict"); }

TEST(the_curve_is_that_of_f32_within_one_percent)
{
    for (const char *const *isa = pt_device_cpu_isas(); *isa; isa++) {
        if (!has_bf16(*isa)) continue;
        outcome wide, narrow;
        train(&(setting){.threads = 1, .steps = STEPS, .isa = *isa}, &wide);
        train(&(setting){.bf16 = true, .threads = 1, .steps = STEPS, .isa = *isa}, &narrow);
        double worst = 0;
        for (int i = 0; i < STEPS; i++) {
            double off = pt_fabs(narrow.loss[i] / wide.loss[i] - 1);
            if (!(off <= worst)) worst = off;
        }
        CHECK_CLOSE(worst, 0, 0.01);
        CHECK(worst > 0 && narrow.loss[STEPS - 1] < 2.2);
        CHECK_CLOSE(narrow.val_loss / wide.val_loss, 1, 0.01);
        CHECK(narrow.step_bytes < wide.step_bytes * 7 / 10);
        test_run_close(&wide.run);
        test_run_close(&narrow.run);
    }
}

TEST(neither_threads_nor_recomputing_change_a_bit)
{
    static const int recompute[] = {PT_RECOMPUTE_NONE, PT_RECOMPUTE_CHEAP, PT_RECOMPUTE_BLOCK};
    for (int llama = 0; llama < 2; llama++) {
        outcome one, other;
        setting s = {.bf16 = true, .threads = 1, .steps = 20, .llama = llama};
        train(&s, &one);
        for (int i = 0; i < 3; i++) {
            s.threads = 2 + 3 * i;
            s.recompute = recompute[i];
            train(&s, &other);
            expect_same(&one, &other);
            test_run_close(&other.run);
        }
        test_run_close(&one.run);
    }
}

static pt_status load_param(void *ctx, int64_t index, const float *w, const float *m,
                            const float *v, pt_error *e)
{
    return pt_trainer_load(ctx, index, w, m, v, e);
}

static void poll_until(outcome *o, int64_t steps)
{
    pt_status status = PT_PENDING;
    while (status == PT_PENDING && o->n < steps) status = pt_trainer_poll(o->run.trainer, &err);
    CHECK_INT(status, PT_PENDING);
    pt_trainer_stop(o->run.trainer);
    CHECK_OK(test_run_finish(&o->run, &err), err);
}

/* A run that goes on from a file has the curve that it would have had: the file holds the weights in full. */
TEST(a_file_holds_the_f32_weights)
{
    setting s = {.bf16 = true, .threads = 2, .steps = 12};
    outcome whole, part, rest;
    train(&s, &whole);
    CHECK(strstr(whole.run.file.data + 16, "\"dtype\":\"bf16\"") != NULL);
    open_run(&s, &part);
    poll_until(&part, 5);
    pt_tinygpt *file = test_run_file(&part.run);
    open_run(&s, &rest);
    pt_trainer *trainer = rest.run.trainer;
    CHECK_OK(
        pt_tinygpt_visit(file, &pt_trainer_model(trainer)->params, true, load_param, trainer, &err),
        err);
    pt_trainer_set_step(trainer, part.n);
    poll_until(&rest, s.steps - part.n - 1);
    for (int64_t i = 0; i < rest.n; i++) CHECK(rest.loss[i] == whole.loss[part.n + i]);
    CHECK(part.n == 5 && rest.n >= 6);
    pt_tinygpt_close(file);
    test_run_close(&whole.run);
    test_run_close(&part.run);
    test_run_close(&rest.run);
}

TEST(a_device_without_bf16_says_so)
{
    pt_device *device = NULL;
    pt_trainer *trainer = NULL;
    outcome o = {0};
    pt_trainer_desc desc = describe(&(setting){.bf16 = true, .steps = 1}, &o);
    CHECK_OK(pt_device_ref_new(&device, PT_F32, &err), err);
    CHECK_INT(pt_trainer_new(&trainer, device, &desc, &err), PT_UNSUPPORTED);
    CHECK(strstr(err.message, "bf16") && strstr(err.message, "ref"));
    pt_device_free(device);
}

PT_TEST_MAIN
