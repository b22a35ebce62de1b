/* The loss of a text: every byte but the first once, whatever the batch.
 * SPDX-License-Identifier: MIT */
#include "infer/test_model.h"
#include "infer/text_score.h"

#define T 6
#define LONGEST 40

typedef struct fixture {
    small_model m;
    pt_scorer *scorer;
    pt_text_score score;
} fixture;

static void open_fixture(fixture *f, const char *kind, int64_t rows, int64_t vocab)
{
    const pt_model_config config = gpt2_shape(T, vocab);
    pt_model_options options = {.mode = PT_MODEL_EVALUATE, .batch = rows};
    f->scorer = NULL;
    plan_model(&f->m, kind, &config, &options);
    CHECK_OK(pt_scorer_new(&f->scorer, f->m.model, &err), err);
    pt_scorer_plan(f->scorer, &f->m.plan);
    bind_model(&f->m);
    pt_scorer_bind(f->scorer, &f->m.plan);
}

static void close_fixture(fixture *f)
{
    pt_scorer_free(f->scorer);
    close_model(&f->m);
}

static const uint8_t *text(void)
{
    static uint8_t bytes[LONGEST];
    for (int i = 0; i < LONGEST; i++) bytes[i] = (uint8_t)(i * i * 7 + 91 * i + 255);
    return bytes;
}

static pt_score score_text(fixture *f, int64_t n)
{
    CHECK_OK(
        pt_text_score_begin(&f->score, f->scorer, f->m.model, pt_tokens_of_bytes(text(), n), &err),
        err);
    pt_status s = PT_PENDING;
    while (s == PT_PENDING) s = pt_text_score_poll(&f->score, &err);
    CHECK_OK(s, err);
    CHECK_INT(pt_text_score_poll(&f->score, &err), PT_OK); /* once more changes nothing */
    return f->score.total;
}

/* Windows of T targets one after the other; a short last one alone. */
static double slow_loss_sum(fixture *f, int64_t n)
{
    double sum = 0;
    int32_t ids[T];
    for (int64_t first = 0; first < n - 1; first += T) {
        int64_t tokens = n - 1 - first < T ? n - 1 - first : T;
        for (int64_t t = 0; t < tokens; t++) ids[t] = text()[first + t];
        for (int64_t t = 0; t < tokens; t++)
            sum -= slow_logp(&f->m, ids, tokens, t, text()[first + t + 1]);
    }
    return sum;
}

static const int64_t lengths[] = {2, 3, T, T + 1, T + 2, 2 * T + 1, 3 * T, 5 * T + 1, LONGEST};
#define N_LENGTHS ((int)(sizeof lengths / sizeof lengths[0]))

TEST(every_byte_but_the_first_counts_once)
{
    static const struct {
        const char *kind;
        double tolerance;
    } devices[] = {{"f64", 1e-11}, {"cpu", 2e-5}, {"fake", 2e-5}};
    for (int k = 0; k < 3; k++) {
        fixture f;
        open_fixture(&f, devices[k].kind, 3, 256);
        for (int i = 0; i < N_LENGTHS; i++) {
            double want = slow_loss_sum(&f, lengths[i]);
            pt_score got = score_text(&f, lengths[i]);
            CHECK_INT(got.n_targets, lengths[i] - 1);
            CHECK_CLOSE(got.loss_sum, want, devices[k].tolerance * want);
        }
        close_fixture(&f);
    }
}

TEST(the_batch_size_does_not_change_the_loss)
{
    pt_score first[N_LENGTHS];
    for (int64_t rows = 1; rows <= 8; rows += 1 + rows / 3) {
        fixture f;
        open_fixture(&f, "f64", rows, 256);
        for (int i = 0; i < N_LENGTHS; i++) {
            pt_score got = score_text(&f, lengths[i]);
            if (rows == 1) first[i] = got;
            CHECK_INT(got.n_targets, first[i].n_targets);
            CHECK_CLOSE(got.loss_sum, first[i].loss_sum, 1e-13 * first[i].loss_sum);
        }
        close_fixture(&f);
    }
}

TEST(one_batch_a_poll_and_no_allocation)
{
    fixture f;
    open_fixture(&f, "cpu", 2, 256);
    int64_t before = pt_alloc_count();
    CHECK_OK(pt_text_score_begin(&f.score, f.scorer, f.m.model,
                                 pt_tokens_of_bytes(text(), 4 * T + 2), &err),
             err);
    for (int64_t batch = 0; batch < 3; batch++) { /* 5 windows, two at a time */
        CHECK_INT(f.score.total.n_targets, batch ? 2 * T * (batch - 1) : 0);
        CHECK_INT(pt_text_score_poll(&f.score, &err), PT_PENDING);
    }
    CHECK_OK(pt_text_score_poll(&f.score, &err), err);
    CHECK_INT(f.score.total.n_targets, 4 * T + 1);
    CHECK_INT(pt_alloc_count(), before);
    close_fixture(&f);
}

TEST(texts_without_a_loss_are_refused)
{
    fixture f;
    open_fixture(&f, "ref", 2, 256);
    for (int64_t n = -1; n < 2; n++) {
        memset(&err, 0, sizeof err);
        CHECK_INT(
            pt_text_score_begin(&f.score, f.scorer, f.m.model, pt_tokens_of_bytes(text(), n), &err),
            PT_BAD_INPUT);
        CHECK(strstr(err.message, "at least 2"));
    }
    close_fixture(&f);
    open_fixture(&f, "ref", 2, 255);
    CHECK_INT(
        pt_text_score_begin(&f.score, f.scorer, f.m.model, pt_tokens_of_bytes(text(), 9), &err),
        PT_BAD_INPUT);
    CHECK(strstr(err.message, "255"));
    close_fixture(&f);
}

PT_TEST_MAIN
