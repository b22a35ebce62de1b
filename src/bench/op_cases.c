/* Arguments for every op. One builder per line of ops.def: a new op without one doesn't compile.
 * SPDX-License-Identifier: MIT */
#include "bench/op_cases.h"

#include "base/strings.h"
#include "ops/op_check.h"

#define DIM(...) ((int64_t[PT_MAX_RANK]){__VA_ARGS__})

/* What the builders use again and again. */
#define SIZES(c)                                                                         \
    const pt_bench_sizes *z = (c)->sizes;                                                \
    pt_bench_memory *m = &(c)->memory;                                                   \
    int64_t B = z->B, T = z->T, C = z->C, H = z->H, F = z->F, V = z->V, N = z->B * z->T; \
    (void)m, (void)B, (void)T, (void)C, (void)H, (void)F, (void)V, (void)N

static void amounts(pt_bench_op_case *c, pt_pass pass, double flop, double elements)
{
    c->flop[pass] = flop;
    c->elements[pass] = elements;
}

static void shape_is(pt_bench_op_case *c, int64_t rows, int64_t columns)
{
    pt_format(c->shape, sizeof c->shape, "%lldx%lld", (long long)rows, (long long)columns);
}

static pt_tensor make_state(pt_bench_memory *m)
{
    float words[PT_STATE_COUNT] = {
        [PT_STATE_LR] = 1e-4f, [PT_STATE_CORRECTION1] = 1, [PT_STATE_CORRECTION2] = 1,
        [PT_STATE_CLIP] = 1,   [PT_STATE_FACTOR] = 1,      [PT_STATE_OK] = 1};
    words[PT_STATE_FIRST_BAD] = (float)PT_STATE_NO_BAD;
    pt_tensor state = pt_bench_floats(m, 1, DIM(PT_STATE_COUNT));
    if (m->status == PT_OK) m->status = pt_upload(m->device, &state, words, sizeof words, m->err);
    return state;
}

static void build_embedding(pt_bench_op_case *c, pt_embedding_args *a)
{
    SIZES(c);
    double nc = (double)(N * C), tc = (double)(T * C);
    a->ids = pt_bench_ints(m, (int32_t)V, DIM(B, T));
    a->token = pt_bench_floats(m, 0.02f, DIM(V, C));
    a->position = pt_bench_floats(m, 0.02f, DIM(T, C));
    a->x = pt_bench_floats(m, 1, DIM(B, T, C));
    a->dx = pt_bench_floats(m, 1, DIM(B, T, C));
    a->dtoken = pt_bench_floats(m, 1, DIM(V, C));
    a->dposition = pt_bench_floats(m, 1, DIM(T, C));
    amounts(c, PT_FORWARD, nc, 2 * nc + tc);
    amounts(c, PT_BACKWARD, 2 * nc, 3 * nc + 2 * tc);
}

static void build_layernorm(pt_bench_op_case *c, pt_layernorm_args *a)
{
    SIZES(c);
    double nc = (double)(N * C);
    a->x = pt_bench_floats(m, 1, DIM(N, C));
    a->w = pt_bench_floats(m, 1, DIM(C));
    a->b = pt_bench_floats(m, 1, DIM(C));
    a->y = pt_bench_floats(m, 1, DIM(N, C));
    a->mean = pt_bench_floats(m, 1, DIM(N));
    a->rstd = pt_bench_floats(m, 1, DIM(N));
    a->dy = pt_bench_floats(m, 1, DIM(N, C));
    a->dx = pt_bench_floats(m, 1, DIM(N, C));
    a->dw = pt_bench_floats(m, 1, DIM(C));
    a->db = pt_bench_floats(m, 1, DIM(C));
    a->eps = 1e-5;
    amounts(c, PT_FORWARD, 8 * nc, 2 * nc);
    amounts(c, PT_BACKWARD, 13 * nc, 3 * nc);
}

static void build_rmsnorm(pt_bench_op_case *c, pt_rmsnorm_args *a)
{
    SIZES(c);
    double nc = (double)(N * C);
    a->x = pt_bench_floats(m, 1, DIM(N, C));
    a->w = pt_bench_floats(m, 1, DIM(C));
    a->y = pt_bench_floats(m, 1, DIM(N, C));
    a->rstd = pt_bench_floats(m, 1, DIM(N));
    a->dy = pt_bench_floats(m, 1, DIM(N, C));
    a->dx = pt_bench_floats(m, 1, DIM(N, C));
    a->dw = pt_bench_floats(m, 1, DIM(C));
    a->eps = 1e-5;
    amounts(c, PT_FORWARD, 4 * nc, 2 * nc);
    amounts(c, PT_BACKWARD, 9 * nc, 3 * nc);
}

