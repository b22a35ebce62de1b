/* A model's life and its weights. Its memory is in model_plan.c, the maths in transformer.c.
 * SPDX-License-Identifier: MIT */
#include "model/model.h"

#include "base/maths.h"
#include "ops/ops.h"

/* ---- weights ---- */

#define CHUNK (1 << 14)  /* elements filled by one thread at a time */
#define STAGED (1 << 18) /* elements between uploads */

typedef struct fill_job {
    const pt_params *params;
    int64_t index, first, n;
    uint64_t seed;
    float *out;
} fill_job;

static void fill_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const fill_job *job = ctx;
    int64_t at = chunk * CHUNK, n = pt_min_i64(CHUNK, job->n - at);
    pt_params_fill(job->params, job->index, job->seed, job->first + at, n, job->out + at);
}

/* n floats into elements first … of a parameter, and rounded into the copy where there is one. */
static pt_status upload_weights(pt_model *m, const pt_param *p, int64_t first, const float *values,
                                int64_t n, pt_error *err)
{
    uint16_t rounded[1024];
    pt_tensor whole = pt_param_tensor(p, &m->weights.flat);
    whole = pt_view(&whole, p->n, 0, 0, 0);
    pt_tensor part = pt_slice(&whole, first, n);
    pt_status s = pt_upload_floats(m->device, &part, values, n, err);
    if (!pt_present(&m->weights.copy)) return s;
    whole = pt_param_tensor(p, &m->weights.copy);
    whole = pt_view(&whole, p->n, 0, 0, 0);
    for (int64_t at = 0; at < n && s == PT_OK; at += 1024) {
        int64_t some = pt_min_i64(1024, n - at);
        for (int64_t i = 0; i < some; i++) rounded[i] = pt_bf16_from_float(values[at + i]);
        part = pt_slice(&whole, first + at, some);
        s = pt_upload(m->device, &part, rounded, some * (int64_t)sizeof *rounded, err);
    }
    return s;
}

bool pt_model_packs(const pt_param *p)
{
    return p->rank == 2 && strcmp(p->name, "position_embedding.weight") != 0;
}

/* All n values of a parameter that has a tensor of its own. */
static pt_status upload_packed(pt_model *m, int64_t index, const float *values, pt_error *err)
{
    const pt_param *p = &m->params.list[index];
    const pt_tensor *t = &m->weights.each[index];
    if (!pt_is_packed(t->dtype)) return pt_upload_floats(m->device, t, values, p->n, err);
    int64_t n = p->dim[1], row = pt_dtype_bytes(t->dtype, n), some = pt_div_up(STAGED, row);
    char *staged = pt_alloc((size_t)(some * row));
    if (!staged) return pt_fail(err, PT_NO_MEMORY, "no memory for weights");
    pt_status s = PT_OK;
    for (int64_t first = 0; first < p->dim[0] && s == PT_OK; first += some) {
        int64_t rows = pt_min_i64(some, p->dim[0] - first);
        pt_tensor part = pt_slice(t, first, rows);
        for (int64_t i = 0; i < rows && s == PT_OK; i++)
            if (!pt_pack_row(t->dtype, values + (first + i) * n, n, staged + i * row))
                s = pt_fail(err, PT_UNSUPPORTED,
                            "%s: row %lld has a weight beyond 65504, which f16 cannot hold: keep "
                            "the weights in f32 or int8",
                            p->name, (long long)(first + i));
        if (s == PT_OK) s = pt_upload(m->device, &part, staged, rows * row, err);
    }
    pt_free(staged);
    return s;
}

pt_status pt_model_init_weights(pt_model *m, uint64_t seed, pt_pool *pool, pt_error *err)
{
    float *staged = pt_alloc(STAGED * sizeof *staged);
    pt_status s = staged ? PT_OK : pt_fail(err, PT_NO_MEMORY, "no memory for weights");
    for (int64_t i = 0; i < m->params.n && s == PT_OK; i++) {
        const pt_param *p = &m->params.list[i];
        for (int64_t first = 0; first < p->n && s == PT_OK; first += STAGED) {
            int64_t n = pt_min_i64(STAGED, p->n - first);
            fill_job job = {&m->params, i, first, n, seed, staged};
            pt_pool_run(pool, pt_div_up(n, CHUNK), fill_chunk, &job);
            s = upload_weights(m, p, first, staged, n, err);
        }
    }
    pt_free(staged);
    return s;
}

pt_status pt_model_set_weight(pt_model *m, int64_t index, const float *values, pt_error *err)
{
    const pt_param *p = &m->params.list[index];
    if (m->weights.each) return upload_packed(m, index, values, err);
    return upload_weights(m, p, 0, values, p->n, err);
}

/* ---- life ---- */

