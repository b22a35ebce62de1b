/* Tests of the search for infinities and NaNs. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

static pt_check_finite_args *make(op_case *c, int64_t n, double first_bad, int64_t id)
{
    pt_check_finite_args *a = op_begin(c, PT_OP_check_finite);
    op_in(c, &a->x, n, 0, 0, 0);
    op_acc(c, &a->state, PT_STATE_COUNT, 0, 0, 0);
    c->data[1][PT_STATE_FIRST_BAD] = first_bad;
    a->id = id;
    return a;
}

static void expect(op_case *c, double first_bad)
{
    double state[PT_STATE_COUNT];
    memcpy(state, c->data[1], sizeof state);
    state[PT_STATE_FIRST_BAD] = first_bad;
    op_expect(c, OP_FORWARD, &((pt_check_finite_args *)c->args.bytes)->state, state, 0);
}

TEST(finite_values_pass)
{
    op_case c;
    make(&c, 1000, PT_STATE_NO_BAD, 7);
    c.data[0][3] = 3.4028234663852886e38; /* the largest float */
    c.data[0][4] = -3.4028234663852886e38;
    c.data[0][5] = 1.401298464324817e-45; /* the smallest */
    expect(&c, PT_STATE_NO_BAD);
    op_end(&c);
}

TEST(a_bad_element_is_found_anywhere)
{
    static const double bad[] = {PT_NAN, PT_INF, -PT_INF};
    for (int i = 0; i < 3 * 70; i++) {
        op_case c;
        make(&c, 70, PT_STATE_NO_BAD, 7);
        c.data[0][i / 3] = bad[i % 3];
        expect(&c, 7);
        op_end(&c);
    }
}

TEST(a_bad_element_is_found_in_every_block)
{
    for (int64_t at = 0; at < 200003; at += 19997) {
        op_case c;
        make(&c, 200003, PT_STATE_NO_BAD, 0);
        c.data[0][at] = PT_NAN;
        expect(&c, 0);
        op_end(&c);
    }
}

TEST(the_lowest_id_is_kept)
{
    op_case c;
    make(&c, 33, 5, 7);
    c.data[0][32] = PT_NAN;
    expect(&c, 5);
    c.data[1][PT_STATE_FIRST_BAD] = 9;
    expect(&c, 7);
    op_end(&c);
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_check_finite_args *a = make(&c, 40, PT_STATE_NO_BAD, 7);
    op_refuses_malformed(&c, PT_FORWARD, "nn");
    CHECK(op_refused(&c, PT_BACKWARD));
    OP_REFUSES(&c, PT_FORWARD, a->id = -1);
    OP_REFUSES(&c, PT_FORWARD, a->id = 16777216);
    OP_REFUSES(&c, PT_FORWARD, a->state.dim[0] = 9);
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->state, &a->x));
    op_end(&c);
}

PT_TEST_MAIN
