/* Split, windows and their order, mixing. SPDX-License-Identifier: MIT */
#include "base/strings.h"
#include "base/test.h"
#include "train/data.h"

static uint8_t text[1000];

static pt_status split(int64_t n, pt_mixture *train, pt_mixture *validate, pt_error *err)
{
    pt_tokens tokens = pt_tokens_of_bytes(text, n);
    pt_data data = {.source = &tokens, .n = 1};
    return pt_data_split(&data, 8, 1, train, validate, err);
}

TEST(the_last_tenth_is_held_out)
{
    pt_mixture train, validate;
    pt_error err = {0};
    CHECK_OK(split(1000, &train, &validate, &err), err);
    CHECK_INT(train.source[0].first, 0);
    CHECK_INT(train.source[0].n, 900);
    CHECK_INT(validate.source[0].first, 900);
    CHECK_INT(validate.source[0].n, 100);
    CHECK_OK(split(1001 - 10, &train, &validate, &err), err);
    CHECK_INT(train.source[0].n, 991 - 100);
}

TEST(short_texts_hold_nothing_out)
{
    pt_mixture train, validate;
    pt_error err = {0};
    CHECK_OK(split(9, &train, &validate, &err), err);
    CHECK_INT(pt_mixture_count(&train), 1);
    CHECK_INT(pt_mixture_count(&validate), 0);
    CHECK_INT(validate.n, 0);
    CHECK_OK(split(80, &train, &validate, &err), err);
    CHECK_INT(train.source[0].n, 80); /* a tenth would be 8 bytes, one too few for a window */
    CHECK_OK(split(90, &train, &validate, &err), err);
    CHECK_INT(validate.source[0].n, 9);
    CHECK_INT(split(8, &train, &validate, &err), PT_BAD_INPUT);
    CHECK(strstr(err.message, "8 bytes") && strstr(err.message, "at least 9"));
    err = (pt_error){0};
    CHECK_INT(split(0, &train, &validate, &err), PT_BAD_INPUT);
    CHECK(pt_str_starts(err.message, "the corpus has 0 bytes"));
    err = (pt_error){0};
    pt_tokens abc = pt_tokens_of_bytes((const uint8_t *)"abc", 3);
    pt_data named = {.source = &abc, .n = 1, .name = "book.txt"};
    CHECK_INT(pt_data_split(&named, 8, 42, &train, &validate, &err), PT_BAD_INPUT);
    CHECK(pt_str_starts(err.message, "book.txt: the corpus has 3 bytes, a context of 8 "));
}

TEST(every_window_once_per_epoch)
{
    pt_windows w = {.n = 107, .T = 8, .seed = 5, .stream = PT_STREAM_BATCH};
    int seen[99] = {0}, same = 0;
    CHECK_INT(pt_windows_count(&w), 99);
    for (int64_t g = 0; g < 99; g++) {
        int64_t start = pt_windows_start(&w, g);
        CHECK(start >= 0 && start < 99);
        seen[start]++;
        same += start == pt_windows_start(&w, g + 99);
    }
    for (int i = 0; i < 99; i++) CHECK_INT(seen[i], 1);
    CHECK(same < 10); /* the next epoch has another order */
    w.stream = PT_STREAM_VALIDATE;
    for (int64_t g = 0; g < 99; g++) seen[pt_windows_start(&w, g)]++;
    for (int i = 0; i < 99; i++) CHECK_INT(seen[i], 2);
}

TEST(targets_follow_by_one)
{
    for (int i = 0; i < 1000; i++) text[i] = (uint8_t)(i % 251);
    int64_t starts[2] = {3, 17};
    pt_mixture m = {.n = 1,
                    .source[0] = {.tokens = pt_tokens_of_bytes(text, 1000),
                                  .first = 100,
                                  .n = 100,
                                  .T = 4,
                                  .starts = starts,
                                  .n_starts = 2}};
    int32_t ids[8], targets[8];
    CHECK_INT(pt_mixture_fill(&m, 0, 2, ids, targets, NULL), PT_OK);
    for (int b = 0; b < 2; b++)
        for (int t = 0; t < 4; t++) {
            CHECK_INT(ids[b * 4 + t], 100 + starts[b] + t);
            CHECK_INT(targets[b * 4 + t], 100 + starts[b] + t + 1);
        }
}

/* ---- mixing ---- */

static pt_status split_mix(const int64_t *n, const double *weight, int sources, pt_mixture *train,
                           pt_mixture *validate, pt_error *err)
{
    pt_tokens tokens[PT_SOURCES_MAX + 1];
    for (int k = 0; k < sources; k++) tokens[k] = pt_tokens_of_bytes(text, n[k]);
    pt_data data = {.source = tokens, .weight = weight, .n = sources};
    return pt_data_split(&data, 8, 3, train, validate, err);
}

TEST(one_source_mixes_to_itself)
{
    pt_mixture alone, train, validate;
    pt_error err = {0};
    CHECK_OK(split(1000, &alone, &validate, &err), err);
    CHECK_OK(split_mix((int64_t[]){1000}, (double[]){0.2}, 1, &train, &validate, &err), err);
    for (int64_t g = 0; g < 3000; g += 7) {
        int64_t sample;
        CHECK_INT(pt_mixture_source(&train, g, &sample), 0);
        CHECK_INT(sample, g);
    }
}