static pt_status require_ops(const pt_model *m, pt_error *err)
{
    const pt_model_config *c = &m->config;
    bool train = m->options.mode == PT_MODEL_TRAIN;
    bool rms = c->norm == PT_NORM_RMS;
    const struct {
        pt_op op;
        bool used, backward;
    } wanted[] = {
        {PT_OP_embedding, true, true},
        {PT_OP_layernorm, !rms, true},
        {PT_OP_rmsnorm, rms || c->qk_norm, true},
        {PT_OP_linear, true, true},
        {PT_OP_rope, c->positions == PT_POSITION_ROPE, true},
        {PT_OP_attention, true, true},
        {PT_OP_kv_store, m->options.mode == PT_MODEL_GENERATE, false},
        {PT_OP_gelu, c->mlp == PT_MLP_GELU, true},
        {PT_OP_swiglu, c->mlp == PT_MLP_SWIGLU, true},
        {PT_OP_add, true, false},
        {PT_OP_dropout, train && c->dropout > 0, true},
        {PT_OP_crossentropy, m->options.mode != PT_MODEL_GENERATE, true},
    };
    pt_status s = PT_OK;
    if (m->options.bf16 && !m->device->bf16)
        return pt_fail(err, PT_UNSUPPORTED,
                       "device %s (%s) stores activations in %s only, not in bf16", m->device->name,
                       m->device->detail, pt_dtype_name(m->device->compute));
    s = pt_device_require_packed(m->device, m->options.weights, err);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && s == PT_OK; i++) {
        if (!wanted[i].used) continue;
        s = pt_device_require(m->device, wanted[i].op, PT_FORWARD, err);
        if (s == PT_OK && train && wanted[i].backward)
            s = pt_device_require(m->device, wanted[i].op, PT_BACKWARD, err);
    }
    return s;
}

pt_status pt_model_new(pt_model **out, pt_device *device, const pt_model_config *config,
                       const pt_model_options *options, pt_error *err)
{
    *out = NULL;
    pt_status s = pt_model_config_check(config, err);
    if (s) return s;
    pt_model *m = pt_alloc(sizeof *m);
    if (!m) return pt_fail(err, PT_NO_MEMORY, "no memory for a model");
    m->device = device;
    m->config = *config;
    m->options = *options;
    if (!m->options.tokens) m->options.tokens = config->ctx;
    if (options->share) m->options.weights = options->share->options.weights;
    size_t layers = (size_t)config->n_layers;
    m->blocks = pt_alloc(layers * sizeof *m->blocks);
    m->weights.blocks = pt_alloc(layers * sizeof *m->weights.blocks);
    bool train = options->mode == PT_MODEL_TRAIN;
    if (train) m->grads.blocks = pt_alloc(layers * sizeof *m->grads.blocks);
    if (!m->blocks || !m->weights.blocks || (train && !m->grads.blocks))
        s = pt_fail(err, PT_NO_MEMORY, "no memory for a model of %zu layers", layers);
    if (s == PT_OK) s = pt_params_init(&m->params, config, err);
    if (s == PT_OK && pt_is_packed(m->options.weights) && !options->share) {
        m->weights.each = pt_alloc((size_t)m->params.n * sizeof *m->weights.each);
        if (!m->weights.each) s = pt_fail(err, PT_NO_MEMORY, "no memory for a model");
    }
    if (s == PT_OK) s = require_ops(m, err);
    if (s) pt_model_free(m);
    else *out = m;
    return s;
}

void pt_model_free(pt_model *m)
{
    if (!m) return;
    pt_params_deinit(&m->params);
    if (!m->options.share) pt_free(m->weights.each);
    pt_free(m->places.list);
    pt_free(m->blocks);
    pt_free(m->weights.blocks);
    pt_free(m->grads.blocks);
    pt_free(m);
}

/* "kind name" if t lies in this flat array. */
static bool name_in(const pt_model *m, const pt_tensor *flat, const pt_tensor *t, const char *kind,
                    char *out, size_t cap)
{
    int64_t bytes = t->offset - flat->offset;
    if (!pt_present(flat) || t->buffer != flat->buffer || bytes < 0 ||
        bytes >= pt_tensor_bytes(flat))
        return false;
    const pt_param *p = pt_params_at(&m->params, bytes / pt_dtype_bytes(flat->dtype, 1));
    pt_format(out, cap, "%s %s", kind, p ? p->name : "?");
    return true;
}

void pt_model_name_of(const pt_model *m, const pt_plan *plan, const pt_tensor *t, char *out,
                      size_t cap)
{
    if (name_in(m, &m->weights.flat, t, "weight", out, cap)) return;
    if (name_in(m, &m->weights.copy, t, "weight", out, cap)) return;
    if (name_in(m, &m->grads.flat, t, "gradient of", out, cap)) return;
    pt_format(out, cap, "%s", pt_plan_name_of(plan, t));
}
