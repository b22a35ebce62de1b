/* The whole model: gradients against finite differences in double, recomputation, generation through
 * the cache, and the untrained loss. SPDX-License-Identifier: MIT */
#include "base/rng.h"
#include "base/test.h"
#include "model/model.h"

typedef struct fixture {
    pt_device *device;
    pt_model *model;
    pt_plan plan;
    pt_buffer *buffers[4];
    pt_batch batch;
} fixture;

static pt_error err;

static pt_device *new_device(const char *kind, int threads)
{
    pt_device *device = NULL;
    pt_cpu_options options = {.threads = threads};
    if (strcmp(kind, "cpu") == 0) CHECK_OK(pt_device_cpu_new(&device, &options, &err), err);
    else CHECK_OK(pt_device_ref_new(&device, strcmp(kind, "f64") ? PT_F32 : PT_F64, &err), err);
    return device;
}

static pt_tensor new_tensor(fixture *f, int slot, pt_dtype dtype, int64_t d0, int64_t d1)
{
    pt_tensor t = {.dtype = dtype};
    t = pt_view(&t, d0, d1, 0, 0);
    CHECK_OK(pt_buffer_new(f->device, pt_tensor_bytes(&t), &f->buffers[slot], &err), err);
    t.buffer = f->buffers[slot];
    return t;
}

static void close_fixture(fixture *f)
{
    pt_model_free(f->model);
    pt_device_release_plan(&f->plan);
    pt_plan_deinit(&f->plan);
    for (int i = 0; i < 4; i++) pt_buffer_free(f->buffers[i]);
    pt_device_free(f->device);
}

/* A model with random weights (gains and biases too) and a random batch with one masked target. */
static fixture open_fixture(const char *kind, const pt_model_config *config, int64_t B, int64_t T,
                            int recompute)
{
    fixture f = {.device = new_device(kind, 2)};
    memset(&err, 0, sizeof err);
    pt_model_options options = {
        .mode = PT_MODEL_TRAIN, .batch = B, .tokens = T, .recompute = recompute, .head_rows = 3};
    CHECK_OK(pt_model_new(&f.model, f.device, config, &options, &err), err);
    pt_plan_init(&f.plan);
    pt_model_plan(f.model, &f.plan, "");
    CHECK_OK(pt_device_allocate_plan(f.device, &f.plan, &err), err);
    CHECK_OK(pt_model_bind(f.model, &f.plan, &err), err);
    for (int64_t i = 0; i < f.model->params.n; i++) {
        const pt_param *p = &f.model->params.list[i];
        float *w = malloc((size_t)p->n * sizeof *w);
        for (int64_t k = 0; k < p->n; k++) {
            double z[4];
            pt_rng_normal4(7, PT_STREAM_TEST, (uint32_t)i, (uint64_t)k, z);
            w[k] = (float)(0.3 * z[0] + (p->init == PT_INIT_ONE ? 1.0 : 0.0));
        }
        CHECK_OK(pt_model_set_weight(f.model, i, w, &err), err);
        free(w);
    }
    f.batch = (pt_batch){.B = B,
                         .T = T,
                         .ids = new_tensor(&f, 0, PT_I32, B, T),
                         .target = new_tensor(&f, 1, PT_I32, B, T),
                         .coef = new_tensor(&f, 2, f.device->compute, B, T),
                         .doc_start = new_tensor(&f, 3, PT_I32, B, T),
                         .seed = 3,
                         .first_sample = 5,
                         .train = true};
    for (int64_t i = 0; i < B * T; i++) {
        uint32_t r[4];
        pt_rng_u32x4(8, PT_STREAM_TEST, 0, (uint64_t)i, r);
        ((int32_t *)pt_host(&f.batch.ids))[i] = (int32_t)(r[0] % (uint32_t)config->vocab);
        ((int32_t *)pt_host(&f.batch.target))[i] = (int32_t)(r[1] % (uint32_t)config->vocab);
        /* two documents in every row */
        ((int32_t *)pt_host(&f.batch.doc_start))[i] = i % T >= T / 2 + 1 ? (int32_t)(T / 2 + 1) : 0;
        double coef = -0.3 - (double)(r[2] % 100) / 100.0;
        if (f.device->compute == PT_F64) ((double *)pt_host(&f.batch.coef))[i] = coef;
        else ((float *)pt_host(&f.batch.coef))[i] = (float)coef;
    }
    ((int32_t *)pt_host(&f.batch.target))[1] = -1;
    return f;
}

