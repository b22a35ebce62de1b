/* Probabilities from logits. SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/test.h"
#include "infer/likely.h"

TEST(probabilities_of_known_logits)
{
    const float z[] = {0.0f, (float)log(2.0), (float)log(5.0)};
    pt_likely top[3];
    CHECK_INT(pt_likely_top(z, 3, 3, top), 3);
    CHECK_INT(top[0].id, 2);
    CHECK_INT(top[2].id, 0);
    CHECK_CLOSE(top[0].p, 5.0 / 8, 1e-7);
    CHECK_CLOSE(top[1].p, 2.0 / 8, 1e-7);
    CHECK_CLOSE(pt_likely_probability(z, 3, 0), 1.0 / 8, 1e-7);
    CHECK_CLOSE(pt_likely_probability(z, 3, 3), 0, 0);
    CHECK_CLOSE(pt_likely_probability(z, 3, -1), 0, 0);
}

TEST(equal_logits_come_by_id_and_k_cuts)
{
    const float z[] = {1.0f, 3.0f, 3.0f, 3.0f, 2.0f};
    pt_likely top[5];
    CHECK_INT(pt_likely_top(z, 5, 2, top), 2);
    CHECK_INT(top[0].id, 1);
    CHECK_INT(top[1].id, 2);
    CHECK_INT(pt_likely_top(z, 5, 4, top), 4);
    CHECK_INT(top[2].id, 3);
    CHECK_INT(top[3].id, 4);
    CHECK_INT(pt_likely_top(z, 5, 0, top), 0);
    CHECK_INT(pt_likely_top(z, 5, 5, top), 5);
}

TEST(what_is_not_finite_is_impossible)
{
    const float z[] = {NAN, 1000.0f, -INFINITY, 1000.0f, INFINITY}, none[] = {NAN, INFINITY};
    pt_likely top[5];
    CHECK_INT(pt_likely_top(z, 5, 5, top), 2);
    CHECK_CLOSE(top[0].p, 0.5, 1e-15);
    CHECK_CLOSE(pt_likely_probability(z, 5, 0), 0, 0);
    CHECK_INT(pt_likely_top(none, 2, 2, top), 0);
    CHECK_CLOSE(pt_likely_probability(none, 2, 0), 0, 0);
}

PT_TEST_MAIN
