/* Tests of the linear layer. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

static pt_linear_args *make(op_case *c, int64_t N, int64_t I, int64_t O)
{
    pt_linear_args *a = op_begin(c, PT_OP_linear);
    op_in(c, &a->x, N, I, 0, 0);
    op_in(c, &a->w, O, I, 0, 0);
    op_in(c, &a->b, O, 0, 0, 0);
    op_out(c, &a->y, N, O, 0, 0);
    op_in(c, &a->dy, N, O, 0, 0);
    op_out(c, &a->dx, N, I, 0, 0);
    op_acc(c, &a->dw, O, I, 0, 0);
    op_acc(c, &a->db, O, 0, 0, 0);
    op_pair_out(c, &a->y, &a->dy);
    op_pair_in(c, &a->x, &a->dx);
    op_pair_in(c, &a->w, &a->dw);
    op_pair_in(c, &a->b, &a->db);
    return a;
}

TEST(hand_worked)
{
    op_case c;
    pt_linear_args *a = make(&c, 2, 3, 2);
    memcpy(c.data[0], (double[]){1, 2, 3, 4, 5, 6}, 6 * sizeof(double));
    memcpy(c.data[1], (double[]){1, 0, -1, 2, 1, 0}, 6 * sizeof(double));
    memcpy(c.data[2], (double[]){10, 20}, 2 * sizeof(double));
    memcpy(c.data[4], (double[]){1, 2, 3, 4}, 4 * sizeof(double));
    memcpy(c.data[6], (double[]){100, 0, 0, 0, 0, 0}, 6 * sizeof(double));
    memcpy(c.data[7], (double[]){1000, 0}, 2 * sizeof(double));
    op_expect(&c, OP_BOTH, &a->y, (double[]){8, 24, 8, 33}, 1e-14);
    op_expect(&c, OP_BOTH, &a->dx, (double[]){5, 2, -1, 11, 4, -3}, 1e-14);
    op_expect(&c, OP_BOTH, &a->dw, (double[]){113, 17, 21, 18, 24, 30}, 1e-14);
    op_expect(&c, OP_BOTH, &a->db, (double[]){1004, 6}, 1e-14);
    op_end(&c);
}

TEST(gradients)
{
    static const int64_t shapes[][3] = {{1, 1, 1}, {3, 5, 2}, {4, 7, 9}};
    for (int i = 0; i < 3; i++) {
        op_case c;
        make(&c, shapes[i][0], shapes[i][1], shapes[i][2]);
        op_gradcheck(&c, 1e-8);
        op_end(&c);
    }
}

TEST(gradients_accumulate_into_dx)
{
    op_case c;
    pt_linear_args *a = make(&c, 3, 4, 5);
    op_acc(&c, &a->dx, 3, 4, 0, 0);
    a->dx_accumulate = true;
    op_gradcheck(&c, 1e-8);
    op_parity(&c, OP_BOTH, 2e-5, OP_LARGEST);
    op_end(&c);
}

TEST(parity)
{
    static const int64_t shapes[][3] = {
        {1, 1, 1},    {1, 3, 5},    {3, 5, 1},      {5, 1, 17},    {17, 33, 3},  {33, 17, 64},
        {64, 64, 64}, {1, 100, 97}, {100, 1, 33},   {31, 100, 37}, {2, 257, 65}, {8, 768, 7},
        {4, 64, 515}, {7, 13, 131}, {130, 300, 67}, {67, 520, 97}, {257, 9, 34}, {6, 1100, 34}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        op_case c;
        make(&c, shapes[i][0], shapes[i][1], shapes[i][2]);
        op_parity(&c, OP_BOTH, 2e-5, OP_LARGEST);
        op_end(&c);
    }
}

TEST(parity_beyond_the_blocking)
{
    static const int64_t shapes[][3] = {{300, 530, 290}, {1, 2100, 1030}, {515, 129, 260}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        op_case c;
        make(&c, shapes[i][0], shapes[i][1], shapes[i][2]);
        op_parity(&c, OP_BOTH, 2e-5, OP_LARGEST);
        op_end(&c);
    }
}

TEST(higher_ranks_are_rows)
{
    op_case c;
    pt_linear_args *a = make(&c, 6, 5, 7);
    a->x = pt_view(&a->x, 2, 3, 5, 0);
    a->y = pt_view(&a->y, 2, 3, 7, 0);
    a->dy = pt_view(&a->dy, 2, 3, 7, 0);
    a->dx = pt_view(&a->dx, 2, 3, 5, 0);
    op_parity(&c, OP_BOTH, 2e-5, OP_LARGEST);
    op_end(&c);
}

TEST(absent_tensors)
{
    for (int wanted = 0; wanted < 16; wanted++) {
        op_case c;
        pt_linear_args *a = make(&c, 5, 18, 19);
        if (!(wanted & 1)) op_absent(&c, &a->dx);
        if (!(wanted & 2)) op_absent(&c, &a->dw);
        if (!(wanted & 4)) op_absent(&c, &a->db);
        if (!(wanted & 8)) op_absent(&c, &a->b);
        op_parity(&c, OP_BOTH, 2e-5, OP_LARGEST);
        if (!(wanted & 1)) op_absent(&c, &a->w); /* w is for dx only, x for dw only */
        if (!(wanted & 2)) op_absent(&c, &a->x);
        op_absent(&c, &a->y);
        op_parity(&c, OP_BACKWARD, 2e-5, OP_LARGEST);
        op_end(&c);
    }
}

TEST(nan_and_infinity_are_seen)
{
    for (int i = 0; i < 2; i++) {
        op_case c;
        pt_linear_args *a = make(&c, 19, 37, 35);
        c.nan_ok = true;
        c.data[op_index(&c, &a->x)][3 * 37 + 36] = i ? PT_INF : PT_NAN;
        c.data[op_index(&c, &a->dy)][18 * 35 + 34] = PT_NAN;
        op_parity(&c, OP_BOTH, 2e-5, OP_LARGEST);
        op_result r;
        op_run(&c, op_ref64(), OP_BOTH, &r);
        CHECK(!pt_is_finite(r.value[3][3 * 35]) && pt_is_finite(r.value[3][2 * 35]));
        CHECK(pt_is_nan(r.value[5][18 * 37]) && pt_is_finite(r.value[5][17 * 37]));
        CHECK(pt_is_nan(r.value[6][34 * 37]) && pt_is_nan(r.value[7][34]));
        op_result_free(&r);
        op_end(&c);
    }
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_linear_args *a = make(&c, 3, 4, 5);
    op_refuses_malformed(&c, PT_FORWARD, "nnon----");
    op_refuses_malformed(&c, PT_BACKWARD, "nn--nooo");
    OP_REFUSES(&c, PT_FORWARD, a->x.dim[1] = 3);
    OP_REFUSES(&c, PT_FORWARD, a->w.dim[0] = 6);
    OP_REFUSES(&c, PT_FORWARD, a->b.dim[0] = 4);
    OP_REFUSES(&c, PT_FORWARD, a->y.dim[0] = 2);
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->y, &a->x));
    OP_REFUSES(&c, PT_BACKWARD, a->dy.dim[0] = 4);
    OP_REFUSES(&c, PT_BACKWARD, a->dx.dim[1] = 5);
    OP_REFUSES(&c, PT_BACKWARD, a->dw.dim[0] = 4);
    OP_REFUSES(&c, PT_BACKWARD, a->db.dim[0] = 6);
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->dx, &a->dy));
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->dw, &a->w));
    op_end(&c);
}

PT_TEST_MAIN
