/* Tests of layer normalisation. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

static pt_layernorm_args *make(op_case *c, int64_t N, int64_t C)
{
    pt_layernorm_args *a = op_begin(c, PT_OP_layernorm);
    op_in(c, &a->x, N, C, 0, 0);
    op_stretch(c, &a->x, 2, 1);
    op_in(c, &a->w, C, 0, 0, 0);
    op_in(c, &a->b, C, 0, 0, 0);
    op_out(c, &a->y, N, C, 0, 0);
    op_out(c, &a->mean, N, 0, 0, 0);
    op_out(c, &a->rstd, N, 0, 0, 0);
    op_in(c, &a->dy, N, C, 0, 0);
    op_out(c, &a->dx, N, C, 0, 0);
    op_acc(c, &a->dw, C, 0, 0, 0);
    op_acc(c, &a->db, C, 0, 0, 0);
    a->eps = 1e-5;
    op_pair_out(c, &a->y, &a->dy);
    op_pair_in(c, &a->x, &a->dx);
    op_pair_in(c, &a->w, &a->dw);
    op_pair_in(c, &a->b, &a->db);
    return a;
}

TEST(hand_worked)
{
    op_case c;
    pt_layernorm_args *a = make(&c, 2, 2);
    memcpy(c.data[0], (double[]){1, 3, -1, 5}, 4 * sizeof(double));
    memcpy(c.data[1], (double[]){2, 1}, 2 * sizeof(double));
    memcpy(c.data[2], (double[]){0.5, -1}, 2 * sizeof(double));
    memcpy(c.data[6], (double[]){1, 2, 3, 4}, 4 * sizeof(double));
    c.data[8][0] = c.data[8][1] = c.data[9][0] = c.data[9][1] = 0;
    a->eps = 3; /* variances 1 and 9: rstd = 1/2 and 1/sqrt 12 */
    double r = 1 / pt_sqrt(12);
    op_expect(&c, OP_BOTH, &a->mean, (double[]){2, 2}, 0);
    op_expect(&c, OP_BOTH, &a->rstd, (double[]){0.5, r}, 1e-15);
    op_expect(&c, OP_BOTH, &a->y, (double[]){-0.5, -0.5, -6 * r + 0.5, 3 * r - 1}, 1e-15);
    op_expect(&c, OP_BOTH, &a->dw, (double[]){-0.5 - 9 * r, 1 + 12 * r}, 1e-14);
    op_expect(&c, OP_BOTH, &a->db, (double[]){4, 6}, 1e-14);
    /* row 0: g = (2,2), h = (-1/2,1/2): dx = 0; row 1: g = (6,4), mean 5, h = (-3r,3r), mean(gh) = -3r */
    op_expect(&c, OP_BOTH, &a->dx, (double[]){0, 0, r * (1 - 9 * r * r), -r * (1 - 9 * r * r)},
              1e-15);
    op_end(&c);
}

TEST(gradients)
{
    static const int64_t shapes[][2] = {{1, 3}, {3, 5}, {4, 17}};
    for (int i = 0; i < 3; i++) {
        op_case c;
        pt_layernorm_args *a = make(&c, shapes[i][0], shapes[i][1]);
        op_gradcheck(&c, 1e-7);
        op_acc(&c, &a->dx, shapes[i][0], shapes[i][1], 0, 0);
        a->dx_accumulate = true;
        op_gradcheck(&c, 1e-7);
        op_end(&c);
    }
}

TEST(parity)
{
    static const int64_t shapes[][2] = {{1, 1},    {1, 3},    {3, 5},     {5, 17},   {17, 33},
                                        {33, 64},  {100, 31}, {2, 1000},  {129, 97}, {515, 48},
                                        {1, 4099}, {67, 768}, {1031, 16}, {4500, 9}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        op_case c;
        pt_layernorm_args *a = make(&c, shapes[i][0], shapes[i][1]);
        op_parity(&c, OP_BOTH, 1e-5, OP_LARGEST);
        op_acc(&c, &a->dx, shapes[i][0], shapes[i][1], 0, 0);
        a->dx_accumulate = true;
        op_parity(&c, OP_BOTH, 1e-5, OP_LARGEST);
        op_end(&c);
    }
}

