/* Tests of the squared norm. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

static pt_sqnorm_args *make(op_case *c, int64_t n)
{
    pt_sqnorm_args *a = op_begin(c, PT_OP_sqnorm);
    op_in(c, &a->x, n, 0, 0, 0);
    op_acc(c, &a->state, PT_STATE_COUNT, 0, 0, 0);
    c->data[1][PT_STATE_SQNORM] = 2;
    return a;
}

TEST(hand_worked)
{
    op_case c;
    pt_sqnorm_args *a = make(&c, 3);
    memcpy(c.data[0], (double[]){1, -2, 3}, 3 * sizeof(double));
    double state[PT_STATE_COUNT];
    memcpy(state, c.data[1], sizeof state);
    state[PT_STATE_SQNORM] = 16;
    op_expect(&c, OP_FORWARD, &a->state, state, 0);
    op_end(&c);
}

TEST(parity)
{
    static const int64_t sizes[] = {1,    3,    5,     17,    33,    64,     100,
                                    1023, 4096, 16385, 65537, 99991, 1000003};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        op_case c;
        make(&c, sizes[i]);
        op_parity(&c, OP_FORWARD, 1e-6, OP_EACH);
        op_end(&c);
    }
}

/* One large element and a million small ones that a float sum would lose. */
TEST(small_elements_count)
{
    op_case c;
    make(&c, 1000000);
    for (int i = 0; i < 1000000; i++) c.data[0][i] = i ? 0.25 : 1024;
    c.data[1][PT_STATE_SQNORM] = 0;
    op_parity(&c, OP_FORWARD, 1e-7, OP_EACH);
    op_end(&c);
}

TEST(nan_and_infinity_are_seen_anywhere)
{
    for (int i = 0; i < 74; i++) {
        op_case c;
        make(&c, 37);
        c.nan_ok = true;
        c.data[0][i % 37] = i < 37 ? PT_NAN : -PT_INF;
        op_parity(&c, OP_FORWARD, 1e-6, OP_EACH);
        op_result r;
        op_run(&c, op_ref64(), OP_FORWARD, &r);
        CHECK(!pt_is_finite(r.value[1][PT_STATE_SQNORM]));
        op_result_free(&r);
        op_end(&c);
    }
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_sqnorm_args *a = make(&c, 40);
    op_refuses_malformed(&c, PT_FORWARD, "nn");
    CHECK(op_refused(&c, PT_BACKWARD));
    OP_REFUSES(&c, PT_FORWARD, a->state.dim[0] = PT_STATE_COUNT - 1);
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->state, &a->x));
    op_end(&c);
}

PT_TEST_MAIN
