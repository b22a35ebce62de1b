/* Looking inside: against whole forwards and attention by hand, on every device.
 * SPDX-License-Identifier: MIT */
#include "interp/inspect.h"
#include "infer/test_model.h"

#define CTX 9 /* more than twice a head's channels: three pieces of keys */
#define VOCAB 11

typedef struct fixture {
    small_model m;
    pt_inspection *x;
    int32_t ids[CTX];
} fixture;

static void open_fixture(fixture *f, const char *kind, const pt_model_config *config)
{
    pt_model_options options = {.mode = PT_MODEL_EVALUATE, .batch = 1};
    plan_model(&f->m, kind, config, &options);
    CHECK_OK(pt_inspection_new(&f->x, f->m.model, 0, &err), err);
    pt_inspection_plan(f->x, &f->m.plan);
    bind_model(&f->m);
    CHECK_OK(pt_inspection_bind(f->x, &f->m.plan, &err), err);
    for (int i = 0; i < CTX; i++) f->ids[i] = (5 * i + 3 * i * i + 2) % VOCAB;
}

static void close_fixture(fixture *f)
{
    pt_inspection_free(f->x);
    close_model(&f->m);
}

static const float *look(fixture *f, pt_status begun)
{
    CHECK_OK(begun, err);
    pt_status s = PT_PENDING;
    while (s == PT_PENDING) s = pt_inspection_poll(f->x, &err);
    CHECK_OK(s, err);
    return pt_inspection_values(f->x);
}

static const char *const kinds[] = {"f64", "ref", "cpu", "fake"};

TEST(the_lens_of_the_last_layer_is_the_logits)
{
    const pt_model_config shapes[] = {gpt2_shape(CTX, VOCAB), llama_shape(CTX, VOCAB)};
    for (int shape = 0; shape < 2; shape++)
        for (int kind = 0; kind < 4; kind++) {
            fixture f;
            open_fixture(&f, kinds[kind], &shapes[shape]);
            CHECK_OK(pt_inspection_run(f.x, f.ids, CTX - 1, &err), err);
            const float *z = look(&f, pt_inspection_lens(f.x, shapes[shape].n_layers, &err));
            CHECK_INT(pt_inspection_n_values(f.x), (CTX - 1) * VOCAB);
            for (int64_t t = 0; t < CTX - 1; t++) {
                const double *want = slow_logits(&f.m, f.ids, CTX - 1, t);
                for (int64_t v = 0; v < VOCAB; v++) CHECK(z[t * VOCAB + v] == (float)want[v]);
            }
            close_fixture(&f);
        }
}

/* The lens of a model is that of the same model cut off there: with the later blocks' projections at 0 they add
 * nothing, and the logits are the lens of the layer. */
TEST(the_lens_of_a_layer_is_the_logits_without_the_blocks_after_it)
{
    pt_model_config config = gpt2_shape(CTX, VOCAB);
    fixture f;
    open_fixture(&f, "cpu", &config);
    float early[2][CTX * VOCAB];
    CHECK_OK(pt_inspection_run(f.x, f.ids, CTX, &err), err);
    for (int layer = 0; layer < 2; layer++)
        memcpy(early[layer], look(&f, pt_inspection_lens(f.x, layer, &err)), sizeof early[layer]);
    static const char *const ends[] = {"attn.o_proj.weight", "attn.o_proj.bias",
                                       "mlp.fc_out.weight", "mlp.fc_out.bias"};
    float zeros[1024] = {0};
    for (int layer = 1; layer >= 0; layer--) {
        for (int i = 0; i < 4; i++) {
            char name[64];
            snprintf(name, sizeof name, "blocks.%d.%s", layer, ends[i]);
            const pt_param *p = pt_params_find(&f.m.model->params, name);
            CHECK(p && p->n <= 1024);
            CHECK_OK(pt_model_set_weight(f.m.model, p - f.m.model->params.list, zeros, &err), err);
        }
        for (int64_t t = 0; t < CTX; t++) {
            const double *want = slow_logits(&f.m, f.ids, CTX, t);
            for (int64_t v = 0; v < VOCAB; v++)
                CHECK(early[layer][t * VOCAB + v] == (float)want[v]);
        }
    }
    close_fixture(&f);
}

