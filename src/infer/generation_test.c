/* Pieces of text, and the logits of a row. SPDX-License-Identifier: MIT */
#include "infer/generation.h"

#include "infer/row_logits.h"
#include "infer/test_model.h"

typedef struct text_model {
    small_model m;
    pt_session *session;
} text_model;

static text_model open_text_model(const char *kind)
{
    text_model t = {0};
    pt_model_config config = gpt2_shape(8, 256);
    plan_model(&t.m, kind, &config, &(pt_model_options){.mode = PT_MODEL_EVALUATE, .batch = 1});
    CHECK_OK(pt_session_new(&t.session, t.m.model, &err), err);
    pt_session_plan(t.session, &t.m.plan);
    bind_model(&t.m);
    CHECK_OK(pt_session_bind(t.session, &t.m.plan, &err), err);
    return t;
}

static void close_text_model(text_model *t)
{
    pt_session_free(t->session);
    close_model(&t->m);
}

static const pt_sampler_options warm = {.temperature = 1, .seed = 3};

static size_t collect(pt_session *session, const char *prompt, int64_t n, int64_t wanted, char *to)
{
    pt_generation g;
    size_t total = 0;
    char out[8];
    pt_generation_request request = {prompt, n, wanted, warm};
    CHECK_OK(pt_generation_begin(&g, session, &request, &err), err);
    pt_status s = PT_PENDING;
    while (s == PT_PENDING) {
        size_t now = 0;
        s = pt_generation_poll(&g, out, &now, &err);
        memcpy(to + total, out, now);
        total += now;
    }
    CHECK_OK(s, err);
    CHECK_INT(g.made, wanted);
    return total;
}

TEST(every_byte_arrives_whether_or_not_it_is_a_character)
{
    const char *kinds[] = {"cpu", "fake"};
    for (int k = 0; k < 2; k++) {
        text_model t = open_text_model(kinds[k]);
        char a[64], b[64], none[8];
        CHECK_INT(collect(t.session, "abc", 3, 50, a), 50);
        CHECK_INT(collect(t.session, "abc", 3, 50, b), 50);
        CHECK(memcmp(a, b, 50) == 0);
        CHECK_INT(collect(t.session, "abc", 3, 0, none), 0);
        CHECK_INT(collect(t.session, "", 0, 9, a), 9);
        CHECK_INT(collect(t.session, "\n", 1, 9, b), 9);
        CHECK(memcmp(a, b, 9) == 0); /* no prompt is a newline */
        close_text_model(&t);
    }
}

TEST(a_negative_number_of_tokens_is_refused)
{
    text_model t = open_text_model("cpu");
    pt_generation g;
    pt_error e = {0};
    pt_generation_request request = {"a", 1, -1, warm};
    CHECK_INT(pt_generation_begin(&g, t.session, &request, &e), PT_BAD_INPUT);
    CHECK(strstr(e.message, "-1") != NULL);
    close_text_model(&t);
}

TEST(row_logits_are_those_of_a_whole_pass)
{
    static const int32_t ids[] = {99, 97, 108};
    text_model t = open_text_model("fake");
    float logits[3 * 256];
    pt_row_logits row;
    CHECK_OK(pt_row_logits_begin(&row, t.m.model, ids, 3, logits, &err), err);
    CHECK_INT(pt_row_logits_poll(&row, &err), PT_PENDING);
    pt_status s = PT_PENDING;
    while (s == PT_PENDING) s = pt_row_logits_poll(&row, &err);
    CHECK_OK(s, err);
    for (int64_t i = 0; i < 3; i++) {
        const double *slow = slow_logits(&t.m, ids, i + 1, i);
        for (int j = 0; j < 256; j++) CHECK_CLOSE(logits[i * 256 + j], slow[j], 1e-4);
    }
    close_text_model(&t);
}

TEST(rows_that_have_no_logits)
{
    text_model t = open_text_model("cpu");
    static const int32_t ids[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, high[] = {256}, low[] = {-1};
    float logits[256];
    pt_row_logits row;
    CHECK_INT(pt_row_logits_begin(&row, t.m.model, ids, 0, logits, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_row_logits_begin(&row, t.m.model, ids, 9, logits, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_row_logits_begin(&row, t.m.model, high, 1, logits, NULL), PT_BAD_INPUT);
    CHECK_INT(pt_row_logits_begin(&row, t.m.model, low, 1, logits, NULL), PT_BAD_INPUT);
    close_text_model(&t);
}

PT_TEST_MAIN
