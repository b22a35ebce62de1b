/* The sampler: which tokens may come, how often each does, and that a seed fixes them all.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/rng.h"
#include "base/test.h"
#include "infer/sampler.h"

#define MAX_VOCAB 16
#define DRAWS 20000

static pt_error err;

/* One pick at `position` from a copy of the logits, by a fresh sampler, with an empty window. */
static int32_t pick(const pt_sampler_options *o, const float *logits, int64_t vocab,
                    int64_t position)
{
    float copy[MAX_VOCAB];
    int32_t id = -1;
    pt_sampler s;
    memset(&err, 0, sizeof err);
    memcpy(copy, logits, (size_t)vocab * sizeof *copy);
    CHECK_OK(pt_sampler_init(&s, vocab, &err), err);
    pt_sampler_text text = {.position = position};
    pt_status status = pt_sampler_pick(&s, o, &text, copy, &id, &err);
    pt_sampler_deinit(&s);
    CHECK_OK(status, err);
    CHECK(id >= 0 && id < vocab);
    return id;
}

/* ---- greedy ---- */

static int32_t greedy_of(const float *logits, int64_t vocab)
{
    return pick(&(pt_sampler_options){0}, logits, vocab, 0);
}

TEST(greedy_takes_the_first_largest)
{
    CHECK_INT(greedy_of((float[]){1, 3, 2}, 3), 1);
    CHECK_INT(greedy_of((float[]){1, 3, 3, 3}, 4), 1);
    CHECK_INT(greedy_of((float[]){-5}, 1), 0);
    CHECK_INT(greedy_of((float[]){0, 0, 0}, 3), 0);
    CHECK_INT(greedy_of((float[]){-0.0F, 0}, 2), 0);
    CHECK_INT(greedy_of((float[]){-3e38F, -2e38F}, 2), 1);
}

TEST(what_is_not_finite_is_never_picked)
{
    static const float logits[] = {NAN, -INFINITY, -7, NAN, -6, INFINITY};
    CHECK_INT(greedy_of(logits, 6), 4);
    pt_sampler_options hot = {.temperature = 1000};
    int seen[6] = {0};
    for (int64_t i = 0; i < 200; i++) seen[pick(&hot, logits, 6, i)]++;
    CHECK(seen[2] > 60 && seen[4] > 60);
    CHECK_INT(seen[2] + seen[4], 200);
}

TEST(no_finite_logit_is_damage)
{
    static const double temperatures[] = {0, 1};
    for (int i = 0; i < 2; i++) {
        float logits[] = {NAN, -INFINITY, INFINITY};
        int32_t id = 0;
        pt_sampler s;
        memset(&err, 0, sizeof err);
        CHECK_OK(pt_sampler_init(&s, 3, &err), err);
        pt_sampler_options o = {.temperature = temperatures[i]};
        CHECK_INT(pt_sampler_pick(&s, &o, &(pt_sampler_text){0}, logits, &id, &err), PT_CORRUPT);
        CHECK(strstr(err.message, "no finite logit"));
        pt_sampler_deinit(&s);
    }
}

/* ---- distributions ---- */

/* 99.9% quantiles of chi-square for 1 … 7 degrees of freedom (the seeds are fixed: no flakes). */
static const double chi2_999[] = {0, 10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32};

/* DRAWS picks have the given probabilities; a token of probability 0 never comes. */
static void check_distribution(const pt_sampler_options *options, const float *logits,
                               const double *want, int64_t vocab)
{
    int64_t seen[MAX_VOCAB] = {0}, kept = 0;
    double chi2 = 0, total = 0;
    pt_sampler s;
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_sampler_init(&s, vocab, &err), err);
    for (int64_t i = 0; i < DRAWS; i++) {
        float copy[MAX_VOCAB];
        int32_t id = -1;
        pt_sampler_text text = {.position = i};
        memcpy(copy, logits, (size_t)vocab * sizeof *copy);
        CHECK_OK(pt_sampler_pick(&s, options, &text, copy, &id, &err), err);
        seen[id]++;
    }
    pt_sampler_deinit(&s);
    for (int64_t i = 0; i < vocab; i++) {
        total += want[i];
        if (want[i] == 0) {
            CHECK_INT(seen[i], 0);
            continue;
        }
        double expected = want[i] * DRAWS, off = (double)seen[i] - expected;
        chi2 += off * off / expected;
        kept++;
    }
    CHECK_CLOSE(total, 1, 1e-12);
    CHECK(kept >= 1 && kept <= 8);
    if (kept == 1) return;
    if (!(chi2 < chi2_999[kept - 1])) printf("chi2 %g with %d kept\n", chi2, (int)kept);
    CHECK(chi2 < chi2_999[kept - 1]);
}

