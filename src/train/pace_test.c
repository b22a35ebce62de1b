/* How a run is getting on: steady and uneven steps, time between them, resumed runs, trends.
 * SPDX-License-Identifier: MIT */
#include "train/pace.h"

#include "base/test.h"

static double noise(int i) { return (double)(i * 7919 % 101) / 50.0 - 1.0; } /* -1 … 1 */

TEST(nothing_is_known_at_first)
{
    pt_pace p;
    pt_pace_begin(&p, 100);
    CHECK(!pt_pace_rest(&p, 10).known);
    for (int i = 1; i <= 5; i++) {
        pt_pace_step(&p, 100 + i, 1, 5);
        CHECK(pt_pace_rest(&p, 10).known == (i >= 5));
    }
}

TEST(steady_steps_have_no_range)
{
    pt_pace p;
    pt_pace_begin(&p, 0);
    pt_pace_step(&p, 90, 90, 5); /* a slow first step does not count */
    for (int i = 1; i <= 200; i++) pt_pace_step(&p, 90 + 2 * i, 2, 5);
    pt_pace_left left = pt_pace_rest(&p, 50);
    CHECK(left.known);
    CHECK_CLOSE(left.seconds, 100, 1e-9);
    CHECK_CLOSE(left.low, 100, 1e-9);
    CHECK_CLOSE(left.high, 100, 1e-9);
}

TEST(uneven_steps_have_one)
{
    pt_pace p;
    double now = 0;
    pt_pace_begin(&p, now);
    for (int i = 0; i < 300; i++) {
        double seconds = i % 2 ? 1 : 3;
        pt_pace_step(&p, now += seconds, seconds, 5);
    }
    pt_pace_left left = pt_pace_rest(&p, 10);
    CHECK_CLOSE(left.seconds, 20, 1e-9);
    CHECK_CLOSE(left.low, 10, 1e-9);
    CHECK_CLOSE(left.high, 30, 1e-9);
}

TEST(only_recent_steps_count)
{
    pt_pace p;
    double now = 0;
    pt_pace_begin(&p, now);
    for (int i = 0; i < 500; i++) pt_pace_step(&p, now += 9, 9, 5);
    for (int i = 0; i < PT_PACE_RECENT; i++) pt_pace_step(&p, now += 1, 1, 5);
    CHECK_CLOSE(pt_pace_rest(&p, 10).high, 10, 1e-9);
}

TEST(time_between_steps_is_spread_over_them)
{
    pt_pace p;
    double now = 0;
    pt_pace_begin(&p, now);
    for (int i = 1; i <= 103; i++) {
        if (i % 10 == 4) now += 5; /* an evaluation before every tenth step */
        pt_pace_step(&p, now += 1, 1, 5);
    }
    pt_pace_left left = pt_pace_rest(&p, 100); /* ten more evaluations */
    CHECK_CLOSE(left.seconds, 150, 1e-9);
    CHECK_CLOSE(left.low, 150, 1e-9);
}

TEST(trends)
{
    pt_pace p;
    pt_pace_begin(&p, 0);
    for (int i = 0; i < 400; i++) pt_pace_step(&p, i, 1, 3 + 0.1 * noise(i));
    CHECK_INT(pt_pace_direction(&p), PT_TREND_FLAT);
    CHECK_CLOSE(p.fast.value, 3, 0.03);
    for (int i = 0; i < 100; i++) pt_pace_step(&p, i, 1, 3 - 0.005 * i + 0.1 * noise(i));
    CHECK_INT(pt_pace_direction(&p), PT_TREND_FALLING);
    for (int i = 0; i < 200; i++) pt_pace_step(&p, i, 1, 2.5 + 0.005 * i + 0.1 * noise(i));
    CHECK_INT(pt_pace_direction(&p), PT_TREND_RISING);
    double before = p.fast.value;
    pt_pace_step(&p, 0, 1, PT_NAN);
    CHECK_CLOSE(p.fast.value, before, 0);
}

/* From the first step on, as at the start of a run and where it goes on. */
TEST(a_trend_is_told_when_there_is_enough_to_tell)
{
    pt_pace p;
    pt_pace_begin(&p, 0);
    for (int i = 1; i < 200; i++) {
        pt_pace_step(&p, i, 1, 5.5 - 0.01 * i + 0.1 * noise(i));
        bool known = i >= PT_PACE_TREND_LEAST;
        CHECK_INT(pt_pace_direction(&p), known ? PT_TREND_FALLING : PT_TREND_UNKNOWN);
    }
}

PT_TEST_MAIN