TEST(a_mix_keeps_its_proportions_and_every_source_its_order)
{
    pt_mixture train, validate;
    pt_error err = {0};
    int64_t n[3] = {1000, 300, 500}, next[3] = {0};
    double weight[3] = {1.4, 0.4, 0.2};
    CHECK_OK(split_mix(n, weight, 3, &train, &validate, &err), err);
    static char seen[3][8000];
    for (int64_t g = 0; g < 5000; g++) {
        int64_t sample;
        int k = pt_mixture_source(&train, g, &sample);
        CHECK(sample >= 0 && sample < 8000 && !seen[k][sample]); /* each once */
        seen[k][sample] = 1;
        next[k]++;
        if (g % PT_MIX_BLOCK != PT_MIX_BLOCK - 1) continue;
        int64_t blocks = g / PT_MIX_BLOCK + 1;
        CHECK_INT(next[0], 700 * blocks);
        CHECK_INT(next[1], 200 * blocks);
        CHECK_INT(next[2], 100 * blocks);
        for (int i = 0; i < 3; i++) /* none left out */
            CHECK(memchr(seen[i], 0, 8000) == seen[i] + next[i]);
    }
    /* It is mixed, not one source after another. */
    int64_t sample, changes = 0;
    for (int64_t g = 1; g < 1000; g++)
        changes +=
            pt_mixture_source(&train, g, &sample) != pt_mixture_source(&train, g - 1, &sample);
    CHECK(changes > 300);
}

TEST(a_mix_follows_from_the_seed)
{
    pt_mixture a, b, validate;
    pt_error err = {0};
    int64_t n[2] = {1000, 300}, sample_a, sample_b, same = 0;
    CHECK_OK(split_mix(n, (double[]){1, 1}, 2, &a, &validate, &err), err);
    CHECK_OK(split_mix(n, NULL, 2, &b, &validate, &err), err);
    for (int64_t g = 9999; g >= 0; g--) { /* in any order of asking */
        CHECK_INT(pt_mixture_source(&a, g, &sample_a), pt_mixture_source(&b, g, &sample_b));
        CHECK_INT(sample_a, sample_b);
    }
    b.seed++;
    for (int64_t g = 0; g < 1000; g++)
        same += pt_mixture_source(&a, g, &sample_a) == pt_mixture_source(&b, g, &sample_b);
    CHECK(same > 400 && same < 600);
}

TEST(each_source_of_a_mix_is_split_by_itself)
{
    pt_mixture train, validate;
    pt_error err = {0};
    int64_t n[3] = {1000, 40, 500}; /* the second one is too short to hold a part out */
    CHECK_OK(split_mix(n, (double[]){0.6, 0.2, 0.2}, 3, &train, &validate, &err), err);
    CHECK_INT(train.n, 3);
    CHECK_INT(train.source[1].n, 40);
    CHECK_INT(validate.n, 2);
    CHECK_INT(validate.source[0].first, 900);
    CHECK_INT(validate.source[1].first, 450);
    CHECK_INT(validate.share[0], 750);
    CHECK_INT(validate.share[1], 250);
    CHECK_INT(pt_mixture_count(&validate), 92 + 42);
}

TEST(shares_are_whole_and_add_up)
{
    pt_mixture train, validate;
    pt_error err = {0};
    int64_t n[7] = {100, 100, 100, 100, 100, 100, 100}, sum = 0;
    double thirds[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
    CHECK_OK(split_mix(n, thirds, 3, &train, &validate, &err), err);
    CHECK_INT(train.share[0], 334);
    CHECK_INT(train.share[1] + train.share[2], 666);
    CHECK_OK(split_mix(n, NULL, 7, &train, &validate, &err), err);
    for (int k = 0; k < 7; k++) sum += train.share[k];
    CHECK_INT(sum, PT_MIX_BLOCK);
}

TEST(bad_mixes)
{
    static const double bad[][2] = {{0, 1},      {-1, 2},   {1, PT_INF},
                                    {1, PT_NAN}, {1, 1e-5}, {1e-9, 1}};
    static const int64_t n[PT_SOURCES_MAX + 1] = {100, 100};
    pt_mixture train, validate;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pt_error err = {0};
        CHECK_INT(split_mix(n, bad[i], 2, &train, &validate, &err), PT_BAD_INPUT);
        CHECK(strstr(err.message, "weight"));
    }
    pt_error err = {0};
    CHECK_INT(split_mix(n, NULL, 0, &train, &validate, &err), PT_BAD_INPUT);
    CHECK_INT(split_mix(n, NULL, PT_SOURCES_MAX + 1, &train, &validate, NULL), PT_BAD_INPUT);
    err = (pt_error){0};
    CHECK_INT(split_mix((int64_t[]){100, 3}, NULL, 2, &train, &validate, &err), PT_BAD_INPUT);
    CHECK(strstr(err.message, "source 2") && strstr(err.message, "3 bytes"));
}

TEST(weights_that_mean_the_same)
{
    CHECK(pt_weights_are_same((double[]){7, 3}, (double[]){.7, .3}, 2));
    CHECK(pt_weights_are_same((double[]){1, 1, 1}, (double[]){1. / 3, 1. / 3, 1. / 3}, 3));
    CHECK(pt_weights_are_same((double[]){5}, (double[]){1e-200}, 1));
    CHECK(!pt_weights_are_same((double[]){7, 3}, (double[]){3, 7}, 2));
    CHECK(!pt_weights_are_same((double[]){7, 3}, (double[]){.7, .300001}, 2));
    CHECK(!pt_weights_are_same((double[]){0, 0}, (double[]){1, 1}, 2));
    CHECK(!pt_weights_are_same((double[]){1, PT_NAN}, (double[]){1, PT_NAN}, 2));
}

PT_TEST_MAIN
