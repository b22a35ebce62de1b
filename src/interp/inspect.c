/* Looking inside one forward pass. SPDX-License-Identifier: MIT */
#include "interp/inspect.h"

#include "ops/ops.h"

struct pt_inspection {
    pt_model *model;                      /* EVALUATE, keeps activations, shares the weights */
    pt_tensor ids;                        /* (1,T) i32 */
    pt_tensor normed, mean, rstd, logits; /* of the lens: (T,C), (T), (T), (T,V) */
    pt_tensor unit, seen;                 /* of attention: values (1,T,G,D), output (1,T,H,D) */
    int64_t id[7];                        /* their places in the plan, in this order */
    float *values, *piece; /* the result; what is on its way, where it is not the result */
    double *wide;          /* what is on its way, where the device computes in double */
    int64_t T, n_values;
    int64_t layer, first_key; /* attention: keys first_key … first_key+D-1 are on their way */
    bool attention, waiting;
    pt_download download;
};

static const pt_model_config *config_of(const pt_inspection *x) { return &x->model->config; }
static bool wide_device(const pt_inspection *x) { return x->model->device->compute == PT_F64; }

static int64_t most_values(const pt_inspection *x)
{
    const pt_model_config *c = config_of(x);
    int64_t T = x->model->options.tokens;
    return T * pt_max_i64(c->vocab, c->n_heads * T);
}

/* Elements of the largest download. */
static int64_t most_piece(const pt_inspection *x)
{
    const pt_model_config *c = config_of(x);
    return x->model->options.tokens * pt_max_i64(c->vocab, c->n_heads * c->d_head);
}

pt_status pt_inspection_new(pt_inspection **out, const pt_model *model, int64_t tokens,
                            pt_error *err)
{
    *out = NULL;
    if (model->options.bf16)
        return pt_fail(err, PT_UNSUPPORTED,
                       "looking inside a model needs its activations in f32, not in bf16");
    pt_inspection *x = pt_alloc(sizeof *x);
    if (!x) return pt_fail(err, PT_NO_MEMORY, "no memory to look inside a model");
    pt_model_options options = {
        .mode = PT_MODEL_EVALUATE, .batch = 1, .tokens = tokens, .keep = true, .share = model};
    pt_status s = pt_model_new(&x->model, model->device, &model->config, &options, err);
    if (s) pt_inspection_free(x);
    else *out = x;
    return s;
}

void pt_inspection_free(pt_inspection *x)
{
    if (!x) return;
    pt_model_free(x->model);
    pt_free(x->values);
    pt_free(x->piece);
    pt_free(x->wide);
    pt_free(x);
}

void pt_inspection_plan(pt_inspection *x, pt_plan *plan)
{
    const pt_model_config *c = config_of(x);
    int64_t T = x->model->options.tokens;
    const struct {
        const char *name;
        pt_dtype dtype;
        int64_t dim[4];
    } tensors[7] = {
        {"inspect.ids", PT_I32, {1, T, 0, 0}},
        {"inspect.normed", x->model->device->compute, {T, c->d_model, 0, 0}},
        {"inspect.mean", x->model->device->compute, {T, 0, 0, 0}},
        {"inspect.rstd", x->model->device->compute, {T, 0, 0, 0}},
        {"inspect.logits", x->model->device->compute, {T, c->vocab, 0, 0}},
        {"inspect.unit", x->model->device->compute, {1, T, c->n_kv_heads, c->d_head}},
        {"inspect.seen", x->model->device->compute, {1, T, c->n_heads, c->d_head}},
    };
    pt_model_plan(x->model, plan, "inspect.");
    for (int i = 0; i < 7; i++)
        x->id[i] =
            pt_plan_add(plan, PT_ARENA_STEP, tensors[i].name, tensors[i].dtype, tensors[i].dim);
    int64_t piece = most_piece(x) * (int64_t)(sizeof *x->piece + (wide_device(x) ? 8 : 0));
    pt_plan_add_host(plan, "inspect: values", most_values(x) * (int64_t)sizeof *x->values + piece);
}