/* pt_sampler_odds says the same in numbers. */
static void check_odds(const pt_sampler_options *options, const float *logits, const double *want,
                       int64_t vocab)
{
    pt_likely odds[MAX_VOCAB];
    int64_t n = 0, wanted = 0;
    pt_sampler s;
    CHECK_OK(pt_sampler_init(&s, vocab, &err), err);
    CHECK_OK(pt_sampler_odds(&s, options, logits, odds, &n, &err), err);
    pt_sampler_deinit(&s);
    for (int64_t i = 0; i < vocab; i++) wanted += want[i] > 0;
    CHECK_INT(n, wanted);
    for (int64_t i = 0; i < n; i++) {
        CHECK_CLOSE(odds[i].p, want[odds[i].id], 1e-6);
        CHECK(i == 0 || odds[i].p <= odds[i - 1].p);
    }
}

/* Logits of these probabilities, up to a constant. */
static void logits_of(float *logits, const double *p, int n)
{
    for (int i = 0; i < n; i++) logits[i] = (float)(log(p[i]) + 3);
}

static const double probs[6] = {0.1, 0.4, 0.05, 0.25, 0.05, 0.15};

/* The probabilities of `probs` raised to 1/temperature, over the tokens of a bit mask. */
static void kept_probs(double *want, unsigned mask, double temperature)
{
    double total = 0;
    for (int i = 0; i < 6; i++) {
        want[i] = mask >> i & 1 ? pow(probs[i], 1 / temperature) : 0;
        total += want[i];
    }
    for (int i = 0; i < 6; i++) want[i] /= total;
}

/* Bits of the tokens, most likely first: 1, 3, 5, 0, then 2 and 4 (equal). */
enum { ALL = 077, TOP1 = 02, TOP2 = 012, TOP3 = 052, TOP4 = 053, TOP5 = 057 };

TEST(each_filter_keeps_its_set_and_the_odds_within_it)
{
    static const struct {
        pt_sampler_options options;
        unsigned kept;
    } cases[] = {
        {{.temperature = 1}, ALL},
        {{.temperature = 0.5}, ALL},
        {{.temperature = 3}, ALL},
        {{.temperature = 1, .top_k = 1}, TOP1},
        {{.temperature = 1, .top_k = 2}, TOP2},
        {{.temperature = 1, .top_k = 5}, TOP5}, /* the first of two equal ones */
        {{.temperature = 1, .top_k = 6}, ALL},
        {{.temperature = 1, .top_k = 1000}, ALL},
        {{.temperature = 1, .top_p = 1e-9}, TOP1},
        {{.temperature = 1, .top_p = 0.39}, TOP1},
        {{.temperature = 1, .top_p = 0.41}, TOP2},
        {{.temperature = 1, .top_p = 0.64}, TOP2},
        {{.temperature = 1, .top_p = 0.66}, TOP3},
        {{.temperature = 1, .top_p = 0.91}, TOP5},
        {{.temperature = 1, .top_p = 0.951}, ALL},
        {{.temperature = 1, .top_p = 1}, ALL},
        {{.temperature = 1, .min_p = 0.1}, ALL}, /* 0.05 / 0.4 is above */
        {{.temperature = 1, .min_p = 0.13}, TOP4},
        {{.temperature = 1, .min_p = 0.26}, TOP3},
        {{.temperature = 1, .min_p = 0.6}, TOP2},
        {{.temperature = 1, .min_p = 1}, TOP1},
        /* in order: the temperature first, so at 1/2 the first two hold .16+.0625 of .26 */
        {{.temperature = 0.5, .top_p = 0.8}, TOP2},
        {{.temperature = 0.5, .min_p = 0.13}, TOP3},
        /* top-p of what top-k left: (.4+.25)/.8 is enough for 0.8, while .65 of all is not */
        {{.temperature = 1, .top_k = 3, .top_p = 0.8}, TOP2},
        {{.temperature = 1, .top_k = 4, .top_p = 0.95, .min_p = 0.3}, TOP3},
    };
    float logits[6];
    logits_of(logits, probs, 6);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double want[6];
        pt_sampler_options o = cases[i].options;
        o.seed = 1000 + i;
        kept_probs(want, cases[i].kept, o.temperature);
        check_distribution(&o, logits, want, 6);
        check_odds(&o, logits, want, 6);
    }
}

