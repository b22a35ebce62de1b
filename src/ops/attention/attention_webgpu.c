/* Attention on the GPU: by tiles, or, for few queries over a cache, a workgroup for each query or for each piece of its keys; on
 * an emulated GPU without barriers. SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "device/webgpu/webgpu.h"
#include "ops/attention/attention.h"

#define TILE_ROWS 32
#define FEW_QUERIES 8 /* of a row; with more, tiles of keys are worth sharing */
#define NO_WINDOW (1 << 30)
#define SHORT_CACHE 1024 /* keys that a workgroup walks along by itself */
#define LEAST_PIECE 256  /* keys */
#define MOST_PIECES 32
#define BUSY 264 /* workgroups that keep a large GPU busy */
#define BACKWARD_TENSORS 10

typedef struct layer {
    const pt_attention_args *a;
    int64_t B, T, H, G, D;
    int64_t keys; /* T; cached: those that the cache holds */
    int64_t most; /* of them that a query sees */
    double pairs; /* of queries and keys that see each other, or more */
    float scale;
    bool by_fours; /* all heads can be read four elements at a time */
} layer;

static bool in_fours(const pt_tensor *t) { return !pt_present(t) || t->offset % 16 == 0; }

static layer layer_of(const pt_attention_args *a, pt_pass pass)
{
    layer l = {.a = a, .B = a->q.dim[0], .T = a->q.dim[1], .H = a->q.dim[2], .D = a->q.dim[3]};
    l.G = a->cached ? a->k.dim[1] : a->k.dim[2];
    l.keys = a->cached ? a->k.dim[2] : a->k.dim[1];
    l.most = a->window > 0 ? pt_min_i64(a->window, l.keys) : l.keys;
    l.pairs = (double)(l.B * l.H) * (double)l.T * (double)l.most;
    l.scale = (float)(a->scale > 0 ? a->scale : 1 / pt_sqrt((double)l.D));
    l.by_fours =
        l.D % 4 == 0 && in_fours(&a->q) && in_fours(&a->k) && in_fours(&a->v) && in_fours(&a->o);
    if (pass == PT_BACKWARD)
        l.by_fours = l.by_fours && in_fours(&a->d_o) && in_fours(&a->dq) && in_fours(&a->dk) &&
                     in_fours(&a->dv);
    return l;
}

static void add(pt_wg_call *c, const char *name, const pt_tensor *t)
{
    int i = 0;
    while (c->tensor[i].name) i++;
    c->tensor[i].name = name;
    c->tensor[i].tensor = t;
}

/* Adds a tensor of heads, by the name that the shader has for its elements or for its fours. */
static void add_heads(const layer *l, pt_wg_call *c, const char *one, const char *four,
                      const pt_tensor *t)
{
    add(c, l->by_fours ? four : one, t);
}

static void add_inputs(const layer *l, pt_wg_call *c)
{
    add_heads(l, c, "queries", "queries4", &l->a->q);
    add_heads(l, c, "keys", "keys4", &l->a->k);
    add_heads(l, c, "values", "values4", &l->a->v);
    add(c, "doc_start", &l->a->doc_start);
}

static void add_sizes(const layer *l, pt_wg_call *c)
{
    pt_wg_u32(c, l->B);
    pt_wg_u32(c, l->T);
    pt_wg_u32(c, l->H);
    pt_wg_u32(c, l->G);
    pt_wg_u32(c, l->D);
    pt_wg_u32(c, l->keys);
}

static void add_view(const layer *l, pt_wg_call *c)
{
    const pt_attention_args *a = l->a;
    pt_wg_u32(c, a->window > 0 ? pt_min_i64(a->window, NO_WINDOW) : NO_WINDOW);
    pt_wg_u32(c, pt_present(&a->doc_start));
    pt_wg_u32(c, pt_present(&a->offset));
    pt_wg_u32(c, pt_present(&a->slot));
    pt_wg_u32(c, pt_present(&a->lse));
}

/* A call of attention.wgsl. In its backward pass workgroups for each tile of T: n_dk, n_dv, n_dq. */
static pt_wg_call tiled(const layer *l, const char *entry, int64_t n_dk, int64_t n_dv, int64_t n_dq)
{
    int64_t fours = pt_div_up(l->D, 4);
    uint32_t wide = fours <= 4 ? 4 : 8;
    pt_wg_call c = {.shader = "attention",
                    .entry = entry,
                    .constant = {{"WIDE", wide},
                                 {"CHUNKS", (uint32_t)pt_div_up(fours, 8)},
                                 {"LOADS", TILE_ROWS * wide / 64},
                                 {"VEC", l->by_fours}}};
    add_sizes(l, &c);
    pt_wg_u32(&c, l->a->cached);
    add_view(l, &c);
    pt_wg_u32(&c, n_dk);
    pt_wg_u32(&c, n_dv);
    pt_wg_u32(&c, n_dq);
    pt_wg_f32(&c, (double)l->scale);
    return c;
}

