/* Tests of attention. SPDX-License-Identifier: MIT */
#include <math.h>

#include "ops/test_checks.h"

typedef struct sizes {
    int64_t B, T, H, G, D;
} sizes;

static pt_attention_args *make(op_case *c, const sizes *s)
{
    pt_attention_args *a = op_begin(c, PT_OP_attention);
    op_in(c, &a->q, s->B, s->T, s->H, s->D);
    op_in(c, &a->k, s->B, s->T, s->G, s->D);
    op_in(c, &a->v, s->B, s->T, s->G, s->D);
    op_out(c, &a->o, s->B, s->T, s->H, s->D);
    op_out(c, &a->lse, s->B, s->H, s->T, 0);
    op_in(c, &a->d_o, s->B, s->T, s->H, s->D);
    op_out(c, &a->dq, s->B, s->T, s->H, s->D);
    op_out(c, &a->dk, s->B, s->T, s->G, s->D);
    op_out(c, &a->dv, s->B, s->T, s->G, s->D);
    op_work(c, &a->delta, s->B, s->H, s->T, 0);
    op_pair_out(c, &a->o, &a->d_o);
    op_pair_in(c, &a->q, &a->dq);
    op_pair_in(c, &a->k, &a->dk);
    op_pair_in(c, &a->v, &a->dv);
    return a;
}

static void forward_only(op_case *c, pt_attention_args *a)
{
    op_absent(c, &a->d_o);
    op_absent(c, &a->dq);
    op_absent(c, &a->dk);
    op_absent(c, &a->dv);
    op_absent(c, &a->delta);
}

static void add_doc_start(op_case *c, pt_attention_args *a)
{
    int64_t B = a->q.dim[0], T = a->q.dim[1];
    op_fill_doc_start(op_ints(c, &a->doc_start, B, T), NULL, B, T);
}

/* Two tokens, one channel, q = 1, k = 0 and log 3: the second query sees weights 1/4 and 3/4. */
TEST(hand_worked)
{
    op_case c;
    pt_attention_args *a = make(&c, &(sizes){1, 2, 1, 1, 1});
    double l3 = (double)(float)log(3);
    memcpy(c.data[0], (double[]){1, 1}, 2 * sizeof(double));
    memcpy(c.data[1], (double[]){0, l3}, 2 * sizeof(double));
    memcpy(c.data[2], (double[]){8, 4}, 2 * sizeof(double));
    memcpy(c.data[op_index(&c, &a->d_o)], (double[]){10, 1}, 2 * sizeof(double));
    /* dS of the second query: P (dO v - D), D = o = 5: 1/4 * 3 and 3/4 * -1 */
    op_expect(&c, OP_BOTH, &a->o, (double[]){8, 5}, 1e-6);
    op_expect(&c, OP_BOTH, &a->lse, (double[]){0, log(4)}, 1e-7);
    op_expect(&c, OP_BOTH, &a->dv, (double[]){10.25, 0.75}, 1e-7);
    op_expect(&c, OP_BOTH, &a->dq, (double[]){0, -0.75 * l3}, 1e-6);
    op_expect(&c, OP_BOTH, &a->dk, (double[]){0.75, -0.75}, 1e-6);
    op_end(&c);
}

TEST(gradients)
{
    static const sizes all[] = {{1, 2, 1, 1, 1}, {2, 5, 4, 2, 3}, {1, 7, 3, 1, 4}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (int form = 0; form < 4; form++) {
            op_case c;
            pt_attention_args *a = make(&c, &all[i]);
            if (form & 1) a->window = 3;
            if (form & 2) add_doc_start(&c, a);
            if (form == 3) a->scale = 0.7;
            op_gradcheck(&c, 2e-8);
            op_end(&c);
        }
    }
}

TEST(parity)
{
    static const sizes all[] = {{1, 1, 1, 1, 1},    {1, 3, 2, 2, 5},    {3, 5, 4, 2, 17},
                                {2, 17, 3, 1, 33},  {1, 33, 6, 2, 64},  {2, 64, 2, 2, 16},
                                {1, 100, 3, 3, 31}, {1, 97, 4, 1, 8},   {1, 65, 2, 1, 128},
                                {1, 5, 1, 1, 256},  {1, 131, 2, 1, 24}, {1, 300, 1, 1, 16}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (int form = 0; form < 4; form++) {
            op_case c;
            pt_attention_args *a = make(&c, &all[i]);
            if (form & 1) a->window = 1 + 7 * (int64_t)i;
            if (form & 2) add_doc_start(&c, a);
            op_parity(&c, OP_BOTH, 2e-5, OP_LARGEST);
            op_end(&c);
        }
    }
}

