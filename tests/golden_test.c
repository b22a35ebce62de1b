/* The golden files: losses, greedy text and two training curves made by another implementation.
 * The JSON beside each file says how its values were made; docs/FORMATS.md what the files are.
 * SPDX-License-Identifier: MIT */
#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/test.h"
#include "infer/session.h"
#include "infer/text_score.h"
#include "model/load_tinygpt.h"
#include "model/tinygpt_shape.h"
#include "text/bytes.h"
#include "train/trainer.h"

static pt_error err;

typedef struct golden {
    pt_file_view view;
    pt_tinygpt *file;
    char *text;
    pt_arena arena;
    const pt_json *json;
} golden;

static golden open_golden(const char *name)
{
    golden g = {0};
    char path[128];
    int64_t size = 0;
    memset(&err, 0, sizeof err);
    pt_format(path, sizeof path, "tests/golden/%s.tinygpt", name);
    CHECK_OK(pt_file_view_open(&g.view, path, &err), err);
    CHECK_OK(pt_tinygpt_open(&g.file, g.view.data, g.view.size, &err), err);
    pt_format(path, sizeof path, "tests/golden/%s.golden.json", name);
    CHECK_OK(pt_fs_read(path, 1 << 20, &g.text, &size, &err), err);
    CHECK_OK(pt_json_parse(g.text, (size_t)size, &g.arena, &g.json, &err), err);
    return g;
}

static void close_golden(golden *g)
{
    pt_tinygpt_close(g->file);
    pt_file_view_close(&g->view);
    pt_arena_deinit(&g->arena);
    pt_free(g->text);
}

static pt_device *new_device(const char *kind)
{
    pt_device *device = NULL;
    if (strcmp(kind, "ref") == 0) CHECK_OK(pt_device_ref_new(&device, PT_F32, &err), err);
    else {
        pt_cpu_options options = {.isa = kind};
        CHECK_OK(pt_device_cpu_new(&device, &options, &err), err);
    }
    return device;
}

static double number(const pt_json *object, const char *key)
{
    double value = 0;
    CHECK(pt_json_get_double(object, key, &value));
    return value;
}

/* ---- losses and greedy text ---- */

typedef struct loaded {
    pt_device *device;
    pt_model *model;
    pt_plan plan;
    pt_scorer *scorer;
    pt_session *session;
} loaded;

static loaded load(const golden *g, const char *kind)
{
    loaded l = {.device = new_device(kind)};
    pt_model_config config;
    pt_model_options options = {.mode = PT_MODEL_EVALUATE, .batch = 2};
    CHECK_OK(pt_model_config_from_tinygpt(pt_tinygpt_get(g->file), &config, &err), err);
    CHECK_OK(pt_model_new(&l.model, l.device, &config, &options, &err), err);
    CHECK_OK(pt_scorer_new(&l.scorer, l.model, &err), err);
    CHECK_OK(pt_session_new(&l.session, l.model, &err), err);
    pt_plan_init(&l.plan);
    pt_model_plan(l.model, &l.plan, "");
    pt_scorer_plan(l.scorer, &l.plan);
    pt_session_plan(l.session, &l.plan);
    CHECK_OK(pt_device_allocate_plan(l.device, &l.plan, &err), err);
    CHECK_OK(pt_model_bind(l.model, &l.plan, &err), err);
    pt_scorer_bind(l.scorer, &l.plan);
    CHECK_OK(pt_session_bind(l.session, &l.plan, &err), err);
    CHECK_OK(pt_model_load_tinygpt(l.model, g->file, &err), err);
    return l;
}

static void unload(loaded *l)
{
    pt_session_free(l->session);
    pt_scorer_free(l->scorer);
    pt_model_free(l->model);
    pt_device_release_plan(&l->plan);
    pt_plan_deinit(&l->plan);
    pt_device_free(l->device);
}

