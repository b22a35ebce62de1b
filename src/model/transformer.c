/* The transformer: forward and backward, side by side, as explicit lists of op calls.
 *
 * Pre-norm blocks on a residual stream x:
 *   x = x + attention(norm1(x));   x = x + mlp(norm2(x));   logits = norm(x) head^T
 * Each piece of the forward pass is followed by its backward. The stream's gradient is kept in one
 * place, d_stream; a norm's backward adds to it (that is the residual addition's backward).
 * Source: Vaswani et al. 2017; Radford et al. 2019 (pre-norm GPT-2); Touvron et al. 2023 (Llama).
 * SPDX-License-Identifier: MIT */
#include "model/model.h"

#include "ops/ops.h"

/* One call's view of the model: the model's buffers cut to this batch's B and T. */
typedef struct call {
    pt_model *m;
    const pt_batch *batch;
    int64_t B, T;
    pt_error *err;
} call;

/* (B,T,channels) at the front of a buffer shaped for the largest call; absent stays absent. */
static pt_tensor cut(const call *c, const pt_tensor *t, int64_t channels)
{
    return pt_present(t) ? pt_view(t, c->B, c->T, channels, 0) : *t;
}

static pt_tensor cut_heads(const call *c, const pt_tensor *t, int64_t heads)
{
    return pt_present(t) ? pt_view(t, c->B, c->T, heads, c->m->config.d_head) : *t;
}

static pt_tensor cut_rows(const call *c, const pt_tensor *t, int64_t per_row)
{
    return pt_present(t) ? pt_view(t, c->B * c->T * per_row, 0, 0, 0) : *t;
}

static int64_t channels(const call *c) { return c->m->config.d_model; }

/* ---- norm ---- */

typedef struct norm_place {
    const pt_linear_weights *weights, *grads; /* grads NULL in the forward pass */
    pt_tensor x, y, mean, rstd;
} norm_place;

static pt_status norm_forward(const call *c, const norm_place *p)
{
    double eps = c->m->config.norm_eps;
    if (c->m->config.norm == PT_NORM_RMS) {
        pt_rmsnorm_args a = {.x = p->x, .w = p->weights->w, .y = p->y, .rstd = p->rstd, .eps = eps};
        return pt_rmsnorm_forward(c->m->device, &a, c->err);
    }
    pt_layernorm_args a = {.x = p->x,
                           .w = p->weights->w,
                           .b = p->weights->b,
                           .y = p->y,
                           .mean = p->mean,
                           .rstd = p->rstd,
                           .eps = eps};
    return pt_layernorm_forward(c->m->device, &a, c->err);
}

/* d_y → added to d_stream when accumulate, else assigned. */
static pt_status norm_backward(const call *c, const norm_place *p, const pt_tensor *d_y,
                               const pt_tensor *d_x, bool accumulate)
{
    double eps = c->m->config.norm_eps;
    if (c->m->config.norm == PT_NORM_RMS) {
        pt_rmsnorm_args a = {.x = p->x,
                             .w = p->weights->w,
                             .rstd = p->rstd,
                             .dy = *d_y,
                             .dx = *d_x,
                             .dw = p->grads->w,
                             .eps = eps,
                             .dx_accumulate = accumulate};
        return pt_rmsnorm_backward(c->m->device, &a, c->err);
    }
    pt_layernorm_args a = {.x = p->x,
                           .w = p->weights->w,
                           .mean = p->mean,
                           .rstd = p->rstd,
                           .dy = *d_y,
                           .dx = *d_x,
                           .dw = p->grads->w,
                           .db = p->grads->b,
                           .eps = eps,
                           .dx_accumulate = accumulate};
    return pt_layernorm_backward(c->m->device, &a, c->err);
}

static norm_place norm1_place(const call *c, int64_t layer)
{
    const pt_model *m = c->m;
    const pt_block_activations *b = &m->blocks[layer];
    return (norm_place){.weights = &m->weights.blocks[layer].norm1,
                        .grads = m->grads.blocks ? &m->grads.blocks[layer].norm1 : NULL,
                        .x = cut(c, &b->input, channels(c)),
                        .y = cut(c, &b->norm1, channels(c)),
                        .mean = cut_rows(c, &b->mean1, 1),
                        .rstd = cut_rows(c, &b->rstd1, 1)};
}

