/* Every preset's size and every default, as one table. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "model/params.h"

typedef struct expected {
    const char *name;
    int64_t layers, width, heads, ctx, vocab, batch, steps, params;
} expected;

/* The original's presets (its documents, section "browser presets" and "Python reference") and GPT-2's published
 * sizes; the counts by the formula V·C + T·C + 2C + L(12C² + 13C). */
static const expected table[] = {
    {"tiny", 2, 48, 3, 32, 256, 16, 2000, 70464},
    {"small", 3, 96, 3, 64, 256, 16, 1500, 366432},
    {"medium", 4, 128, 4, 96, 256, 16, 1000, 838400},
    {"large", 6, 192, 6, 128, 256, 12, 600, 2743296},
    {"xl", 8, 256, 8, 128, 256, 8, 400, 6416896},
    {"huge", 12, 256, 8, 256, 256, 8, 1500, 9608704},
    {"massive", 14, 384, 12, 256, 256, 4, 1000, 25039872},
    {"mega", 14, 384, 12, 512, 256, 2, 800, 25138176},
    {"behemoth", 24, 1280, 20, 512, 256, 1, 50, 473244160},
    {"reference", 4, 128, 4, 128, 256, 16, 10000, 842496},
    {"gpt2", 12, 768, 12, 1024, 50257, 4, 1000, 124439808},
    {"gpt2-medium", 24, 1024, 16, 1024, 50257, 4, 1000, 354823168},
    {"gpt2-large", 36, 1280, 20, 1024, 50257, 4, 1000, 774030080},
    {"gpt2-xl", 48, 1600, 25, 1024, 50257, 4, 1000, 1557611200},
};
#define N_TABLE (sizeof table / sizeof table[0])

/* With the checks on, a product that leaves the range would end the program. */
TEST(widths_at_the_ends_of_the_range_are_refused_by_name)
{
    static const int64_t widths[] = {INT64_MIN, INT64_C(-4000000000000000000), -1, 0, INT64_MAX};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        pt_error err = {0};
        pt_model_config c = {.n_layers = 1, .d_model = widths[i], .n_heads = 1, .ctx = 8};
        pt_model_config_complete(&c);
        CHECK(c.d_mlp == 0);
        CHECK_INT(pt_model_config_check(&c, &err), PT_BAD_INPUT);
        CHECK(strstr(err.message, "d_model is "));
    }
}

TEST(presets_are_the_table)
{
    pt_error err = {0};
    size_t n = 0;
    for (const pt_preset *p = pt_presets(); p->name; p++, n++) {
        CHECK(n < N_TABLE);
        const expected *want = &table[n];
        CHECK_STR(p->name, want->name);
        pt_model_config c = p->config;
        pt_model_config_complete(&c);
        CHECK_INT(c.n_layers, want->layers);
        CHECK_INT(c.d_model, want->width);
        CHECK_INT(c.n_heads, want->heads);
        CHECK_INT(c.ctx, want->ctx);
        CHECK_INT(c.vocab, want->vocab);
        CHECK_INT(p->batch, want->batch);
        CHECK_INT(p->steps, want->steps);
        pt_params params;
        CHECK_OK(pt_model_config_check(&c, &err), err);
        CHECK_OK(pt_params_init(&params, &c, &err), err);
        CHECK_INT(params.n_params, want->params);
        pt_params_deinit(&params);
    }
    CHECK_INT(n, N_TABLE);
}

TEST(defaults_are_gpt2s)
{
    pt_model_config c = {.n_layers = 2, .d_model = 48, .n_heads = 3, .ctx = 32};
    pt_model_config_complete(&c);
    CHECK_INT(c.vocab, 256);
    CHECK_INT(c.d_mlp, 192);
    CHECK_INT(c.d_head, 16);
    CHECK_INT(c.n_kv_heads, 3);
    CHECK_CLOSE(c.norm_eps, 1e-5, 0);
    CHECK_CLOSE(c.rope_theta, 10000, 0);
    CHECK_CLOSE(c.dropout, 0, 0);
    CHECK(c.norm == PT_NORM_LAYER && c.positions == PT_POSITION_LEARNED && c.mlp == PT_MLP_GELU);
    CHECK(!c.gelu_tanh && !c.no_bias && !c.qk_norm && !c.untied_head && c.window == 0);
}