pt_status pt_inspection_bind(pt_inspection *x, const pt_plan *plan, pt_error *err)
{
    pt_tensor *tensors[7] = {&x->ids,    &x->normed, &x->mean, &x->rstd,
                             &x->logits, &x->unit,   &x->seen};
    for (int i = 0; i < 7; i++) *tensors[i] = pt_plan_tensor(plan, x->id[i]);
    x->values = pt_alloc((size_t)most_values(x) * sizeof *x->values);
    x->piece = pt_alloc((size_t)most_piece(x) * sizeof *x->piece);
    x->wide = pt_alloc(wide_device(x) ? (size_t)most_piece(x) * sizeof *x->wide : 1);
    if (!x->values || !x->piece || !x->wide)
        return pt_fail(err, PT_NO_MEMORY, "no memory to look inside a model");
    return pt_model_bind(x->model, plan, err);
}

pt_status pt_inspection_run(pt_inspection *x, const int32_t *ids, int64_t T, pt_error *err)
{
    int64_t most = x->model->options.tokens, V = config_of(x)->vocab;
    if (T < 1 || T > most)
        return pt_fail(err, PT_BAD_INPUT, "a text of %lld tokens: give 1 to %lld", (long long)T,
                       (long long)most);
    for (int64_t i = 0; i < T; i++)
        if (ids[i] < 0 || ids[i] >= V)
            return pt_fail(err, PT_BAD_INPUT, "token %lld of the text is %d, the model has %lld",
                           (long long)i, (int)ids[i], (long long)V);
    x->T = 0;
    pt_batch batch = {.B = 1, .T = T, .ids = pt_view(&x->ids, 1, T, 0, 0)};
    pt_status s = pt_upload(x->model->device, &batch.ids, ids, T * 4, err);
    if (s == PT_OK) s = pt_model_forward(x->model, &batch, err);
    if (s == PT_OK) s = pt_submit(x->model->device, err);
    if (s == PT_OK) x->T = T;
    return s;
}

static pt_status check_layer(const pt_inspection *x, int64_t layer, int64_t most, pt_error *err)
{
    if (!x->T) return pt_fail(err, PT_BAD_INPUT, "nothing to look at: run a text first");
    if (layer >= 0 && layer <= most) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "layer %lld: give 0 to %lld", (long long)layer,
                   (long long)most);
}

/* Queues the download of t, whose elements are the next piece. */
static pt_status begin_piece(pt_inspection *x, const pt_tensor *t, pt_error *err)
{
    void *to = wide_device(x) ? (void *)x->wide : x->piece;
    pt_device *device = x->model->device;
    pt_status s = pt_download_begin(device, t, to, pt_tensor_bytes(t), &x->download, err);
    if (s == PT_OK) s = pt_submit(device, err);
    x->waiting = s == PT_OK;
    return s;
}

/* ---- the lens ---- */

static pt_status final_norm(pt_inspection *x, const pt_tensor *stream, const pt_tensor *normed,
                            pt_error *err)
{
    const pt_linear_weights *w = &x->model->weights.norm;
    double eps = config_of(x)->norm_eps;
    pt_tensor mean = pt_view(&x->mean, x->T, 0, 0, 0), rstd = pt_view(&x->rstd, x->T, 0, 0, 0);
    if (config_of(x)->norm == PT_NORM_RMS) {
        pt_rmsnorm_args a = {.x = *stream, .w = w->w, .y = *normed, .rstd = rstd, .eps = eps};
        return pt_rmsnorm_forward(x->model->device, &a, err);
    }
    pt_layernorm_args a = {
        .x = *stream, .w = w->w, .b = w->b, .y = *normed, .mean = mean, .rstd = rstd, .eps = eps};
    return pt_layernorm_forward(x->model->device, &a, err);
}

