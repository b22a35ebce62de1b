/* The optimizer: what it uploads, what it decays, and one step worked out by hand in double.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/rng.h"
#include "base/test.h"
#include "train/optimizer.h"

typedef struct fixture {
    pt_device *device;
    pt_model *model;
    pt_plan plan;
    pt_optimizer optimizer;
} fixture;

static pt_error err;

static const pt_optimizer_options defaults = {
    .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .weight_decay = 0.1, .clip = 1, .ring = 3};

/* kind: "f64", "ref", "cpu", "fake" (over ref) */
static void open_fixture(fixture *f, const char *kind, const pt_optimizer_options *options)
{
    pt_model_config config = {.n_layers = 1, .d_model = 6, .n_heads = 2, .ctx = 5, .vocab = 11};
    pt_model_config_complete(&config);
    pt_cpu_options cpu = {.threads = 2};
    pt_model_options train = {.mode = PT_MODEL_TRAIN, .batch = 1};
    memset(&err, 0, sizeof err);
    *f = (fixture){0};
    if (strcmp(kind, "cpu") == 0) CHECK_OK(pt_device_cpu_new(&f->device, &cpu, &err), err);
    else CHECK_OK(pt_device_ref_new(&f->device, strcmp(kind, "f64") ? PT_F32 : PT_F64, &err), err);
    if (strcmp(kind, "fake") == 0)
        CHECK_OK(pt_device_fake_new(&f->device, f->device, 2, &err), err);
    CHECK_OK(pt_model_new(&f->model, f->device, &config, &train, &err), err);
    pt_plan_init(&f->plan);
    pt_model_plan(f->model, &f->plan, "");
    f->optimizer = (pt_optimizer){.model = f->model, .options = *options};
    pt_optimizer_plan(&f->optimizer, &f->plan);
    CHECK_OK(pt_device_allocate_plan(f->device, &f->plan, &err), err);
    CHECK_OK(pt_model_bind(f->model, &f->plan, &err), err);
    CHECK_OK(pt_optimizer_bind(&f->optimizer, &f->plan, &err), err);
}

static void close_fixture(fixture *f)
{
    pt_model_free(f->model);
    pt_device_release_plan(&f->plan);
    pt_plan_deinit(&f->plan);
    pt_device_free(f->device);
}

static void fetch_bytes(fixture *f, const pt_tensor *t, void *to)
{
    pt_download download;
    CHECK_OK(pt_download_begin(f->device, t, to, pt_tensor_bytes(t), &download, &err), err);
    CHECK_OK(pt_submit(f->device, &err), err);
    pt_status s = PT_PENDING;
    while (s == PT_PENDING) s = pt_download_poll(f->device, &download, &err);
    CHECK_OK(s, err);
}

/* The tensor's numbers, to be freed. */
static double *fetch(fixture *f, const pt_tensor *t)
{
    int64_t n = pt_numel(t);
    double *wide = malloc((size_t)n * sizeof *wide);
    if (f->device->compute == PT_F64) {
        fetch_bytes(f, t, wide);
        return wide;
    }
    float *narrow = malloc((size_t)n * sizeof *narrow);
    fetch_bytes(f, t, narrow);
    for (int64_t i = 0; i < n; i++) wide[i] = (double)narrow[i];
    free(narrow);
    return wide;
}

/* Random numbers of this size in every parameter, 0 in the gaps; also into kept[n_elements]. */
static void put_random(fixture *f, const pt_tensor *flat, uint32_t stream, double size,
                       double *kept)
{
    const pt_params *params = &f->model->params;
    int64_t n = params->n_elements;
    for (int64_t i = 0; i < n; i++) {
        double z[4];
        pt_rng_normal4(5, PT_STREAM_TEST, stream, (uint64_t)i, z);
        kept[i] = pt_params_at(params, i) ? (double)(float)(size * z[0]) : 0;
    }
    for (int64_t at = 0; at < n; at += 64) {
        pt_tensor piece = pt_slice(flat, at, 64);
        CHECK_OK(pt_upload_numbers(f->device, &piece, kept + at, 64, &err), err);
    }
}

static const char *const kinds[] = {"f64", "ref", "cpu", "fake"};

