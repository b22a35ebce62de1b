/* Tests of the end of a step's gradients. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

/* A step with gradient norm 5 and nothing wrong; entry 1 of 3 of the ring. */
static pt_step_verdict_args *make(op_case *c)
{
    pt_step_verdict_args *a = op_begin(c, PT_OP_step_verdict);
    double *state = op_acc(c, &a->state, PT_STATE_COUNT, 0, 0, 0);
    op_acc(c, &a->ring, 3, PT_RING_WORDS, 0, 0);
    state[PT_STATE_LR] = 0.125;
    state[PT_STATE_CLIP] = 0;
    state[PT_STATE_LOSS] = 2.5;
    state[PT_STATE_SQNORM] = 25;
    state[PT_STATE_LIMIT] = state[PT_STATE_HALT] = 0;
    state[PT_STATE_OK] = 1;
    a->slot = 1;
    return a;
}

/* On every device: the words of this step, and the other entries of the ring as they were. */
static void expect_skip(op_case *c, double norm, double factor, double ok, double skipped)
{
    pt_step_verdict_args *a = (pt_step_verdict_args *)c->args.bytes;
    double state[PT_STATE_COUNT], ring[3 * PT_RING_WORDS];
    memcpy(state, c->data[0], sizeof state);
    memcpy(ring, c->data[1], sizeof ring);
    state[PT_STATE_NORM] = norm;
    state[PT_STATE_FACTOR] = factor;
    state[PT_STATE_OK] = ok;
    state[PT_STATE_SKIPPED] = skipped;
    double *entry = ring + PT_RING_WORDS;
    entry[PT_RING_LOSS] = state[PT_STATE_LOSS];
    entry[PT_RING_NORM] = norm;
    entry[PT_RING_OK] = ok;
    entry[PT_RING_LR] = state[PT_STATE_LR];
    entry[PT_RING_SKIPPED] = skipped;
    op_expect(c, OP_FORWARD, &a->state, state, 1e-15);
    op_expect(c, OP_FORWARD, &a->ring, ring, 1e-15);
}

static void expect(op_case *c, double norm, double factor, double ok)
{
    expect_skip(c, norm, factor, ok, 0);
}

TEST(clipping)
{
    op_case c;
    make(&c);
    expect(&c, 5, 1, 1);
    c.data[0][PT_STATE_CLIP] = -1;
    expect(&c, 5, 1, 1);
    c.data[0][PT_STATE_CLIP] = 5;
    expect(&c, 5, 1, 1);
    c.data[0][PT_STATE_CLIP] = 1;
    expect(&c, 5, 1 / 5.000001, 1);
    op_end(&c);
}

TEST(not_finite_means_not_ok)
{
    static const double bad[] = {PT_NAN, PT_INF, -PT_INF};
    for (int i = 0; i < 3; i++) {
        op_case c;
        make(&c);
        c.data[0][PT_STATE_LOSS] = bad[i];
        expect(&c, 5, 1, 0);
        op_end(&c);
    }
    op_case c;
    make(&c);
    c.data[0][PT_STATE_SQNORM] = PT_NAN;
    expect(&c, PT_NAN, 1, 0);
    c.data[0][PT_STATE_SQNORM] = PT_INF;
    expect(&c, PT_INF, 1, 0);
    op_end(&c);
}

TEST(not_ok_is_sticky)
{
    op_case c;
    make(&c);
    c.data[0][PT_STATE_OK] = 0;
    expect(&c, 5, 1, 0);
    op_end(&c);
}

/* The loss is 2.5. */
TEST(a_loss_above_the_limit_skips_this_step_only)
{
    op_case c;
    make(&c);
    double *state = c.data[0];
    state[PT_STATE_LIMIT] = 2.5;
    expect_skip(&c, 5, 1, 1, 0);
    state[PT_STATE_LIMIT] = 2.25;
    expect_skip(&c, 5, 1, 1, 1);
    state[PT_STATE_SKIPPED] = 1; /* of the step before */
    state[PT_STATE_LIMIT] = 3;
    expect_skip(&c, 5, 1, 1, 0);
    state[PT_STATE_LIMIT] = 0; /* off */
    state[PT_STATE_HALT] = 1;
    expect_skip(&c, 5, 1, 1, 0);
    op_end(&c);
}

TEST(a_halt_clears_ok_as_well)
{
    op_case c;
    make(&c);
    c.data[0][PT_STATE_HALT] = 1;
    c.data[0][PT_STATE_LIMIT] = 2.25;
    expect_skip(&c, 5, 1, 0, 1);
    c.data[0][PT_STATE_LIMIT] = 3;
    expect_skip(&c, 5, 1, 1, 0);
    op_end(&c);
}

TEST(a_skipped_step_may_overflow_and_no_number_is_no_spike)
{
    op_case c;
    make(&c);
    double *state = c.data[0];
    state[PT_STATE_LIMIT] = 2.25;
    state[PT_STATE_SQNORM] = PT_INF;
    expect_skip(&c, PT_INF, 1, 1, 1);
    state[PT_STATE_SQNORM] = 25;
    state[PT_STATE_LOSS] = PT_INF;
    expect_skip(&c, 5, 1, 0, 0);
    state[PT_STATE_LOSS] = PT_NAN;
    expect_skip(&c, 5, 1, 0, 0);
    state[PT_STATE_LOSS] = 2.5;
    state[PT_STATE_LIMIT] = PT_NAN;
    expect_skip(&c, 5, 1, 1, 0);
    op_end(&c);
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_step_verdict_args *a = make(&c);
    op_refuses_malformed(&c, PT_FORWARD, "nn");
    CHECK(op_refused(&c, PT_BACKWARD));
    OP_REFUSES(&c, PT_FORWARD, a->slot = 3);
    OP_REFUSES(&c, PT_FORWARD, a->slot = -1);
    OP_REFUSES(&c, PT_FORWARD, a->ring.dim[1] = 4);
    OP_REFUSES(&c, PT_FORWARD, a->state.dim[0] = 15);
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->ring, &a->state));
    op_end(&c);
}

PT_TEST_MAIN