static norm_place norm2_place(const call *c, int64_t layer)
{
    const pt_model *m = c->m;
    const pt_block_activations *b = &m->blocks[layer];
    return (norm_place){.weights = &m->weights.blocks[layer].norm2,
                        .grads = m->grads.blocks ? &m->grads.blocks[layer].norm2 : NULL,
                        .x = cut(c, &b->middle, channels(c)),
                        .y = cut(c, &b->norm2, channels(c)),
                        .mean = cut_rows(c, &b->mean2, 1),
                        .rstd = cut_rows(c, &b->rstd2, 1)};
}

static norm_place final_place(const call *c)
{
    pt_model *m = c->m;
    return (norm_place){.weights = &m->weights.norm,
                        .grads = m->grads.blocks ? &m->grads.norm : NULL,
                        .x = cut(c, &m->output, channels(c)),
                        .y = cut(c, &m->normed, channels(c)),
                        .mean = cut_rows(c, &m->mean, 1),
                        .rstd = cut_rows(c, &m->rstd, 1)};
}

/* ---- linear ---- */

static pt_status linear_forward(const call *c, const pt_linear_weights *w, const pt_tensor *x,
                                const pt_tensor *y)
{
    pt_linear_args a = {.x = *x, .w = w->w, .b = w->b, .y = *y};
    return pt_linear_forward(c->m->device, &a, c->err);
}

static pt_status linear_backward(const call *c, const pt_linear_weights *w,
                                 const pt_linear_weights *grads, const pt_linear_args *tensors)
{
    pt_linear_args a = *tensors;
    a.w = w->w;
    a.dw = grads->w;
    a.db = grads->b;
    return pt_linear_backward(c->m->device, &a, c->err);
}

/* ---- dropout: site 0 is the embedding; 1 + 2 layer and 2 + 2 layer the block's branches ---- */

static bool drops(const call *c) { return c->batch->train && c->m->config.dropout > 0; }

/* A site's elements of one sample take up T*C numbers of the stream, rounded up to a multiple of 4, where
 * that changes nothing all rows go in one launch; else each row goes alone. So a sample's mask depends on
 * neither the batch nor the accumulation it came in. */
static pt_status run_dropout(const call *c, uint32_t site, const pt_dropout_args *whole,
                             pt_pass pass)
{
    int64_t row = c->T * channels(c), stride = pt_round_up(row, 4);
    int64_t launches = row == stride ? 1 : c->B, rows = c->B / launches;
    pt_status s = PT_OK;
    for (int64_t i = 0; i < launches && s == PT_OK; i++) {
        pt_dropout_args a = {.p = c->m->config.dropout,
                             .seed = c->batch->seed,
                             .first = (c->batch->first_sample + i) * stride,
                             .site = site};
        a.x = pt_present(&whole->x) ? pt_slice(&whole->x, i, rows) : whole->x;
        a.y = pt_present(&whole->y) ? pt_slice(&whole->y, i, rows) : whole->y;
        a.dy = pt_present(&whole->dy) ? pt_slice(&whole->dy, i, rows) : whole->dy;
        a.dx = pt_present(&whole->dx) ? pt_slice(&whole->dx, i, rows) : whole->dx;
        s = pt_op_run(c->m->device, PT_OP_dropout, pass, &a, c->err);
    }
    return s;
}

static pt_status dropout_forward(const call *c, uint32_t site, const pt_tensor *x)
{
    pt_dropout_args a = {.x = *x, .y = *x};
    return drops(c) ? run_dropout(c, site, &a, PT_FORWARD) : PT_OK;
}

/* Gradient of a branch from the stream's: the stream itself when nothing is dropped. */
static pt_status dropout_backward(const call *c, uint32_t site, pt_tensor *d_branch)
{
    *d_branch = cut(c, &c->m->d_stream, channels(c));
    if (!drops(c)) return PT_OK;
    pt_dropout_args a = {.dy = *d_branch};
    a.dx = *d_branch = cut(c, &c->m->d_branch, channels(c));
    return run_dropout(c, site, &a, PT_BACKWARD);
}

