/* A model's memory: which tensors it needs, their places in the plan, and their views once allocated.
 * SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "model/model.h"

/* ---- planning ---- */

typedef struct planner {
    pt_model *m;
    pt_plan *plan;
    const char *prefix;
    int64_t B, T; /* of the largest call */
} planner;

static void remember(pt_model *m, pt_tensor *tensor, int64_t id)
{
    if (m->places.n == m->places.capacity) {
        int64_t capacity = m->places.capacity ? 2 * m->places.capacity : 256;
        void *grown =
            pt_realloc(m->places.list, (size_t)m->places.capacity * sizeof *m->places.list,
                       (size_t)capacity * sizeof *m->places.list);
        m->places.failed |= !grown;
        if (!grown) return;
        m->places.list = grown;
        m->places.capacity = capacity;
    }
    m->places.list[m->places.n++] = (pt_model_place){tensor, id};
}

static int64_t place_of(const pt_model *m, const pt_tensor *tensor)
{
    for (int64_t i = 0; i < m->places.n; i++)
        if (m->places.list[i].tensor == tensor) return m->places.list[i].id;
    return PT_PLAN_NONE;
}

static int64_t plan_entry(const planner *p, pt_arena_id arena, const char *name, pt_dtype dtype,
                          const int64_t dim[PT_MAX_RANK])
{
    char full[96];
    pt_format(full, sizeof full, "%s%s", p->prefix, name);
    return pt_plan_add(p->plan, arena, full, dtype, dim);
}

/* A tensor of its own in an arena. */
static void plan_tensor(const planner *p, pt_tensor *tensor, pt_arena_id arena, const char *name,
                        const int64_t dim[PT_MAX_RANK])
{
    pt_dtype dtype = p->m->device->compute;
    remember(p->m, tensor, plan_entry(p, arena, name, dtype, dim));
}

static pt_dtype stored(const pt_model *m) { return m->options.bf16 ? PT_BF16 : m->device->compute; }

/* An activation (B,T,channels). */
static void plan_activation(const planner *p, pt_tensor *tensor, const char *name, int64_t channels)
{
    const int64_t dim[4] = {p->B, p->T, channels, 0};
    remember(p->m, tensor, plan_entry(p, PT_ARENA_STEP, name, stored(p->m), dim));
}

/* Numbers per token that say something about it: statistics, log-probabilities. */
static void plan_statistic(const planner *p, pt_tensor *tensor, const char *name, int64_t n)
{
    plan_tensor(p, tensor, PT_ARENA_STEP, name, (int64_t[4]){p->B, p->T, n, 0});
}

/* Per-block activations: field, its name, its channels, the flag under which all blocks share one. */
typedef struct activation {
    size_t field; /* offset in pt_block_activations */
    const char *name;
    int64_t channels; /* 0 = the option is off */
    int recompute;    /* 0 = always kept when the mode keeps anything */
    bool statistic;   /* in the device's dtype whatever activations are stored in */
} activation;

#define MAX_ACTIVATIONS 20

