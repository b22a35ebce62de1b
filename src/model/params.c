/* The parameter table. SPDX-License-Identifier: MIT */
#include "model/params.h"

#include "base/format.h"
#include "base/maths.h"
#include "base/rng.h"

#define ALIGN_ELEMENTS 64 /* the optimizer's decay mask has one entry per 64 elements */

/* Adds one parameter after the others; a failure sticks in *s. */
typedef struct table_builder {
    pt_params *params;
    int64_t capacity;
    pt_status status;
} table_builder;

static void add(table_builder *b, const char *name, int64_t rows, int64_t columns,
                pt_param_init init)
{
    pt_params *p = b->params;
    if (b->status) return;
    if (p->n == b->capacity) {
        b->status = PT_INTERNAL;
        return;
    }
    pt_param *e = &p->list[p->n++];
    pt_format(e->name, sizeof e->name, "%s", name);
    e->rank = columns ? 2 : 1;
    e->dim[0] = rows;
    e->dim[1] = columns ? columns : 1;
    e->init = init;
    e->decay = e->rank >= 2;
    e->offset = p->n_elements;
    int64_t end = 0;
    if (!pt_mul_i64(e->dim[0], e->dim[1], &e->n) || !pt_add_i64(e->offset, e->n, &end) ||
        end > INT64_MAX / 64) {
        b->status = PT_BAD_INPUT;
        return;
    }
    p->n_elements = pt_round_up(end, ALIGN_ELEMENTS);
    p->n_params += e->n;
}

/* A linear layer `prefix`.weight [out,in] and its bias. */
static void add_linear(table_builder *b, const pt_model_config *c, const char *prefix, int64_t out,
                       int64_t in, pt_param_init init)
{
    char name[64];
    pt_format(name, sizeof name, "%s.weight", prefix);
    add(b, name, out, in, init);
    if (c->no_bias) return;
    pt_format(name, sizeof name, "%s.bias", prefix);
    add(b, name, out, 0, PT_INIT_ZERO);
}

static void add_norm(table_builder *b, const pt_model_config *c, const char *prefix)
{
    char name[64];
    pt_format(name, sizeof name, "%s.weight", prefix);
    add(b, name, c->d_model, 0, PT_INIT_ONE);
    if (c->no_bias || c->norm == PT_NORM_RMS) return;
    pt_format(name, sizeof name, "%s.bias", prefix);
    add(b, name, c->d_model, 0, PT_INIT_ZERO);
}

static void add_block(table_builder *b, const pt_model_config *c, int64_t layer)
{
    char p[64];
    int64_t q = c->n_heads * c->d_head, kv = c->n_kv_heads * c->d_head;
#define BLOCK(suffix) (pt_format(p, sizeof p, "blocks.%lld." suffix, (long long)layer), p)
    add_norm(b, c, BLOCK("ln1"));
    add_linear(b, c, BLOCK("attn.q_proj"), q, c->d_model, PT_INIT_NORMAL);
    add_linear(b, c, BLOCK("attn.k_proj"), kv, c->d_model, PT_INIT_NORMAL);
    add_linear(b, c, BLOCK("attn.v_proj"), kv, c->d_model, PT_INIT_NORMAL);
    if (c->qk_norm) {
        add(b, BLOCK("attn.q_norm.weight"), c->d_head, 0, PT_INIT_ONE);
        add(b, BLOCK("attn.k_norm.weight"), c->d_head, 0, PT_INIT_ONE);
    }
    add_linear(b, c, BLOCK("attn.o_proj"), c->d_model, q, PT_INIT_RESIDUAL);
    add_norm(b, c, BLOCK("ln2"));
    if (c->mlp == PT_MLP_SWIGLU)
        add_linear(b, c, BLOCK("mlp.fc_gate"), c->d_mlp, c->d_model, PT_INIT_NORMAL);
    add_linear(b, c, BLOCK("mlp.fc_in"), c->d_mlp, c->d_model, PT_INIT_NORMAL);
    add_linear(b, c, BLOCK("mlp.fc_out"), c->d_model, c->d_mlp, PT_INIT_RESIDUAL);
#undef BLOCK
}

pt_status pt_params_init(pt_params *params, const pt_model_config *c, pt_error *err)
{
    *params = (pt_params){.n_layers = c->n_layers};
    table_builder b = {.params = params, .capacity = 5 + 20 * c->n_layers};
    params->list = pt_alloc((size_t)b.capacity * sizeof *params->list);
    if (!params->list) return pt_fail(err, PT_NO_MEMORY, "no memory for the parameter table");
    add(&b, "token_embedding.weight", c->vocab, c->d_model, PT_INIT_NORMAL);
    if (c->positions == PT_POSITION_LEARNED)
        add(&b, "position_embedding.weight", c->ctx, c->d_model, PT_INIT_NORMAL);
    add_norm(&b, c, "ln_final");
    for (int64_t i = 0; i < c->n_layers; i++) add_block(&b, c, i);
    if (c->untied_head) add(&b, "head.weight", c->vocab, c->d_model, PT_INIT_NORMAL);
    if (b.status == PT_OK) return PT_OK;
    pt_params_deinit(params);
    return pt_fail(err, b.status, "model: the number of parameters does not fit into 64 bits");
}

void pt_params_deinit(pt_params *params)
{
    pt_free(params->list);
    *params = (pt_params){0};
}

const pt_param *pt_params_find(const pt_params *params, const char *name)
{
    for (int64_t i = 0; i < params->n; i++)
        if (strcmp(params->list[i].name, name) == 0) return &params->list[i];
    return NULL;
}

const pt_param *pt_params_at(const pt_params *params, int64_t element)
{
    for (int64_t i = 0; i < params->n; i++) {
        const pt_param *p = &params->list[i];
        if (element >= p->offset && element < p->offset + p->n) return p;
    }
    return NULL;
}

pt_tensor pt_param_tensor(const pt_param *param, const pt_tensor *flat)
{
    pt_tensor t = *flat;
    t.offset += pt_dtype_bytes(flat->dtype, param->offset);
    return pt_view(&t, param->dim[0], param->rank == 2 ? param->dim[1] : 0, 0, 0);
}

void pt_params_fill(const pt_params *params, int64_t index, uint64_t seed, int64_t first, int64_t n,
                    float *out)
{
    pt_param_init init = params->list[index].init;
    if (init == PT_INIT_ZERO || init == PT_INIT_ONE) {
        for (int64_t i = 0; i < n; i++) out[i] = init == PT_INIT_ONE ? 1.0F : 0.0F;
        return;
    }
    double std = PT_INIT_STD;
    if (init == PT_INIT_RESIDUAL) std /= pt_sqrt(2.0 * (double)params->n_layers);
    for (int64_t i = 0; i < n; i += 4) {
        double draw[4];
        pt_rng_normal4(seed, PT_STREAM_INIT, (uint32_t)index, (uint64_t)(first + i) / 4, draw);
        int64_t wanted = pt_min_i64(4, n - i);
        for (int64_t j = 0; j < wanted; j++) out[i + j] = (float)(draw[j] * std);
    }
}