TEST(long_documents_and_windows)
{
    op_case c;
    pt_attention_args *a = make(&c, &(sizes){1, 260, 2, 1, 16});
    double *start = op_ints(&c, &a->doc_start, 1, 260);
    for (int t = 0; t < 260; t++) start[t] = t < 64 ? 0 : t < 191 ? 64 : 191;
    op_parity(&c, OP_BOTH, 2e-5, OP_LARGEST);
    a->window = 100;
    op_parity(&c, OP_BOTH, 2e-5, OP_LARGEST);
    op_end(&c);
}

/* Scores near +-1000 of one sign and the other: exp must not overflow. */
TEST(large_scores)
{
    op_case c;
    pt_attention_args *a = make(&c, &(sizes){1, 70, 2, 1, 16});
    op_stretch(&c, &a->q, 30, 0);
    op_stretch(&c, &a->k, 8, 0);
    forward_only(&c, a);
    op_absent(&c, &a->lse);
    op_parity(&c, OP_FORWARD, 1e-3, OP_LARGEST); /* a score of 1000 is exact to 1e-4 in float */
    op_end(&c);
}

TEST(window_of_one_and_documents_of_one_copy_v)
{
    for (int i = 0; i < 2; i++) {
        op_case c;
        pt_attention_args *a = make(&c, &(sizes){1, 19, 2, 2, 5});
        if (i) a->window = 1;
        double *start = op_ints(&c, &a->doc_start, 1, 19);
        for (int t = 0; t < 19 && !i; t++) start[t] = t;
        forward_only(&c, a);
        op_expect(&c, OP_FORWARD, &a->o, c.data[2], 1e-15);
        op_end(&c);
    }
}

/* Takes rows first … first+n-1 of a (B=1,T,…) tensor out of `from` into `to`. */
static void cut(op_case *to, const op_case *from, const pt_tensor *t, const pt_tensor *in,
                int64_t first)
{
    int64_t inner = t->dim[2] * t->dim[3];
    memcpy(to->data[op_index(to, t)], from->data[op_index(from, in)] + first * inner,
           (size_t)pt_numel(t) * sizeof(double));
}

TEST(packed_documents_equal_separate_ones)
{
    static const int64_t length[3] = {5, 1, 34};
    op_case c;
    pt_attention_args *a = make(&c, &(sizes){1, 40, 4, 2, 19});
    double *start = op_ints(&c, &a->doc_start, 1, 40);
    for (int t = 0; t < 40; t++) start[t] = t < 5 ? 0 : t < 6 ? 5 : 6;
    int n;
    const op_device *d = op_devices(&n);
    for (int k = 0; k < n; k++) {
        op_result packed, single;
        op_run(&c, &d[k], OP_BOTH, &packed);
        for (int64_t i = 0, first = 0; i < 3; first += length[i++]) {
            op_case s;
            pt_attention_args *b = make(&s, &(sizes){1, length[i], 4, 2, 19});
            cut(&s, &c, &b->q, &a->q, first);
            cut(&s, &c, &b->k, &a->k, first);
            cut(&s, &c, &b->v, &a->v, first);
            cut(&s, &c, &b->d_o, &a->d_o, first);
            op_run(&s, &d[k], OP_BOTH, &single);
            const pt_tensor *outs[] = {&b->o, &b->dq, &b->dk, &b->dv};
            for (int j = 0; j < 4; j++) {
                int at = op_index(&s, outs[j]);
                const double *part = packed.value[at] + first * outs[j]->dim[2] * outs[j]->dim[3];
                op_compare_values(&s, &d[k], at, single.value[at], part, (double[]){1e-5, 0});
            }
            op_result_free(&single);
            op_end(&s);
        }
        op_result_free(&packed);
    }
    op_end(&c);
}

/* ---- the cache ---- */

enum { CACHE_S = 5, CACHE_P = 48 };

/* The parts in which the rows of the uncached case reach the cache. */
typedef struct part {
    int64_t first, n;
} part;

/* Cuts tokens first … of every row of a (B,T,…) tensor. */
static void cut_rows(double *to, const double *from, const pt_tensor *t, part p)
{
    int64_t T = t->dim[1], inner = t->dim[2] * t->dim[3];
    for (int64_t b = 0; b < t->dim[0]; b++)
        memcpy(to + b * p.n * inner, from + (b * T + p.first) * inner,
               (size_t)(p.n * inner) * sizeof(double));
}