static double loss_of(fixture *f)
{
    double loss = 0;
    CHECK_OK(pt_model_forward(f->model, &f->batch, &err), err);
    CHECK_OK(pt_model_score(f->model, &f->batch, &err), err);
    for (int64_t i = 0; i < f->batch.B * f->batch.T; i++)
        loss += ((double *)pt_host(&f->batch.coef))[i] * ((double *)pt_host(&f->model->logp))[i];
    return loss;
}

/* d loss / d *at by the five-point central difference: its truncation error falls with step^4, so the
 * step can be large enough to keep rounding out. */
static double slope(fixture *f, double *at)
{
    double kept = *at, step = 1e-3, at_step[4];
    const double places[4] = {-2, -1, 1, 2};
    for (int i = 0; i < 4; i++) {
        *at = kept + places[i] * step;
        at_step[i] = loss_of(f);
    }
    *at = kept;
    return (at_step[0] - 8 * at_step[1] + 8 * at_step[2] - at_step[3]) / (12 * step);
}

/* About eleven elements of every parameter; error over the largest component of that parameter's
 * gradient, floored at 1e-6 of the global norm (k_proj.bias has a true gradient of zero). */
static void check_gradients(const pt_model_config *config, int recompute)
{
    fixture f = open_fixture("f64", config, 2, 5, recompute);
    pt_model *m = f.model;
    CHECK_OK(pt_model_forward(m, &f.batch, &err), err);
    CHECK_OK(pt_model_backward(m, &f.batch, &err), err);
    const double *g = pt_host(&m->grads.flat);
    double *w = pt_host(&m->weights.flat), squares = 0;
    for (int64_t i = 0; i < m->params.n_elements; i++) squares += g[i] * g[i];
    double floor = 1e-6 * pt_sqrt(squares);
    for (int64_t i = 0; i < m->params.n; i++) {
        const pt_param *p = &m->params.list[i];
        double largest = floor, worst = 0;
        for (int64_t k = 0; k < p->n; k++) {
            double size = pt_fabs(g[p->offset + k]);
            if (size > largest) largest = size;
        }
        for (int64_t k = 0; k < p->n; k += 1 + p->n / 11) {
            double off = pt_fabs(slope(&f, &w[p->offset + k]) - g[p->offset + k]);
            if (off > worst) worst = off;
        }
        if (!(worst <= 1e-6 * largest)) printf("%s: off by %g of %g\n", p->name, worst, largest);
        CHECK(worst <= 1e-6 * largest);
    }
    close_fixture(&f);
}

static pt_model_config completed(pt_model_config c)
{
    pt_model_config_complete(&c);
    return c;
}

static const pt_model_config gpt2_shape = {
    .n_layers = 2, .d_model = 12, .n_heads = 3, .ctx = 6, .vocab = 11};
static const pt_model_config llama_shape = {.n_layers = 2,
                                            .d_model = 12,
                                            .n_heads = 4,
                                            .n_kv_heads = 2,
                                            .d_head = 6,
                                            .d_mlp = 17,
                                            .ctx = 6,
                                            .vocab = 13,
                                            .window = 3,
                                            .norm = PT_NORM_RMS,
                                            .positions = PT_POSITION_ROPE,
                                            .mlp = PT_MLP_SWIGLU,
                                            .no_bias = true,
                                            .qk_norm = true,
                                            .untied_head = true};

TEST(gradients_of_the_gpt2_shape)
{
    pt_model_config c = completed(gpt2_shape);
    check_gradients(&c, 0);
}

