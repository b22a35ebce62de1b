/* Writing text, a token after the other, with weights in f32, f16 and int8. SPDX-License-Identifier: MIT */
#include "base/strings.h"
#include "bench/steps.h"
#include "infer/session.h"

typedef struct decode {
    pt_device *device;
    pt_model *model;
    pt_session *session;
    pt_plan plan;
    int64_t made; /* tokens of the text under way */
} decode;

static pt_status fill(pt_model *m, pt_error *err)
{
    pt_status s = PT_OK;
    for (int64_t i = 0; i < m->params.n && s == PT_OK; i++) {
        const pt_param *p = &m->params.list[i];
        float *values = pt_alloc((size_t)pt_round_up(p->n, 4) * sizeof *values);
        if (!values) return pt_fail(err, PT_NO_MEMORY, "no memory for weights");
        pt_params_fill(&m->params, i, 1, 0, p->n, values);
        s = pt_model_set_weight(m, i, values, err);
        pt_free(values);
    }
    return s;
}

static pt_status begin(decode *d, const pt_model_config *config, pt_dtype weights, pt_error *err)
{
    pt_model_options options = {
        .mode = PT_MODEL_EVALUATE, .batch = 1, .tokens = 1, .weights = weights};
    pt_plan_init(&d->plan);
    pt_status s = pt_model_new(&d->model, d->device, config, &options, err);
    if (s == PT_OK) s = pt_session_new(&d->session, d->model, err);
    if (s) return s;
    pt_model_plan(d->model, &d->plan, "");
    pt_session_plan(d->session, &d->plan);
    s = pt_device_allocate_plan(d->device, &d->plan, err);
    if (s == PT_OK) s = pt_model_bind(d->model, &d->plan, err);
    if (s == PT_OK) s = pt_session_bind(d->session, &d->plan, err);
    return s == PT_OK ? fill(d->model, err) : s;
}

static void end(decode *d)
{
    pt_session_free(d->session);
    pt_model_free(d->model);
    pt_device_release_plan(&d->plan);
    pt_plan_deinit(&d->plan);
}

/* A token; texts are as long as the context, so each costs one row. */
static pt_status call(void *ctx, pt_error *err)
{
    decode *d = ctx;
    int32_t id = 0;
    pt_sampler_options greedy = {0};
    pt_status s = PT_OK;
    if (d->made % d->model->config.ctx == 0) s = pt_session_start(d->session, &id, 1, &greedy, err);
    if (s == PT_OK) s = PT_PENDING;
    while (s == PT_PENDING) s = pt_session_poll(d->session, &id, err);
    d->made++;
    return s;
}

/* Of the matrices that every token meets. */
static double weight_bytes(const pt_model *m, pt_dtype weights, double *count)
{
    double bytes = 0;
    *count = 0;
    for (int64_t i = 0; i < m->params.n; i++) {
        const pt_param *p = &m->params.list[i];
        bool looked_up = m->config.untied_head && i == 0;
        if (!pt_model_packs(p) || looked_up) continue;
        bytes += (double)p->dim[0] * (double)pt_dtype_bytes(weights, p->dim[1]);
        *count += (double)p->n;
    }
    return bytes;
}

static pt_status measure(pt_bench *b, const pt_preset *preset, pt_dtype weights, const char *word,
                         pt_error *err)
{
    char shape[48];
    double count;
    pt_model_config config = preset->config;
    pt_model_config_complete(&config);
    decode d = {.device = b->device};
    if (!pt_bench_wants(b, preset->name, word)) return PT_OK;
    pt_status s = begin(&d, &config, weights, err);
    if (s) pt_error_prefix(err, "%s", preset->name);
    double bytes = s ? 0 : weight_bytes(d.model, weights, &count);
    pt_format(shape, sizeof shape, "%s, %.1f MB a token", word, bytes / 1e6);
    pt_bench_row *row = s ? NULL : pt_bench_row_new(b, preset->name, shape, err);
    if (row) {
        row->tokens = 1;
        row->bytes = bytes;
        row->flop = 2 * count;
        row->params = (double)d.model->params.n_params;
        pt_bench_work work = {.device = b->device, .ctx = &d, .call = call};
        s = pt_bench_measure(b, row, &work, err);
    } else if (s == PT_OK) {
        s = PT_NO_MEMORY;
    }
    end(&d);
    return s;
}

pt_status pt_bench_decode(pt_bench *b, pt_error *err)
{
    static const char *const words[] = {"f32", "f16", "int8"};
    const pt_preset *presets[16];
    int n;
    pt_status s = pt_bench_presets(b->options.presets, "reference,gpt2", presets, &n, err);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < (b->device->packed ? 3 : 1) && s == PT_OK; k++) {
            pt_dtype weights = PT_F32;
            (void)pt_weights_from_name(words[k], &weights);
            s = measure(b, presets[i], weights, words[k], err);
        }
    return s;
}
