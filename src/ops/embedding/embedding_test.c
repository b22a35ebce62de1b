/* Tests of the token and position embedding. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

/* Random ids below V; positions below P = T + 4 as long as offsets are at most 4. */
static pt_embedding_args *make(op_case *c, int64_t B, int64_t T, int64_t C, int64_t V)
{
    pt_embedding_args *a = op_begin(c, PT_OP_embedding);
    double *ids = op_ints(c, &a->ids, B, T);
    for (int64_t i = 0; i < B * T; i++)
        ids[i] = (double)(int64_t)(pt_rng_uniform(1, PT_STREAM_TEST, 0, (uint64_t)i) * (double)V);
    op_in(c, &a->token, V, C, 0, 0);
    op_in(c, &a->position, T + 4, C, 0, 0);
    op_out(c, &a->x, B, T, C, 0);
    op_in(c, &a->dx, B, T, C, 0);
    op_acc(c, &a->dtoken, V, C, 0, 0);
    op_acc(c, &a->dposition, T + 4, C, 0, 0);
    op_pair_out(c, &a->x, &a->dx);
    op_pair_in(c, &a->token, &a->dtoken);
    op_pair_in(c, &a->position, &a->dposition);
    return a;
}

static void add_positions(op_case *c, pt_embedding_args *a, int64_t B, int64_t T)
{
    double *offset = op_ints(c, &a->offset, B, 0);
    for (int64_t b = 0; b < B; b++) offset[b] = (double)((b * 3) % 5);
    op_fill_doc_start(op_ints(c, &a->doc_start, B, T), offset, B, T);
}

TEST(hand_worked)
{
    op_case c;
    pt_embedding_args *a = make(&c, 1, 3, 2, 3);
    memcpy(c.data[0], (double[]){2, 0, 2}, 3 * sizeof(double));
    memcpy(c.data[1], (double[]){1, 2, 3, 4, 5, 6}, 6 * sizeof(double));
    for (int i = 0; i < 14; i++) c.data[2][i] = 10 * i;
    double *start = op_ints(&c, &a->doc_start, 1, 3);
    start[0] = start[1] = 5, start[2] = 7; /* positions 0, 1, 0 */
    op_ints(&c, &a->offset, 1, 0)[0] = 5;
    memcpy(c.data[6], (double[]){1, 2, 3, 4, 5, 6}, 6 * sizeof(double));
    memset(c.data[7], 0, 6 * sizeof(double));
    memset(c.data[8], 0, 14 * sizeof(double));
    c.data[7][0] = 100;
    op_expect(&c, OP_BOTH, &a->x, (double[]){5, 16, 21, 32, 5, 16}, 0);
    op_expect(&c, OP_BOTH, &a->dtoken, (double[]){103, 4, 0, 0, 6, 8}, 0);
    op_expect(&c, OP_BOTH, &a->dposition, (double[14]){6, 8, 3, 4}, 0);
    op_end(&c);
}

TEST(gradients)
{
    op_case c;
    pt_embedding_args *a = make(&c, 2, 5, 3, 4);
    op_gradcheck(&c, 1e-8);
    add_positions(&c, a, 2, 5);
    op_gradcheck(&c, 1e-8);
    op_end(&c);
}

TEST(parity)
{
    static const int64_t shapes[][4] = {{1, 1, 1, 1},    {1, 3, 5, 2},       {3, 5, 17, 33},
                                        {2, 33, 64, 5},  {1, 17, 100, 300},  {5, 64, 33, 7},
                                        {2, 257, 48, 1}, {4, 128, 97, 1000}, {3, 700, 5, 50}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const int64_t *s = shapes[i];
        op_case c;
        pt_embedding_args *a = make(&c, s[0], s[1], s[2], s[3]);
        op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
        add_positions(&c, a, s[0], s[1]);
        op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
        op_end(&c);
    }
}

TEST(absent_tensors)
{
    for (int wanted = 0; wanted < 8; wanted++) {
        op_case c;
        pt_embedding_args *a = make(&c, 3, 17, 19, 11);
        if (!(wanted & 1)) op_absent(&c, &a->dtoken);
        if (!(wanted & 2)) op_absent(&c, &a->dposition);
        if (!(wanted & 4)) op_absent(&c, &a->position);
        op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
        op_absent(&c, &a->token); /* the backward pass needs neither table */
        op_absent(&c, &a->position);
        op_absent(&c, &a->x);
        op_parity(&c, OP_BACKWARD, 1e-6, OP_LARGEST);
        op_end(&c);
    }
}

TEST(nan_stays_in_its_rows)
{
    op_case c;
    pt_embedding_args *a = make(&c, 2, 9, 19, 4);
    c.nan_ok = true;
    c.data[op_index(&c, &a->token)][19 + 18] = PT_NAN;
    c.data[op_index(&c, &a->dx)][0] = PT_INF;
    op_parity(&c, OP_BOTH, 1e-6, OP_LARGEST);
    op_end(&c);
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_embedding_args *a = make(&c, 2, 5, 3, 4);
    add_positions(&c, a, 2, 5);
    op_refuses_malformed(&c, PT_FORWARD, "nnooon---");
    op_refuses_malformed(&c, PT_BACKWARD, "n--oo-noo");
    OP_REFUSES(&c, PT_FORWARD, a->token.dim[1] = 4);
    OP_REFUSES(&c, PT_FORWARD, a->position.dim[1] = 2);
    OP_REFUSES(&c, PT_FORWARD, a->x.dim[1] = 4);
    OP_REFUSES(&c, PT_FORWARD, a->offset.dim[0] = 3);
    OP_REFUSES(&c, PT_FORWARD, a->doc_start.dim[0] = 1);
    OP_REFUSES(&c, PT_FORWARD, a->ids.rank = 3);
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->x, &a->token));
    OP_REFUSES(&c, PT_BACKWARD, a->dtoken.dim[1] = 4);
    OP_REFUSES(&c, PT_BACKWARD, a->dposition.dim[1] = 4);
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->dposition, &a->dtoken));
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->dtoken, &a->dx));
    op_end(&c);
}

PT_TEST_MAIN