static pt_status add_branch(const call *c, uint32_t site, const pt_tensor *stream,
                            const pt_tensor *out)
{
    pt_tensor branch = cut(c, &c->m->branch, channels(c));
    pt_status s = dropout_forward(c, site, &branch);
    pt_add_args a = {.a = cut(c, stream, channels(c)), .b = branch, .y = cut(c, out, channels(c))};
    if (s == PT_OK) s = pt_add_forward(c->m->device, &a, c->err);
    return s;
}

/* ---- queries, keys, values ---- */

static pt_status head_norm_forward(const call *c, const pt_tensor *w, const pt_tensor *x,
                                   const pt_tensor *y, const pt_tensor *rstd)
{
    pt_rmsnorm_args a = {.x = *x, .w = *w, .y = *y, .rstd = *rstd, .eps = c->m->config.norm_eps};
    return pt_rmsnorm_forward(c->m->device, &a, c->err);
}

static pt_status head_norm_backward(const call *c, const pt_rmsnorm_args *tensors,
                                    const pt_tensor *d)
{
    pt_rmsnorm_args a = *tensors;
    a.eps = c->m->config.norm_eps;
    a.dy = a.dx = *d;
    return pt_rmsnorm_backward(c->m->device, &a, c->err);
}

static pt_status rope_forward(const call *c, const pt_tensor *x)
{
    pt_rope_args a = {.x = *x,
                      .freq = c->m->freq,
                      .offset = c->batch->offset,
                      .doc_start = c->batch->doc_start,
                      .y = *x};
    return pt_rope_forward(c->m->device, &a, c->err);
}

static pt_status rope_backward(const call *c, const pt_tensor *d)
{
    pt_rope_args a = {.freq = c->m->freq,
                      .offset = c->batch->offset,
                      .doc_start = c->batch->doc_start,
                      .dy = *d,
                      .dx = *d};
    return pt_rope_backward(c->m->device, &a, c->err);
}

static pt_status qkv_forward(const call *c, int64_t layer)
{
    const pt_model_config *config = &c->m->config;
    const pt_block_weights *w = &c->m->weights.blocks[layer];
    const pt_block_activations *b = &c->m->blocks[layer];
    int64_t H = config->n_heads, G = config->n_kv_heads, D = config->d_head;
    pt_tensor x = cut(c, &b->norm1, channels(c));
    bool normed = config->qk_norm;
    pt_tensor q = cut(c, normed ? &b->q_raw : &b->q, H * D);
    pt_tensor k = cut(c, normed ? &b->k_raw : &b->k, G * D);
    pt_tensor v = cut(c, &b->v, G * D);
    pt_status s = linear_forward(c, &w->q, &x, &q);
    if (s == PT_OK) s = linear_forward(c, &w->k, &x, &k);
    if (s == PT_OK) s = linear_forward(c, &w->v, &x, &v);
    pt_tensor q_raw = cut_heads(c, &b->q_raw, H), k_raw = cut_heads(c, &b->k_raw, G);
    pt_tensor q_rstd = cut_rows(c, &b->q_rstd, H), k_rstd = cut_rows(c, &b->k_rstd, G);
    q = cut_heads(c, &b->q, H);
    k = cut_heads(c, &b->k, G);
    if (s == PT_OK && normed) s = head_norm_forward(c, &w->q_norm, &q_raw, &q, &q_rstd);
    if (s == PT_OK && normed) s = head_norm_forward(c, &w->k_norm, &k_raw, &k, &k_rstd);
    if (config->positions != PT_POSITION_ROPE) return s;
    if (s == PT_OK) s = rope_forward(c, &q);
    if (s == PT_OK) s = rope_forward(c, &k);
    return s;
}

