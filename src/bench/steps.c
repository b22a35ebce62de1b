/* A training run, step by step. SPDX-License-Identifier: MIT */
#include "bench/steps.h"

#include "base/rng.h"
#include "base/strings.h"

#define CORPUS_BYTES (1 << 20)
#define SHORT_WINDOW 64

static pt_status on_step(void *ctx, const pt_step_report *report, pt_error *err)
{
    pt_bench_steps *steps = ctx;
    (void)report, (void)err;
    steps->stepped++;
    return PT_OK;
}

static void fill_corpus(uint8_t *bytes)
{
    for (int64_t i = 0; i < CORPUS_BYTES; i += 16) {
        uint32_t random[4];
        pt_rng_u32x4(1, PT_STREAM_TEST, 0, (uint64_t)i, random);
        memcpy(bytes + i, random, 16);
    }
}

pt_status pt_bench_steps_begin(pt_bench_steps *steps, pt_device *device, const pt_preset *preset,
                               pt_dtype dtype, pt_error *err)
{
    *steps = (pt_bench_steps){.config = preset->config, .B = preset->batch, .dtype = dtype};
    pt_model_config_complete(&steps->config);
    steps->each = pt_max_i64(device->read_every, 1);
    steps->T =
        steps->config.ctx >= 1024 && pt_device_pool(device) ? SHORT_WINDOW : steps->config.ctx;
    steps->corpus = pt_alloc(CORPUS_BYTES);
    if (!steps->corpus) return pt_fail(err, PT_NO_MEMORY, "no memory for a text");
    fill_corpus(steps->corpus);
    pt_train_options options = pt_train_defaults();
    options.steps = 1000000000;
    options.batch = steps->B;
    options.ctx = steps->T;
    options.bf16 = dtype == PT_BF16;
    options.eval_every = options.sample_every = options.save_every = 0;
    pt_trainer_desc desc = {.config = steps->config,
                            .options = options,
                            .corpus = steps->corpus,
                            .corpus_bytes = CORPUS_BYTES,
                            .corpus_memory = CORPUS_BYTES,
                            .events = {.ctx = steps, .step = on_step}};
    pt_status s = pt_trainer_new(&steps->trainer, device, &desc, err);
    if (s == PT_OK) s = pt_trainer_begin(steps->trainer, pt_device_pool(device), err);
    if (s) {
        pt_error_prefix(err, "%s", preset->name);
        pt_bench_steps_end(steps);
    }
    return s;
}

void pt_bench_steps_end(pt_bench_steps *steps)
{
    pt_trainer_free(steps->trainer);
    pt_free(steps->corpus);
    *steps = (pt_bench_steps){0};
}

pt_status pt_bench_steps_call(void *ctx, pt_error *err)
{
    pt_bench_steps *steps = ctx;
    while (steps->stepped < steps->each) {
        pt_status s = pt_trainer_poll(steps->trainer, err);
        if (s == PT_OK) return pt_fail(err, PT_INTERNAL, "bench: the run ended");
        if (s != PT_PENDING) return s;
    }
    steps->stepped -= steps->each;
    return PT_OK;
}

double pt_bench_step_flop(const pt_model_config *c, int64_t B, int64_t T)
{
    double C = (double)c->d_model, q = (double)(c->n_heads * c->d_head);
    double kv = (double)(c->n_kv_heads * c->d_head), F = (double)c->d_mlp, L = (double)c->n_layers;
    double mlp = (c->mlp == PT_MLP_SWIGLU ? 3 : 2) * C * F;
    double weights = L * (2 * C * q + 2 * C * kv + mlp) + C * (double)c->vocab;
    double tokens = (double)(B * T);
    return 6 * tokens * weights + 6 * tokens * L * q * ((double)T + 1);
}

void pt_bench_steps_amounts(const pt_bench_steps *steps, pt_bench_row *row)
{
    row->dtype = steps->dtype;
    row->tokens = (double)(steps->B * steps->T);
    row->params = (double)pt_trainer_n_params(steps->trainer);
    row->flop = pt_bench_step_flop(&steps->config, steps->B, steps->T);
    row->flop_6n = 6 * row->params * row->tokens;
}

pt_status pt_bench_presets(const char *list, const char *fallback, const pt_preset *out[16], int *n,
                           pt_error *err)
{
    char name[32];
    *n = 0;
    for (const char *p = list ? list : fallback; *p && *n < 16;) {
        const char *end = strchr(p, ',');
        size_t length = end ? (size_t)(end - p) : strlen(p);
        pt_format(name, sizeof name, "%.*s", (int)length, p);
        out[*n] = pt_preset_find(name);
        if (!out[*n])
            return pt_fail(err, PT_BAD_INPUT,
                           "unknown preset '%s': posttrain train --help lists them", name);
        (*n)++;
        p += length + (end ? 1 : 0);
    }
    return PT_OK;
}