static int64_t tiles_of(const layer *l) { return pt_div_up(l->T, TILE_ROWS); }

static pt_status forward(pt_device *device, const layer *l, pt_error *err)
{
    pt_wg_call c = tiled(l, "forward", 0, 0, 0);
    add_inputs(l, &c);
    add(&c, "offset", &l->a->offset);
    add(&c, "slot", &l->a->slot);
    add_heads(l, &c, "outs", "outs4", &l->a->o);
    add(&c, "lse", &l->a->lse);
    c.groups[0] = tiles_of(l) * l->B * l->H;
    c.work = 2 * l->pairs * (double)l->D;
    return pt_wg_run(device, &c, err);
}

/* The keys that a query may see are cut into pieces, a workgroup for each, where there are few workgroups else. How many it does
 * see only the device knows: the others find nothing to do. */
static int64_t piece_length(const layer *l)
{
    int64_t pieces = pt_min_i64(MOST_PIECES, BUSY / (l->B * l->T * l->H));
    if (l->most <= SHORT_CACHE || pieces < 2) return l->most;
    return pt_round_up(pt_div_up(l->most, pieces), LEAST_PIECE);
}

/* A call of attention_decode.wgsl. */
static pt_wg_call decoding(const layer *l, const char *entry, int64_t pieces, int64_t piece)
{
    int64_t columns = 1;
    while (4 * columns < l->D) columns *= 2;
    pt_wg_call c = {
        .shader = "attention_decode", .entry = entry, .constant = {{"VEC", l->by_fours}}};
    add_sizes(l, &c);
    add_view(l, &c);
    pt_wg_u32(&c, columns);
    pt_wg_u32(&c, pieces);
    pt_wg_u32(&c, piece);
    pt_wg_f32(&c, (double)l->scale);
    return c;
}

static void add_results(const layer *l, pt_wg_call *c)
{
    add(c, "outs", &l->a->o);
    add(c, "lse", &l->a->lse);
}

static pt_status combine(pt_device *device, const layer *l, int64_t pieces, const pt_tensor *parts,
                         pt_error *err)
{
    pt_wg_call c = decoding(l, "combine", pieces, 0);
    add_results(l, &c);
    add(&c, "parts", parts);
    c.groups[0] = l->B * l->T * l->H * pt_div_up(l->D, 64);
    c.work = (double)pt_numel(parts);
    return pt_wg_run(device, &c, err);
}

static pt_status decode(pt_device *device, const layer *l, pt_error *err)
{
    int64_t rows = l->B * l->T * l->H, piece = piece_length(l);
    int64_t pieces = pt_div_up(l->most, piece);
    pt_tensor parts = {0};
    pt_status s = PT_OK;
    if (pieces > 1) s = pt_wg_scratch(device, rows * pieces * (l->D + 2) * 4, &parts, err);
    if (s) return s;
    pt_wg_call c = decoding(l, "decode", pieces, piece);
    add(&c, "queries", &l->a->q);
    add_heads(l, &c, "keys", "keys4", &l->a->k);
    add_heads(l, &c, "values", "values4", &l->a->v);
    add(&c, "doc_start", &l->a->doc_start);
    add(&c, "offset", &l->a->offset);
    add(&c, "slot", &l->a->slot);
    if (pieces > 1) add(&c, "parts", &parts);
    else add_results(l, &c);
    c.groups[0] = rows * pieces;
    c.work = 2 * l->pairs * (double)l->D;
    s = pt_wg_run(device, &c, err);
    return s == PT_OK && pieces > 1 ? combine(device, l, pieces, &parts, err) : s;
}

static pt_status differences(pt_device *device, const layer *l, pt_error *err)
{
    pt_wg_call c = tiled(l, "differences", 0, 0, 0);
    /* it knows no chunks: the same pipeline for every size */
    c.constant[0].value = 4;
    c.constant[1].value = 1;
    c.constant[2].value = 2;
    add_heads(l, &c, "outs", "outs4", &l->a->o);
    add_heads(l, &c, "d_outs", "d_outs4", &l->a->d_o);
    add(&c, "delta", &l->a->delta);
    c.groups[0] = pt_div_up(l->B * l->T * l->H, 64);
    c.work = (double)pt_numel(&l->a->q);
    return pt_wg_run(device, &c, err);
}

