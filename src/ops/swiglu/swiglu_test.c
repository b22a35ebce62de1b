/* Tests of SwiGLU. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

static pt_swiglu_args *make(op_case *c, int64_t d0, int64_t d1)
{
    pt_swiglu_args *a = op_begin(c, PT_OP_swiglu);
    op_in(c, &a->gate, d0, d1, 0, 0);
    op_stretch(c, &a->gate, 3, 0);
    op_in(c, &a->up, d0, d1, 0, 0);
    op_out(c, &a->y, d0, d1, 0, 0);
    op_in(c, &a->dy, d0, d1, 0, 0);
    op_out(c, &a->dgate, d0, d1, 0, 0);
    op_out(c, &a->dup, d0, d1, 0, 0);
    op_pair_out(c, &a->y, &a->dy);
    op_pair_in(c, &a->gate, &a->dgate);
    op_pair_in(c, &a->up, &a->dup);
    return a;
}

/* sigmoid(log 3) = 3/4 */
TEST(hand_worked)
{
    op_case c;
    pt_swiglu_args *a = make(&c, 3, 0);
    double l = (double)(float)1.0986122886681098;
    memcpy(c.data[0], (double[]){0, l, -l}, 3 * sizeof(double));
    memcpy(c.data[1], (double[]){5, 2, 2}, 3 * sizeof(double));
    memcpy(c.data[3], (double[]){1, 4, 4}, 3 * sizeof(double));
    op_expect(&c, OP_BOTH, &a->y, (double[]){0, 1.5 * l, -0.5 * l}, 1e-7);
    op_expect(&c, OP_BOTH, &a->dup, (double[]){0, 3 * l, -l}, 1e-7);
    op_expect(&c, OP_BOTH, &a->dgate, (double[]){2.5, 6 * (1 + l / 4), 2 * (1 - 0.75 * l)}, 1e-6);
    op_end(&c);
}

TEST(gradients)
{
    op_case c;
    make(&c, 7, 11);
    op_gradcheck(&c, 1e-8);
    op_end(&c);
}

TEST(parity)
{
    static const int64_t sizes[] = {1, 3, 5, 15, 17, 33, 64, 100, 1000, 4097, 65539};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        op_case c;
        make(&c, sizes[i], 0);
        op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
        op_end(&c);
    }
}

/* exp overflows beyond 88 in float and 709 in double: the sigmoid must be 0 or 1 there, not NaN. */
TEST(parity_by_magnitude)
{
    static const double scales[] = {1e-30, 1e-6, 1, 30, 100, 1000, 1e9};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        op_case c;
        pt_swiglu_args *a = make(&c, 999, 0);
        op_stretch(&c, &a->gate, scales[i] / 3, 0);
        op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
        op_end(&c);
    }
}

TEST(absent_gradients_and_aliases)
{
    for (int wanted = 0; wanted < 3; wanted++) {
        op_case c;
        pt_swiglu_args *a = make(&c, 5, 21);
        if (wanted != 1) op_absent(&c, &a->dgate);
        if (wanted != 2) op_absent(&c, &a->dup);
        op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
        if (wanted) {
            op_alias(&c, wanted == 1 ? &a->dgate : &a->dup, &a->dy);
            op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
        }
        op_end(&c);
    }
}

TEST(nan_is_seen)
{
    for (int i = 0; i < 4; i++) {
        op_case c;
        make(&c, 37, 0);
        c.nan_ok = true;
        if (i != 2) c.data[i][i] = c.data[i][36] = PT_NAN;
        op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
        op_end(&c);
    }
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_swiglu_args *a = make(&c, 3, 4);
    op_refuses_malformed(&c, PT_FORWARD, "nnn---");
    op_refuses_malformed(&c, PT_BACKWARD, "nn-noo");
    OP_REFUSES(&c, PT_FORWARD, a->up.dim[0] = 2);
    OP_REFUSES(&c, PT_FORWARD, a->y.dim[0] = 2);
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->y, &a->up));
    OP_REFUSES(&c, PT_BACKWARD, a->dy.dim[1] = 5);
    OP_REFUSES(&c, PT_BACKWARD, a->dup.dim[1] = 3);
    OP_REFUSES(&c, PT_BACKWARD, a->dgate.dim[1] = 3);
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->dup, &a->dy));
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->dgate, &a->dup));
    op_end(&c);
}

PT_TEST_MAIN
