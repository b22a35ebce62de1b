/* Sessions: a text through the cache is the text that whole forwards give, on every device.
 * SPDX-License-Identifier: MIT */
#include "infer/session.h"
#include "infer/test_model.h"

#define CTX 7
#define VOCAB 11
#define MADE (2 * CTX) /* tokens generated: well beyond ctx */

typedef struct fixture {
    small_model m;
    pt_session *session;
} fixture;

static const pt_sampler_options greedy = {0};

static void open_packed(fixture *f, const char *kind, const pt_model_config *config,
                        pt_dtype weights)
{
    pt_model_options options = {.mode = PT_MODEL_EVALUATE, .batch = 1, .weights = weights};
    f->session = NULL;
    plan_model(&f->m, kind, config, &options);
    CHECK_OK(pt_session_new(&f->session, f->m.model, &err), err);
    pt_session_plan(f->session, &f->m.plan);
    bind_model(&f->m);
    CHECK_OK(pt_session_bind(f->session, &f->m.plan, &err), err);
}

static void open_fixture(fixture *f, const char *kind, const pt_model_config *config)
{
    open_packed(f, kind, config, PT_F32);
}

static void close_fixture(fixture *f)
{
    pt_session_free(f->session);
    close_model(&f->m);
}

static int32_t next_token(fixture *f)
{
    int32_t id = -1;
    pt_status s = PT_PENDING;
    while (s == PT_PENDING) s = pt_session_poll(f->session, &id, &err);
    CHECK_OK(s, err);
    CHECK(id >= 0 && id < f->m.model->config.vocab);
    return id;
}

/* The most likely next token, by a forward of the last ctx tokens of the text. */
static int32_t slow_next(fixture *f, const int32_t *text, int64_t n)
{
    int64_t T = n < CTX ? n : CTX;
    const double *z = slow_logits(&f->m, text + n - T, T, T - 1);
    int32_t best = 0;
    for (int32_t i = 1; i < VOCAB; i++)
        if (z[i] > z[best]) best = i;
    return best;
}

static void make_prompt(int32_t *ids, int64_t n)
{
    for (int64_t i = 0; i < n; i++) ids[i] = (int32_t)((5 * i + 3 * i * i + 2) % VOCAB);
}

/* The whole text: prompt and MADE tokens, each checked. */
static void check_greedy(fixture *f, int64_t n_prompt, int32_t text[64])
{
    make_prompt(text, n_prompt);
    CHECK_OK(pt_session_start(f->session, text, n_prompt, &greedy, &err), err);
    for (int64_t n = n_prompt; n < n_prompt + MADE; n++) {
        text[n] = next_token(f);
        CHECK_INT(text[n], slow_next(f, text, n));
    }
}

static const int64_t prompts[] = {1, CTX - 1, CTX, CTX + 5};

TEST(greedy_text_is_that_of_whole_forwards_also_beyond_ctx)
{
    static const char *const kinds[] = {"f64", "ref", "cpu", "fake"};
    const pt_model_config shapes[] = {gpt2_shape(CTX, VOCAB), llama_shape(CTX, VOCAB)};
    for (int shape = 0; shape < 2; shape++) {
        int32_t first[4][64], text[64];
        for (int kind = 0; kind < 4; kind++) {
            fixture f;
            open_fixture(&f, kinds[kind], &shapes[shape]);
            for (int p = 0; p < 4; p++) { /* one session, restarted */
                memset(text, 0, sizeof text);
                check_greedy(&f, prompts[p], text);
                if (kind == 0) memcpy(first[p], text, sizeof text);
                CHECK(memcmp(first[p], text, sizeof text) == 0);
            }
            close_fixture(&f);
        }
        /* the model is no constant: it says different things */
        CHECK(memcmp(first[2] + CTX, first[3] + CTX + 5, MADE * sizeof first[0][0]) != 0);
    }
}

TEST(what_came_before_the_last_ctx_tokens_does_not_count)
{
    fixture f;
    pt_model_config config = gpt2_shape(CTX, VOCAB);
    int32_t a[CTX + 5], b[CTX + 5];
    make_prompt(a, CTX + 5);
    memcpy(b, a, sizeof a);
    for (int i = 0; i < 5; i++) b[i] = (a[i] + 1) % VOCAB;
    open_fixture(&f, "cpu", &config);
    CHECK_OK(pt_session_start(f.session, a, CTX + 5, &greedy, &err), err);
    int32_t from_a = next_token(&f);
    CHECK_OK(pt_session_start(f.session, b, CTX + 5, &greedy, &err), err);
    CHECK_INT(next_token(&f), from_a);
    close_fixture(&f);
}

static const pt_sampler_options lively = {.temperature = 1.5, .seed = 5};