/* Those of dk, dv and dq for which there are workgroups. */
static pt_status gradients(pt_device *device, const layer *l, int64_t n_dk, int64_t n_dv,
                           int64_t n_dq, pt_error *err)
{
    const pt_attention_args *a = l->a;
    pt_wg_call c = tiled(l, "backward", n_dk, n_dv, n_dq);
    add_inputs(l, &c);
    add_heads(l, &c, "d_outs", "d_outs4", &a->d_o);
    add(&c, "lse", &a->lse);
    add(&c, "delta", &a->delta);
    if (n_dk) add_heads(l, &c, "d_keys", "d_keys4", &a->dk);
    if (n_dv) add_heads(l, &c, "d_values", "d_values4", &a->dv);
    if (n_dq) add_heads(l, &c, "d_queries", "d_queries4", &a->dq);
    c.groups[0] = tiles_of(l) * (n_dk + n_dv + n_dq);
    c.work = l->pairs * (double)l->D * (3 * (n_dk > 0) + 2 * (n_dv > 0) + 3 * (n_dq > 0));
    return pt_wg_run(device, &c, err);
}

static pt_status backward(pt_device *device, const layer *l, pt_error *err)
{
    int64_t by_keys = l->B * l->G, by_queries = l->B * l->H;
    pt_status s = differences(device, l, err);
    if (s) return s;
    if (pt_wg_limits_of(device)->bindings >= BACKWARD_TENSORS)
        return gradients(device, l, by_keys, by_keys, by_queries, err);
    s = gradients(device, l, by_keys, 0, 0, err);
    if (s == PT_OK) s = gradients(device, l, 0, by_keys, 0, err);
    if (s == PT_OK) s = gradients(device, l, 0, 0, by_queries, err);
    return s;
}

/* ---- an emulated GPU ---- */

/* Elements one by one, and no barriers. `rows`: a thread each. */
static pt_wg_call simple(const layer *l, const char *entry, int64_t rows, double products)
{
    pt_wg_call c = {.shader = "attention_simple",
                    .entry = entry,
                    .tensor = {{"queries", &l->a->q}, {"keys", &l->a->k}, {"values", &l->a->v}},
                    .constant = {{"KEYS", 0}},
                    .groups = {pt_div_up(rows, 64)},
                    .work = products * l->pairs * (double)l->D};
    add(&c, "doc_start", &l->a->doc_start);
    add(&c, "lse", &l->a->lse);
    add_sizes(l, &c);
    add_view(l, &c);
    pt_wg_u32(&c, l->a->cached);
    pt_wg_f32(&c, (double)l->scale);
    return c;
}

static pt_status simple_forward(pt_device *device, const layer *l, pt_error *err)
{
    pt_wg_call c = simple(l, "forward", l->B * l->T * l->H, 3);
    add(&c, "offset", &l->a->offset);
    add(&c, "slot", &l->a->slot);
    add(&c, "outs", &l->a->o);
    return pt_wg_run(device, &c, err);
}

/* One result of the backward pass. */
static pt_status simple_gradient(pt_device *device, const layer *l, const char *name,
                                 const pt_tensor *result, pt_error *err)
{
    bool queries = result == &l->a->dq;
    pt_wg_call c = simple(l, queries ? "backward_queries" : "backward_keys",
                          l->B * l->T * (queries ? l->H : l->G), 3);
    c.constant[0].value = result == &l->a->dk;
    add(&c, "d_outs", &l->a->d_o);
    add(&c, "delta", &l->a->delta);
    add(&c, name, result);
    return pt_wg_run(device, &c, err);
}

static pt_status simple_backward(pt_device *device, const layer *l, pt_error *err)
{
    pt_status s = differences(device, l, err);
    if (s == PT_OK) s = simple_gradient(device, l, "d_queries", &l->a->dq, err);
    if (s == PT_OK) s = simple_gradient(device, l, "d_keys", &l->a->dk, err);
    if (s == PT_OK) s = simple_gradient(device, l, "d_values", &l->a->dv, err);
    return s;
}

pt_status pt_attention_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    const pt_attention_args *a = args;
    layer l = layer_of(a, pass);
    if (pt_wg_limits_of(device)->software)
        return pass == PT_FORWARD ? simple_forward(device, &l, err)
                                  : simple_backward(device, &l, err);
    if (pass == PT_BACKWARD) return backward(device, &l, err);
    return a->cached && l.T <= FEW_QUERIES ? decode(device, &l, err) : forward(device, &l, err);
}
