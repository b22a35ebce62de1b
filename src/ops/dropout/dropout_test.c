/* Tests of dropout. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

static pt_dropout_args *make(op_case *c, int64_t n, double p, int64_t first)
{
    pt_dropout_args *a = op_begin(c, PT_OP_dropout);
    op_in(c, &a->x, n, 0, 0, 0);
    op_out(c, &a->y, n, 0, 0, 0);
    op_in(c, &a->dy, n, 0, 0, 0);
    op_out(c, &a->dx, n, 0, 0, 0);
    a->p = p;
    a->seed = UINT64_C(0x123456789abcdef0);
    a->first = first;
    a->site = 3;
    op_pair_out(c, &a->y, &a->dy);
    op_pair_in(c, &a->x, &a->dx);
    return a;
}

/* The mask straight from the generator's bare form: key and counter as base/rng.h lays them out. */
TEST(hand_worked)
{
    op_case c;
    pt_dropout_args *a = make(&c, 30, 0.5, 8);
    uint32_t key[2] = {0x9abcdef0, 0x12345678}, word[32];
    for (uint32_t i = 0; i < 8; i++)
        pt_philox(key, (uint32_t[]){2 + i, 0, PT_STREAM_DROPOUT, 3}, word + 4 * i);
    double y[30], dx[30];
    int kept = 0;
    for (int i = 0; i < 30; i++) {
        bool keep = word[i] >= 0x80000000u;
        kept += keep;
        y[i] = keep ? 2 * c.data[0][i] : 0;
        dx[i] = keep ? 2 * c.data[2][i] : 0;
    }
    CHECK(kept > 0 && kept < 30);
    op_expect(&c, OP_BOTH, &a->y, y, 0);
    op_expect(&c, OP_BOTH, &a->dx, dx, 0);
    op_end(&c);
}

TEST(gradients)
{
    op_case c;
    make(&c, 101, 0.3, 0);
    op_gradcheck(&c, 1e-8);
    op_end(&c);
}

TEST(parity)
{
    static const int64_t sizes[] = {1, 3, 4, 5, 17, 33, 64, 100, 1000, 4097, 65539};
    static const double p[] = {0, 0.1, 0.5, 0.9};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        op_case c;
        make(&c, sizes[i], p[i % 4], (int64_t)i * 4);
        op_parity(&c, OP_BOTH, 1.2e-7, OP_EACH);
        op_end(&c);
    }
}

/* The counter's high word, and a threshold that falls on a drawn number exactly. */
TEST(far_elements_and_exact_thresholds)
{
    op_case c;
    pt_dropout_args *a = make(&c, 67, 0.4, INT64_C(4) << 32);
    op_parity(&c, OP_BOTH, 1.2e-7, OP_EACH);
    uint32_t word[4];
    pt_rng_u32x4(a->seed, PT_STREAM_DROPOUT, a->site, UINT64_C(1) << 32, word);
    a->p = (double)word[1] / 4294967296.0;
    op_result r;
    op_run(&c, op_ref64(), OP_FORWARD, &r);
    CHECK(r.value[1][1] != 0);
    op_result_free(&r);
    op_absent(&c, &a->dx);
    op_parity(&c, OP_FORWARD, 1.2e-7, OP_EACH);
    op_end(&c);
}

TEST(rate)
{
    op_case c;
    make(&c, 100000, 0.1, 0);
    op_result r;
    op_run(&c, op_ref64(), OP_FORWARD, &r);
    int64_t dropped = 0;
    for (int i = 0; i < 100000; i++) dropped += r.value[1][i] == 0;
    CHECK_CLOSE(dropped, 10000, 5 * 95); /* five standard deviations */
    op_result_free(&r);
    op_end(&c);
}

TEST(a_later_part_equals_the_part_of_the_whole)
{
    op_case whole, part;
    make(&whole, 100, 0.5, 0);
    pt_dropout_args *a = make(&part, 60, 0.5, 40);
    memcpy(part.data[0], whole.data[0] + 40, 60 * sizeof(double));
    op_result r;
    op_run(&whole, op_ref64(), OP_BOTH, &r);
    op_expect(&part, OP_FORWARD, &a->y, r.value[1] + 40, 0);
    op_result_free(&r);
    op_end(&whole);
    op_end(&part);
}

TEST(sites_and_seeds_differ)
{
    op_case c;
    pt_dropout_args *a = make(&c, 200, 0.5, 0);
    op_result r[3];
    op_run(&c, op_ref64(), OP_FORWARD, &r[0]);
    a->site++;
    op_run(&c, op_ref64(), OP_FORWARD, &r[1]);
    a->site--;
    a->seed++;
    op_run(&c, op_ref64(), OP_FORWARD, &r[2]);
    for (int i = 1; i < 3; i++) {
        int same = 0;
        for (int e = 0; e < 200; e++) same += (r[0].value[1][e] == 0) == (r[i].value[1][e] == 0);
        CHECK(same > 60 && same < 140);
    }
    for (int i = 0; i < 3; i++) op_result_free(&r[i]);
    op_end(&c);
}

TEST(aliases)
{
    op_case c;
    pt_dropout_args *a = make(&c, 77, 0.2, 12);
    op_alias(&c, &a->y, &a->x);
    op_alias(&c, &a->dx, &a->dy);
    op_parity(&c, OP_BOTH, 1.2e-7, OP_EACH);
    op_end(&c);
}

/* A dropped element is 0 whatever it held; a kept NaN stays. */
TEST(nan_is_seen_where_kept)
{
    op_case c;
    make(&c, 64, 0.5, 0);
    c.nan_ok = true;
    for (int i = 0; i < 64; i++) c.data[0][i] = i & 1 ? PT_NAN : PT_INF;
    op_parity(&c, OP_BOTH, 1.2e-7, OP_EACH);
    op_end(&c);
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_dropout_args *a = make(&c, 12, 0.5, 0);
    op_refuses_malformed(&c, PT_FORWARD, "nn--");
    op_refuses_malformed(&c, PT_BACKWARD, "--nn");
    OP_REFUSES(&c, PT_FORWARD, a->p = 1);
    OP_REFUSES(&c, PT_FORWARD, a->p = -0.1);
    OP_REFUSES(&c, PT_FORWARD, a->p = PT_NAN);
    OP_REFUSES(&c, PT_BACKWARD, a->first = 2);
    OP_REFUSES(&c, PT_BACKWARD, a->first = -4);
    OP_REFUSES(&c, PT_FORWARD, a->y.dim[0] = 11);
    OP_REFUSES(&c, PT_BACKWARD, a->dx.dim[0] = 13);
    OP_REFUSES(&c, PT_FORWARD, (op_alias(&c, &a->y, &a->x), c.shift[1] = 8));
    op_end(&c);
}

PT_TEST_MAIN