TEST(a_seed_is_a_text)
{
    static const char *const kinds[] = {"f64", "fake"};
    pt_model_config config = gpt2_shape(CTX, VOCAB);
    int32_t first[MADE], text[CTX + 5 + MADE];
    for (int kind = 0; kind < 2; kind++) {
        fixture f;
        open_fixture(&f, kinds[kind], &config);
        make_prompt(text, 3);
        CHECK_OK(pt_session_start(f.session, text, 3, &lively, &err), err);
        for (int i = 0; i < MADE; i++) text[3 + i] = next_token(&f);
        if (kind == 0) memcpy(first, text + 3, sizeof first);
        CHECK(memcmp(first, text + 3, sizeof first) == 0);
        /* the draw belongs to the position in the text, so any prefix is continued alike */
        for (int n = 4; n < 3 + MADE; n += 5) {
            CHECK_OK(pt_session_start(f.session, text, n, &lively, &err), err);
            for (int i = n; i < 3 + MADE; i++) CHECK_INT(next_token(&f), text[i]);
        }
        pt_sampler_options other = lively;
        other.seed++;
        CHECK_OK(pt_session_start(f.session, text, 3, &other, &err), err);
        bool differs = false;
        for (int i = 0; i < MADE; i++) differs |= next_token(&f) != first[i];
        CHECK(differs);
        close_fixture(&f);
    }
}

TEST(the_repetition_penalty_sees_the_window)
{
    fixture f;
    pt_model_config config = gpt2_shape(CTX, VOCAB);
    int32_t text[64];
    make_prompt(text, 2);
    open_fixture(&f, "ref", &config);
    pt_sampler_options strict = {.repetition_penalty = 1000};
    CHECK_OK(pt_session_start(f.session, text, 2, &strict, &err), err);
    for (int64_t n = 2; n < 2 + MADE; n++) {
        text[n] = next_token(&f);
        int64_t T = n < CTX ? n : CTX;
        const double *z = slow_logits(&f.m, text + n - T, T, T - 1);
        double best = -PT_INF;
        int32_t want = -1;
        for (int32_t i = 0; i < VOCAB; i++) {
            bool seen = false;
            for (int64_t k = n - T; k < n; k++) seen |= text[k] == i;
            double x = !seen ? z[i] : z[i] > 0 ? z[i] / 1000 : z[i] * 1000;
            if (x > best) best = x, want = i;
        }
        CHECK_INT(text[n], want);
    }
    close_fixture(&f);
}

TEST(a_token_allocates_nothing)
{
    static const char *const kinds[] = {"f64", "ref", "cpu"};
    pt_model_config config = gpt2_shape(CTX, VOCAB);
    for (int kind = 0; kind < 3; kind++) {
        fixture f;
        int32_t text[CTX + 5];
        make_prompt(text, CTX + 5);
        open_fixture(&f, kinds[kind], &config);
        int64_t before = pt_alloc_count();
        for (int p = 0; p < 4; p++) {
            CHECK_OK(pt_session_start(f.session, text, prompts[p], &lively, &err), err);
            for (int i = 0; i < MADE; i++) next_token(&f);
        }
        CHECK_INT(pt_alloc_count(), before);
        close_fixture(&f);
    }
}

static void check_refused(fixture *f, const int32_t *ids, int64_t n,
                          const pt_sampler_options *options, const char *word)
{
    memset(&err, 0, sizeof err);
    CHECK_INT(pt_session_start(f->session, ids, n, options, &err), PT_BAD_INPUT);
    if (!strstr(err.message, word)) printf("%s\n", err.message);
    CHECK(strstr(err.message, word));
    memset(&err, 0, sizeof err);
}

TEST(a_refused_prompt_leaves_the_session_as_it_was)
{
    fixture f;
    pt_model_config config = gpt2_shape(CTX, VOCAB);
    int32_t id, text[64], bad[3] = {1, 2, VOCAB};
    open_fixture(&f, "ref", &config);
    CHECK_INT(pt_session_poll(f.session, &id, &err), PT_INTERNAL);
    check_refused(&f, bad, 3, &greedy, "token 2 of the prompt is 11");
    CHECK_INT(pt_session_poll(f.session, &id, NULL), PT_INTERNAL);
    check_greedy(&f, 3, text);
    check_refused(&f, bad, 0, &greedy, "at least one");
    check_refused(&f, bad, -1, &greedy, "at least one");
    bad[1] = -1;
    check_refused(&f, bad, 2, &greedy, "token 1 of the prompt is -1");
    pt_sampler_options cold = {.temperature = -1};
    check_refused(&f, bad, 1, &cold, "temperature");
    int64_t n = 3 + MADE;
    CHECK_INT(next_token(&f), slow_next(&f, text, n));
    close_fixture(&f);
}

TEST(a_restart_before_the_token_has_come_begins_the_new_text)
{
    fixture f;
    pt_model_config config = gpt2_shape(CTX, VOCAB);
    int32_t id, text[64];
    make_prompt(text, CTX);
    open_fixture(&f, "fake", &config);
    CHECK_OK(pt_session_start(f.session, text, CTX, &greedy, &err), err);
    CHECK_INT(pt_session_poll(f.session, &id, &err), PT_PENDING);
    check_greedy(&f, 2, text);
    close_fixture(&f);
}

