/* A generation session. SPDX-License-Identifier: MIT */
#include "infer/session.h"

typedef enum session_state {
    SESSION_IDLE,       /* no text yet */
    SESSION_READY,      /* the next poll queues a forward pass */
    SESSION_DOWNLOADING /* the logits are on their way */
} session_state;

struct pt_session {
    pt_model *model; /* GENERATE, sharing the weights */
    pt_sampler sampler;
    pt_sampler_options options;
    session_state state;
    int32_t *window;  /* (ctx + 1) token ids; the text's end */
    int64_t n;        /* of them in use */
    int64_t cached;   /* of them in the cache */
    int64_t position; /* index of the next token in the whole text: the sampler's counter */
    float *logits;    /* (V) on the host */
    double *wide;     /* (V), where the device computes in double */
    pt_tensor ids, offset, row; /* (1,T) i32, (1) i32, (1,V) */
    int64_t ids_id, offset_id, row_id;
    pt_download download;
};

static int64_t vocab(const pt_session *s) { return s->model->config.vocab; }
static int64_t ctx(const pt_session *s) { return s->model->config.ctx; }

pt_status pt_session_new(pt_session **out, const pt_model *model, pt_error *err)
{
    *out = NULL;
    pt_session *s = pt_alloc(sizeof *s);
    if (!s) return pt_fail(err, PT_NO_MEMORY, "no memory for a session");
    pt_model_options options = {
        .mode = PT_MODEL_GENERATE, .batch = 1, .bf16 = model->options.bf16, .share = model};
    pt_status status = pt_model_new(&s->model, model->device, &model->config, &options, err);
    if (status == PT_OK) status = pt_sampler_init(&s->sampler, vocab(s), err);
    if (status == PT_OK) {
        bool wide = model->device->compute == PT_F64;
        s->window = pt_alloc((size_t)(ctx(s) + 1) * sizeof *s->window);
        s->logits = pt_alloc((size_t)vocab(s) * sizeof *s->logits);
        s->wide = pt_alloc(wide ? (size_t)vocab(s) * sizeof *s->wide : 1);
        if (!s->window || !s->logits || !s->wide)
            status = pt_fail(err, PT_NO_MEMORY, "no memory for a session");
    }
    if (status) pt_session_free(s);
    else *out = s;
    return status;
}

void pt_session_free(pt_session *s)
{
    if (!s) return;
    pt_model_free(s->model);
    pt_sampler_deinit(&s->sampler);
    pt_free(s->window);
    pt_free(s->logits);
    pt_free(s->wide);
    pt_free(s);
}

void pt_session_plan(pt_session *s, pt_plan *plan)
{
    pt_model_plan(s->model, plan, "session.");
    pt_dtype real = s->model->device->compute;
    s->ids_id =
        pt_plan_add(plan, PT_ARENA_RUN, "session.ids", PT_I32, (int64_t[4]){1, ctx(s), 0, 0});
    s->offset_id =
        pt_plan_add(plan, PT_ARENA_RUN, "session.offset", PT_I32, (int64_t[4]){1, 0, 0, 0});
    s->row_id =
        pt_plan_add(plan, PT_ARENA_RUN, "session.logits", real, (int64_t[4]){1, vocab(s), 0, 0});
    pt_plan_add_host(plan, "session: sampler", vocab(s) * 21 + ctx(s) * 4);
}

pt_status pt_session_bind(pt_session *s, const pt_plan *plan, pt_error *err)
{
    s->ids = pt_plan_tensor(plan, s->ids_id);
    s->offset = pt_plan_tensor(plan, s->offset_id);
    s->row = pt_plan_tensor(plan, s->row_id);
    return pt_model_bind(s->model, plan, err);
}

static pt_status check_ids(const pt_session *s, const int32_t *ids, int64_t n, pt_error *err)
{
    if (n < 1) return pt_fail(err, PT_BAD_INPUT, "a prompt needs at least one token");
    for (int64_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= vocab(s))
            return pt_fail(err, PT_BAD_INPUT, "token %lld of the prompt is %d, the model has %lld",
                           (long long)i, (int)ids[i], (long long)vocab(s));
    return PT_OK;
}

