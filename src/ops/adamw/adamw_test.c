/* Tests of AdamW. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

/* A later step with mixed decay and a clipped gradient. */
static pt_adamw_args *make(op_case *c, int64_t n)
{
    pt_adamw_args *a = op_begin(c, PT_OP_adamw);
    int64_t blocks = pt_div_up(n, PT_ADAMW_BLOCK);
    op_acc(c, &a->w, n, 0, 0, 0);
    op_in(c, &a->g, n, 0, 0, 0);
    op_acc(c, &a->m, n, 0, 0, 0);
    double *v = op_acc(c, &a->v, n, 0, 0, 0);
    for (int64_t i = 0; i < n; i++) v[i] = (double)(float)(v[i] * v[i]);
    double *decay = op_add(c, &a->decay, OP_ROLE_IN, PT_U8, (int64_t[4]){blocks, 0, 0, 0});
    for (int64_t i = 0; i < blocks; i++) decay[i] = i % 3 != 1;
    double *state = op_in(c, &a->state, PT_STATE_COUNT, 0, 0, 0);
    state[PT_STATE_LR] = 0.0625;
    state[PT_STATE_CORRECTION1] = 1.25;
    state[PT_STATE_CORRECTION2] = 3;
    state[PT_STATE_FACTOR] = 0.75;
    state[PT_STATE_OK] = 1;
    state[PT_STATE_SKIPPED] = 0;
    a->beta1 = 0.9;
    a->beta2 = 0.95;
    a->eps = 1e-8;
    a->weight_decay = 0.1;
    return a;
}

static void add_copy(op_case *c, pt_adamw_args *a)
{
    op_add(c, &a->copy, OP_ROLE_OUT, PT_BF16, (int64_t[4]){pt_numel(&a->w), 0, 0, 0});
}

TEST(the_copy_is_the_new_weight_rounded)
{
    static const int64_t sizes[] = {1, 15, 64, 1001, 40000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        op_case c;
        int n;
        add_copy(&c, make(&c, sizes[i]));
        const op_device *d = op_devices(&n);
        for (int k = 0; k < n; k++) {
            op_result r;
            op_run(&c, &d[k], OP_FORWARD, &r);
            for (int64_t e = 0; e < sizes[i]; e++) {
                float rounded = pt_float_from_bf16(pt_bf16_from_float((float)r.value[0][e]));
                CHECK(r.value[6][e] == (double)rounded);
            }
            op_result_free(&r);
        }
        op_end(&c);
    }
}

/* The first step from zero moments: m c1 = g', v c2 = g'^2, so w moves by lr g' / (|g'| + eps). */
TEST(hand_worked_first_step)
{
    op_case c;
    pt_adamw_args *a = make(&c, 2);
    memcpy(c.data[0], (double[]){2, -1}, 2 * sizeof(double));
    memcpy(c.data[1], (double[]){0.5, -4}, 2 * sizeof(double));
    memset(c.data[2], 0, 2 * sizeof(double));
    memset(c.data[3], 0, 2 * sizeof(double));
    a->beta1 = 0.5, a->beta2 = 0.75, a->eps = 1, a->weight_decay = 0.5;
    double *state = c.data[5];
    state[PT_STATE_LR] = 0.25;
    state[PT_STATE_FACTOR] = 2;
    state[PT_STATE_CORRECTION1] = 2;
    state[PT_STATE_CORRECTION2] = 4; /* g' = 1 and -8 */
    op_expect(&c, OP_FORWARD, &a->m, (double[]){0.5, -4}, 1e-15);
    op_expect(&c, OP_FORWARD, &a->v, (double[]){0.25, 16}, 1e-15);
    op_expect(&c, OP_FORWARD, &a->w, (double[]){2 - 0.25 * (0.5 + 1), -1 - 0.25 * (-8.0 / 9 - 0.5)},
              1e-15);
    c.data[4][0] = 0;
    op_expect(&c, OP_FORWARD, &a->w, (double[]){2 - 0.125, -1 + 0.25 * 8 / 9}, 1e-15);
    op_end(&c);
}

TEST(parity)
{
    static const int64_t sizes[] = {1,   3,   5,    17,   33,   63,    64,    65,
                                    100, 127, 1000, 4097, 9973, 65600, 131113};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        op_case c;
        make(&c, sizes[i]);
        op_parity(&c, OP_FORWARD, 1e-6, OP_LARGEST);
        op_end(&c);
    }
}