/* Two passes over the row are needed: E[x^2] - E[x]^2 would lose everything here. */
TEST(a_large_mean_keeps_its_variance)
{
    op_case c;
    pt_layernorm_args *a = make(&c, 3, 100);
    op_stretch(&c, &a->x, 0.5, 300);
    double *mean = c.data[op_index(&c, &a->x)];
    CHECK(mean[0] > 200);
    op_absent(&c, &a->dx);
    op_absent(&c, &a->dw);
    op_absent(&c, &a->db);
    op_absent(&c, &a->dy);
    op_parity(&c, OP_FORWARD, 1e-4, OP_LARGEST);
    op_end(&c);
}

TEST(a_constant_row_stays_finite)
{
    op_case c;
    pt_layernorm_args *a = make(&c, 3, 17);
    op_stretch(&c, &a->x, 0, 2);
    op_parity(&c, OP_BOTH, 1e-5, OP_LARGEST);
    op_end(&c);
}

TEST(absent_tensors)
{
    for (int wanted = 0; wanted < 16; wanted++) {
        op_case c;
        pt_layernorm_args *a = make(&c, 5, 19);
        if (!(wanted & 1)) op_absent(&c, &a->dx);
        if (!(wanted & 2)) op_absent(&c, &a->dw);
        if (!(wanted & 4)) op_absent(&c, &a->db);
        if (!(wanted & 8)) op_absent(&c, &a->b);
        op_parity(&c, OP_BOTH, 1e-5, OP_LARGEST);
        op_end(&c);
    }
}

TEST(aliases)
{
    op_case c;
    pt_layernorm_args *a = make(&c, 7, 35);
    op_alias(&c, &a->dx, &a->dy);
    op_parity(&c, OP_BOTH, 1e-5, OP_LARGEST);
    op_end(&c);
    a = make(&c, 7, 35);
    op_alias(&c, &a->y, &a->x);
    for (int i = 6; i < 10; i++) c.role[i] = OP_ROLE_ABSENT;
    op_parity(&c, OP_FORWARD, 1e-5, OP_LARGEST);
    op_end(&c);
}

TEST(nan_stays_in_its_row)
{
    op_case c;
    pt_layernorm_args *a = make(&c, 5, 33);
    c.nan_ok = true;
    c.data[op_index(&c, &a->x)][2 * 33 + 32] = PT_NAN;
    c.data[op_index(&c, &a->dy)][4 * 33] = PT_NAN;
    op_parity(&c, OP_BOTH, 1e-5, OP_LARGEST);
    op_result r;
    op_run(&c, op_ref64(), OP_BOTH, &r);
    CHECK(pt_is_nan(r.value[3][2 * 33]) && pt_is_finite(r.value[3][33]));
    CHECK(pt_is_nan(r.value[7][4 * 33 + 5]) && pt_is_finite(r.value[7][33]));
    op_result_free(&r);
    op_end(&c);
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_layernorm_args *a = make(&c, 3, 4);
    op_refuses_malformed(&c, PT_FORWARD, "nnonnn----");
    op_refuses_malformed(&c, PT_BACKWARD, "nn--nnnooo");
    OP_REFUSES(&c, PT_FORWARD, a->w.dim[0] = 3);
    OP_REFUSES(&c, PT_FORWARD, a->b.dim[0] = 5);
    OP_REFUSES(&c, PT_FORWARD, a->y.dim[0] = 2);
    OP_REFUSES(&c, PT_FORWARD, a->mean.dim[0] = 4);
    OP_REFUSES(&c, PT_FORWARD, a->rstd.dim[0] = 2);
    OP_REFUSES(&c, PT_FORWARD, a->eps = 0);
    OP_REFUSES(&c, PT_FORWARD, a->eps = PT_NAN);
    OP_REFUSES(&c, PT_FORWARD, (op_alias(&c, &a->y, &a->x), c.shift[3] = 16));
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->mean, &a->rstd));
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->rstd, &a->x));
    OP_REFUSES(&c, PT_BACKWARD, a->x.dim[1] = 5);
    OP_REFUSES(&c, PT_BACKWARD, a->dx.dim[0] = 2);
    OP_REFUSES(&c, PT_BACKWARD, a->dw.dim[0] = 3);
    OP_REFUSES(&c, PT_BACKWARD, a->db.dim[0] = 3);
    OP_REFUSES(&c, PT_BACKWARD, (op_alias(&c, &a->dx, &a->dy), c.shift[7] = -8));
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->dx, &a->x));
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->db, &a->dw));
    op_end(&c);
}

PT_TEST_MAIN