static int list_activations(const pt_model *m, activation out[MAX_ACTIVATIONS])
{
    const pt_model_config *c = &m->config;
    int64_t q = c->n_heads * c->d_head, kv = c->n_kv_heads * c->d_head;
    bool layer = c->norm == PT_NORM_LAYER;
    int64_t lse = m->options.mode == PT_MODEL_TRAIN ? c->n_heads : 0;
    int64_t gate = c->mlp == PT_MLP_SWIGLU ? c->d_mlp : 0;
#define FIELD(name) offsetof(pt_block_activations, name), #name
    const activation list[] = {
        {FIELD(input), c->d_model, 0, false},
        {FIELD(norm1), c->d_model, PT_RECOMPUTE_NORM1, false},
        {FIELD(mean1), layer, PT_RECOMPUTE_NORM1, true},
        {FIELD(rstd1), 1, PT_RECOMPUTE_NORM1, true},
        {FIELD(q_raw), c->qk_norm ? q : 0, PT_RECOMPUTE_QKV, false},
        {FIELD(k_raw), c->qk_norm ? kv : 0, PT_RECOMPUTE_QKV, false},
        {FIELD(q_rstd), c->qk_norm ? c->n_heads : 0, PT_RECOMPUTE_QKV, true},
        {FIELD(k_rstd), c->qk_norm ? c->n_kv_heads : 0, PT_RECOMPUTE_QKV, true},
        {FIELD(q), q, PT_RECOMPUTE_QKV, false},
        {FIELD(k), kv, PT_RECOMPUTE_QKV, false},
        {FIELD(v), kv, PT_RECOMPUTE_QKV, false},
        {FIELD(att), q, PT_RECOMPUTE_ATTENTION, false},
        {FIELD(lse), lse, PT_RECOMPUTE_ATTENTION, true},
        {FIELD(middle), c->d_model, PT_RECOMPUTE_MIDDLE, false},
        {FIELD(norm2), c->d_model, PT_RECOMPUTE_NORM2, false},
        {FIELD(mean2), layer, PT_RECOMPUTE_NORM2, true},
        {FIELD(rstd2), 1, PT_RECOMPUTE_NORM2, true},
        {FIELD(gate), gate, PT_RECOMPUTE_HIDDEN, false},
        {FIELD(hidden), c->d_mlp, PT_RECOMPUTE_HIDDEN, false},
        {FIELD(activated), c->d_mlp, PT_RECOMPUTE_ACTIVATED, false},
    };
#undef FIELD
    _Static_assert(sizeof list / sizeof list[0] == MAX_ACTIVATIONS, "list_activations");
    memcpy(out, list, sizeof list);
    return MAX_ACTIVATIONS;
}

static pt_tensor *field_of(pt_model *m, int64_t layer, size_t field)
{
    return (pt_tensor *)(void *)((char *)&m->blocks[layer] + field);
}

static bool keeps(const pt_model *m)
{
    return m->options.mode == PT_MODEL_TRAIN || m->options.keep;
}

static void plan_blocks(const planner *p)
{
    pt_model *m = p->m;
    activation list[MAX_ACTIVATIONS];
    int n = list_activations(m, list);
    bool keep = keeps(m);
    char name[96];
    for (int i = 0; i < n; i++) {
        if (!list[i].channels) continue;
        int64_t id = PT_PLAN_NONE;
        for (int64_t layer = 0; layer < m->config.n_layers; layer++) {
            bool shared = !keep || (m->options.recompute & list[i].recompute) != 0;
            if (shared) pt_format(name, sizeof name, "blocks.%s", list[i].name);
            else pt_format(name, sizeof name, "blocks.%lld.%s", (long long)layer, list[i].name);
            if (!shared || layer == 0)
                id = plan_entry(p, PT_ARENA_STEP, name,
                                list[i].statistic ? m->device->compute : stored(m),
                                (int64_t[4]){p->B, p->T, list[i].channels, 0});
            remember(m, field_of(m, layer, list[i].field), id);
        }
    }
}

static void plan_cache(const planner *p)
{
    const pt_model_config *c = &p->m->config;
    int64_t dim[4] = {p->B, c->n_kv_heads, c->ctx, c->d_head};
    char name[96];
    for (int64_t layer = 0; layer < c->n_layers; layer++) {
        pt_block_activations *b = &p->m->blocks[layer];
        pt_format(name, sizeof name, "blocks.%lld.cache_k", (long long)layer);
        remember(p->m, &b->cache_k, plan_entry(p, PT_ARENA_RUN, name, stored(p->m), dim));
        pt_format(name, sizeof name, "blocks.%lld.cache_v", (long long)layer);
        remember(p->m, &b->cache_v, plan_entry(p, PT_ARENA_RUN, name, stored(p->m), dim));
    }
}

