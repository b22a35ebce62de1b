/* Tests of GELU. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

static pt_gelu_args *make(op_case *c, int64_t d0, int64_t d1, bool tanh_form)
{
    pt_gelu_args *a = op_begin(c, PT_OP_gelu);
    op_in(c, &a->x, d0, d1, 0, 0);
    op_stretch(c, &a->x, 2, 0);
    op_out(c, &a->y, d0, d1, 0, 0);
    op_in(c, &a->dy, d0, d1, 0, 0);
    op_out(c, &a->dx, d0, d1, 0, 0);
    a->tanh_form = tanh_form;
    op_pair_out(c, &a->y, &a->dy);
    op_pair_in(c, &a->x, &a->dx);
    return a;
}

/* Phi(1) = 0.841344746068542949, phi(1) = 0.241970724519143349; the tanh form by long arithmetic. */
TEST(hand_worked)
{
    op_case c;
    pt_gelu_args *a = make(&c, 4, 0, false);
    memcpy(c.data[0], (double[]){0, 1, -1, 8}, 4 * sizeof(double));
    memcpy(c.data[2], (double[]){2, 1, 1, 1}, 4 * sizeof(double));
    double big_phi = 0.841344746068542949, phi = 0.241970724519143349;
    op_expect(&c, OP_BOTH, &a->y, (double[]){0, big_phi, big_phi - 1, 8}, 1e-13);
    op_expect(&c, OP_BOTH, &a->dx, (double[]){1, big_phi + phi, 1 - big_phi - phi, 1}, 1e-13);
    a->tanh_form = true;
    op_expect(&c, OP_BOTH, &a->y, (double[]){0, 0.8411919906082767, -0.15880800939172324, 8},
              1e-13);
    op_end(&c);
}

TEST(gradients)
{
    for (int form = 0; form < 2; form++) {
        op_case c;
        make(&c, 7, 11, form);
        op_gradcheck(&c, 1e-8);
        op_end(&c);
    }
}

TEST(parity)
{
    static const int64_t sizes[] = {1, 3, 5, 15, 17, 33, 64, 100, 1000, 4097, 65539};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int form = 0; form < 2; form++) {
            op_case c;
            make(&c, sizes[i], 0, form);
            op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
            op_end(&c);
        }
    }
}

/* From far left to far right, each decade by itself, so that the small outputs count too. */
TEST(parity_by_magnitude)
{
    static const double scales[] = {1e-30, 1e-8, 1e-4, 0.1, 1, 5, 30, 1e4, 1e12};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        for (int form = 0; form < 2; form++) {
            op_case c;
            pt_gelu_args *a = make(&c, 999, 0, form);
            op_stretch(&c, &a->x, scales[i] / 2, 0);
            op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
            op_end(&c);
        }
    }
}

TEST(aliases)
{
    op_case c;
    pt_gelu_args *a = make(&c, 5, 21, false);
    op_alias(&c, &a->dx, &a->dy);
    op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
    op_alias(&c, &a->y, &a->x);
    op_absent(&c, &a->dx);
    op_parity(&c, OP_FORWARD, 1e-6, OP_LARGEST);
    op_end(&c);
}

TEST(nan_is_seen)
{
    for (int form = 0; form < 2; form++) {
        op_case c;
        make(&c, 37, 0, form);
        c.nan_ok = true;
        c.data[0][1] = c.data[0][36] = PT_NAN;
        c.data[2][5] = PT_NAN;
        op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
        op_end(&c);
    }
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_gelu_args *a = make(&c, 3, 4, false);
    op_refuses_malformed(&c, PT_FORWARD, "nn--");
    op_refuses_malformed(&c, PT_BACKWARD, "n-nn");
    OP_REFUSES(&c, PT_FORWARD, a->y.dim[0] = 2);
    OP_REFUSES(&c, PT_FORWARD, (op_alias(&c, &a->y, &a->x), c.shift[1] = 8));
    OP_REFUSES(&c, PT_BACKWARD, a->dy.dim[1] = 5);
    OP_REFUSES(&c, PT_BACKWARD, a->dx.dim[1] = 3);
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->dx, &a->x));
    op_end(&c);
}

PT_TEST_MAIN
