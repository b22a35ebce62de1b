/* The depth recipe against the original's table. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "train/recipe.h"

static pt_error err;

TEST(the_originals_table_at_1024_tokens)
{
    static const struct {
        int64_t depth;
        double lr;
        int64_t windows, steps;
    } rows[] = {{2, 6e-3, 4, 1920},
                {4, 4.2426e-3, 8, 7680},
                {8, 3e-3, 16, 30720},
                {16, 2.1213e-3, 32, 122880}};
    for (int i = 0; i < 4; i++) {
        pt_recipe r;
        CHECK_OK(pt_recipe_of_depth(rows[i].depth, PT_REGIME_CHINCHILLA, 1024, &r, &err), err);
        CHECK_INT(r.layers, rows[i].depth);
        CHECK_INT(r.heads, rows[i].depth);
        CHECK_INT(r.width, 64 * rows[i].depth);
        CHECK_CLOSE(r.lr, rows[i].lr, 5e-8);
        CHECK_INT(r.windows, rows[i].windows);
        CHECK_INT(pt_recipe_steps(&r, r.windows * 1024), rows[i].steps);
    }
}

TEST(overtrained_is_twice_the_tokens)
{
    pt_recipe one, two;
    CHECK_OK(pt_recipe_of_depth(4, PT_REGIME_CHINCHILLA, 512, &one, &err), err);
    CHECK_OK(pt_recipe_of_depth(4, PT_REGIME_OVERTRAINED, 512, &two, &err), err);
    CHECK_INT(one.params, 12 * 4 * 256 * 256);
    CHECK_INT(one.tokens, 20 * one.params);
    CHECK_INT(two.tokens, 40 * one.params);
    CHECK_INT(one.windows, 16);
}

TEST(limits)
{
    pt_recipe r;
    CHECK_OK(pt_recipe_of_depth(1, PT_REGIME_CHINCHILLA, 1 << 20, &r, &err), err);
    CHECK_CLOSE(r.lr, 6e-3, 0); /* 8.5e-3 by the formula */
    CHECK_INT(r.windows, 1);
    CHECK_INT(pt_recipe_steps(&r, 1 << 20), 1);
    CHECK_OK(pt_recipe_of_depth(128, PT_REGIME_OVERTRAINED, 1, &r, &err), err);
    CHECK_INT(r.windows, 32 * 8192);
    CHECK_CLOSE(r.lr, 7.5e-4, 1e-12);
    static const int64_t bad[][2] = {{0, 64}, {-1, 64}, {129, 64}, {2, 0}, {2, -5}};
    for (int i = 0; i < 5; i++) {
        memset(&err, 0, sizeof err);
        CHECK_INT(pt_recipe_of_depth(bad[i][0], PT_REGIME_CHINCHILLA, bad[i][1], &r, &err),
                  PT_BAD_INPUT);
        CHECK(strstr(err.message, i < 3 ? "--depth" : "--ctx"));
    }
}

TEST(warm_up_is_500_steps_or_a_tenth)
{
    CHECK_INT(pt_recipe_warmup(100000), 500);
    CHECK_INT(pt_recipe_warmup(5000), 500);
    CHECK_INT(pt_recipe_warmup(1920), 192);
    CHECK_INT(pt_recipe_warmup(5), 0);
}

TEST(names)
{
    pt_regime regime = PT_REGIME_CHINCHILLA;
    CHECK(pt_regime_from_name("overtrained", &regime) && regime == PT_REGIME_OVERTRAINED);
    CHECK(pt_regime_from_name("chinchilla", &regime) && regime == PT_REGIME_CHINCHILLA);
    CHECK(!pt_regime_from_name("", &regime));
}

PT_TEST_MAIN