TEST(the_odds_of_a_greedy_pick)
{
    check_odds(&(pt_sampler_options){0}, (float[]){1, 3, 2}, (double[]){0, 1, 0}, 3);
    pt_likely odds[2];
    int64_t n = 0;
    pt_sampler s;
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_sampler_init(&s, 2, &err), err);
    pt_sampler_options o = {.temperature = 1};
    CHECK_INT(pt_sampler_odds(&s, &o, (float[]){NAN, NAN}, odds, &n, &err), PT_CORRUPT);
    pt_sampler_deinit(&s);
}

TEST(ties_go_to_the_lower_index)
{
    static const float equal[] = {1, 2, 2, 2, 2, 0};
    for (int k = 1; k <= 4; k++) {
        double want[6] = {0};
        for (int i = 1; i <= k; i++) want[i] = 1.0 / k;
        pt_sampler_options o = {.temperature = 0.7, .top_k = k, .seed = (uint64_t)k};
        check_distribution(&o, equal, want, 6);
    }
    /* and all of the most likely ones pass min-p 1 */
    double quarter[6] = {0, 0.25, 0.25, 0.25, 0.25, 0};
    pt_sampler_options o = {.temperature = 1, .min_p = 1, .seed = 9};
    check_distribution(&o, equal, quarter, 6);
}

TEST(the_ends_of_the_temperature_scale)
{
    static const float logits[] = {1, 3, 2.999F};
    double one[3] = {0, 1, 0}, third[3] = {1 / 3.0, 1 / 3.0, 1 / 3.0};
    check_distribution(&(pt_sampler_options){.temperature = 1e-6}, logits, one, 3);
    check_distribution(&(pt_sampler_options){.temperature = 5e-324}, logits, one, 3);
    check_distribution(&(pt_sampler_options){.temperature = 1000, .seed = 4}, logits, third, 3);
    check_distribution(&(pt_sampler_options){.temperature = 1}, logits, (double[]){1}, 1);
}

TEST(top_k_of_a_large_vocabulary)
{
    enum { V = 5003, K = 7 };
    static float logits[V], copy[V];
    static bool top[V];
    for (uint64_t i = 0; i < V; i++)
        logits[i] = (float)(8 * pt_rng_uniform(2, PT_STREAM_TEST, 0, i));
    for (int k = 0; k < K; k++) {
        int best = -1;
        for (int i = 0; i < V; i++)
            if (!top[i] && (best < 0 || logits[i] > logits[best])) best = i;
        top[best] = true;
    }
    pt_sampler s;
    pt_sampler_options o = {.temperature = 1, .top_k = K};
    int seen = 0;
    static bool came[V];
    CHECK_OK(pt_sampler_init(&s, V, &err), err);
    for (int64_t i = 0; i < 150; i++) {
        int32_t id = -1;
        pt_sampler_text text = {.position = i};
        memcpy(copy, logits, sizeof copy);
        CHECK_OK(pt_sampler_pick(&s, &o, &text, copy, &id, &err), err);
        CHECK(top[id]);
        seen += !came[id];
        came[id] = true;
    }
    CHECK_INT(seen, K);
    pt_sampler_deinit(&s);
}

/* ---- repetition penalty ---- */

TEST(the_penalty_divides_positive_and_multiplies_negative_logits_once)
{
    static const int32_t window[] = {0, 2, 0, 0, 4, 3, 2};
    float logits[6] = {2, 1.5F, -1, 0, -INFINITY, -0.25F};
    static const float want[6] = {0.5F, 1.5F, -4, 0, -INFINITY, -0.25F};
    pt_sampler s;
    pt_sampler_options o = {.repetition_penalty = 4};
    int32_t id = -1;
    CHECK_OK(pt_sampler_init(&s, 6, &err), err);
    CHECK_OK(pt_sampler_pick(&s, &o, &(pt_sampler_text){window, 7, 7}, logits, &id, &err), err);
    CHECK_INT(id, 1);
    for (int i = 0; i < 6; i++) CHECK(logits[i] == want[i]);
    /* the next call starts afresh: with another window token 0 is untouched, and 1 is not */
    float again[6] = {2, 1.5F, -1, 0, -3, -0.25F};
    CHECK_OK(pt_sampler_pick(&s, &o, &(pt_sampler_text){window + 4, 3, 7}, again, &id, &err), err);
    CHECK_INT(id, 0);
    CHECK(again[0] == 2 && again[4] == -12 && again[2] == -4);
    pt_sampler_deinit(&s);
}

