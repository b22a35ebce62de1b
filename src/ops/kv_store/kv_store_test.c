/* Tests of appending to the cache. Reading it back: attention_test.c. SPDX-License-Identifier: MIT */
#include "ops/test_checks.h"

typedef struct sizes {
    int64_t B, T, G, D, S, P;
} sizes;

static pt_kv_store_args *make(op_case *c, const sizes *s)
{
    pt_kv_store_args *a = op_begin(c, PT_OP_kv_store);
    op_in(c, &a->k, s->B, s->T, s->G, s->D);
    op_in(c, &a->v, s->B, s->T, s->G, s->D);
    op_acc(c, &a->cache_k, s->S, s->G, s->P, s->D);
    op_acc(c, &a->cache_v, s->S, s->G, s->P, s->D);
    return a;
}

/* Rows at different offsets, the last at the end of the cache, in slots from the last one down. */
static void add_indices(op_case *c, pt_kv_store_args *a, const sizes *s)
{
    double *offset = op_ints(c, &a->offset, s->B, 0), *slot = op_ints(c, &a->slot, s->B, 0);
    for (int64_t b = 0; b < s->B; b++) {
        offset[b] = (double)(b == s->B - 1 ? s->P - s->T : b % (s->P - s->T + 1));
        slot[b] = (double)(s->S - 1 - b);
    }
}

TEST(hand_worked)
{
    op_case c;
    pt_kv_store_args *a = make(&c, &(sizes){1, 2, 2, 1, 2, 3});
    op_ints(&c, &a->offset, 1, 0)[0] = 1;
    op_ints(&c, &a->slot, 1, 0)[0] = 1;
    for (int i = 0; i < 4; i++) c.data[0][i] = i + 1, c.data[1][i] = 10 * (i + 1);
    for (int i = 0; i < 12; i++) c.data[4][i] = c.data[5][i] = -1;
    op_expect(&c, OP_FORWARD, &a->cache_k, (double[]){-1, -1, -1, -1, -1, -1, -1, 1, 3, -1, 2, 4},
              0);
    op_expect(&c, OP_FORWARD, &a->cache_v,
              (double[]){-1, -1, -1, -1, -1, -1, -1, 10, 30, -1, 20, 40}, 0);
    op_end(&c);
}

TEST(parity)
{
    static const sizes all[] = {{1, 1, 1, 1, 1, 1},    {1, 3, 5, 17, 2, 7},
                                {3, 5, 2, 33, 3, 5},   {2, 17, 3, 64, 5, 40},
                                {5, 1, 7, 100, 8, 33}, {1, 100, 2, 128, 1, 130}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        op_case c;
        pt_kv_store_args *a = make(&c, &all[i]);
        op_parity(&c, OP_FORWARD, 0, OP_EXACT);
        add_indices(&c, a, &all[i]);
        op_parity(&c, OP_FORWARD, 0, OP_EXACT);
        op_absent(&c, &a->offset);
        op_parity(&c, OP_FORWARD, 0, OP_EXACT);
        op_end(&c);
    }
}

TEST(nan_is_stored)
{
    op_case c;
    make(&c, &(sizes){1, 2, 2, 5, 1, 3});
    c.nan_ok = true;
    c.data[0][3] = PT_NAN;
    c.data[1][19] = PT_INF;
    op_parity(&c, OP_FORWARD, 0, OP_EXACT);
    op_end(&c);
}

TEST(refuses_bad_calls)
{
    op_case c;
    sizes s = {2, 3, 2, 4, 5, 6};
    pt_kv_store_args *a = make(&c, &s);
    add_indices(&c, a, &s);
    op_refuses_malformed(&c, PT_FORWARD, "nnoonn");
    CHECK(op_refused(&c, PT_BACKWARD));
    OP_REFUSES(&c, PT_FORWARD, a->v.dim[0] = 1);
    OP_REFUSES(&c, PT_FORWARD, a->cache_k.dim[3] = a->cache_v.dim[3] = 5);
    OP_REFUSES(&c, PT_FORWARD, a->cache_k.dim[1] = a->cache_v.dim[1] = 3);
    OP_REFUSES(&c, PT_FORWARD, a->cache_k.dim[2] = a->cache_v.dim[2] = 2);
    OP_REFUSES(&c, PT_FORWARD, a->cache_v.dim[2] = 7);
    OP_REFUSES(&c, PT_FORWARD, a->offset.dim[0] = 3);
    OP_REFUSES(&c, PT_FORWARD, a->slot.dim[0] = 1);
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->cache_v, &a->cache_k));
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->cache_k, &a->k));
    op_absent(&c, &a->slot);
    OP_REFUSES(&c, PT_FORWARD, a->cache_k.dim[0] = a->cache_v.dim[0] = 1);
    op_end(&c);
}

PT_TEST_MAIN
