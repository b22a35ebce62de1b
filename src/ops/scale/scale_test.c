/* Tests of scaling. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

static pt_scale_args *make(op_case *c, int64_t n, double factor)
{
    pt_scale_args *a = op_begin(c, PT_OP_scale);
    op_in(c, &a->x, n, 0, 0, 0);
    op_out(c, &a->y, n, 0, 0, 0);
    a->factor = factor;
    return a;
}

TEST(hand_worked)
{
    op_case c;
    pt_scale_args *a = make(&c, 3, -2.5);
    memcpy(c.data[0], (double[]){1, -2, 0.5}, 3 * sizeof(double));
    op_expect(&c, OP_FORWARD, &a->y, (double[]){-2.5, 5, -1.25}, 0);
    op_end(&c);
}

TEST(parity)
{
    static const int64_t sizes[] = {1, 3, 5, 17, 33, 64, 100, 1000, 4097, 65539, 300007};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        op_case c;
        make(&c, sizes[i], 0.375);
        op_parity(&c, OP_FORWARD, 0, OP_EXACT);
        op_end(&c);
    }
}

/* One rounding: of the product with the factor as it is given, not with a float near it. */
TEST(a_factor_that_is_no_float)
{
    op_case c;
    make(&c, 1000, 0.1);
    op_parity(&c, OP_FORWARD, 0, OP_EXACT);
    op_end(&c);
}

TEST(aliases)
{
    op_case c;
    pt_scale_args *a = make(&c, 77, 3);
    op_alias(&c, &a->y, &a->x);
    op_parity(&c, OP_FORWARD, 0, OP_EXACT);
    op_end(&c);
}

/* 0 * x is not a shortcut for 0. */
TEST(nan_and_infinity_are_seen)
{
    for (int i = 0; i < 2; i++) {
        op_case c;
        make(&c, 37, i);
        c.nan_ok = true;
        c.data[0][1] = PT_NAN;
        c.data[0][36] = PT_INF;
        op_parity(&c, OP_FORWARD, 0, OP_EXACT);
        op_end(&c);
    }
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_scale_args *a = make(&c, 12, 1);
    op_refuses_malformed(&c, PT_FORWARD, "nn");
    CHECK(op_refused(&c, PT_BACKWARD));
    OP_REFUSES(&c, PT_FORWARD, a->y.dim[0] = 11);
    OP_REFUSES(&c, PT_FORWARD, (op_alias(&c, &a->y, &a->x), c.shift[1] = 8));
    op_end(&c);
}

PT_TEST_MAIN
