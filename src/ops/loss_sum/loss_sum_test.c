/* Tests of the step's loss. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

static pt_loss_sum_args *make(op_case *c, int64_t n)
{
    pt_loss_sum_args *a = op_begin(c, PT_OP_loss_sum);
    op_in(c, &a->logp, n, 0, 0, 0);
    op_in(c, &a->coef, n, 0, 0, 0);
    op_acc(c, &a->state, PT_STATE_COUNT, 0, 0, 0);
    c->data[2][PT_STATE_LOSS] = 3;
    return a;
}

TEST(hand_worked)
{
    op_case c;
    pt_loss_sum_args *a = make(&c, 3);
    memcpy(c.data[0], (double[]){1, -2, 3}, 3 * sizeof(double));
    memcpy(c.data[1], (double[]){-1, -0.5, 2}, 3 * sizeof(double));
    double state[PT_STATE_COUNT];
    memcpy(state, c.data[2], sizeof state);
    state[PT_STATE_LOSS] = 9;
    op_expect(&c, OP_FORWARD, &a->state, state, 0);
    op_end(&c);
}

TEST(parity)
{
    static const int64_t sizes[] = {1, 3, 5, 17, 100, 4097, 65537};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        op_case c;
        make(&c, sizes[i]);
        for (int64_t e = 0; e < sizes[i]; e++) c.data[1][e] = c.data[0][e] < 0 ? -0.5 : 0.25;
        op_parity(&c, OP_FORWARD, 1e-7, OP_EACH);
        op_end(&c);
    }
}

TEST(nan_is_seen)
{
    op_case c;
    make(&c, 37);
    c.nan_ok = true;
    c.data[0][36] = PT_NAN;
    c.data[1][36] = 0; /* not a shortcut for 0 */
    op_parity(&c, OP_FORWARD, 1e-7, OP_EACH);
    op_end(&c);
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_loss_sum_args *a = make(&c, 40);
    op_refuses_malformed(&c, PT_FORWARD, "nnn");
    CHECK(op_refused(&c, PT_BACKWARD));
    OP_REFUSES(&c, PT_FORWARD, a->coef.dim[0] = 39);
    OP_REFUSES(&c, PT_FORWARD, a->state.dim[0] = 9);
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->state, &a->coef));
    op_end(&c);
}

PT_TEST_MAIN