/* Appends one part to the caches (S,G,P,D) in cache[0] and cache[1] by kv_store. */
static void store(const op_case *c, const op_device *d, part p, const double *slot,
                  double *cache[2])
{
    const pt_attention_args *a = (const pt_attention_args *)c->args.bytes;
    int64_t B = a->k.dim[0], G = a->k.dim[2], D = a->k.dim[3];
    size_t bytes = (size_t)(CACHE_S * G * CACHE_P * D) * sizeof(double);
    op_case s;
    op_result r;
    pt_kv_store_args *b = op_begin(&s, PT_OP_kv_store);
    cut_rows(op_in(&s, &b->k, B, p.n, G, D), c->data[1], &a->k, p);
    cut_rows(op_in(&s, &b->v, B, p.n, G, D), c->data[2], &a->v, p);
    memcpy(op_acc(&s, &b->cache_k, CACHE_S, G, CACHE_P, D), cache[0], bytes);
    memcpy(op_acc(&s, &b->cache_v, CACHE_S, G, CACHE_P, D), cache[1], bytes);
    double *offset = op_ints(&s, &b->offset, B, 0);
    for (int64_t i = 0; i < B; i++) offset[i] = (double)p.first;
    memcpy(op_ints(&s, &b->slot, B, 0), slot, (size_t)B * sizeof(double));
    op_run(&s, d, OP_FORWARD, &r);
    memcpy(cache[0], r.value[4], bytes);
    memcpy(cache[1], r.value[5], bytes);
    op_result_free(&r);
    op_end(&s);
}

/* Attention of one part's queries over the cache against the same rows of the uncached result. */
static void attend(const op_case *c, const op_device *d, part p, const double *slot,
                   double *const cache[2], const double *uncached)
{
    const pt_attention_args *a = (const pt_attention_args *)c->args.bytes;
    int64_t B = a->q.dim[0], T = a->q.dim[1], H = a->q.dim[2], G = a->k.dim[2], D = a->q.dim[3];
    size_t bytes = (size_t)(CACHE_S * G * CACHE_P * D) * sizeof(double);
    op_case s;
    op_result r;
    pt_attention_args *b = op_begin(&s, PT_OP_attention);
    cut_rows(op_in(&s, &b->q, B, p.n, H, D), c->data[0], &a->q, p);
    memcpy(op_in(&s, &b->k, CACHE_S, G, CACHE_P, D), cache[0], bytes);
    memcpy(op_in(&s, &b->v, CACHE_S, G, CACHE_P, D), cache[1], bytes);
    op_out(&s, &b->o, B, p.n, H, D);
    double *offset = op_ints(&s, &b->offset, B, 0);
    for (int64_t i = 0; i < B; i++) offset[i] = (double)p.first;
    memcpy(op_ints(&s, &b->slot, B, 0), slot, (size_t)B * sizeof(double));
    if (pt_numel(&a->doc_start) == B * T && c->role[3] != OP_ROLE_ABSENT) {
        double *start = op_ints(&s, &b->doc_start, B, p.n);
        for (int64_t i = 0; i < B * p.n; i++)
            start[i] = c->data[3][i / p.n * T + p.first + i % p.n];
    }
    b->cached = true;
    b->window = a->window;
    double *want = pt_alloc((size_t)pt_numel(&b->o) * sizeof(double));
    cut_rows(want, uncached, &a->q, p);
    op_run(&s, d, OP_FORWARD, &r);
    op_compare_values(&s, d, op_index(&s, &b->o), r.value[op_index(&s, &b->o)], want,
                      (double[]){1e-5, 0});
    op_result_free(&r);
    pt_free(want);
    op_end(&s);
}

/* Prefill, single tokens, and a few at once; unused cache entries hold NaN and must not be seen. */
static void check_cache(const op_case *c)
{
    static const part parts[] = {{0, 17}, {17, 1}, {18, 1}, {19, 3}, {22, 18}};
    static const double slot[] = {3, 0, 4};
    const pt_attention_args *a = (const pt_attention_args *)c->args.bytes;
    int64_t n_cache = CACHE_S * a->k.dim[2] * CACHE_P * a->k.dim[3];
    int n;
    const op_device *d = op_devices(&n);
    for (int k = 0; k < n; k++) {
        double *cache[2];
        op_result uncached;
        op_run(c, &d[k], OP_FORWARD, &uncached);
        for (int i = 0; i < 2; i++) {
            cache[i] = pt_alloc((size_t)n_cache * sizeof(double));
            for (int64_t e = 0; e < n_cache; e++) cache[i][e] = PT_NAN;
        }
        for (int i = 0; i < 5; i++) {
            store(c, &d[k], parts[i], slot, cache);
            attend(c, &d[k], parts[i], slot, cache, uncached.value[op_index(c, &a->o)]);
        }
        pt_free(cache[0]);
        pt_free(cache[1]);
        op_result_free(&uncached);
    }
}