TEST(a_penalty_of_zero_or_one_is_none)
{
    static const int32_t window[] = {1, 1};
    for (int penalty = 0; penalty < 2; penalty++) {
        float logits[3] = {-2, -1, -3};
        int32_t id = -1;
        pt_sampler s;
        pt_sampler_options o = {.repetition_penalty = penalty};
        CHECK_OK(pt_sampler_init(&s, 3, &err), err);
        CHECK_OK(pt_sampler_pick(&s, &o, &(pt_sampler_text){window, 2, 2}, logits, &id, &err), err);
        CHECK_INT(id, 1);
        CHECK(logits[1] == -1);
        pt_sampler_deinit(&s);
    }
}

TEST(the_penalty_comes_before_the_temperature)
{
    static const int32_t window[] = {1};
    float logits[6];
    double want[6], total = 0;
    logits_of(logits, probs, 6);
    for (int i = 0; i < 6; i++) {
        double x = (double)logits[i] / (i == 1 ? 1.5 : 1); /* positive: divided */
        want[i] = exp(x / 2);
        total += want[i];
    }
    CHECK(logits[1] > 0);
    for (int i = 0; i < 6; i++) want[i] /= total;
    pt_sampler s;
    pt_sampler_options o = {.temperature = 2, .repetition_penalty = 1.5, .seed = 77};
    int64_t seen[6] = {0};
    double chi2 = 0;
    CHECK_OK(pt_sampler_init(&s, 6, &err), err);
    for (int64_t k = 0; k < DRAWS; k++) {
        float copy[6];
        int32_t id = -1;
        memcpy(copy, logits, sizeof copy);
        CHECK_OK(pt_sampler_pick(&s, &o, &(pt_sampler_text){window, 1, k}, copy, &id, &err), err);
        seen[id]++;
    }
    pt_sampler_deinit(&s);
    for (int i = 0; i < 6; i++)
        chi2 += pow((double)seen[i] - want[i] * DRAWS, 2) / (want[i] * DRAWS);
    CHECK(chi2 < chi2_999[5]);
}

/* ---- determinism, options, memory ---- */

TEST(a_pick_is_a_function_of_seed_and_position)
{
    float logits[8] = {0};
    int by_seed = 0, by_position = 0;
    for (int64_t i = 0; i < 64; i++) {
        pt_sampler_options o = {.temperature = 1, .seed = 3}, other = o;
        other.seed = 4;
        int32_t id = pick(&o, logits, 8, i);
        CHECK_INT(pick(&o, logits, 8, i), id);
        by_seed += pick(&other, logits, 8, i) != id;
        by_position += pick(&o, logits, 8, i + 1) != id;
        /* equal odds: the draw alone decides, and it is the documented one */
        CHECK_INT(id, (int32_t)(8 * pt_rng_uniform(3, PT_STREAM_SAMPLE, 0, (uint64_t)i)));
    }
    CHECK(by_seed > 40 && by_position > 40);
}

TEST(options_are_checked_by_name)
{
    static const struct {
        const char *name;
        pt_sampler_options options;
    } bad[] = {{"temperature", {.temperature = -1e-9}},
               {"temperature", {.temperature = 1001}},
               {"temperature", {.temperature = PT_NAN}},
               {"top-k", {.top_k = -1}},
               {"top-p", {.top_p = -0.1}},
               {"top-p", {.top_p = 1.01}},
               {"top-p", {.top_p = PT_NAN}},
               {"min-p", {.min_p = -0.1}},
               {"min-p", {.min_p = 2}},
               {"min-p", {.min_p = PT_NAN}},
               {"repetition penalty", {.repetition_penalty = -1}},
               {"repetition penalty", {.repetition_penalty = PT_INF}},
               {"repetition penalty", {.repetition_penalty = PT_NAN}}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memset(&err, 0, sizeof err);
        CHECK_INT(pt_sampler_options_check(&bad[i].options, &err), PT_BAD_INPUT);
        CHECK(strstr(err.message, bad[i].name) == err.message);
    }
    static const pt_sampler_options good[] = {
        {0}, {.temperature = 1000, .top_k = INT64_MAX, .top_p = 1, .min_p = 1}};
    for (int i = 0; i < 2; i++) CHECK_OK(pt_sampler_options_check(&good[i], &err), err);
}

TEST(no_memory_is_said_and_leaves_nothing)
{
    for (int64_t nth = 1; nth <= 2; nth++) {
        pt_sampler s;
        memset(&err, 0, sizeof err);
        pt_alloc_fail_after(nth);
        CHECK_INT(pt_sampler_init(&s, 50, &err), PT_NO_MEMORY);
        pt_alloc_fail_after(0);
        CHECK(!s.candidates && !s.seen);
        pt_sampler_deinit(&s); /* twice is fine */
    }
}

PT_TEST_MAIN