/* d_q, d_k, d_v → gradient of norm1's output, in d_branch. */
static pt_status qkv_backward(const call *c, int64_t layer)
{
    pt_model *m = c->m;
    const pt_model_config *config = &m->config;
    const pt_block_weights *w = &m->weights.blocks[layer], *g = &m->grads.blocks[layer];
    const pt_block_activations *b = &m->blocks[layer];
    int64_t H = config->n_heads, G = config->n_kv_heads, D = config->d_head;
    pt_tensor d_q = cut_heads(c, &m->d_q, H), d_k = cut_heads(c, &m->d_k, G);
    pt_status s = PT_OK;
    if (config->positions == PT_POSITION_ROPE) {
        s = rope_backward(c, &d_q);
        if (s == PT_OK) s = rope_backward(c, &d_k);
    }
    if (config->qk_norm) {
        pt_rmsnorm_args q = {.x = cut_heads(c, &b->q_raw, H),
                             .w = w->q_norm,
                             .rstd = cut_rows(c, &b->q_rstd, H),
                             .dw = g->q_norm};
        pt_rmsnorm_args k = {.x = cut_heads(c, &b->k_raw, G),
                             .w = w->k_norm,
                             .rstd = cut_rows(c, &b->k_rstd, G),
                             .dw = g->k_norm};
        if (s == PT_OK) s = head_norm_backward(c, &q, &d_q);
        if (s == PT_OK) s = head_norm_backward(c, &k, &d_k);
    }
    pt_linear_args a = {.x = cut(c, &b->norm1, channels(c)),
                        .dy = cut(c, &m->d_q, H * D),
                        .dx = cut(c, &m->d_branch, channels(c))};
    if (s == PT_OK) s = linear_backward(c, &w->q, &g->q, &a);
    a.dx_accumulate = true;
    a.dy = cut(c, &m->d_k, G * D);
    if (s == PT_OK) s = linear_backward(c, &w->k, &g->k, &a);
    a.dy = cut(c, &m->d_v, G * D);
    if (s == PT_OK) s = linear_backward(c, &w->v, &g->v, &a);
    return s;
}

/* ---- attention ---- */

static pt_attention_args attention_args(const call *c, int64_t layer)
{
    const pt_model_config *config = &c->m->config;
    const pt_block_activations *b = &c->m->blocks[layer];
    pt_attention_args a = {.q = cut_heads(c, &b->q, config->n_heads),
                           .k = cut_heads(c, &b->k, config->n_kv_heads),
                           .v = cut_heads(c, &b->v, config->n_kv_heads),
                           .doc_start = c->batch->doc_start,
                           .o = cut_heads(c, &b->att, config->n_heads),
                           .window = config->window};
    if (pt_present(&b->lse)) a.lse = pt_view(&b->lse, c->B, config->n_heads, c->T, 0);
    return a;
}

static pt_status attention_forward(const call *c, int64_t layer)
{
    pt_model *m = c->m;
    const pt_block_activations *b = &m->blocks[layer];
    pt_attention_args a = attention_args(c, layer);
    pt_status s = PT_OK;
    if (m->options.mode == PT_MODEL_GENERATE) {
        pt_kv_store_args store = {.k = a.k,
                                  .v = a.v,
                                  .offset = c->batch->offset,
                                  .cache_k = b->cache_k,
                                  .cache_v = b->cache_v};
        s = pt_kv_store_forward(m->device, &store, c->err);
        a.k = b->cache_k;
        a.v = b->cache_v;
        a.offset = c->batch->offset;
        a.cached = true;
    }
    if (s == PT_OK) s = pt_attention_forward(m->device, &a, c->err);
    return s;
}

/* d_att → d_q, d_k, d_v. */
static pt_status attention_backward(const call *c, int64_t layer)
{
    pt_model *m = c->m;
    int64_t H = m->config.n_heads, G = m->config.n_kv_heads;
    pt_attention_args a = attention_args(c, layer);
    a.d_o = cut_heads(c, &m->d_att, H);
    a.dq = cut_heads(c, &m->d_q, H);
    a.dk = cut_heads(c, &m->d_k, G);
    a.dv = cut_heads(c, &m->d_v, G);
    a.delta = pt_view(&m->delta, c->B, H, c->T, 0);
    return pt_attention_backward(m->device, &a, c->err);
}

/* The projection back to the stream, and the stream in the middle of the block. */
static pt_status middle_forward(const call *c, int64_t layer)
{
    pt_model *m = c->m;
    const pt_block_activations *b = &m->blocks[layer];
    pt_tensor att = cut(c, &b->att, m->config.n_heads * m->config.d_head);
    pt_tensor branch = cut(c, &m->branch, channels(c));
    pt_status s = linear_forward(c, &m->weights.blocks[layer].o, &att, &branch);
    if (s == PT_OK) s = add_branch(c, (uint32_t)(1 + 2 * layer), &b->input, &b->middle);
    return s;
}