TEST(cached_equals_uncached)
{
    static const sizes all[] = {{1, 40, 1, 1, 8}, {3, 40, 4, 2, 19}, {2, 40, 6, 1, 64}};
    for (int i = 0; i < 3; i++) {
        for (int form = 0; form < 4; form++) {
            op_case c;
            pt_attention_args *a = make(&c, &all[i]);
            forward_only(&c, a);
            if (form & 1) a->window = 9;
            if (form & 2) add_doc_start(&c, a);
            check_cache(&c);
            op_end(&c);
        }
    }
}

/* Rows of different ages in one call, without slots and without offsets too. */
TEST(ragged_cache_parity)
{
    static const sizes all[] = {
        {1, 1, 1, 1, 1}, {3, 1, 4, 2, 64}, {4, 5, 6, 2, 33}, {2, 17, 3, 3, 100}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const sizes *s = &all[i];
        op_case c;
        pt_attention_args *a = op_begin(&c, PT_OP_attention);
        op_in(&c, &a->q, s->B, s->T, s->H, s->D);
        op_in(&c, &a->k, s->B + 1, s->G, 150, s->D);
        op_in(&c, &a->v, s->B + 1, s->G, 150, s->D);
        op_out(&c, &a->o, s->B, s->T, s->H, s->D);
        op_out(&c, &a->lse, s->B, s->H, s->T, 0);
        a->cached = true;
        op_parity(&c, OP_FORWARD, 2e-5, OP_LARGEST);
        double *offset = op_ints(&c, &a->offset, s->B, 0);
        for (int64_t b = 0; b < s->B; b++) offset[b] = (double)(b == 1 ? 150 - s->T : 61 * b % 130);
        op_parity(&c, OP_FORWARD, 2e-5, OP_LARGEST);
        double *slot = op_ints(&c, &a->slot, s->B, 0);
        for (int64_t b = 0; b < s->B; b++) slot[b] = (double)(s->B - b);
        op_parity(&c, OP_FORWARD, 2e-5, OP_LARGEST);
        a->window = 40;
        op_parity(&c, OP_FORWARD, 2e-5, OP_LARGEST);
        op_fill_doc_start(op_ints(&c, &a->doc_start, s->B, s->T), offset, s->B, s->T);
        op_parity(&c, OP_FORWARD, 2e-5, OP_LARGEST);
        op_end(&c);
    }
}

/* ---- NaN ---- */

/* A NaN in k or v at position 20 is seen by the queries from 20 on, and by no earlier one, although a blocked
 * kernel multiplies its masked weights of 0 with it. Documents and windows hide it likewise. */
TEST(nan_is_seen_by_those_who_look)
{
    for (int i = 0; i < 8; i++) {
        op_case c;
        pt_attention_args *a = make(&c, &(sizes){1, 70, 2, 1, 19});
        forward_only(&c, a);
        c.nan_ok = true;
        c.data[1 + i % 2][20 * 19 + 3] = i & 4 ? PT_INF : PT_NAN;
        if (i & 2) a->window = 30;
        op_parity(&c, OP_FORWARD, 2e-5, OP_LARGEST);
        op_result r;
        op_run(&c, op_ref64(), OP_FORWARD, &r);
        const double *o = r.value[op_index(&c, &a->o)];
        CHECK(pt_is_finite(o[19 * 38 + 3]) && !(i < 4 && pt_is_finite(o[20 * 38 + 3])));
        CHECK(pt_is_finite(o[60 * 38 + 3]) == ((i & 2) != 0) || i >= 4);
        op_result_free(&r);
        op_end(&c);
    }
}