static void check_weights(const fixture *f, const float *p, double tolerance)
{
    const pt_model_config *c = &f->m.model->config;
    int64_t first_seen = 0;
    for (int64_t h = 0; h < c->n_heads; h++)
        for (int64_t i = 0; i < CTX; i++) {
            double sum = 0;
            if (c->window) first_seen = i + 1 > c->window ? i + 1 - c->window : 0;
            for (int64_t j = 0; j < CTX; j++) {
                double w = (double)p[(h * CTX + i) * CTX + j];
                if (j > i || j < first_seen) CHECK(w == 0);
                else CHECK(w > 0 && w <= 1);
                sum += w;
            }
            CHECK_CLOSE(sum, 1, tolerance);
        }
}

TEST(attention_weights_are_causal_inside_the_window_and_sum_to_one)
{
    const pt_model_config shapes[] = {gpt2_shape(CTX, VOCAB), llama_shape(CTX, VOCAB)};
    for (int shape = 0; shape < 2; shape++) {
        float first[4 * CTX * CTX];
        for (int kind = 0; kind < 4; kind++) {
            fixture f;
            open_fixture(&f, kinds[kind], &shapes[shape]);
            int64_t n = shapes[shape].n_heads * CTX * CTX;
            CHECK_OK(pt_inspection_run(f.x, f.ids, CTX, &err), err);
            const float *p = look(&f, pt_inspection_attention(f.x, 1, &err));
            CHECK_INT(pt_inspection_n_values(f.x), n);
            check_weights(&f, p, 1e-5);
            for (int64_t i = 0; i < n; i++) {
                if (kind == 0) first[i] = p[i];
                else CHECK_CLOSE((double)p[i], (double)first[i], 1e-5);
            }
            close_fixture(&f);
        }
    }
}

/* Two tokens, one of which asks: its weight for the first is a logistic function of the difference of the scores. */
TEST(attention_weights_of_two_tokens_by_hand)
{
    pt_model_config config = gpt2_shape(CTX, VOCAB);
    fixture f;
    open_fixture(&f, "cpu", &config);
    CHECK_OK(pt_inspection_run(f.x, f.ids, 2, &err), err);
    const float *p = look(&f, pt_inspection_attention(f.x, 0, &err));
    for (int64_t h = 0; h < 3; h++) {
        CHECK(p[h * 4] == 1.0f && p[h * 4 + 1] == 0.0f);
        CHECK_CLOSE((double)(p[h * 4 + 2] + p[h * 4 + 3]), 1, 1e-6);
    }
    CHECK(p[2] != p[6] || p[6] != p[10]);
    close_fixture(&f);
}

TEST(looking_changes_no_logit)
{
    pt_model_config config = gpt2_shape(CTX, VOCAB);
    fixture f;
    open_fixture(&f, "cpu", &config);
    double before[VOCAB];
    memcpy(before, slow_logits(&f.m, f.ids, CTX, CTX - 1), sizeof before);
    CHECK_OK(pt_inspection_run(f.x, f.ids, CTX, &err), err);
    for (int layer = 0; layer < 2; layer++) {
        look(&f, pt_inspection_attention(f.x, layer, &err));
        look(&f, pt_inspection_lens(f.x, layer, &err));
    }
    CHECK(memcmp(before, slow_logits(&f.m, f.ids, CTX, CTX - 1), sizeof before) == 0);
    close_fixture(&f);
}

TEST(bad_requests_are_refused_and_leave_it_usable)
{
    pt_model_config config = gpt2_shape(CTX, VOCAB);
    fixture f;
    open_fixture(&f, "cpu", &config);
    const int32_t bad[] = {3, VOCAB};
    pt_error e = {0};
    CHECK_INT(pt_inspection_lens(f.x, 0, &e), PT_BAD_INPUT); /* before any run */
    CHECK_INT(pt_inspection_run(f.x, f.ids, 0, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_inspection_run(f.x, f.ids, CTX + 1, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_inspection_run(f.x, bad, 2, NULL), PT_BAD_INPUT);
    CHECK_OK(pt_inspection_run(f.x, f.ids, CTX, &err), err);
    CHECK_INT(pt_inspection_lens(f.x, 3, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_inspection_lens(f.x, -1, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_inspection_attention(f.x, 2, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_inspection_poll(f.x, NULL), PT_INTERNAL);
    check_weights(&f, look(&f, pt_inspection_attention(f.x, 1, &err)), 1e-5);
    close_fixture(&f);
}

PT_TEST_MAIN
