/* Tests of addition. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

static pt_add_args *make(op_case *c, int64_t d0, int64_t d1)
{
    pt_add_args *a = op_begin(c, PT_OP_add);
    op_in(c, &a->a, d0, d1, 0, 0);
    op_in(c, &a->b, d0, d1, 0, 0);
    op_out(c, &a->y, d0, d1, 0, 0);
    return a;
}

TEST(hand_worked)
{
    op_case c;
    pt_add_args *a = make(&c, 3, 0);
    memcpy(c.data[0], (double[]){1, -2, 0.5}, 3 * sizeof(double));
    memcpy(c.data[1], (double[]){10, 2, 0.25}, 3 * sizeof(double));
    op_expect(&c, OP_FORWARD, &a->y, (double[]){11, 0, 0.75}, 0);
    op_end(&c);
}

TEST(parity)
{
    static const int64_t sizes[] = {1, 3, 5, 17, 33, 64, 100, 1000, 4097, 65539, 300007};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        op_case c;
        make(&c, sizes[i], 0);
        op_parity(&c, OP_FORWARD, 0, OP_EXACT);
        op_end(&c);
    }
}

TEST(aliases)
{
    for (int i = 0; i < 2; i++) {
        op_case c;
        pt_add_args *a = make(&c, 5, 21);
        op_alias(&c, &a->y, i ? &a->a : &a->b);
        op_parity(&c, OP_FORWARD, 0, OP_EXACT);
        op_end(&c);
    }
}

TEST(nan_and_infinity_are_seen)
{
    op_case c;
    make(&c, 37, 0);
    c.nan_ok = true;
    c.data[0][1] = c.data[1][36] = PT_NAN;
    c.data[0][7] = c.data[0][8] = PT_INF;
    c.data[1][8] = -PT_INF;
    op_parity(&c, OP_FORWARD, 0, OP_EXACT);
    op_end(&c);
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_add_args *a = make(&c, 3, 4);
    op_refuses_malformed(&c, PT_FORWARD, "nnn");
    CHECK(op_refused(&c, PT_BACKWARD));
    OP_REFUSES(&c, PT_FORWARD, a->b.dim[0] = 2);
    OP_REFUSES(&c, PT_FORWARD, a->y.dim[1] = 5);
    OP_REFUSES(&c, PT_FORWARD, (op_alias(&c, &a->y, &a->b), c.shift[2] = -8));
    op_end(&c);
}

PT_TEST_MAIN