TEST(bias_corrections_and_the_rest_of_a_step_s_state)
{
    static const int64_t steps[] = {1, 2, 10, 1000, 1000000};
    for (int k = 0; k < 4; k++) {
        fixture f;
        open_fixture(&f, kinds[k], &defaults);
        double tolerance = k ? 1e-6 : 1e-12;
        double *fresh = fetch(&f, &f.optimizer.state);
        CHECK(fresh[PT_STATE_OK] == 1 && fresh[PT_STATE_FIRST_BAD] == PT_STATE_NO_BAD);
        free(fresh);
        for (int i = 0; i < 5; i++) {
            CHECK_OK(pt_optimizer_begin_step(&f.optimizer, steps[i], 0.25, &err), err);
            double *state = fetch(&f, &f.optimizer.state), t = (double)steps[i];
            CHECK(state[PT_STATE_LR] == 0.25);
            CHECK_CLOSE(state[PT_STATE_CORRECTION1] * (1 - pow(0.9, t)), 1, tolerance);
            CHECK_CLOSE(state[PT_STATE_CORRECTION2] * (1 - pow(0.95, t)), 1, tolerance);
            CHECK(state[PT_STATE_CLIP] == 1);
            CHECK(state[PT_STATE_LOSS] == 0 && state[PT_STATE_SQNORM] == 0);
            CHECK(state[PT_STATE_OK] == 1);
            free(state);
        }
        close_fixture(&f);
    }
}

TEST(decay_is_for_parameters_with_two_dimensions)
{
    fixture f;
    open_fixture(&f, "ref", &defaults);
    const pt_params *params = &f.model->params;
    uint8_t *mask = malloc((size_t)pt_numel(&f.optimizer.decay));
    fetch_bytes(&f, &f.optimizer.decay, mask);
    CHECK_INT(pt_numel(&f.optimizer.decay), params->n_elements / 64);
    int decayed = 0;
    for (int64_t e = 0; e < params->n_elements; e++) {
        const pt_param *p = pt_params_at(params, e);
        if (!p) continue;
        CHECK_INT(mask[e / 64], p->rank == 2);
        decayed += e == p->offset && mask[e / 64];
    }
    CHECK_INT(decayed, 8); /* two embeddings, q k v o, mlp in and out */
    const pt_param *norm = pt_params_find(params, "blocks.0.ln1.weight");
    const pt_param *bias = pt_params_find(params, "blocks.0.attn.q_proj.bias");
    const pt_param *token = pt_params_find(params, "token_embedding.weight");
    CHECK(!mask[norm->offset / 64] && !mask[bias->offset / 64] && mask[token->offset / 64]);
    free(mask);
    close_fixture(&f);
}

TEST(a_step_begins_with_gradients_of_zero)
{
    fixture f;
    open_fixture(&f, "fake", &defaults);
    double *g = malloc((size_t)f.model->params.n_elements * sizeof *g);
    put_random(&f, &f.model->grads.flat, 1, 1, g);
    CHECK_OK(pt_optimizer_begin_step(&f.optimizer, 1, 1e-3, &err), err);
    double *after = fetch(&f, &f.model->grads.flat);
    for (int64_t i = 0; i < f.model->params.n_elements; i++) CHECK(after[i] == 0);
    free(after);
    free(g);
    close_fixture(&f);
}

/* Steps with gradients of `size`, against the formulas of the paper. */
static void check_steps(const char *kind, const pt_optimizer_options *o, double size)
{
    fixture f;
    open_fixture(&f, kind, o);
    int64_t n = f.model->params.n_elements;
    double tolerance = strcmp(kind, "f64") ? 2e-6 : 1e-13;
    double *w = malloc((size_t)n * sizeof *w), *g = malloc((size_t)n * sizeof *g);
    double *m = calloc((size_t)n, sizeof *m), *v = calloc((size_t)n, sizeof *v);
    put_random(&f, &f.model->weights.flat, 1, 0.5, w);
    for (int64_t step = 1; step <= 4; step++) {
        double lr = 0.01 * (double)step, norm = 0;
        CHECK_OK(pt_optimizer_begin_step(&f.optimizer, step, lr, &err), err);
        put_random(&f, &f.model->grads.flat, 10 + (uint32_t)step, size, g);
        int64_t slot = step % o->ring;
        CHECK_OK(pt_optimizer_end_step(&f.optimizer, slot, &err), err);
        for (int64_t i = 0; i < n; i++) norm += g[i] * g[i];
        norm = sqrt(norm);
        double factor = o->clip > 0 && norm > o->clip ? o->clip / (norm + 1e-6) : 1;
        double c1 = 1 - pow(o->beta1, (double)step), c2 = 1 - pow(o->beta2, (double)step);
        for (int64_t i = 0; i < n; i++) {
            const pt_param *p = pt_params_at(&f.model->params, i);
            double decay = p && p->rank == 2 ? o->weight_decay : 0, gi = factor * g[i];
            m[i] = o->beta1 * m[i] + (1 - o->beta1) * gi;
            v[i] = o->beta2 * v[i] + (1 - o->beta2) * gi * gi;
            w[i] -= lr * (m[i] / c1 / (sqrt(v[i] / c2) + o->eps) + decay * w[i]);
        }
        double *state = fetch(&f, &f.optimizer.state), *ring = fetch(&f, &f.optimizer.ring);
        double *entry = ring + slot * PT_RING_WORDS;
        CHECK_CLOSE(state[PT_STATE_NORM] / norm, 1, tolerance);
        CHECK_CLOSE(state[PT_STATE_FACTOR] / factor, 1, tolerance);
        CHECK(entry[PT_RING_NORM] == state[PT_STATE_NORM] && entry[PT_RING_OK] == 1);
        CHECK_CLOSE(entry[PT_RING_LR], lr, 1e-8);
        free(state);
        free(ring);
    }
    double *got_w = fetch(&f, &f.model->weights.flat), *got_m = fetch(&f, &f.optimizer.m),
           *got_v = fetch(&f, &f.optimizer.v);
    for (int64_t i = 0; i < n; i++) {
        CHECK_CLOSE(got_w[i], w[i], tolerance);
        CHECK_CLOSE(got_m[i], m[i], tolerance * (size + fabs(m[i])));
        CHECK_CLOSE(got_v[i], v[i], tolerance * (size * size + fabs(v[i])));
    }
    free(got_w);
    free(got_m);
    free(got_v);
    free(w);
    free(g);
    free(m);
    free(v);
    close_fixture(&f);
}