/* The weights of f's model as values of `weights`. */
static void stand_for(fixture *f, pt_dtype weights)
{
    for (int64_t i = 0; i < f->m.model->params.n; i++) {
        const pt_param *p = &f->m.model->params.list[i];
        char row[512];
        float *w = random_weight(&f->m, i);
        for (int64_t r = 0; r < p->dim[0] && pt_model_packs(p); r++) {
            CHECK(pt_dtype_bytes(weights, p->dim[1]) <= (int64_t)sizeof row);
            CHECK(pt_pack_row(weights, w + r * p->dim[1], p->dim[1], row));
            for (int64_t k = 0; k < p->dim[1]; k++)
                w[r * p->dim[1] + k] = pt_packed_at(weights, row, p->dim[1], k);
        }
        CHECK_OK(pt_model_set_weight(f->m.model, i, w, &err), err);
        free(w);
    }
}

TEST(packed_weights_are_the_model_they_stand_for)
{
    static const char *const kinds[] = {"f64", "ref", "fake"};
    const pt_dtype dtypes[] = {PT_ROWS_F16, PT_ROWS_INT8};
    const pt_model_config shapes[] = {gpt2_shape(CTX, VOCAB), llama_shape(CTX, VOCAB)};
    for (int i = 0; i < 12; i++) {
        fixture packed, plain;
        int32_t text[64];
        open_packed(&packed, kinds[i % 3], &shapes[i / 3 % 2], dtypes[i / 6]);
        open_fixture(&plain, "f64", &shapes[i / 3 % 2]);
        CHECK(packed.m.plan.arena_bytes[PT_ARENA_MODEL] > 0);
        CHECK(!pt_present(&packed.m.model->weights.flat)); /* no other copy */
        stand_for(&plain, dtypes[i / 6]);
        check_greedy(&packed, CTX - 1, text);
        CHECK_OK(pt_session_start(plain.session, text, CTX - 1, &greedy, &err), err);
        for (int64_t n = CTX - 1; n < CTX - 1 + MADE; n++) CHECK_INT(next_token(&plain), text[n]);
        for (int64_t k = 0; k < VOCAB; k++)
            CHECK_CLOSE(pt_session_logits(packed.session)[k], pt_session_logits(plain.session)[k],
                        i % 3 ? 1e-5 : 0);
        close_fixture(&packed);
        close_fixture(&plain);
    }
}

TEST(weights_beyond_f16_are_refused_by_name)
{
    fixture f;
    pt_model_config config = gpt2_shape(CTX, VOCAB);
    open_packed(&f, "ref", &config, PT_ROWS_F16);
    const pt_params *params = &f.m.model->params;
    float w[48 * 12] = {0};
    w[12 * 5 + 3] = -70000;
    int64_t gain = pt_params_find(params, "ln_final.weight") - params->list;
    int64_t matrix = pt_params_find(params, "blocks.1.mlp.fc_in.weight") - params->list;
    CHECK_OK(pt_model_set_weight(f.m.model, gain, w + 60, &err), err); /* stays f32 */
    CHECK_INT(pt_model_set_weight(f.m.model, matrix, w, &err), PT_UNSUPPORTED);
    CHECK(strstr(err.message, "blocks.1.mlp.fc_in.weight: row 5") && strstr(err.message, "int8"));
    close_fixture(&f);
}

TEST(weights_that_are_not_numbers_are_said_to_be_damaged)
{
    fixture f;
    pt_model_config config = gpt2_shape(CTX, VOCAB);
    int32_t id, prompt = 1;
    float gains[12];
    for (int i = 0; i < 12; i++) gains[i] = NAN;
    open_fixture(&f, "cpu", &config);
    const pt_params *params = &f.m.model->params;
    const pt_param *gain = pt_params_find(params, "ln_final.weight");
    CHECK_OK(pt_model_set_weight(f.m.model, gain - params->list, gains, &err), err);
    CHECK_OK(pt_session_start(f.session, &prompt, 1, &greedy, &err), err);
    CHECK_INT(pt_session_poll(f.session, &id, &err), PT_CORRUPT);
    close_fixture(&f);
}

TEST(every_failing_allocation_is_reported)
{
    pt_model_config config = gpt2_shape(CTX, VOCAB);
    pt_model_options options = {.mode = PT_MODEL_EVALUATE, .batch = 1};
    small_model m;
    plan_model(&m, "f64", &config, &options);
    bind_model(&m);
    int64_t nth = 1;
    for (pt_status s = PT_NO_MEMORY; s; nth++) {
        pt_session *session = NULL;
        memset(&err, 0, sizeof err);
        pt_alloc_fail_after(nth);
        s = pt_session_new(&session, m.model, &err);
        pt_alloc_fail_after(0);
        CHECK_INT(s, s ? PT_NO_MEMORY : PT_OK);
        CHECK(s == PT_OK ? session != NULL : session == NULL && err.message[0]);
        pt_session_free(session);
    }
    CHECK(nth > 6);
    close_model(&m);
}

PT_TEST_MAIN