pt_status pt_session_start(pt_session *s, const int32_t *ids, int64_t n,
                           const pt_sampler_options *options, pt_error *err)
{
    pt_status status = check_ids(s, ids, n, err);
    if (status == PT_OK) status = pt_sampler_options_check(options, err);
    if (status) return status;
    s->options = *options;
    s->n = pt_min_i64(n, ctx(s));
    memcpy(s->window, ids + (n - s->n), (size_t)s->n * sizeof *ids);
    s->cached = 0;
    s->position = n;
    s->state = SESSION_READY;
    return PT_OK;
}

/* Queues the forward pass of the tokens that are not in the cache, and the download of the last one's
 * logits. */
static pt_status queue_forward(pt_session *s, pt_error *err)
{
    if (s->n > ctx(s)) { /* the window slides: every cached key stands at a wrong position now */
        memmove(s->window, s->window + 1, (size_t)ctx(s) * sizeof *s->window);
        s->n = ctx(s);
        s->cached = 0;
    }
    pt_device *device = s->model->device;
    int64_t T = s->n - s->cached;
    int32_t offset = (int32_t)s->cached;
    pt_batch batch = {.B = 1, .T = T, .ids = pt_view(&s->ids, 1, T, 0, 0), .offset = s->offset};
    pt_status status = pt_upload(device, &batch.ids, s->window + s->cached, T * 4, err);
    if (status == PT_OK) status = pt_upload(device, &s->offset, &offset, 4, err);
    if (status == PT_OK) status = pt_model_forward(s->model, &batch, err);
    if (status == PT_OK) status = pt_model_logits(s->model, T - 1, 1, &s->row, err);
    void *to = device->compute == PT_F64 ? (void *)s->wide : s->logits;
    if (status == PT_OK)
        status =
            pt_download_begin(device, &s->row, to, pt_tensor_bytes(&s->row), &s->download, err);
    if (status == PT_OK) status = pt_submit(device, err);
    if (status) return status;
    s->cached = s->n;
    s->state = SESSION_DOWNLOADING;
    return PT_OK;
}

static pt_status take_token(pt_session *s, int32_t *out, pt_error *err)
{
    if (s->model->device->compute == PT_F64)
        for (int64_t i = 0; i < vocab(s); i++) s->logits[i] = (float)s->wide[i];
    pt_sampler_text text = {s->window, s->n, s->position};
    pt_status status = pt_sampler_pick(&s->sampler, &s->options, &text, s->logits, out, err);
    if (status) return status;
    s->window[s->n++] = *out;
    s->position++;
    s->state = SESSION_READY;
    return PT_OK;
}

pt_status pt_session_poll(pt_session *s, int32_t *out, pt_error *err)
{
    if (s->state == SESSION_IDLE)
        return pt_fail(err, PT_INTERNAL, "a session was polled before it was started");
    if (s->state == SESSION_READY) {
        pt_status status = queue_forward(s, err);
        if (status) return status;
    }
    pt_status status = pt_download_poll(s->model->device, &s->download, err);
    return status == PT_OK ? take_token(s, out, err) : status;
}

int64_t pt_session_top(const pt_session *s, int64_t k, pt_likely *out)
{
    return pt_likely_top(s->logits, vocab(s), k, out);
}

double pt_session_probability(const pt_session *s, int32_t id)
{
    return pt_likely_probability(s->logits, vocab(s), id);
}

const float *pt_session_logits(const pt_session *s) { return s->logits; }

int64_t pt_session_cache_bytes(const pt_session *s)
{
    const pt_model_config *c = &s->model->config;
    pt_dtype stored = s->model->options.bf16 ? PT_BF16 : s->model->device->compute;
    return pt_dtype_bytes(stored, 2 * c->n_layers * c->n_kv_heads * c->ctx * c->d_head);
}
