/* Learning rate schedules at their corners. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "train/schedule.h"

TEST(constant_with_warm_up)
{
    pt_schedule s = {.kind = PT_SCHEDULE_CONSTANT, .lr = 0.1, .warmup = 4, .steps = 10};
    const double want[10] = {0.025, 0.05, 0.075, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    for (int i = 0; i < 10; i++) CHECK_CLOSE(pt_schedule_lr(&s, i + 1), want[i], 1e-15);
    s.warmup = 0;
    CHECK_CLOSE(pt_schedule_lr(&s, 1), 0.1, 0);
}

TEST(cosine_falls_from_lr_to_min_lr)
{
    pt_schedule s = {
        .kind = PT_SCHEDULE_COSINE, .lr = 1.0, .min_lr = 0.2, .warmup = 2, .steps = 10};
    CHECK_CLOSE(pt_schedule_lr(&s, 1), 0.5, 1e-15);
    CHECK_CLOSE(pt_schedule_lr(&s, 2), 1.0, 1e-15);
    CHECK_CLOSE(pt_schedule_lr(&s, 6), 0.6, 1e-15); /* half way */
    CHECK_CLOSE(pt_schedule_lr(&s, 10), 0.2, 1e-15);
    CHECK_CLOSE(pt_schedule_lr(&s, 99), 0.2, 1e-15);
    for (int64_t i = 3; i <= 10; i++) CHECK(pt_schedule_lr(&s, i) < pt_schedule_lr(&s, i - 1));
}

TEST(names)
{
    pt_schedule_kind kind = PT_SCHEDULE_CONSTANT;
    CHECK(pt_schedule_from_name("cosine", &kind) && kind == PT_SCHEDULE_COSINE);
    CHECK_STR(pt_schedule_name(kind), "cosine");
    CHECK(!pt_schedule_from_name("cosin", &kind));
}

PT_TEST_MAIN