static void plan_gradients(const planner *p)
{
    pt_model *m = p->m;
    const pt_model_config *c = &m->config;
    int64_t q = c->n_heads * c->d_head, kv = c->n_kv_heads * c->d_head;
    plan_tensor(p, &m->grads.flat, PT_ARENA_RUN, "gradients",
                (int64_t[4]){m->params.n_elements, 0, 0, 0});
    plan_activation(p, &m->d_stream, "d_stream", c->d_model);
    plan_activation(p, &m->d_branch, "d_branch", c->d_model);
    plan_activation(p, &m->d_hidden, "d_hidden", c->d_mlp);
    if (c->mlp == PT_MLP_SWIGLU) plan_activation(p, &m->d_gate, "d_gate", c->d_mlp);
    plan_activation(p, &m->d_q, "d_q", q);
    plan_activation(p, &m->d_k, "d_k", kv);
    plan_activation(p, &m->d_v, "d_v", kv);
    plan_activation(p, &m->d_att, "d_att", q);
    plan_statistic(p, &m->delta, "delta", c->n_heads);
}

/* Rows of logits held at once: about 64 MiB of them, on a GPU 256, at least 64 rows. Each chunk reads the whole
 * head and its whole gradient once, so few rows against a large vocabulary would be bound by memory. */
static int64_t default_head_rows(const pt_model *m, int64_t rows)
{
    int64_t elements = 1 << 24, most = m->device->largest_tensor / 4;
    if (most) elements = pt_min_i64(4 * elements, most); /* a GPU */
    int64_t wanted = pt_max_i64(64, elements / m->config.vocab);
    return pt_min_i64(rows, wanted);
}

static void plan_weights(const planner *p)
{
    pt_weights *w = &p->m->weights;
    const int64_t dim[4] = {p->m->params.n_elements, 0, 0, 0};
    for (int64_t i = 0; w->each && i < p->m->params.n; i++) {
        const pt_param *e = &p->m->params.list[i];
        pt_dtype dtype = pt_model_packs(e) ? p->m->options.weights : p->m->device->compute;
        remember(p->m, &w->each[i],
                 plan_entry(p, PT_ARENA_MODEL, e->name, dtype,
                            (int64_t[4]){e->dim[0], e->rank == 2 ? e->dim[1] : 0, 0, 0}));
    }
    if (w->each) return;
    plan_tensor(p, &w->flat, PT_ARENA_MODEL, "weights", dim);
    if (p->m->options.bf16)
        remember(p->m, &w->copy, plan_entry(p, PT_ARENA_MODEL, "weights, rounded", PT_BF16, dim));
}

void pt_model_plan(pt_model *m, pt_plan *plan, const char *prefix)
{
    const pt_model_config *c = &m->config;
    planner p = {
        .m = m, .plan = plan, .prefix = prefix, .B = m->options.batch, .T = m->options.tokens};
    if (!m->options.share) plan_weights(&p);
    plan_blocks(&p);
    if (m->options.mode == PT_MODEL_TRAIN) plan_gradients(&p);
    if (keeps(m)) {
        plan_activation(&p, &m->output, "output", c->d_model);
    } else { /* the last block's output may replace its input */
        remember(m, &m->output, place_of(m, &m->blocks[0].input));
    }
    plan_activation(&p, &m->branch, "branch", c->d_model);
    plan_activation(&p, &m->normed, "normed", c->d_model);
    if (c->norm == PT_NORM_LAYER) plan_statistic(&p, &m->mean, "mean", 1);
    plan_statistic(&p, &m->rstd, "rstd", 1);
    if (c->positions == PT_POSITION_ROPE)
        plan_tensor(&p, &m->freq, PT_ARENA_MODEL, "rope frequencies",
                    (int64_t[4]){c->d_head / 2, 0, 0, 0});
    if (m->options.mode == PT_MODEL_GENERATE) {
        plan_cache(&p);
        return;
    }
    plan_statistic(&p, &m->logp, "logp", 1);
    plan_statistic(&p, &m->lse, "lse", 1);
    int64_t rows = m->options.head_rows ? m->options.head_rows : default_head_rows(m, p.B * p.T);
    plan_tensor(&p, &m->logits, PT_ARENA_CALL, "logits", (int64_t[4]){rows, c->vocab, 0, 0});
}

