/* Tests of the rotary positions. SPDX-License-Identifier: MIT */
#include <math.h>

#include "ops/test_checks.h"

static pt_rope_args *make(op_case *c, int64_t B, int64_t T, int64_t H, int64_t D)
{
    pt_rope_args *a = op_begin(c, PT_OP_rope);
    op_in(c, &a->x, B, T, H, D);
    double *freq = op_in(c, &a->freq, D / 2, 0, 0, 0);
    for (int64_t i = 0; i < D / 2; i++)
        freq[i] = (double)(float)pt_pow(10000, -2 * (double)i / (double)D);
    op_out(c, &a->y, B, T, H, D);
    op_in(c, &a->dy, B, T, H, D);
    op_out(c, &a->dx, B, T, H, D);
    op_pair_out(c, &a->y, &a->dy);
    op_pair_in(c, &a->x, &a->dx);
    return a;
}

static void add_positions(op_case *c, pt_rope_args *a, double base)
{
    int64_t B = a->x.dim[0], T = a->x.dim[1];
    double *offset = op_ints(c, &a->offset, B, 0);
    for (int64_t b = 0; b < B; b++) offset[b] = base + (double)(b * 3);
    op_fill_doc_start(op_ints(c, &a->doc_start, B, T), offset, B, T);
}

TEST(hand_worked)
{
    op_case c;
    pt_rope_args *a = make(&c, 1, 2, 1, 4);
    memcpy(c.data[0], (double[]){1, 2, 3, 4, 1, 2, 3, 4}, 8 * sizeof(double));
    memcpy(c.data[5], (double[]){0, 0, 0, 0, 1, 2, 3, 4}, 8 * sizeof(double));
    c.data[1][0] = 1, c.data[1][1] = 0.5;
    double c1 = cos(1), s1 = sin(1), c2 = cos(0.5), s2 = sin(0.5);
    double halves[] = {1, 2, 3, 4, c1 - 3 * s1, 2 * c2 - 4 * s2, 3 * c1 + s1, 4 * c2 + 2 * s2};
    double pairs[] = {1, 2, 3, 4, c1 - 2 * s1, 2 * c1 + s1, 3 * c2 - 4 * s2, 4 * c2 + 3 * s2};
    double back[] = {0, 0, 0, 0, c1 + 3 * s1, 2 * c2 + 4 * s2, 3 * c1 - s1, 4 * c2 - 2 * s2};
    op_expect(&c, OP_BOTH, &a->y, halves, 1e-14);
    op_expect(&c, OP_BOTH, &a->dx, back, 1e-14);
    a->interleaved = true;
    op_expect(&c, OP_BOTH, &a->y, pairs, 1e-14);
    op_end(&c);
}

TEST(gradients)
{
    for (int i = 0; i < 4; i++) {
        op_case c;
        pt_rope_args *a = make(&c, 2, 4, 2, 6);
        a->interleaved = i & 1;
        if (i & 2) add_positions(&c, a, 5);
        op_gradcheck(&c, 1e-8);
        op_end(&c);
    }
}

TEST(parity)
{
    static const int64_t shapes[][4] = {{1, 1, 1, 2},    {1, 3, 5, 6},    {3, 5, 1, 34},
                                        {2, 17, 3, 64},  {1, 33, 2, 100}, {2, 64, 4, 32},
                                        {1, 257, 3, 16}, {1, 2, 3, 256},  {5, 1, 7, 10}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const int64_t *s = shapes[i];
        for (int form = 0; form < 4; form++) {
            op_case c;
            pt_rope_args *a = make(&c, s[0], s[1], s[2], s[3]);
            a->interleaved = form & 1;
            if (form & 2) add_positions(&c, a, 7);
            op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
            op_end(&c);
        }
    }
}

/* An angle of 10^5 radians in float would be off by 0.004. */
TEST(late_positions_keep_their_angle)
{
    op_case c;
    pt_rope_args *a = make(&c, 2, 5, 3, 64);
    double *offset = op_ints(&c, &a->offset, 2, 0);
    offset[0] = 131071, offset[1] = 1000003;
    op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
    op_end(&c);
}

TEST(packed_documents_start_at_zero)
{
    op_case c, single;
    pt_rope_args *a = make(&c, 1, 5, 2, 8), *b = make(&single, 1, 2, 2, 8);
    double *start = op_ints(&c, &a->doc_start, 1, 5);
    start[3] = start[4] = 3;
    memcpy(single.data[0], c.data[0] + 3 * 16, 2 * 16 * sizeof(double));
    op_result r;
    op_run(&c, op_ref64(), OP_BOTH, &r);
    op_expect(&single, OP_FORWARD, &b->y, r.value[4] + 3 * 16, 0);
    op_result_free(&r);
    op_end(&c);
    op_end(&single);
}

TEST(aliases)
{
    for (int i = 0; i < 2; i++) {
        op_case c;
        pt_rope_args *a = make(&c, 2, 5, 3, 34);
        a->interleaved = i;
        op_alias(&c, &a->y, &a->x);
        op_alias(&c, &a->dx, &a->dy);
        op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
        op_end(&c);
    }
}

TEST(nan_stays_in_its_pair)
{
    op_case c;
    pt_rope_args *a = make(&c, 1, 3, 2, 34);
    c.nan_ok = true;
    c.data[op_index(&c, &a->x)][2 * 68 + 3] = PT_NAN;
    op_parity(&c, OP_FORWARD, 1e-6, OP_LARGEST);
    op_result r;
    op_run(&c, op_ref64(), OP_FORWARD, &r);
    CHECK(pt_is_nan(r.value[4][2 * 68 + 3]) && pt_is_nan(r.value[4][2 * 68 + 20]));
    CHECK(pt_is_finite(r.value[4][2 * 68 + 4]));
    op_result_free(&r);
    op_end(&c);
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_rope_args *a = make(&c, 2, 3, 2, 4);
    add_positions(&c, a, 2);
    op_refuses_malformed(&c, PT_FORWARD, "nnoon--");
    op_refuses_malformed(&c, PT_BACKWARD, "-noo-nn");
    OP_REFUSES(&c, PT_FORWARD, a->x.dim[3] = a->y.dim[3] = 5);
    OP_REFUSES(&c, PT_FORWARD, a->y.dim[1] = 2);
    OP_REFUSES(&c, PT_FORWARD, a->freq.dim[0] = 3);
    OP_REFUSES(&c, PT_FORWARD, a->offset.dim[0] = 1);
    OP_REFUSES(&c, PT_FORWARD, a->doc_start.dim[1] = 4);
    OP_REFUSES(&c, PT_FORWARD, (op_alias(&c, &a->y, &a->x), c.shift[4] = 16));
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->y, &a->freq));
    OP_REFUSES(&c, PT_BACKWARD, a->dx.dim[0] = 3);
    op_end(&c);
}

PT_TEST_MAIN