static pt_status middle_backward(const call *c, int64_t layer)
{
    pt_model *m = c->m;
    int64_t HD = m->config.n_heads * m->config.d_head;
    pt_linear_args a = {.x = cut(c, &m->blocks[layer].att, HD), .dx = cut(c, &m->d_att, HD)};
    pt_status s = dropout_backward(c, (uint32_t)(1 + 2 * layer), &a.dy);
    if (s == PT_OK)
        s = linear_backward(c, &m->weights.blocks[layer].o, &m->grads.blocks[layer].o, &a);
    return s;
}

/* ---- mlp ---- */

static pt_status hidden_forward(const call *c, int64_t layer)
{
    pt_model *m = c->m;
    const pt_block_activations *b = &m->blocks[layer];
    const pt_block_weights *w = &m->weights.blocks[layer];
    pt_tensor x = cut(c, &b->norm2, channels(c));
    pt_tensor hidden = cut(c, &b->hidden, m->config.d_mlp);
    pt_tensor gate = cut(c, &b->gate, m->config.d_mlp);
    pt_status s = linear_forward(c, &w->in, &x, &hidden);
    if (s == PT_OK && pt_present(&gate)) s = linear_forward(c, &w->gate, &x, &gate);
    return s;
}

/* d_hidden (and d_gate) → gradient of norm2's output, in d_branch. */
static pt_status hidden_backward(const call *c, int64_t layer)
{
    pt_model *m = c->m;
    const pt_block_weights *w = &m->weights.blocks[layer], *g = &m->grads.blocks[layer];
    pt_linear_args a = {.x = cut(c, &m->blocks[layer].norm2, channels(c)),
                        .dy = cut(c, &m->d_hidden, m->config.d_mlp),
                        .dx = cut(c, &m->d_branch, channels(c))};
    pt_status s = linear_backward(c, &w->in, &g->in, &a);
    if (m->config.mlp != PT_MLP_SWIGLU) return s;
    a.dy = cut(c, &m->d_gate, m->config.d_mlp);
    a.dx_accumulate = true;
    if (s == PT_OK) s = linear_backward(c, &w->gate, &g->gate, &a);
    return s;
}

static pt_status activated_forward(const call *c, int64_t layer)
{
    pt_model *m = c->m;
    const pt_block_activations *b = &m->blocks[layer];
    int64_t F = m->config.d_mlp;
    if (m->config.mlp == PT_MLP_SWIGLU) {
        pt_swiglu_args a = {.gate = cut(c, &b->gate, F),
                            .up = cut(c, &b->hidden, F),
                            .y = cut(c, &b->activated, F)};
        return pt_swiglu_forward(m->device, &a, c->err);
    }
    pt_gelu_args a = {.x = cut(c, &b->hidden, F),
                      .y = cut(c, &b->activated, F),
                      .tanh_form = m->config.gelu_tanh};
    return pt_gelu_forward(m->device, &a, c->err);
}

/* The gradient of `activated` lies in d_hidden and is replaced by that of `hidden`. */
static pt_status activated_backward(const call *c, int64_t layer)
{
    pt_model *m = c->m;
    const pt_block_activations *b = &m->blocks[layer];
    int64_t F = m->config.d_mlp;
    pt_tensor d = cut(c, &m->d_hidden, F);
    if (m->config.mlp == PT_MLP_SWIGLU) {
        pt_swiglu_args a = {.gate = cut(c, &b->gate, F),
                            .up = cut(c, &b->hidden, F),
                            .dy = d,
                            .dgate = cut(c, &m->d_gate, F)};
        pt_status s = pt_swiglu_backward(m->device, &a, c->err);
        a.dgate = (pt_tensor){0};
        a.dup = d;
        if (s == PT_OK) s = pt_swiglu_backward(m->device, &a, c->err);
        return s;
    }
    pt_gelu_args a = {
        .x = cut(c, &b->hidden, F), .dy = d, .dx = d, .tanh_form = m->config.gelu_tanh};
    return pt_gelu_backward(m->device, &a, c->err);
}

