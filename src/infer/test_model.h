/* For tests of infer/: a small model with random weights on any device, and the slow way to its
 * logits, one whole forward per answer. Hosted only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_INFER_TEST_MODEL_H
#define PT_INFER_TEST_MODEL_H

#include <math.h>

#include "base/rng.h"
#include "base/test.h"
#include "model/model.h"

typedef struct small_model {
    pt_device *device;
    pt_model *model;
    pt_plan plan;
    pt_tensor ids, row; /* (1,T) i32, (1,V): of the slow way */
    int64_t ids_id, row_id;
    double logits[512]; /* of the last answer */
} small_model;

static pt_error err;

/* kind: "f64" and "ref" (reference), "cpu", "fake" (over ref, two PENDING answers a download). */
static inline pt_device *test_device(const char *kind)
{
    pt_device *device = NULL;
    pt_cpu_options options = {.threads = 2};
    if (strcmp(kind, "cpu") == 0) CHECK_OK(pt_device_cpu_new(&device, &options, &err), err);
    else CHECK_OK(pt_device_ref_new(&device, strcmp(kind, "f64") ? PT_F32 : PT_F64, &err), err);
    if (strcmp(kind, "fake") == 0) CHECK_OK(pt_device_fake_new(&device, device, 2, &err), err);
    return device;
}

/* Plans the model; the test may add to m->plan before bind_model. */
static inline void plan_model(small_model *m, const char *kind, const pt_model_config *config,
                              const pt_model_options *options)
{
    memset(&err, 0, sizeof err);
    *m = (small_model){.device = test_device(kind)};
    CHECK_OK(pt_model_new(&m->model, m->device, config, options, &err), err);
    pt_plan_init(&m->plan);
    pt_model_plan(m->model, &m->plan, "");
    m->ids_id = pt_plan_add(&m->plan, PT_ARENA_RUN, "slow.ids", PT_I32,
                            (int64_t[4]){1, m->model->options.tokens, 0, 0});
    m->row_id = pt_plan_add(&m->plan, PT_ARENA_RUN, "slow.row", m->device->compute,
                            (int64_t[4]){1, config->vocab, 0, 0});
}

/* N(0, 0.3) around 0, gains around 1: large enough that every op matters to the result. To be freed. */
static inline float *random_weight(const small_model *m, int64_t i)
{
    const pt_param *p = &m->model->params.list[i];
    float *w = malloc((size_t)p->n * sizeof *w);
    for (int64_t k = 0; k < p->n; k += 4) {
        double z[4];
        pt_rng_normal4(7, PT_STREAM_TEST, (uint32_t)i, (uint64_t)k, z);
        for (int64_t j = 0; j < 4 && k + j < p->n; j++)
            w[k + j] = (float)(0.3 * z[j] + (p->init == PT_INIT_ONE ? 1.0 : 0.0));
    }
    return w;
}

static inline void random_weights(small_model *m)
{
    for (int64_t i = 0; i < m->model->params.n; i++) {
        float *w = random_weight(m, i);
        CHECK_OK(pt_model_set_weight(m->model, i, w, &err), err);
        free(w);
    }
}

static inline void bind_model(small_model *m)
{
    CHECK_OK(pt_device_allocate_plan(m->device, &m->plan, &err), err);
    CHECK_OK(pt_model_bind(m->model, &m->plan, &err), err);
    m->ids = pt_plan_tensor(&m->plan, m->ids_id);
    m->row = pt_plan_tensor(&m->plan, m->row_id);
    random_weights(m);
}

static inline void close_model(small_model *m)
{
    pt_model_free(m->model);
    pt_device_release_plan(&m->plan);
    pt_plan_deinit(&m->plan);
    pt_device_free(m->device);
}

/* m->logits: those that follow token `t` of the n ids, by a forward of all of them. */
static inline const double *slow_logits(small_model *m, const int32_t *ids, int64_t n, int64_t t)
{
    int64_t V = m->model->config.vocab;
    pt_batch batch = {.B = 1, .T = n, .ids = pt_view(&m->ids, 1, n, 0, 0)};
    CHECK_OK(pt_upload(m->device, &batch.ids, ids, n * 4, &err), err);
    CHECK_OK(pt_model_forward(m->model, &batch, &err), err);
    CHECK_OK(pt_model_logits(m->model, t, 1, &m->row, &err), err);
    float narrow[512];
    bool wide = m->device->compute == PT_F64;
    void *to = wide ? (void *)m->logits : narrow;
    pt_download download;
    CHECK_OK(pt_download_begin(m->device, &m->row, to, pt_tensor_bytes(&m->row), &download, &err),
             err);
    CHECK_OK(pt_submit(m->device, &err), err);
    pt_status s = PT_PENDING;
    while (s == PT_PENDING) s = pt_download_poll(m->device, &download, &err);
    CHECK_OK(s, err);
    for (int64_t i = 0; i < V && !wide; i++) m->logits[i] = (double)narrow[i];
    return m->logits;
}

/* log-probability of `target` after token t of the n ids. */
static inline double slow_logp(small_model *m, const int32_t *ids, int64_t n, int64_t t,
                               int32_t target)
{
    const double *z = slow_logits(m, ids, n, t);
    double max = z[0], sum = 0;
    for (int64_t i = 1; i < m->model->config.vocab; i++) max = z[i] > max ? z[i] : max;
    for (int64_t i = 0; i < m->model->config.vocab; i++) sum += exp(z[i] - max);
    return z[target] - max - log(sum);
}

static inline pt_model_config gpt2_shape(int64_t ctx, int64_t vocab)
{
    pt_model_config c = {.n_layers = 2, .d_model = 12, .n_heads = 3, .ctx = ctx, .vocab = vocab};
    pt_model_config_complete(&c);
    return c;
}

static inline pt_model_config llama_shape(int64_t ctx, int64_t vocab)
{
    pt_model_config c = {.n_layers = 2,
                         .d_model = 12,
                         .n_heads = 4,
                         .n_kv_heads = 2,
                         .d_head = 6,
                         .d_mlp = 17,
                         .ctx = ctx,
                         .vocab = vocab,
                         .window = 3,
                         .norm = PT_NORM_RMS,
                         .positions = PT_POSITION_ROPE,
                         .mlp = PT_MLP_SWIGLU,
                         .no_bias = true,
                         .qk_norm = true,
                         .untied_head = true};
    pt_model_config_complete(&c);
    return c;
}

#endif