TEST(gradients_with_tanh_gelu_and_dropout)
{
    pt_model_config c = completed(gpt2_shape);
    c.gelu_tanh = true;
    c.dropout = 0.3;
    fixture f = open_fixture("f64", &c, 2, 5, 0);
    /* the loss of loss_of uses the training mask: train stays true */
    double once = loss_of(&f), twice = loss_of(&f);
    CHECK(once == twice);
    f.batch.train = false;
    CHECK(loss_of(&f) != once);
    close_fixture(&f);
    check_gradients(&c, 0);
}

TEST(gradients_of_the_llama_shape)
{
    pt_model_config c = completed(llama_shape);
    check_gradients(&c, 0);
    c.untied_head = false;
    c.window = 0;
    c.d_head = 4;
    c.d_model = 16;
    check_gradients(&c, PT_RECOMPUTE_BLOCK);
}

/* Gradients with some activations computed again are the same bits as with all kept. */
static void check_recompute(const char *kind, const pt_model_config *config)
{
    fixture kept = open_fixture(kind, config, 3, 5, PT_RECOMPUTE_NONE);
    CHECK_OK(pt_model_forward(kept.model, &kept.batch, &err), err);
    CHECK_OK(pt_model_backward(kept.model, &kept.batch, &err), err);
    for (int flags = 1; flags <= PT_RECOMPUTE_BLOCK; flags += flags < 64 ? flags : 63) {
        fixture again = open_fixture(kind, config, 3, 5, flags);
        CHECK(pt_plan_total_bytes(&again.plan) < pt_plan_total_bytes(&kept.plan));
        CHECK_OK(pt_model_forward(again.model, &again.batch, &err), err);
        CHECK_OK(pt_model_backward(again.model, &again.batch, &err), err);
        int64_t bytes = pt_tensor_bytes(&kept.model->grads.flat);
        CHECK(memcmp(pt_host(&kept.model->grads.flat), pt_host(&again.model->grads.flat),
                     (size_t)bytes) == 0);
        close_fixture(&again);
    }
    close_fixture(&kept);
}

TEST(recomputed_activations_give_the_same_bits)
{
    pt_model_config gpt2 = completed(gpt2_shape), llama = completed(llama_shape);
    gpt2.dropout = 0.2;
    check_recompute("ref", &gpt2);
    check_recompute("cpu", &gpt2);
    check_recompute("ref", &llama);
    check_recompute("cpu", &llama);
}

TEST(cpu_agrees_with_the_reference_on_the_whole_model)
{
    pt_model_config shapes[2] = {completed(gpt2_shape), completed(llama_shape)};
    for (int i = 0; i < 2; i++) {
        fixture ref = open_fixture("ref", &shapes[i], 3, 6, 0);
        fixture cpu = open_fixture("cpu", &shapes[i], 3, 6, 0);
        fixture *both[2] = {&ref, &cpu};
        for (int k = 0; k < 2; k++) {
            CHECK_OK(pt_model_forward(both[k]->model, &both[k]->batch, &err), err);
            CHECK_OK(pt_model_backward(both[k]->model, &both[k]->batch, &err), err);
        }
        const float *a = pt_host(&ref.model->grads.flat), *b = pt_host(&cpu.model->grads.flat);
        double off = 0, size = 0;
        for (int64_t k = 0; k < ref.model->params.n_elements; k++) {
            off += (double)(a[k] - b[k]) * (double)(a[k] - b[k]);
            size += (double)a[k] * (double)a[k];
        }
        CHECK(size > 0);
        CHECK_CLOSE(pt_sqrt(off / size), 0, 5e-6);
        close_fixture(&ref);
        close_fixture(&cpu);
    }
}

TEST(an_untrained_model_knows_nothing)
{
    pt_model_config c = pt_preset_find("tiny")->config;
    pt_model_config_complete(&c);
    fixture f = open_fixture("f64", &c, 4, 32, 0);
    f.batch.doc_start = (pt_tensor){0};
    CHECK_OK(pt_model_init_weights(f.model, 42, NULL, &err), err);
    CHECK_OK(pt_model_forward(f.model, &f.batch, &err), err);
    CHECK_OK(pt_model_score(f.model, &f.batch, &err), err);
    double sum = 0;
    for (int64_t i = 0; i < 4 * 32; i++) sum -= ((double *)pt_host(&f.model->logp))[i];
    CHECK_CLOSE(sum / (4 * 32 - 1), pt_log(256.0), 0.05);
    close_fixture(&f);
}