TEST(impossible_sizes_are_refused_by_name)
{
    const struct {
        pt_model_config config;
        const char *names;
    } bad[] = {
        {{.n_layers = 0, .d_model = 8, .n_heads = 2, .ctx = 4}, "layers"},
        {{.n_layers = -1, .d_model = 8, .n_heads = 2, .ctx = 4}, "layers"},
        {{.n_layers = 1, .d_model = 8, .n_heads = 0, .ctx = 4}, "heads"},
        {{.n_layers = 1, .d_model = 7, .n_heads = 2, .ctx = 4}, "multiple"},
        {{.n_layers = 1, .d_model = 8, .n_heads = 2, .ctx = 0}, "ctx"},
        {{.n_layers = 1, .d_model = 8, .n_heads = 2, .ctx = INT64_MAX}, "ctx"},
        {{.n_layers = 1, .d_model = INT64_MAX, .n_heads = 1, .ctx = 4}, "d_model"},
        {{.n_layers = 1, .d_model = 8, .n_heads = 4, .n_kv_heads = 3, .ctx = 4}, "kv_heads"},
        {{.n_layers = 1, .d_model = 6, .n_heads = 2, .ctx = 4, .positions = PT_POSITION_ROPE},
         "even"},
        {{.n_layers = 1, .d_model = 8, .n_heads = 2, .ctx = 4, .dropout = 1}, "dropout"},
        {{.n_layers = 1, .d_model = 8, .n_heads = 2, .ctx = 4, .dropout = -0.5}, "dropout"},
        {{.n_layers = 1, .d_model = 8, .n_heads = 2, .ctx = 4, .window = -1}, "window"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pt_error err = {0};
        pt_model_config c = bad[i].config;
        pt_model_config_complete(&c);
        CHECK_INT(pt_model_config_check(&c, &err), PT_BAD_INPUT);
        CHECK(strstr(err.message, bad[i].names) != NULL);
    }
}

TEST(parameters_decay_only_with_two_dimensions)
{
    pt_error err = {0};
    pt_model_config c = {.n_layers = 2, .d_model = 12, .n_heads = 3, .ctx = 5};
    pt_model_config_complete(&c);
    pt_params params;
    CHECK_OK(pt_params_init(&params, &c, &err), err);
    int64_t end = 0, decayed = 0;
    for (int64_t i = 0; i < params.n; i++) {
        const pt_param *p = &params.list[i];
        CHECK(p->offset >= end && p->offset % 64 == 0);
        CHECK(p->decay == (p->rank == 2));
        decayed += p->decay;
        end = p->offset + p->n;
        CHECK(pt_params_at(&params, p->offset) == p && pt_params_at(&params, end - 1) == p);
    }
    CHECK_INT(params.n, 4 + 16 * 2);
    CHECK_INT(decayed, 2 + 6 * 2);
    CHECK(pt_params_find(&params, "blocks.1.mlp.fc_out.bias") != NULL);
    CHECK(pt_params_find(&params, "blocks.2.mlp.fc_out.bias") == NULL);
    pt_params_deinit(&params);
}

TEST(initial_weights_have_the_documented_spread)
{
    pt_error err = {0};
    pt_model_config c = pt_preset_find("reference")->config;
    pt_model_config_complete(&c);
    pt_params params;
    CHECK_OK(pt_params_init(&params, &c, &err), err);
    float *values = malloc(sizeof *values * (size_t)params.n_elements);
    for (int64_t i = 0; i < params.n; i++) {
        const pt_param *p = &params.list[i];
        double sum = 0, squares = 0, want = 0.02;
        pt_params_fill(&params, i, 42, 0, p->n, values);
        for (int64_t k = 0; k < p->n; k++) {
            sum += (double)values[k];
            squares += (double)values[k] * (double)values[k];
        }
        double mean = sum / (double)p->n, std = pt_sqrt(squares / (double)p->n);
        if (p->init == PT_INIT_ZERO) CHECK_CLOSE(squares, 0, 0);
        if (p->init == PT_INIT_ONE) CHECK_CLOSE(sum, (double)p->n, 0);
        if (p->init == PT_INIT_RESIDUAL) want = 0.02 / pt_sqrt(8.0);
        if (p->init != PT_INIT_NORMAL && p->init != PT_INIT_RESIDUAL) continue;
        CHECK_CLOSE(mean, 0, 5 * want / pt_sqrt((double)p->n));
        CHECK_CLOSE(std, want, 4 * want / pt_sqrt(2.0 * (double)p->n));
        float part[8]; /* any part can be made on its own */
        pt_params_fill(&params, i, 42, 40, 7, part);
        CHECK(memcmp(part, values + 40, 7 * sizeof *part) == 0);
    }
    free(values);
    pt_params_deinit(&params);
}

PT_TEST_MAIN