static pt_status mlp_out_forward(const call *c, int64_t layer, const pt_tensor *out)
{
    pt_model *m = c->m;
    const pt_block_activations *b = &m->blocks[layer];
    pt_tensor x = cut(c, &b->activated, m->config.d_mlp);
    pt_tensor branch = cut(c, &m->branch, channels(c));
    pt_status s = linear_forward(c, &m->weights.blocks[layer].out, &x, &branch);
    if (s == PT_OK) s = add_branch(c, (uint32_t)(2 + 2 * layer), &b->middle, out);
    return s;
}

static pt_status mlp_out_backward(const call *c, int64_t layer)
{
    pt_model *m = c->m;
    int64_t F = m->config.d_mlp;
    pt_linear_args a = {.x = cut(c, &m->blocks[layer].activated, F), .dx = cut(c, &m->d_hidden, F)};
    pt_status s = dropout_backward(c, (uint32_t)(2 + 2 * layer), &a.dy);
    if (s == PT_OK)
        s = linear_backward(c, &m->weights.blocks[layer].out, &m->grads.blocks[layer].out, &a);
    return s;
}

/* ---- block ---- */

static pt_status norm1_forward(const call *c, int64_t layer)
{
    norm_place place = norm1_place(c, layer);
    return norm_forward(c, &place);
}

static pt_status norm2_forward(const call *c, int64_t layer)
{
    norm_place place = norm2_place(c, layer);
    return norm_forward(c, &place);
}

/* The pieces of a block in order, each with the flag that says its result is not kept. */
static const struct {
    int flag;
    pt_status (*forward)(const call *c, int64_t layer);
} pieces[] = {
    {PT_RECOMPUTE_NORM1, norm1_forward},         {PT_RECOMPUTE_QKV, qkv_forward},
    {PT_RECOMPUTE_ATTENTION, attention_forward}, {PT_RECOMPUTE_MIDDLE, middle_forward},
    {PT_RECOMPUTE_NORM2, norm2_forward},         {PT_RECOMPUTE_HIDDEN, hidden_forward},
    {PT_RECOMPUTE_ACTIVATED, activated_forward},
};

/* Runs the pieces whose flag is in `which`. */
static pt_status run_pieces(const call *c, int64_t layer, int which)
{
    pt_status s = PT_OK;
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0] && s == PT_OK; i++)
        if (which & pieces[i].flag) s = pieces[i].forward(c, layer);
    return s;
}

static pt_status block_forward(const call *c, int64_t layer)
{
    pt_model *m = c->m;
    bool last = layer + 1 == m->config.n_layers;
    pt_status s = run_pieces(c, layer, PT_RECOMPUTE_BLOCK);
    if (s == PT_OK) s = mlp_out_forward(c, layer, last ? &m->output : &m->blocks[layer + 1].input);
    return s;
}

static pt_status block_backward(const call *c, int64_t layer)
{
    pt_tensor d_stream = cut(c, &c->m->d_stream, channels(c));
    pt_tensor d_branch = cut(c, &c->m->d_branch, channels(c));
    norm_place norm1 = norm1_place(c, layer), norm2 = norm2_place(c, layer);
    pt_status s = run_pieces(c, layer, c->m->options.recompute);
    if (s == PT_OK) s = mlp_out_backward(c, layer);
    if (s == PT_OK) s = activated_backward(c, layer);
    if (s == PT_OK) s = hidden_backward(c, layer);
    if (s == PT_OK) s = norm_backward(c, &norm2, &d_branch, &d_stream, true);
    if (s == PT_OK) s = middle_backward(c, layer);
    if (s == PT_OK) s = attention_backward(c, layer);
    if (s == PT_OK) s = qkv_backward(c, layer);
    if (s == PT_OK) s = norm_backward(c, &norm1, &d_branch, &d_stream, true);
    return s;
}

/* ---- the whole model ---- */

static pt_embedding_args embedding_args(const call *c)
{
    pt_model *m = c->m;
    return (pt_embedding_args){.ids = pt_view(&c->batch->ids, c->B, c->T, 0, 0),
                               .token = m->weights.token,
                               .position = m->weights.position,
                               .doc_start = c->batch->doc_start,
                               .offset = c->batch->offset,
                               .x = cut(c, &m->blocks[0].input, channels(c))};
}