TEST(packed_documents_do_not_see_each_other)
{
    pt_model_config shapes[2] = {completed(gpt2_shape), completed(llama_shape)};
    for (int i = 0; i < 2; i++) {
        fixture f = open_fixture("f64", &shapes[i], 1, 6, 0);
        CHECK_OK(pt_model_forward(f.model, &f.batch, &err), err);
        double packed[16], *normed = pt_host(&f.model->normed);
        int64_t C = shapes[i].d_model;
        memcpy(packed, normed + 5 * C, (size_t)C * sizeof *packed); /* last token: 2nd document */
        int32_t *ids = pt_host(&f.batch.ids);
        memmove(ids, ids + 4, 2 * sizeof *ids); /* the second document alone */
        f.batch.T = 2;
        f.batch.doc_start = (pt_tensor){0};
        CHECK_OK(pt_model_forward(f.model, &f.batch, &err), err);
        for (int64_t k = 0; k < C; k++) CHECK_CLOSE(normed[C + k], packed[k], 1e-12);
        close_fixture(&f);
    }
}

/* Two cached calls (a prompt, then token by token) give what one whole forward gives. */
static void check_cache(const char *kind, const pt_model_config *config, double tolerance)
{
    fixture f = open_fixture(kind, config, 1, 6, 0);
    f.batch.doc_start = (pt_tensor){0};
    f.batch.train = false;
    CHECK_OK(pt_model_forward(f.model, &f.batch, &err), err);
    pt_model *cached = NULL;
    pt_model_options options = {.mode = PT_MODEL_GENERATE, .batch = 1, .share = f.model};
    CHECK_OK(pt_model_new(&cached, f.device, config, &options, &err), err);
    pt_plan plan;
    pt_plan_init(&plan);
    pt_model_plan(cached, &plan, "cached.");
    CHECK_OK(pt_device_allocate_plan(f.device, &plan, &err), err);
    CHECK_OK(pt_model_bind(cached, &plan, &err), err);
    pt_buffer *buffer = NULL;
    CHECK_OK(pt_buffer_new(f.device, 4, &buffer, &err), err);
    pt_tensor offset = {.buffer = buffer, .dtype = PT_I32};
    int64_t C = config->d_model;
    for (int64_t at = 0, n = 3; at < 6; at += n, n = 1) {
        pt_tensor ids = pt_view(&f.batch.ids, 6, 0, 0, 0);
        ids = pt_slice(&ids, at, n);
        *(int32_t *)pt_host(&offset) = (int32_t)at;
        pt_batch step = {.B = 1,
                         .T = n,
                         .ids = pt_view(&ids, 1, n, 0, 0),
                         .offset = pt_view(&offset, 1, 0, 0, 0)};
        CHECK_OK(pt_model_forward(cached, &step, &err), err);
        for (int64_t k = 0; k < n * C; k++) {
            bool wide = f.device->compute == PT_F64;
            double want = wide ? ((double *)pt_host(&f.model->normed))[at * C + k]
                               : (double)((float *)pt_host(&f.model->normed))[at * C + k];
            double got = wide ? ((double *)pt_host(&cached->normed))[k]
                              : (double)((float *)pt_host(&cached->normed))[k];
            CHECK_CLOSE(got, want, tolerance);
        }
    }
    pt_buffer_free(buffer);
    pt_model_free(cached);
    pt_device_release_plan(&plan);
    pt_plan_deinit(&plan);
    close_fixture(&f);
}

TEST(generation_through_the_cache_is_the_whole_forward)
{
    pt_model_config gpt2 = completed(gpt2_shape), llama = completed(llama_shape);
    check_cache("f64", &gpt2, 1e-13);
    check_cache("f64", &llama, 1e-13);
    check_cache("cpu", &gpt2, 1e-5);
    check_cache("cpu", &llama, 1e-5);
}

PT_TEST_MAIN
