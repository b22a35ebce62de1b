/* Tests of the chunked head. SPDX-License-Identifier: MIT */
#include <math.h>

#include "ops/test_checks.h"

typedef struct sizes {
    int64_t N, C, V, R; /* R: rows of the workspace */
} sizes;

/* Random targets; with `masked`, every third row has none. */
static pt_crossentropy_args *make(op_case *c, const sizes *s, bool masked)
{
    pt_crossentropy_args *a = op_begin(c, PT_OP_crossentropy);
    op_in(c, &a->x, s->N, s->C, 0, 0);
    op_in(c, &a->w, s->V, s->C, 0, 0);
    double *target = op_ints(c, &a->target, s->N, 0);
    for (int64_t n = 0; n < s->N; n++) {
        double u = pt_rng_uniform(2, PT_STREAM_TEST, 0, (uint64_t)n);
        target[n] = masked && n % 3 == 1 ? -1 - (double)(n % 2) : pt_floor(u * (double)s->V);
    }
    op_out(c, &a->logp, s->N, 0, 0, 0);
    op_out(c, &a->lse, s->N, 0, 0, 0);
    op_in(c, &a->coef, s->N, 0, 0, 0);
    op_out(c, &a->dx, s->N, s->C, 0, 0);
    op_acc(c, &a->dw, s->V, s->C, 0, 0);
    op_work(c, &a->logits, s->R, s->V, 0, 0);
    op_pair_out(c, &a->logp, &a->coef);
    op_pair_in(c, &a->x, &a->dx);
    op_pair_in(c, &a->w, &a->dw);
    return a;
}

static void forward_only(op_case *c, pt_crossentropy_args *a)
{
    op_absent(c, &a->coef);
    op_absent(c, &a->dx);
    op_absent(c, &a->dw);
}

/* One channel and logits 0, log 2, log 5: softmax 1/8, 2/8, 5/8. */
TEST(hand_worked)
{
    op_case c;
    pt_crossentropy_args *a = make(&c, &(sizes){2, 1, 3, 1}, false);
    double l2 = (double)(float)log(2), l5 = (double)(float)log(5);
    memcpy(c.data[0], (double[]){1, 7}, 2 * sizeof(double));
    memcpy(c.data[1], (double[]){0, l2, l5}, 3 * sizeof(double));
    memcpy(c.data[2], (double[]){1, -1}, 2 * sizeof(double));
    memcpy(c.data[5], (double[]){-2, 100}, 2 * sizeof(double));
    memcpy(c.data[7], (double[]){10, 0, 0}, 3 * sizeof(double));
    op_expect(&c, OP_BOTH, &a->logp, (double[]){log(0.25), 0}, 1e-7);
    op_expect(&c, OP_BOTH, &a->lse, (double[]){log(8), 0}, 1e-7);
    op_expect(&c, OP_BOTH, &a->dw, (double[]){10.25, -1.5, 1.25}, 1e-6);
    op_expect(&c, OP_BOTH, &a->dx, (double[]){-1.5 * l2 + 1.25 * l5, 0}, 1e-6);
    op_end(&c);
}

TEST(gradients)
{
    static const sizes all[] = {{1, 1, 2, 1}, {3, 5, 4, 2}, {7, 4, 9, 7}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (int masked = 0; masked < 2; masked++) {
            op_case c;
            make(&c, &all[i], masked);
            op_gradcheck(&c, 1e-8);
            op_end(&c);
        }
    }
}

TEST(parity)
{
    static const sizes all[] = {{1, 1, 1, 1},       {1, 3, 5, 1},      {3, 5, 17, 2},
                                {5, 17, 3, 8},      {17, 33, 100, 5},  {33, 64, 64, 33},
                                {64, 16, 257, 64},  {100, 31, 97, 64}, {3, 100, 1031, 2},
                                {131, 48, 515, 32}, {67, 96, 1030, 64}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        op_case c;
        pt_crossentropy_args *a = make(&c, &all[i], i % 2);
        op_stretch(&c, &a->w, 0.5, 0);
        op_parity(&c, OP_BACKWARD, 2e-5, OP_LARGEST);
        forward_only(&c, a);
        op_parity(&c, OP_FORWARD, 2e-5, OP_LARGEST);
        op_end(&c);
    }
}

/* R changes nothing but the order of sums in dw. */
TEST(chunks_do_not_matter)
{
    static const int64_t rows[] = {1, 2, 5, 16, 19, 64};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        op_case c, whole;
        make(&c, &(sizes){19, 33, 67, rows[i]}, true);
        make(&whole, &(sizes){19, 33, 67, 19}, true);
        int n;
        const op_device *d = op_devices(&n);
        for (int k = 0; k < n; k++) {
            op_result got, want;
            op_run(&c, &d[k], OP_BACKWARD, &got);
            op_run(&whole, &d[k], OP_BACKWARD, &want);
            op_compare(&c, &d[k], &got, &want, 2e-6, OP_LARGEST);
            op_result_free(&got);
            op_result_free(&want);
        }
        op_end(&c);
        op_end(&whole);
    }
}