/* Gradients and moments of 1e-12: their squares are near the end of float's range. */
TEST(parity_with_tiny_gradients)
{
    op_case c;
    pt_adamw_args *a = make(&c, 1000);
    op_stretch(&c, &a->g, 1e-12, 0);
    op_stretch(&c, &a->m, 1e-12, 0);
    op_stretch(&c, &a->v, 1e-24, 0);
    op_parity(&c, OP_FORWARD, 1e-6, OP_LARGEST);
    op_end(&c);
}

/* The update itself, not hidden behind a larger weight. */
TEST(parity_of_the_update)
{
    op_case c;
    pt_adamw_args *a = make(&c, 1000);
    op_stretch(&c, &a->w, 0, 0);
    op_parity(&c, OP_FORWARD, 1e-6, OP_LARGEST);
    op_end(&c);
}

TEST(decay_goes_by_block)
{
    op_case c;
    pt_adamw_args *a = make(&c, 200);
    op_stretch(&c, &a->g, 0, 0);
    op_stretch(&c, &a->m, 0, 0);
    double *w = pt_alloc(200 * sizeof(double));
    for (int i = 0; i < 200; i++)
        w[i] = c.data[0][i] * (1 - (c.data[4][i / 64] > 0 ? 0.0625 * 0.1 : 0));
    op_expect(&c, OP_FORWARD, &a->w, w, 1e-14);
    pt_free(w);
    op_end(&c);
}

/* A bad step never reaches the weights, nor the moments, whatever the gradient and the state hold. */
static void check_does_nothing(double ok, double skipped)
{
    op_case c;
    pt_adamw_args *a = make(&c, 1000);
    for (int i = 0; i < 1000; i++) c.data[1][i] = i % 2 ? PT_NAN : PT_INF;
    for (int i = 0; i < PT_STATE_COUNT; i++) c.data[5][i] = PT_NAN;
    c.data[5][PT_STATE_OK] = ok;
    c.data[5][PT_STATE_SKIPPED] = skipped;
    int n;
    const op_device *d = op_devices(&n);
    for (int k = 0; k < n; k++) {
        op_result r;
        op_run(&c, &d[k], OP_FORWARD, &r);
        for (int i = 0; i < 1000; i++) {
            CHECK(r.value[op_index(&c, &a->w)][i] == c.data[0][i]);
            CHECK(r.value[op_index(&c, &a->m)][i] == c.data[2][i]);
            CHECK(r.value[op_index(&c, &a->v)][i] == c.data[3][i]);
        }
        op_result_free(&r);
    }
    op_end(&c);
}

TEST(does_nothing_when_not_ok) { check_does_nothing(0, 0); }
TEST(does_nothing_in_a_skipped_step) { check_does_nothing(1, 1); }

TEST(nan_stays_in_its_element)
{
    op_case c;
    make(&c, 101);
    c.nan_ok = true;
    c.data[1][100] = PT_NAN;
    c.data[1][3] = PT_NAN;
    op_parity(&c, OP_FORWARD, 1e-6, OP_LARGEST);
    op_end(&c);
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_adamw_args *a = make(&c, 100);
    op_refuses_malformed(&c, PT_FORWARD, "nnnnnn-");
    add_copy(&c, a);
    CHECK(!op_refused(&c, PT_FORWARD));
    OP_REFUSES(&c, PT_FORWARD, a->copy.dtype = PT_F32);
    OP_REFUSES(&c, PT_FORWARD, a->copy.dim[0] = 99);
    OP_REFUSES(&c, PT_FORWARD, c.shift[6] = 1);
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->copy, &a->w));
    CHECK(op_refused(&c, PT_BACKWARD));
    OP_REFUSES(&c, PT_FORWARD, a->g.dim[0] = 99);
    OP_REFUSES(&c, PT_FORWARD, a->m.dim[0] = 101);
    OP_REFUSES(&c, PT_FORWARD, a->v.dim[0] = 99);
    OP_REFUSES(&c, PT_FORWARD, a->decay.dim[0] = 1);
    OP_REFUSES(&c, PT_FORWARD, a->state.dim[0] = 9);
    OP_REFUSES(&c, PT_FORWARD, a->beta1 = 1);
    OP_REFUSES(&c, PT_FORWARD, a->beta2 = -0.1);
    OP_REFUSES(&c, PT_FORWARD, a->eps = PT_NAN);
    OP_REFUSES(&c, PT_FORWARD, a->weight_decay = -1);
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->m, &a->v));
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->w, &a->g));
    op_end(&c);
}

PT_TEST_MAIN
