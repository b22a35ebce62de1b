/* The scorer: log-probabilities of a batch are those of one row at a time.
 * SPDX-License-Identifier: MIT */
#include "infer/scorer.h"
#include "infer/test_model.h"

#define B 3
#define T 5
#define VOCAB 13

typedef struct fixture {
    small_model m;
    pt_scorer *scorer;
} fixture;

static void open_fixture(fixture *f, const char *kind, const pt_model_config *config,
                         pt_model_mode mode)
{
    pt_model_options options = {.mode = mode, .batch = B, .tokens = T};
    f->scorer = NULL;
    plan_model(&f->m, kind, config, &options);
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

/* Random ids and targets, every third target masked. */
static void fill(fixture *f)
{
    int32_t *ids = pt_scorer_ids(f->scorer), *targets = pt_scorer_targets(f->scorer);
    for (uint64_t i = 0; i < B * T; i++) {
        uint32_t r[4];
        pt_rng_u32x4(3, PT_STREAM_TEST, 9, i, r);
        ids[i] = (int32_t)(r[0] % VOCAB);
        targets[i] = i % 3 == 1 ? -1 - (int32_t)(r[2] % 100) : (int32_t)(r[1] % VOCAB);
    }
}

static void score(fixture *f, int64_t rows, int64_t tokens, pt_score *total)
{
    CHECK_OK(pt_scorer_begin(f->scorer, rows, tokens, &err), err);
    pt_status s = PT_PENDING;
    while (s == PT_PENDING) s = pt_scorer_poll(f->scorer, total, &err);
    CHECK_OK(s, err);
}

/* What score must add, row by row and token by token. */
static pt_score score_slowly(fixture *f, int64_t rows, int64_t tokens)
{
    pt_score total = {0};
    const int32_t *ids = pt_scorer_ids(f->scorer), *targets = pt_scorer_targets(f->scorer);
    for (int64_t i = 0; i < rows * tokens; i++) {
        if (targets[i] < 0) continue;
        const int32_t *row = ids + i / tokens * tokens;
        total.loss_sum -= slow_logp(&f->m, row, tokens, i % tokens, targets[i]);
        total.n_targets++;
    }
    return total;
}

TEST(a_batch_scores_as_its_rows_do)
{
    static const struct {
        const char *kind;
        double tolerance;
    } devices[] = {{"f64", 1e-11}, {"ref", 2e-5}, {"cpu", 2e-5}, {"fake", 2e-5}};
    static const int64_t sizes[][2] = {{B, T}, {1, T}, {B, 1}, {2, 3}, {1, 1}};
    const pt_model_config shapes[] = {gpt2_shape(T, VOCAB), llama_shape(T + 2, VOCAB)};
    for (int k = 0; k < 4; k++) {
        for (int shape = 0; shape < 2; shape++) {
            fixture f;
            open_fixture(&f, devices[k].kind, &shapes[shape], PT_MODEL_EVALUATE);
            fill(&f);
            for (int i = 0; i < 5; i++) {
                pt_score got = {0}, want = score_slowly(&f, sizes[i][0], sizes[i][1]);
                score(&f, sizes[i][0], sizes[i][1], &got);
                CHECK_INT(got.n_targets, want.n_targets);
                CHECK_CLOSE(got.loss_sum, want.loss_sum, devices[k].tolerance * want.loss_sum);
            }
            close_fixture(&f);
        }
    }
}

TEST(a_late_answer_is_the_same_answer)
{
    const pt_model_config config = gpt2_shape(T, VOCAB);
    fixture now, late;
    pt_score a = {0}, b = {0};
    open_fixture(&now, "ref", &config, PT_MODEL_EVALUATE);
    open_fixture(&late, "fake", &config, PT_MODEL_EVALUATE);
    fill(&now);
    fill(&late);
    score(&now, B, T, &a);
    CHECK_OK(pt_scorer_begin(late.scorer, B, T, &err), err);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(pt_scorer_poll(late.scorer, &b, &err), PT_PENDING);
        CHECK(b.loss_sum == 0 && b.n_targets == 0);
    }
    CHECK_OK(pt_scorer_poll(late.scorer, &b, &err), err);
    CHECK(a.loss_sum == b.loss_sum && a.n_targets == b.n_targets);
    close_fixture(&now);
    close_fixture(&late);
}