static void check_windows(const golden *g, loaded *l)
{
    int n = 0;
    for (const pt_json *w = pt_json_get(g->json, "windows")->child; w; w = w->next, n++) {
        const char *text = pt_json_get_string(w, "text");
        pt_text_score score;
        pt_tokens tokens = pt_tokens_of_bytes((const uint8_t *)text, (int64_t)strlen(text));
        CHECK_OK(pt_text_score_begin(&score, l->scorer, l->model, tokens, &err), err);
        pt_status s = PT_PENDING;
        while (s == PT_PENDING) s = pt_text_score_poll(&score, &err);
        CHECK_OK(s, err);
        double loss = score.total.loss_sum / (double)score.total.n_targets;
        double want = number(w, "loss_f64");
        CHECK_CLOSE(loss / want, 1, 1e-6);
        CHECK_CLOSE(loss, number(w, "loss_wasm_f32"), 2e-5);
        CHECK(pt_fabs(loss - number(w, "loss_f64_if_read_as_out_in")) > 1e-4); /* the layout trap */
    }
    CHECK_INT(n, 4);
}

static void check_greedy(const golden *g, loaded *l)
{
    int n = 0;
    for (const pt_json *c = pt_json_get(g->json, "greedy")->child; c; c = c->next, n++) {
        const char *prompt = pt_json_get_string(c, "prompt");
        const char *hex = pt_json_get_string(c, "continuation_hex");
        pt_sampler_options greedy = {.temperature = 0};
        int32_t ids[512];
        int64_t n_prompt = (int64_t)strlen(prompt);
        CHECK(n_prompt < 512 && strlen(hex) == 96);
        pt_bytes_encode((const uint8_t *)prompt, n_prompt, ids);
        CHECK_OK(pt_session_start(l->session, ids, n_prompt, &greedy, &err), err);
        char got[97] = "";
        for (int i = 0; i < 48; i++) {
            int32_t id = 0;
            pt_status s = PT_PENDING;
            while (s == PT_PENDING) s = pt_session_poll(l->session, &id, &err);
            CHECK_OK(s, err);
            pt_format(got + 2 * i, 3, "%02x", (unsigned)id);
        }
        CHECK_STR(got, hex);
    }
    CHECK_INT(n, 2);
}

static void check_file(const char *name)
{
    golden g = open_golden(name);
    loaded ref = load(&g, "ref");
    check_windows(&g, &ref);
    check_greedy(&g, &ref);
    unload(&ref);
    for (const char *const *isa = pt_device_cpu_isas(); *isa; isa++) {
        loaded cpu = load(&g, *isa);
        check_windows(&g, &cpu);
        check_greedy(&g, &cpu);
        unload(&cpu);
    }
    close_golden(&g);
}

TEST(tiny_48) { check_file("tiny-48"); }
TEST(tiny_48_fp16) { check_file("tiny-48-fp16"); }
TEST(tiny_48_int4) { check_file("tiny-48-int4"); }
TEST(small_96_step0) { check_file("small-96-step0"); }

/* ---- the two training curves ---- */

/* The corpus that the JSON states as a rule: words and endings drawn by a 32-bit LCG. */
static uint8_t *make_corpus(const pt_json *rule, int64_t n)
{
    const char *words[40], *ends[16];
    int n_words = 0, n_ends = 0;
    for (const pt_json *w = pt_json_get(rule, "words")->child; w; w = w->next)
        words[n_words++] = w->text;
    for (const pt_json *e = pt_json_get(rule, "ends")->child; e; e = e->next)
        ends[n_ends++] = e->text;
    CHECK(n_words == 40 && n_ends == 16);
    uint32_t x = (uint32_t)number(rule, "seed");
    char *text = malloc((size_t)n + 64);
    for (int64_t at = 0; at < n;) {
        x = x * 1664525U + 1013904223U;
        at += (int64_t)pt_format(text + at, 32, "%s", words[(x >> 16) % 40]);
        x = x * 1664525U + 1013904223U;
        at += (int64_t)pt_format(text + at, 32, "%s", ends[(x >> 16) % 16]);
    }
    char hex[65];
    pt_sha256_hex(text, (size_t)n, hex);
    CHECK_STR(hex, pt_json_get_string(rule, "sha256"));
    return (uint8_t *)text;
}

typedef struct curve {
    const pt_json *loss, *norm; /* next expected */
    double loss_tolerance;
    double worst_loss, worst_norm; /* relative */
    int64_t n;
} curve;