/* Logits near +-1000: exp of them overflows, log-softmax does not. */
TEST(large_logits)
{
    op_case c;
    pt_crossentropy_args *a = make(&c, &(sizes){9, 7, 33, 4}, false);
    op_stretch(&c, &a->x, 300, 0);
    op_parity(&c, OP_BACKWARD, 2e-5, OP_LARGEST);
    forward_only(&c, a);
    op_parity(&c, OP_FORWARD, 2e-5, OP_LARGEST);
    op_end(&c);
}

TEST(absent_tensors)
{
    for (int wanted = 0; wanted < 16; wanted++) {
        op_case c;
        pt_crossentropy_args *a = make(&c, &(sizes){7, 19, 35, 4}, true);
        if (!(wanted & 1)) op_absent(&c, &a->dx);
        if (!(wanted & 2)) op_absent(&c, &a->dw);
        if (!(wanted & 4)) op_absent(&c, &a->lse);
        if (!(wanted & 8)) op_absent(&c, &a->logp);
        op_parity(&c, OP_BACKWARD, 2e-5, OP_LARGEST);
        op_end(&c);
    }
}

TEST(all_rows_masked)
{
    op_case c;
    pt_crossentropy_args *a = make(&c, &(sizes){5, 3, 17, 2}, false);
    for (int n = 0; n < 5; n++) c.data[2][n] = -1;
    double zero[15] = {0};
    op_expect(&c, OP_BACKWARD, &a->logp, zero, 0);
    op_expect(&c, OP_BACKWARD, &a->lse, zero, 0);
    op_expect(&c, OP_BACKWARD, &a->dx, zero, 0);
    op_expect(&c, OP_BACKWARD, &a->dw, c.data[7], 0);
    op_end(&c);
}

/* A masked row is skipped, not multiplied by 0: nothing it holds comes through. */
TEST(nan_in_masked_rows_is_not_seen)
{
    op_case c;
    pt_crossentropy_args *a = make(&c, &(sizes){19, 33, 67, 4}, true);
    for (int n = 1; n < 19; n += 3) {
        c.data[op_index(&c, &a->coef)][n] = PT_NAN;
        for (int i = 0; i < 33; i++) c.data[0][n * 33 + i] = i % 2 ? PT_NAN : PT_INF;
    }
    op_parity(&c, OP_BACKWARD, 2e-5, OP_LARGEST);
    forward_only(&c, a);
    op_parity(&c, OP_FORWARD, 2e-5, OP_LARGEST);
    op_end(&c);
}

TEST(nan_is_seen)
{
    for (int i = 0; i < 3; i++) {
        op_case c;
        pt_crossentropy_args *a = make(&c, &(sizes){19, 33, 67, 4}, true);
        c.nan_ok = true;
        if (i == 0) c.data[op_index(&c, &a->x)][3 * 33 + 32] = PT_NAN;
        if (i == 1) c.data[op_index(&c, &a->w)][66 * 33] = PT_NAN;
        if (i == 2) c.data[op_index(&c, &a->coef)][18] = PT_NAN;
        op_parity(&c, OP_BACKWARD, 2e-5, OP_LARGEST);
        op_result r;
        op_run(&c, op_ref64(), OP_BACKWARD, &r);
        if (i < 2) CHECK(pt_is_nan(r.value[op_index(&c, &a->logp)][3]));
        if (i == 0) CHECK(pt_is_finite(r.value[op_index(&c, &a->logp)][2]));
        CHECK(pt_is_nan(r.value[op_index(&c, &a->dw)][0]));
        op_result_free(&r);
        op_end(&c);
    }
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_crossentropy_args *a = make(&c, &(sizes){5, 3, 7, 2}, false);
    op_refuses_malformed(&c, PT_FORWARD, "nnnno---n");
    op_refuses_malformed(&c, PT_BACKWARD, "nnnoonoon");
    OP_REFUSES(&c, PT_FORWARD, a->w.dim[1] = 4);
    OP_REFUSES(&c, PT_FORWARD, a->target.dim[0] = 4);
    OP_REFUSES(&c, PT_FORWARD, a->logp.dim[0] = 4);
    OP_REFUSES(&c, PT_FORWARD, a->lse.dim[0] = 6);
    OP_REFUSES(&c, PT_FORWARD, a->logits.dim[1] = 6);
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->lse, &a->logp));
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->logits, &a->w));
    OP_REFUSES(&c, PT_BACKWARD, a->coef.dim[0] = 4);
    OP_REFUSES(&c, PT_BACKWARD, a->dx.dim[1] = 4);
    OP_REFUSES(&c, PT_BACKWARD, a->dw.dim[0] = 6);
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->dx, &a->x));
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->logp, &a->coef));
    op_end(&c);
}

PT_TEST_MAIN
