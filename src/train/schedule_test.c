/* Learning rate schedules: whole curves against values worked out by hand. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "train/schedule.h"

static void check_curve(const pt_schedule *s, const double *want)
{
    for (int64_t i = 1; i <= s->steps; i++) CHECK_CLOSE(pt_schedule_lr(s, i), want[i - 1], 1e-15);
}

TEST(constant_with_warm_up)
{
    pt_schedule s = {.kind = PT_SCHEDULE_CONSTANT, .lr = 0.1, .warmup = 4, .steps = 10};
    check_curve(&s, (double[]){0.025, 0.05, 0.075, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1});
    s.warmup = 0;
    CHECK_CLOSE(pt_schedule_lr(&s, 1), 0.1, 0);
    CHECK_CLOSE(pt_schedule_lr(&s, 99), 0.1, 0);
}

TEST(cosine_falls_from_lr_to_min_lr)
{
    pt_schedule s = {.kind = PT_SCHEDULE_COSINE, .lr = 1.0, .min_lr = 0.2, .warmup = 2, .steps = 8};
    double c30 = 0.86602540378443865; /* cos 30° */
    check_curve(&s, (double[]){0.5, 1, 0.6 + 0.4 * c30, 0.6 + 0.4 * 0.5, 0.6, 0.6 - 0.4 * 0.5,
                               0.6 - 0.4 * c30, 0.2});
    CHECK(pt_schedule_lr(&s, 8) == 0.2 && pt_schedule_lr(&s, 99) == 0.2);
}

/* Warm-up 2, flat to step 6, then 4 steps of decay: p = 1/4, 2/4, 3/4, 1. */
TEST(wsd_is_flat_and_then_falls_to_min_lr_at_the_last_step)
{
    pt_schedule s = {
        .kind = PT_SCHEDULE_WSD, .lr = 1.0, .min_lr = 0.2, .warmup = 2, .decay = 4, .steps = 10};
    double r2 = 0.70710678118654752, r3 = 0.86602540378443865; /* square roots of 1/2 and 3/4 */
    s.shape = PT_DECAY_1_SQRT;
    check_curve(&s, (double[]){0.5, 1, 1, 1, 1, 1, 1 - 0.8 * 0.5, 1 - 0.8 * r2, 1 - 0.8 * r3, 0.2});
    s.shape = PT_DECAY_LINEAR;
    check_curve(&s, (double[]){0.5, 1, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2});
    s.shape = PT_DECAY_COSINE;
    check_curve(&s, (double[]){0.5, 1, 1, 1, 1, 1, 0.6 + 0.4 * r2, 0.6, 0.6 - 0.4 * r2, 0.2});
    for (int shape = 0; shape < 3; shape++) {
        s.shape = (pt_decay_shape)shape;
        CHECK(pt_schedule_lr(&s, 10) == 0.2 && pt_schedule_lr(&s, 99) == 0.2);
    }
}

TEST(schedules_without_a_flat_part)
{
    pt_schedule wsd = {.kind = PT_SCHEDULE_WSD, .shape = PT_DECAY_LINEAR, .lr = 4, .steps = 4};
    wsd.warmup = 2, wsd.decay = 2;
    check_curve(&wsd, (double[]){2, 4, 2, 0});
    wsd.warmup = 0, wsd.decay = 4;
    check_curve(&wsd, (double[]){3, 2, 1, 0});
    wsd.decay = 1;
    check_curve(&wsd, (double[]){4, 4, 4, 0});
    wsd.warmup = 4, wsd.decay = 0;
    check_curve(&wsd, (double[]){1, 2, 3, 4});
    pt_schedule cosine = {.kind = PT_SCHEDULE_COSINE, .lr = 4, .warmup = 4, .steps = 4};
    check_curve(&cosine, (double[]){1, 2, 3, 4}); /* warm-up to the end: nothing is left to fall */
    cosine.warmup = 0, cosine.steps = 1;
    check_curve(&cosine, (double[]){0});
}

TEST(a_tenth_of_the_run_decays_by_default)
{
    CHECK_INT(pt_schedule_default_decay(1000), 100);
    CHECK_INT(pt_schedule_default_decay(19), 1);
    CHECK_INT(pt_schedule_default_decay(1), 1);
}

TEST(names)
{
    pt_schedule_kind kind = PT_SCHEDULE_CONSTANT;
    pt_decay_shape shape = PT_DECAY_COSINE;
    CHECK(pt_schedule_from_name("cosine", &kind) && kind == PT_SCHEDULE_COSINE);
    CHECK_STR(pt_schedule_name(kind), "cosine");
    CHECK(pt_schedule_from_name("wsd", &kind) && kind == PT_SCHEDULE_WSD);
    CHECK(!pt_schedule_from_name("cosin", &kind) && !pt_schedule_from_name("", &kind));
    CHECK(pt_decay_shape_from_name("1-sqrt", &shape) && shape == PT_DECAY_1_SQRT);
    CHECK_STR(pt_decay_shape_name(PT_DECAY_LINEAR), "linear");
    CHECK(!pt_decay_shape_from_name("wsd", &shape));
}

TEST(where_a_run_ends_counts_from_its_decay_on)
{
    pt_schedule a = {.kind = PT_SCHEDULE_WSD, .lr = 1, .warmup = 2, .decay = 4, .steps = 10};
    pt_schedule b = a;
    CHECK_INT(pt_schedule_same_until(&a, &b), INT64_MAX);
    b.steps = 20, b.decay = 8;
    CHECK_INT(pt_schedule_same_until(&a, &b), 6);
    CHECK(pt_schedule_lr(&a, 6) == pt_schedule_lr(&b, 6));
    CHECK(pt_schedule_lr(&a, 7) != pt_schedule_lr(&b, 7));
    b = a, b.min_lr = 0.5;
    CHECK_INT(pt_schedule_same_until(&a, &b), 6);
    a.kind = b.kind = PT_SCHEDULE_COSINE;
    CHECK_INT(pt_schedule_same_until(&a, &b), 2);
    a.kind = b.kind = PT_SCHEDULE_CONSTANT;
    CHECK_INT(pt_schedule_same_until(&a, &b), INT64_MAX);
    b.lr = 2;
    CHECK_INT(pt_schedule_same_until(&a, &b), 0);
}

PT_TEST_MAIN