static pt_status compare_step(void *ctx, const pt_step_report *r, pt_error *e)
{
    (void)e;
    curve *c = ctx;
    CHECK(c->loss && c->norm);
    double loss = pt_fabs(r->loss / c->loss->number - 1);
    double norm = pt_fabs(r->grad_norm / c->norm->number - 1);
    if (!(loss <= c->worst_loss)) c->worst_loss = loss;
    if (!(norm <= c->worst_norm)) c->worst_norm = norm;
    c->loss = c->loss->next;
    c->norm = c->norm->next;
    c->n++;
    return PT_OK;
}

static pt_status load_param(void *ctx, int64_t index, const float *w, const float *m,
                            const float *v, pt_error *e)
{
    return pt_trainer_load(ctx, index, w, m, v, e);
}

/* Norms of the weights after the last step. */
static void check_weights(pt_trainer *trainer, const pt_json *norms)
{
    const pt_model *model = pt_trainer_model(trainer);
    for (const pt_json *want = norms->child; want; want = want->next) {
        if (strstr(want->key, "k_proj.bias")) continue; /* its true gradient is 0 */
        const pt_param *p = pt_params_find(&model->params, want->key);
        CHECK(p != NULL);
        pt_tensor t = pt_param_tensor(p, &model->weights.flat);
        const float *w = pt_host(&t);
        double squares = 0;
        for (int64_t i = 0; i < p->n; i++) squares += (double)w[i] * (double)w[i];
        CHECK_CLOSE(pt_sqrt(squares) / want->number, 1, 1e-5);
    }
}

static void check_curve(const char *kind, const char *run, double loss_tolerance)
{
    golden g = open_golden("small-96-step0");
    const pt_json *training = pt_json_get(g.json, "training");
    const pt_json *this_run = pt_json_get(g.json, run);
    uint8_t *corpus = make_corpus(pt_json_get(training, "corpus"), 200000);
    int64_t starts[320];
    int n = 0;
    for (const pt_json *step = pt_json_get(training, "batch_starts")->child; step;
         step = step->next)
        for (const pt_json *s = step->child; s; s = s->next)
            CHECK(n < 320 && pt_json_to_i64(s, &starts[n++]));
    CHECK_INT(n, 320);
    pt_train_options options = pt_train_defaults();
    options.steps = 20;
    options.batch = 16;
    options.lr = number(this_run, "lr");
    options.starts = starts;
    options.n_starts = 320;
    curve c = {.loss = pt_json_get(this_run, "losses_f64")->child,
               .norm = pt_json_get(this_run, "grad_global_l2_unclipped_f64")->child};
    pt_trainer_desc desc = {.options = options,
                            .corpus = corpus,
                            .corpus_bytes = 200000,
                            .events = {.ctx = &c, .step = compare_step}};
    pt_device *device = new_device(kind);
    pt_trainer *trainer = NULL;
    CHECK_OK(pt_model_config_from_tinygpt(pt_tinygpt_get(g.file), &desc.config, &err), err);
    CHECK_OK(pt_trainer_new(&trainer, device, &desc, &err), err);
    CHECK_OK(pt_trainer_begin(trainer, NULL, &err), err);
    CHECK_OK(pt_tinygpt_visit(g.file, &pt_trainer_model(trainer)->params, true, load_param, trainer,
                              &err),
             err);
    pt_status s = PT_PENDING;
    while (s == PT_PENDING) s = pt_trainer_poll(trainer, &err);
    CHECK_OK(s, err);
    CHECK_INT(c.n, 20);
    printf("%s, %s: losses within %.2g, norms within %.2g\n", kind, run, c.worst_loss,
           c.worst_norm);
    CHECK_CLOSE(c.worst_loss, 0, loss_tolerance);
    CHECK_CLOSE(c.worst_norm, 0, 2e-5);
    check_weights(trainer, pt_json_get(this_run, "l2_norm_of_w_after_step_20"));
    pt_trainer_free(trainer);
    pt_device_free(device);
    free(corpus);
    close_golden(&g);
}

TEST(training_curve_at_lr_3e4)
{
    check_curve("ref", "training_lr_3e4", 1e-6);
    for (const char *const *isa = pt_device_cpu_isas(); *isa; isa++)
        check_curve(*isa, "training_lr_3e4", 1e-6);
}

/* Not on ref: it takes half a minute, and the other curve covers it. */
TEST(training_curve_at_lr_1e3)
{
    for (const char *const *isa = pt_device_cpu_isas(); *isa; isa++)
        check_curve(*isa, "training", 3e-6);
}

PT_TEST_MAIN