/* ---- binding ---- */

/* Matrices are read from the rounded copy where there is one. */
static pt_tensor view_param(const pt_model *m, const pt_weights *in, const char *name)
{
    const pt_param *p = pt_params_find(&m->params, name);
    if (!p) return (pt_tensor){0};
    if (in->each) return in->each[p - m->params.list];
    return pt_param_tensor(p, p->rank == 2 && pt_present(&in->copy) ? &in->copy : &in->flat);
}

static pt_linear_weights view_linear(const pt_model *m, const pt_weights *in, const char *prefix)
{
    char name[64];
    pt_linear_weights w;
    pt_format(name, sizeof name, "%s.weight", prefix);
    w.w = view_param(m, in, name);
    pt_format(name, sizeof name, "%s.bias", prefix);
    w.b = view_param(m, in, name);
    return w;
}

static void view_block(const pt_model *m, const pt_weights *in, int64_t layer,
                       pt_block_weights *out)
{
    const struct {
        const char *name;
        pt_linear_weights *to;
    } linears[] = {
        {"ln1", &out->norm1},        {"attn.q_proj", &out->q}, {"attn.k_proj", &out->k},
        {"attn.v_proj", &out->v},    {"attn.o_proj", &out->o}, {"ln2", &out->norm2},
        {"mlp.fc_gate", &out->gate}, {"mlp.fc_in", &out->in},  {"mlp.fc_out", &out->out}};
    char name[64];
    for (size_t i = 0; i < sizeof linears / sizeof linears[0]; i++) {
        pt_format(name, sizeof name, "blocks.%lld.%s", (long long)layer, linears[i].name);
        *linears[i].to = view_linear(m, in, name);
    }
    pt_format(name, sizeof name, "blocks.%lld.attn.q_norm.weight", (long long)layer);
    out->q_norm = view_param(m, in, name);
    pt_format(name, sizeof name, "blocks.%lld.attn.k_norm.weight", (long long)layer);
    out->k_norm = view_param(m, in, name);
}

static void view_weights(const pt_model *m, pt_weights *w)
{
    w->token = view_param(m, w, "token_embedding.weight");
    w->position = view_param(m, w, "position_embedding.weight");
    w->head = view_param(m, w, "head.weight");
    w->norm = view_linear(m, w, "ln_final");
    for (int64_t i = 0; i < m->config.n_layers; i++) view_block(m, w, i, &w->blocks[i]);
}

static pt_status upload_frequencies(pt_model *m, pt_error *err)
{
    double exact[128];
    float rounded[128];
    int64_t n = m->config.d_head / 2;
    for (int64_t i = 0; i < n; i++) {
        double power = -2.0 * (double)i / (double)m->config.d_head;
        exact[i] = pt_pow(m->config.rope_theta, power);
        rounded[i] = (float)exact[i];
    }
    const void *values = m->device->compute == PT_F64 ? (const void *)exact : rounded;
    return pt_upload(m->device, &m->freq, values, pt_tensor_bytes(&m->freq), err);
}

pt_status pt_model_bind(pt_model *m, const pt_plan *plan, pt_error *err)
{
    if (m->places.failed) return pt_fail(err, PT_NO_MEMORY, "no memory to plan the model");
    for (int64_t i = 0; i < m->places.n; i++)
        *m->places.list[i].tensor = pt_plan_tensor(plan, m->places.list[i].id);
    if (m->options.share) {
        m->weights.flat = m->options.share->weights.flat;
        m->weights.copy = m->options.share->weights.copy;
        m->weights.each = m->options.share->weights.each;
    }
    view_weights(m, &m->weights);
    if (m->grads.blocks) view_weights(m, &m->grads);
    return pt_present(&m->freq) ? upload_frequencies(m, err) : PT_OK;
}
