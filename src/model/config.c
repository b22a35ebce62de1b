/* Model configuration. SPDX-License-Identifier: MIT */
#include "model/config.h"

void pt_model_config_complete(pt_model_config *c)
{
    if (!c->n_kv_heads) c->n_kv_heads = c->n_heads;
    if (!c->d_head && c->n_heads > 0) c->d_head = c->d_model / c->n_heads;
    if (!c->d_mlp && c->d_model > 0 && c->d_model < INT64_MAX / 4) c->d_mlp = 4 * c->d_model;
    if (!c->vocab) c->vocab = 256;
    if (c->norm_eps <= 0) c->norm_eps = 1e-5;
    if (c->rope_theta <= 0) c->rope_theta = 10000;
}

typedef struct limit {
    const char *name;
    int64_t value, most;
} limit;

static pt_status check_limits(const limit *limits, int n, pt_error *err)
{
    for (int i = 0; i < n; i++) {
        if (limits[i].value >= 1 && limits[i].value <= limits[i].most) continue;
        return pt_fail(err, PT_BAD_INPUT, "model: %s is %lld, it must be 1 to %lld", limits[i].name,
                       (long long)limits[i].value, (long long)limits[i].most);
    }
    return PT_OK;
}

pt_status pt_model_config_check(const pt_model_config *c, pt_error *err)
{
    const limit limits[] = {
        {"layers", c->n_layers, 1024}, {"d_model", c->d_model, 65536},
        {"heads", c->n_heads, 4096},   {"kv_heads", c->n_kv_heads, 4096},
        {"d_head", c->d_head, 256},    {"d_mlp", c->d_mlp, 1 << 20},
        {"ctx", c->ctx, 1 << 20},      {"vocab", c->vocab, 1 << 24},
    };
    pt_status s = check_limits(limits, (int)(sizeof limits / sizeof limits[0]), err);
    if (s) return s;
    if (c->window < 0 || c->window > 1 << 24)
        return pt_fail(err, PT_BAD_INPUT, "model: window is %lld, it must be 0 (none) to %d",
                       (long long)c->window, 1 << 24);
    if (c->d_head * c->n_heads != c->d_model && c->d_model % c->n_heads != 0)
        return pt_fail(err, PT_BAD_INPUT, "model: d_model %lld is not a multiple of heads %lld",
                       (long long)c->d_model, (long long)c->n_heads);
    if (c->n_heads % c->n_kv_heads != 0)
        return pt_fail(err, PT_BAD_INPUT, "model: heads %lld is not a multiple of kv_heads %lld",
                       (long long)c->n_heads, (long long)c->n_kv_heads);
    if (c->positions == PT_POSITION_ROPE && c->d_head % 2 != 0)
        return pt_fail(err, PT_BAD_INPUT, "model: rope needs an even d_head, not %lld",
                       (long long)c->d_head);
    if (!(c->dropout >= 0 && c->dropout < 1))
        return pt_fail(err, PT_BAD_INPUT, "model: dropout is %g, it must be at least 0 and below 1",
                       c->dropout);
    return PT_OK;
}

#define GPT(l, d, h, t) .config = {.n_layers = l, .d_model = d, .n_heads = h, .ctx = t}
#define GPT2(l, d, h)              \
    .config = {.n_layers = l,      \
               .d_model = d,       \
               .n_heads = h,       \
               .ctx = 1024,        \
               .vocab = 50257,     \
               .gelu_tanh = true}, \
    .batch = 4, .steps = 1000

static const pt_preset presets[] = {
    {.name = "tiny", GPT(2, 48, 3, 32), .batch = 16, .steps = 2000},
    {.name = "small", GPT(3, 96, 3, 64), .batch = 16, .steps = 1500},
    {.name = "medium", GPT(4, 128, 4, 96), .batch = 16, .steps = 1000},
    {.name = "large", GPT(6, 192, 6, 128), .batch = 12, .steps = 600},
    {.name = "xl", GPT(8, 256, 8, 128), .batch = 8, .steps = 400},
    {.name = "huge", GPT(12, 256, 8, 256), .batch = 8, .steps = 1500},
    {.name = "massive", GPT(14, 384, 12, 256), .batch = 4, .steps = 1000},
    {.name = "mega", GPT(14, 384, 12, 512), .batch = 2, .steps = 800},
    {.name = "behemoth", GPT(24, 1280, 20, 512), .batch = 1, .steps = 50},
    {.name = "reference", GPT(4, 128, 4, 128), .batch = 16, .steps = 10000},
    {.name = "gpt2", GPT2(12, 768, 12)},
    {.name = "gpt2-medium", GPT2(24, 1024, 16)},
    {.name = "gpt2-large", GPT2(36, 1280, 20)},
    {.name = "gpt2-xl", GPT2(48, 1600, 25)},
    {.name = NULL},
};

const pt_preset *pt_presets(void) { return presets; }

const pt_preset *pt_preset_find(const char *name)
{
    for (const pt_preset *p = presets; p->name; p++)
        if (strcmp(p->name, name) == 0) return p;
    return NULL;
}