TEST(steps_are_those_of_the_paper)
{
    pt_optimizer_options unclipped = defaults, other = {0.8, 0.999, 1e-3, 0.3, 0.5, 1};
    unclipped.clip = 0;
    for (int k = 0; k < 4; k++) {
        check_steps(kinds[k], &defaults, 1);     /* clipped */
        check_steps(kinds[k], &defaults, 0.005); /* norm below 1: not clipped */
        check_steps(kinds[k], &unclipped, 1);
        check_steps(kinds[k], &other, 1);
    }
}

TEST(a_gradient_that_is_not_finite_changes_nothing_from_then_on)
{
    for (int k = 0; k < 4; k++) {
        fixture f;
        open_fixture(&f, kinds[k], &defaults);
        int64_t n = f.model->params.n_elements;
        double *w = malloc((size_t)n * sizeof *w), *g = malloc((size_t)n * sizeof *g);
        put_random(&f, &f.model->weights.flat, 1, 0.5, w);
        for (int64_t step = 1; step <= 2; step++) {
            CHECK_OK(pt_optimizer_begin_step(&f.optimizer, step, 0.1, &err), err);
            put_random(&f, &f.model->grads.flat, 2, 1, g);
            double bad[1] = {step == 1 ? PT_NAN : 1}; /* the second step's are fine */
            pt_tensor one = pt_slice(&f.model->grads.flat, 3, 1);
            CHECK_OK(pt_upload_numbers(f.device, &one, bad, 1, &err), err);
            CHECK_OK(pt_optimizer_end_step(&f.optimizer, step - 1, &err), err);
        }
        double *after = fetch(&f, &f.model->weights.flat), *m = fetch(&f, &f.optimizer.m);
        double *ring = fetch(&f, &f.optimizer.ring);
        for (int64_t i = 0; i < n; i++) CHECK(after[i] == w[i] && m[i] == 0);
        CHECK(ring[PT_RING_OK] == 0 && ring[PT_RING_WORDS + PT_RING_OK] == 0);
        free(after);
        free(m);
        free(ring);
        free(w);
        free(g);
        close_fixture(&f);
    }
}

TEST(the_loss_of_micro_batches_adds_up_and_reaches_the_ring)
{
    for (int k = 0; k < 4; k++) {
        fixture f;
        open_fixture(&f, kinds[k], &defaults);
        CHECK_OK(pt_optimizer_begin_step(&f.optimizer, 1, 0.1, &err), err);
        pt_tensor coef = pt_view(&f.model->lse, 1, 5, 0, 0); /* any (1,5) tensor that is free */
        static const double logp[5] = {-1, -2, -3, -4, -5}, weight[5] = {-0.5, 0, -0.25, 0, -1};
        CHECK_OK(pt_upload_numbers(f.device, &f.model->logp, logp, 5, &err), err);
        CHECK_OK(pt_upload_numbers(f.device, &coef, weight, 5, &err), err);
        pt_batch batch = {.B = 1, .T = 5, .coef = coef};
        CHECK_OK(pt_optimizer_add_loss(&f.optimizer, &batch, &err), err);
        CHECK_OK(pt_optimizer_add_loss(&f.optimizer, &batch, &err), err);
        CHECK_OK(pt_optimizer_end_step(&f.optimizer, 2, &err), err);
        double *ring = fetch(&f, &f.optimizer.ring);
        CHECK_CLOSE(ring[2 * PT_RING_WORDS + PT_RING_LOSS], 2 * (0.5 + 0.75 + 5), 1e-6);
        free(ring);
        close_fixture(&f);
    }
}

PT_TEST_MAIN
