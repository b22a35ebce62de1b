/* Tests of RMS normalisation. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

static pt_rmsnorm_args *make(op_case *c, int64_t N, int64_t C)
{
    pt_rmsnorm_args *a = op_begin(c, PT_OP_rmsnorm);
    op_in(c, &a->x, N, C, 0, 0);
    op_in(c, &a->w, C, 0, 0, 0);
    op_out(c, &a->y, N, C, 0, 0);
    op_out(c, &a->rstd, N, 0, 0, 0);
    op_in(c, &a->dy, N, C, 0, 0);
    op_out(c, &a->dx, N, C, 0, 0);
    op_acc(c, &a->dw, C, 0, 0, 0);
    a->eps = 1e-6;
    op_pair_out(c, &a->y, &a->dy);
    op_pair_in(c, &a->x, &a->dx);
    op_pair_in(c, &a->w, &a->dw);
    return a;
}

TEST(hand_worked)
{
    op_case c;
    pt_rmsnorm_args *a = make(&c, 1, 2);
    memcpy(c.data[0], (double[]){1, 3}, 2 * sizeof(double)); /* mean square 5 */
    memcpy(c.data[1], (double[]){2, -1}, 2 * sizeof(double));
    memcpy(c.data[4], (double[]){3, 4}, 2 * sizeof(double));
    c.data[6][0] = 10, c.data[6][1] = 0;
    a->eps = 11;
    op_expect(&c, OP_BOTH, &a->rstd, (double[]){0.25}, 0);
    op_expect(&c, OP_BOTH, &a->y, (double[]){0.5, -0.75}, 0);
    op_expect(&c, OP_BOTH, &a->dw, (double[]){10.75, 3}, 1e-14);
    /* g = (6,-4), mean(gx) = -3: dx = 1/4 (g + x * 3/16) */
    op_expect(&c, OP_BOTH, &a->dx, (double[]){1.546875, -0.859375}, 1e-15);
    op_end(&c);
}

TEST(gradients)
{
    static const int64_t shapes[][2] = {{1, 1}, {3, 5}, {4, 17}};
    for (int i = 0; i < 3; i++) {
        op_case c;
        pt_rmsnorm_args *a = make(&c, shapes[i][0], shapes[i][1]);
        a->eps = 1e-2; /* so that one channel alone has a gradient */
        op_gradcheck(&c, 1e-7);
        op_acc(&c, &a->dx, shapes[i][0], shapes[i][1], 0, 0);
        a->dx_accumulate = true;
        op_gradcheck(&c, 1e-7);
        op_end(&c);
    }
}

TEST(parity)
{
    static const int64_t shapes[][2] = {{1, 3},    {3, 5},     {5, 17},   {17, 33},  {33, 64},
                                        {100, 31}, {2, 1000},  {129, 97}, {515, 48}, {1, 4099},
                                        {67, 768}, {1031, 16}, {4500, 9}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        op_case c;
        pt_rmsnorm_args *a = make(&c, shapes[i][0], shapes[i][1]);
        op_parity(&c, OP_BOTH, 1e-5, OP_LARGEST);
        op_acc(&c, &a->dx, shapes[i][0], shapes[i][1], 0, 0);
        a->dx_accumulate = true;
        op_parity(&c, OP_BOTH, 1e-5, OP_LARGEST);
        op_end(&c);
    }
}

TEST(higher_ranks_are_rows)
{
    op_case c;
    pt_rmsnorm_args *a = make(&c, 30, 8);
    a->x = pt_view(&a->x, 2, 5, 3, 8);
    a->y = pt_view(&a->y, 2, 5, 3, 8);
    a->dy = pt_view(&a->dy, 2, 5, 3, 8);
    a->dx = pt_view(&a->dx, 2, 5, 3, 8);
    op_parity(&c, OP_BOTH, 1e-5, OP_LARGEST);
    op_end(&c);
}

TEST(zero_and_tiny_rows_stay_finite)
{
    for (int i = 0; i < 2; i++) {
        op_case c;
        pt_rmsnorm_args *a = make(&c, 3, 17);
        op_stretch(&c, &a->x, i ? 1e-20 : 0, 0);
        op_parity(&c, OP_BOTH, 1e-5, OP_LARGEST);
        op_end(&c);
    }
}

TEST(absent_gradients)
{
    for (int wanted = 0; wanted < 4; wanted++) {
        op_case c;
        pt_rmsnorm_args *a = make(&c, 5, 19);
        if (!(wanted & 1)) op_absent(&c, &a->dx);
        if (!(wanted & 2)) op_absent(&c, &a->dw);
        op_parity(&c, OP_BOTH, 1e-5, OP_LARGEST);
        op_end(&c);
    }
}

TEST(aliases)
{
    op_case c;
    pt_rmsnorm_args *a = make(&c, 7, 35);
    op_alias(&c, &a->dx, &a->dy);
    op_parity(&c, OP_BOTH, 1e-5, OP_LARGEST);
    op_end(&c);
}

TEST(nan_stays_in_its_row)
{
    op_case c;
    pt_rmsnorm_args *a = make(&c, 5, 33);
    c.nan_ok = true;
    c.data[op_index(&c, &a->x)][2 * 33 + 32] = PT_NAN;
    c.data[op_index(&c, &a->dy)][4 * 33] = PT_NAN;
    op_parity(&c, OP_BOTH, 1e-5, OP_LARGEST);
    op_result r;
    op_run(&c, op_ref64(), OP_BOTH, &r);
    CHECK(pt_is_nan(r.value[2][2 * 33]) && pt_is_finite(r.value[2][33]));
    CHECK(pt_is_nan(r.value[5][4 * 33 + 5]) && pt_is_finite(r.value[5][33]));
    op_result_free(&r);
    op_end(&c);
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_rmsnorm_args *a = make(&c, 3, 4);
    op_refuses_malformed(&c, PT_FORWARD, "nnnn---");
    op_refuses_malformed(&c, PT_BACKWARD, "nn-nnoo");
    OP_REFUSES(&c, PT_FORWARD, a->w.dim[0] = 3);
    OP_REFUSES(&c, PT_FORWARD, a->y.dim[0] = 2);
    OP_REFUSES(&c, PT_FORWARD, a->rstd.dim[0] = 2);
    OP_REFUSES(&c, PT_FORWARD, a->eps = -1);
    OP_REFUSES(&c, PT_FORWARD, (op_alias(&c, &a->y, &a->x), c.shift[2] = 32));
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->rstd, &a->w));
    OP_REFUSES(&c, PT_BACKWARD, a->x.dim[1] = 5);
    OP_REFUSES(&c, PT_BACKWARD, a->dx.dim[0] = 2);
    OP_REFUSES(&c, PT_BACKWARD, a->dw.dim[0] = 3);
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->dx, &a->x));
    op_end(&c);
}

PT_TEST_MAIN