static pt_status check_batch(const pt_model *m, const pt_batch *batch, pt_error *err)
{
    if (batch->B >= 1 && batch->B <= m->options.batch && batch->T >= 1 &&
        batch->T <= m->options.tokens)
        return PT_OK;
    return pt_fail(err, PT_INTERNAL, "model: a batch of %lld x %lld, planned for %lld x %lld",
                   (long long)batch->B, (long long)batch->T, (long long)m->options.batch,
                   (long long)m->options.tokens);
}

pt_status pt_model_forward(pt_model *m, const pt_batch *batch, pt_error *err)
{
    pt_status s = check_batch(m, batch, err);
    if (s) return s;
    call c = {.m = m, .batch = batch, .B = batch->B, .T = batch->T, .err = err};
    pt_embedding_args embedding = embedding_args(&c);
    s = pt_embedding_forward(m->device, &embedding, err);
    if (s == PT_OK) s = dropout_forward(&c, 0, &embedding.x);
    for (int64_t i = 0; i < m->config.n_layers && s == PT_OK; i++) s = block_forward(&c, i);
    norm_place place = final_place(&c);
    if (s == PT_OK) s = norm_forward(&c, &place);
    return s;
}

static const pt_tensor *head_of(const pt_weights *w)
{
    return pt_present(&w->head) ? &w->head : &w->token;
}

static pt_crossentropy_args head_args(const call *c)
{
    pt_model *m = c->m;
    int64_t rows = c->B * c->T;
    return (pt_crossentropy_args){.x = pt_view(&m->normed, rows, channels(c), 0, 0),
                                  .w = *head_of(&m->weights),
                                  .target = pt_view(&c->batch->target, rows, 0, 0, 0),
                                  .logp = pt_view(&m->logp, rows, 0, 0, 0),
                                  .lse = pt_view(&m->lse, rows, 0, 0, 0),
                                  .logits = m->logits};
}

pt_status pt_model_score(pt_model *m, const pt_batch *batch, pt_error *err)
{
    pt_status s = check_batch(m, batch, err);
    if (s) return s;
    call c = {.m = m, .batch = batch, .B = batch->B, .T = batch->T, .err = err};
    pt_crossentropy_args head = head_args(&c);
    return pt_crossentropy_forward(m->device, &head, err);
}

pt_status pt_model_backward(pt_model *m, const pt_batch *batch, pt_error *err)
{
    pt_status s = check_batch(m, batch, err);
    if (s) return s;
    call c = {.m = m, .batch = batch, .B = batch->B, .T = batch->T, .err = err};
    pt_tensor d_stream = cut(&c, &m->d_stream, channels(&c));
    pt_tensor d_branch = cut(&c, &m->d_branch, channels(&c));
    pt_crossentropy_args head = head_args(&c);
    head.coef = pt_view(&batch->coef, c.B * c.T, 0, 0, 0);
    head.dx = pt_view(&d_branch, c.B * c.T, channels(&c), 0, 0);
    head.dw = *head_of(&m->grads);
    s = pt_crossentropy_backward(m->device, &head, err);
    norm_place place = final_place(&c);
    if (s == PT_OK) s = norm_backward(&c, &place, &d_branch, &d_stream, false);
    for (int64_t i = m->config.n_layers - 1; i >= 0 && s == PT_OK; i--) s = block_backward(&c, i);
    pt_embedding_args embedding = embedding_args(&c);
    embedding.dtoken = m->grads.token;
    embedding.dposition = m->grads.position;
    if (s == PT_OK) s = dropout_backward(&c, 0, &embedding.dx);
    if (s == PT_OK) s = pt_embedding_backward(m->device, &embedding, err);
    return s;
}

pt_status pt_model_logits(pt_model *m, int64_t first_row, int64_t n, const pt_tensor *out,
                          pt_error *err)
{
    pt_tensor normed = pt_view(&m->normed, pt_rows(&m->normed), m->config.d_model, 0, 0);
    pt_linear_args a = {
        .x = pt_slice(&normed, first_row, n), .w = *head_of(&m->weights), .y = *out};
    return pt_linear_forward(m->device, &a, err);
}