static void build_linear(pt_bench_op_case *c, pt_linear_args *a)
{
    SIZES(c);
    double ncf = (double)N * (double)(C * F), nc = (double)(N * C), nf = (double)(N * F);
    double cf = (double)(C * F);
    pt_format(c->shape, sizeof c->shape, "M%lld %lld->%lld", (long long)N, (long long)C,
              (long long)F);
    a->x = pt_bench_floats(m, 1, DIM(N, C));
    a->w = pt_bench_floats(m, 0.02f, DIM(F, C));
    a->b = pt_bench_floats(m, 0.02f, DIM(F));
    a->y = pt_bench_floats(m, 1, DIM(N, F));
    a->dy = pt_bench_floats(m, 1, DIM(N, F));
    a->dx = pt_bench_floats(m, 1, DIM(N, C));
    a->dw = pt_bench_floats(m, 1, DIM(F, C));
    a->db = pt_bench_floats(m, 1, DIM(F));
    amounts(c, PT_FORWARD, 2 * ncf + nf, nc + cf + nf);
    amounts(c, PT_BACKWARD, 4 * ncf + nf, 2 * nc + 3 * cf + nf);
}

static void build_rope(pt_bench_op_case *c, pt_rope_args *a)
{
    SIZES(c);
    double nc = (double)(N * C);
    a->x = pt_bench_floats(m, 1, DIM(B, T, H, C / H));
    a->y = pt_bench_floats(m, 1, DIM(B, T, H, C / H));
    a->dy = pt_bench_floats(m, 1, DIM(B, T, H, C / H));
    a->dx = pt_bench_floats(m, 1, DIM(B, T, H, C / H));
    a->freq = pt_bench_positive(m, 1, DIM(C / H / 2));
    amounts(c, PT_FORWARD, 3 * nc, 2 * nc);
    amounts(c, PT_BACKWARD, 3 * nc, 2 * nc);
}

static void build_attention(pt_bench_op_case *c, pt_attention_args *a)
{
    SIZES(c);
    int64_t D = C / H;
    double nc = (double)(N * C), pairs = (double)(B * H) * (double)(T * (T + 1)) / 2;
    pt_format(c->shape, sizeof c->shape, "B%lld T%lld H%lld D%lld", (long long)B, (long long)T,
              (long long)H, (long long)D);
    pt_tensor *like_q[] = {&a->q, &a->k, &a->v, &a->o, &a->d_o, &a->dq, &a->dk, &a->dv};
    for (int i = 0; i < PT_COUNT(like_q); i++) *like_q[i] = pt_bench_floats(m, 1, DIM(B, T, H, D));
    a->lse = pt_bench_floats(m, 1, DIM(B, H, T));
    a->delta = pt_bench_floats(m, 1, DIM(B, H, T));
    amounts(c, PT_FORWARD, 4 * pairs * (double)D, 4 * nc);
    amounts(c, PT_BACKWARD, 10 * pairs * (double)D, 8 * nc);
}

static void build_kv_store(pt_bench_op_case *c, pt_kv_store_args *a)
{
    SIZES(c);
    a->k = pt_bench_floats(m, 1, DIM(B, T, H, C / H));
    a->v = pt_bench_floats(m, 1, DIM(B, T, H, C / H));
    a->cache_k = pt_bench_floats(m, 1, DIM(B, H, T, C / H));
    a->cache_v = pt_bench_floats(m, 1, DIM(B, H, T, C / H));
    amounts(c, PT_FORWARD, 0, 4 * (double)(N * C));
}

static void build_gelu(pt_bench_op_case *c, pt_gelu_args *a)
{
    SIZES(c);
    double nf = (double)(N * F);
    shape_is(c, N, F);
    a->x = pt_bench_floats(m, 3, DIM(N, F));
    a->y = pt_bench_floats(m, 1, DIM(N, F));
    a->dy = pt_bench_floats(m, 1, DIM(N, F));
    a->dx = pt_bench_floats(m, 1, DIM(N, F));
    a->tanh_form = V > 256; /* as published GPT-2 */
    amounts(c, PT_FORWARD, 5 * nf, 2 * nf);
    amounts(c, PT_BACKWARD, 9 * nf, 3 * nf);
}

static void build_swiglu(pt_bench_op_case *c, pt_swiglu_args *a)
{
    SIZES(c);
    double nf = (double)(N * F);
    shape_is(c, N, F);
    a->gate = pt_bench_floats(m, 3, DIM(N, F));
    a->up = pt_bench_floats(m, 1, DIM(N, F));
    a->y = pt_bench_floats(m, 1, DIM(N, F));
    a->dy = pt_bench_floats(m, 1, DIM(N, F));
    a->dgate = pt_bench_floats(m, 1, DIM(N, F));
    a->dup = pt_bench_floats(m, 1, DIM(N, F));
    amounts(c, PT_FORWARD, 6 * nf, 3 * nf);
    amounts(c, PT_BACKWARD, 12 * nf, 5 * nf);
}

static void build_add(pt_bench_op_case *c, pt_add_args *a)
{
    SIZES(c);
    a->a = pt_bench_floats(m, 1, DIM(N, C));
    a->b = pt_bench_floats(m, 1, DIM(N, C));
    a->y = pt_bench_floats(m, 1, DIM(N, C));
    amounts(c, PT_FORWARD, (double)(N * C), 3 * (double)(N * C));
}