TEST(nan_in_d_o_reaches_the_keys_it_saw)
{
    op_case c;
    pt_attention_args *a = make(&c, &(sizes){1, 70, 2, 1, 19});
    double *start = op_ints(&c, &a->doc_start, 1, 70);
    for (int t = 0; t < 70; t++) start[t] = t < 33 ? 0 : 33;
    c.nan_ok = true;
    c.data[op_index(&c, &a->d_o)][40 * 38 + 5] = PT_NAN;
    op_parity(&c, OP_BOTH, 2e-5, OP_LARGEST);
    op_result r;
    op_run(&c, op_ref64(), OP_BOTH, &r);
    const double *dk = r.value[op_index(&c, &a->dk)];
    CHECK(pt_is_nan(dk[40 * 19]) && pt_is_nan(dk[33 * 19]));
    CHECK(pt_is_finite(dk[41 * 19]) && pt_is_finite(dk[32 * 19]));
    op_result_free(&r);
    op_end(&c);
}

TEST(refuses_bad_calls)
{
    op_case c;
    pt_attention_args *a = make(&c, &(sizes){2, 5, 4, 2, 3});
    add_doc_start(&c, a);
    op_refuses_malformed(&c, PT_FORWARD, "nnno--no-----");
    op_refuses_malformed(&c, PT_BACKWARD, "nnno--nnnnnnn");
    OP_REFUSES(&c, PT_FORWARD, a->k.dim[1] = a->v.dim[1] = 6);
    OP_REFUSES(&c, PT_FORWARD, a->k.dim[2] = a->v.dim[2] = 3);
    OP_REFUSES(&c, PT_FORWARD, a->v.dim[0] = 1);
    OP_REFUSES(&c, PT_FORWARD, a->k.dim[3] = a->v.dim[3] = 4);
    OP_REFUSES(&c, PT_FORWARD, a->q.dim[3] = a->k.dim[3] = a->v.dim[3] = a->o.dim[3] = 257);
    OP_REFUSES(&c, PT_FORWARD, a->o.dim[2] = 5);
    OP_REFUSES(&c, PT_FORWARD, a->lse.dim[2] = 4);
    OP_REFUSES(&c, PT_FORWARD, a->doc_start.dim[1] = 4);
    OP_REFUSES(&c, PT_FORWARD, a->window = -1);
    OP_REFUSES(&c, PT_FORWARD, a->scale = -0.5);
    OP_REFUSES(&c, PT_FORWARD, a->scale = PT_NAN);
    OP_REFUSES(&c, PT_FORWARD, op_alias(&c, &a->o, &a->q));
    OP_REFUSES(&c, PT_BACKWARD, a->d_o.dim[1] = 4);
    OP_REFUSES(&c, PT_BACKWARD, a->dq.dim[1] = 4);
    OP_REFUSES(&c, PT_BACKWARD, a->dk.dim[2] = 4);
    OP_REFUSES(&c, PT_BACKWARD, a->dv.dim[2] = 1);
    OP_REFUSES(&c, PT_BACKWARD, a->delta.dim[0] = 1);
    OP_REFUSES(&c, PT_BACKWARD, a->cached = true);
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->dv, &a->dk));
    OP_REFUSES(&c, PT_BACKWARD, op_alias(&c, &a->delta, &a->lse));
    op_ints(&c, &a->offset, 2, 0);
    CHECK(op_refused(&c, PT_FORWARD)); /* not cached */
    op_absent(&c, &a->offset);
    op_ints(&c, &a->slot, 2, 0);
    CHECK(op_refused(&c, PT_FORWARD));
    op_end(&c);
}

TEST(refuses_bad_cached_calls)
{
    op_case c;
    pt_attention_args *a = op_begin(&c, PT_OP_attention);
    op_in(&c, &a->q, 2, 3, 4, 5);
    op_in(&c, &a->k, 6, 2, 7, 5);
    op_in(&c, &a->v, 6, 2, 7, 5);
    op_out(&c, &a->o, 2, 3, 4, 5);
    op_ints(&c, &a->offset, 2, 0);
    op_ints(&c, &a->slot, 2, 0);
    a->cached = true;
    CHECK(!op_refused(&c, PT_FORWARD));
    OP_REFUSES(&c, PT_FORWARD, a->k.dim[2] = a->v.dim[2] = 2);
    OP_REFUSES(&c, PT_FORWARD, a->k.dim[1] = a->v.dim[1] = 3);
    OP_REFUSES(&c, PT_FORWARD, a->offset.dim[0] = 3);
    OP_REFUSES(&c, PT_FORWARD, a->slot.dim[0] = 1);
    OP_REFUSES(&c, PT_FORWARD, a->cached = false);
    op_absent(&c, &a->slot);
    OP_REFUSES(&c, PT_FORWARD, a->k.dim[0] = a->v.dim[0] = 1);
    op_end(&c);
}

PT_TEST_MAIN