TEST(batches_add_up_and_allocate_nothing)
{
    static const char *const kinds[] = {"f64", "cpu"};
    const pt_model_config config = gpt2_shape(T, VOCAB);
    for (int k = 0; k < 2; k++) {
        fixture f;
        pt_score once = {0}, thrice = {0};
        open_fixture(&f, kinds[k], &config, PT_MODEL_EVALUATE);
        fill(&f);
        int64_t before = pt_alloc_count();
        score(&f, B, T, &once);
        for (int i = 0; i < 3; i++) score(&f, B, T, &thrice);
        CHECK_INT(pt_alloc_count(), before);
        CHECK_INT(thrice.n_targets, 3 * once.n_targets);
        CHECK_CLOSE(thrice.loss_sum, 3 * once.loss_sum, 1e-12 * thrice.loss_sum);
        close_fixture(&f);
    }
}

TEST(masked_targets_count_for_nothing)
{
    const pt_model_config config = gpt2_shape(T, VOCAB);
    fixture f;
    open_fixture(&f, "f64", &config, PT_MODEL_EVALUATE);
    fill(&f);
    pt_score total = {0};
    for (int i = 0; i < B * T; i++) pt_scorer_targets(f.scorer)[i] = -1;
    score(&f, B, T, &total);
    CHECK_INT(total.n_targets, 0);
    CHECK(total.loss_sum == 0);
    CHECK(isnan(pt_score_loss(&total)));
    CHECK(isnan(pt_score_perplexity(&total)));
    CHECK(isnan(pt_score_bits(&total)));
    pt_scorer_targets(f.scorer)[7] = 4;
    score(&f, B, T, &total);
    CHECK_INT(total.n_targets, 1);
    double logp = slow_logp(&f.m, pt_scorer_ids(f.scorer) + T, T, 2, 4);
    CHECK_CLOSE(total.loss_sum, -logp, 1e-12);
    close_fixture(&f);
}

TEST(a_score_in_three_units)
{
    pt_score s = {.loss_sum = 6 * log(8.0), .n_targets = 6};
    CHECK_CLOSE(pt_score_loss(&s), log(8.0), 1e-15);
    CHECK_CLOSE(pt_score_perplexity(&s), 8, 1e-14);
    CHECK_CLOSE(pt_score_bits(&s), 3, 1e-14);
}

TEST(a_model_under_training_is_scored_without_its_dropout)
{
    pt_model_config config = gpt2_shape(T, VOCAB);
    fixture plain, dropped;
    pt_score a = {0}, b = {0};
    open_fixture(&plain, "f64", &config, PT_MODEL_EVALUATE);
    config.dropout = 0.5;
    open_fixture(&dropped, "f64", &config, PT_MODEL_TRAIN);
    fill(&plain);
    fill(&dropped);
    score(&plain, B, T, &a);
    score(&dropped, B, T, &b);
    CHECK(a.n_targets > 0);
    CHECK_CLOSE(a.loss_sum, b.loss_sum, 1e-12);
    close_fixture(&plain);
    close_fixture(&dropped);
}

TEST(every_failing_allocation_is_reported)
{
    const pt_model_config config = gpt2_shape(T, VOCAB);
    fixture f;
    open_fixture(&f, "ref", &config, PT_MODEL_EVALUATE);
    for (int64_t nth = 1; nth <= 5; nth++) {
        pt_scorer *scorer = NULL;
        memset(&err, 0, sizeof err);
        pt_alloc_fail_after(nth);
        pt_status s = pt_scorer_new(&scorer, f.m.model, &err);
        pt_alloc_fail_after(0);
        CHECK_INT(s, nth <= 4 ? PT_NO_MEMORY : PT_OK);
        CHECK((scorer != NULL) == (s == PT_OK));
        pt_scorer_free(scorer);
    }
    close_fixture(&f);
}

PT_TEST_MAIN