pt_status pt_inspection_lens(pt_inspection *x, int64_t layer, pt_error *err)
{
    const pt_model *m = x->model;
    pt_status s = check_layer(x, layer, m->config.n_layers, err);
    if (s) return s;
    const pt_tensor *from = layer == m->config.n_layers ? &m->output : &m->blocks[layer].input;
    pt_tensor stream = pt_view(from, x->T, m->config.d_model, 0, 0);
    pt_linear_args head = {
        .x = pt_view(&x->normed, x->T, m->config.d_model, 0, 0),
        .w = pt_present(&m->weights.head) ? m->weights.head : m->weights.token,
        .y = pt_view(&x->logits, x->T, m->config.vocab, 0, 0),
    };
    x->attention = false;
    s = final_norm(x, &stream, &head.x, err);
    if (s == PT_OK) s = pt_linear_forward(m->device, &head, err);
    return s == PT_OK ? begin_piece(x, &head.y, err) : s;
}

/* ---- attention ---- */

/* Runs the op on values that are 1 in channel d at key first_key + d, so that channel d of the output is the
 * weight of that key. */
static pt_status begin_keys(pt_inspection *x, pt_error *err)
{
    const pt_model_config *c = config_of(x);
    const pt_block_activations *b = &x->model->blocks[x->layer];
    int64_t T = x->T, H = c->n_heads, G = c->n_kv_heads, D = c->d_head;
    memset(x->piece, 0, (size_t)(T * G * D) * sizeof *x->piece);
    for (int64_t d = 0; d < D && x->first_key + d < T; d++)
        for (int64_t g = 0; g < G; g++) x->piece[((x->first_key + d) * G + g) * D + d] = 1.0f;
    pt_attention_args a = {.q = pt_view(&b->q, 1, T, H, D),
                           .k = pt_view(&b->k, 1, T, G, D),
                           .v = pt_view(&x->unit, 1, T, G, D),
                           .o = pt_view(&x->seen, 1, T, H, D),
                           .window = c->window};
    pt_status s = pt_upload_floats(x->model->device, &a.v, x->piece, T * G * D, err);
    if (s == PT_OK) s = pt_attention_forward(x->model->device, &a, err);
    return s == PT_OK ? begin_piece(x, &a.o, err) : s;
}

pt_status pt_inspection_attention(pt_inspection *x, int64_t layer, pt_error *err)
{
    pt_status s = check_layer(x, layer, config_of(x)->n_layers - 1, err);
    if (s) return s;
    x->attention = true;
    x->layer = layer;
    x->first_key = 0;
    return begin_keys(x, err);
}

/* The piece (T,H,D) into its D columns of (H,T,T). */
static void take_keys(pt_inspection *x)
{
    int64_t T = x->T, H = config_of(x)->n_heads, D = config_of(x)->d_head;
    int64_t n = pt_min_i64(D, T - x->first_key);
    for (int64_t i = 0; i < T; i++)
        for (int64_t h = 0; h < H; h++)
            for (int64_t d = 0; d < n; d++)
                x->values[(h * T + i) * T + x->first_key + d] = x->piece[(i * H + h) * D + d];
}

pt_status pt_inspection_poll(pt_inspection *x, pt_error *err)
{
    const pt_model_config *c = config_of(x);
    if (!x->waiting)
        return pt_fail(err, PT_INTERNAL, "an inspection was polled with nothing to do");
    pt_status s = pt_download_poll(x->model->device, &x->download, err);
    if (s) return s;
    x->waiting = false;
    int64_t n = x->T * (x->attention ? c->n_heads * c->d_head : c->vocab);
    if (wide_device(x))
        for (int64_t i = 0; i < n; i++) x->piece[i] = (float)x->wide[i];
    x->n_values = x->T * (x->attention ? c->n_heads * x->T : c->vocab);
    if (!x->attention) {
        memcpy(x->values, x->piece, (size_t)n * sizeof *x->values);
        return PT_OK;
    }
    take_keys(x);
    x->first_key += c->d_head;
    if (x->first_key >= x->T) return PT_OK;
    s = begin_keys(x, err);
    return s == PT_OK ? PT_PENDING : s;
}

const float *pt_inspection_values(const pt_inspection *x) { return x->values; }
int64_t pt_inspection_n_values(const pt_inspection *x) { return x->n_values; }
int64_t pt_inspection_tokens(const pt_inspection *x) { return x->T; }