static void build_crossentropy(pt_bench_op_case *c, pt_crossentropy_args *a)
{
    SIZES(c);
    double ncv = (double)N * (double)(C * V), nv = (double)(N * V), nc = (double)(N * C);
    double cv = (double)(C * V);
    int64_t rows = pt_min_i64(N, pt_max_i64(16, (1 << 20) / V)); /* as model/model_plan.c */
    pt_format(c->shape, sizeof c->shape, "M%lld %lld->%lld", (long long)N, (long long)C,
              (long long)V);
    a->x = pt_bench_floats(m, 1, DIM(N, C));
    a->w = pt_bench_floats(m, 0.02f, DIM(V, C));
    a->target = pt_bench_ints(m, (int32_t)V, DIM(N));
    a->logp = pt_bench_floats(m, 1, DIM(N));
    a->lse = pt_bench_floats(m, 1, DIM(N));
    a->coef = pt_bench_floats(m, 1e-3f, DIM(N));
    a->dx = pt_bench_floats(m, 1, DIM(N, C));
    a->dw = pt_bench_floats(m, 1, DIM(V, C));
    a->logits = pt_bench_floats(m, 1, DIM(rows, V));
    amounts(c, PT_FORWARD, 2 * ncv + 3 * nv, nc + cv);
    amounts(c, PT_BACKWARD, 6 * ncv + 5 * nv, 2 * nc + 3 * cv);
}

static void build_dropout(pt_bench_op_case *c, pt_dropout_args *a)
{
    SIZES(c);
    a->x = pt_bench_floats(m, 1, DIM(N, C));
    a->y = pt_bench_floats(m, 1, DIM(N, C));
    a->dy = pt_bench_floats(m, 1, DIM(N, C));
    a->dx = pt_bench_floats(m, 1, DIM(N, C));
    a->p = 0.1;
    amounts(c, PT_FORWARD, 2 * (double)(N * C), 2 * (double)(N * C));
    amounts(c, PT_BACKWARD, 2 * (double)(N * C), 2 * (double)(N * C));
}

static void build_loss_sum(pt_bench_op_case *c, pt_loss_sum_args *a)
{
    SIZES(c);
    shape_is(c, N, 1);
    a->logp = pt_bench_floats(m, 1, DIM(N));
    a->coef = pt_bench_floats(m, 1, DIM(N));
    a->state = make_state(m);
    amounts(c, PT_FORWARD, 2 * (double)N, 2 * (double)N);
}

static void build_sqnorm(pt_bench_op_case *c, pt_sqnorm_args *a)
{
    SIZES(c);
    shape_is(c, z->P, 1);
    a->x = pt_bench_floats(m, 1, DIM(z->P));
    a->state = make_state(m);
    amounts(c, PT_FORWARD, 2 * (double)z->P, (double)z->P);
}

static void build_step_verdict(pt_bench_op_case *c, pt_step_verdict_args *a)
{
    SIZES(c);
    shape_is(c, 1, 1);
    a->state = make_state(m);
    a->ring = pt_bench_floats(m, 1, DIM(1, PT_RING_WORDS));
}

static void build_adamw(pt_bench_op_case *c, pt_adamw_args *a)
{
    SIZES(c);
    shape_is(c, z->P, 1);
    a->w = pt_bench_floats(m, 0.02f, DIM(z->P));
    a->g = pt_bench_floats(m, 1e-3f, DIM(z->P));
    a->m = pt_bench_floats(m, 1e-3f, DIM(z->P));
    a->v = pt_bench_positive(m, 1e-6f, DIM(z->P));
    a->decay = pt_bench_ones(m, pt_div_up(z->P, PT_ADAMW_BLOCK));
    a->state = make_state(m);
    a->beta1 = 0.9;
    a->beta2 = 0.95;
    a->eps = 1e-8;
    a->weight_decay = 0.1;
    amounts(c, PT_FORWARD, 15 * (double)z->P, 7 * (double)z->P);
}

static void build_scale(pt_bench_op_case *c, pt_scale_args *a)
{
    SIZES(c);
    a->x = pt_bench_floats(m, 1, DIM(N, C));
    a->y = pt_bench_floats(m, 1, DIM(N, C));
    a->factor = 0.75;
    amounts(c, PT_FORWARD, (double)(N * C), 2 * (double)(N * C));
}

static void build_check_finite(pt_bench_op_case *c, pt_check_finite_args *a)
{
    SIZES(c);
    a->x = pt_bench_floats(m, 1, DIM(N, C));
    a->state = make_state(m);
    a->id = 1;
    amounts(c, PT_FORWARD, (double)(N * C), (double)(N * C));
}

void pt_bench_op_case_make(pt_bench_op_case *c, pt_op op)
{
    void *args = c->args.bytes;
    shape_is(c, c->sizes->B * c->sizes->T, c->sizes->C);
    switch (op) {
#define PT_OP(name, tensors, backward, cpu, formula) \
    case PT_OP_##name:                               \
        build_##name(c, args);                       \
        break;
#include "tensor/ops.def"
#undef PT_OP
    case PT_OP_COUNT: break;
    }
}
