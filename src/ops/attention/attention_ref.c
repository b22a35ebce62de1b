/* Attention: the definition, in the naive form. It may not allocate, so scores are computed again
 * where they are needed again. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/attention/attention.h"

/* One query: row b, time i, head h, and the keys first … p that it sees. */
typedef struct query {
    int64_t b, i, h, first, p;
} query;

static double scale_of(const pt_attention_args *a)
{
    return a->scale > 0 ? a->scale : 1 / pt_sqrt((double)a->q.dim[3]);
}

static query query_of(const pt_attention_args *a, int64_t b, int64_t i, int64_t h)
{
    query s = {b, i, h, 0, pt_int_at(&a->offset, b) + i};
    s.first = pt_int_at(&a->doc_start, b * a->q.dim[1] + i);
    if (a->window > 0) s.first = pt_max_i64(s.first, s.p - a->window + 1);
    return s;
}

/* Index of element 0 of the query's q, o, d_o and dq. */
static int64_t query_at(const pt_attention_args *a, const query *s)
{
    return ((s->b * a->q.dim[1] + s->i) * a->q.dim[2] + s->h) * a->q.dim[3];
}

/* Index of element 0 of key j as this query sees it, in k, v, dk and dv. */
static int64_t key_at(const pt_attention_args *a, const query *s, int64_t j)
{
    int64_t H = a->q.dim[2], D = a->q.dim[3];
    int64_t G = a->cached ? a->k.dim[1] : a->k.dim[2];
    int64_t g = s->h / (H / G);
    if (!a->cached) return ((s->b * a->k.dim[1] + j) * G + g) * D;
    int64_t slot = pt_present(&a->slot) ? pt_int_at(&a->slot, s->b) : s->b;
    return ((slot * G + g) * a->k.dim[2] + j) * D;
}

static int64_t lse_at(const pt_attention_args *a, const query *s)
{
    return (s->b * a->q.dim[2] + s->h) * a->q.dim[1] + s->i;
}

static double dot(const pt_real *x, const pt_real *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)x[i] * (double)y[i];
    return sum;
}

static double score(const pt_attention_args *a, const query *s, int64_t j)
{
    const pt_real *q = pt_reals(&a->q) + query_at(a, s), *k = pt_reals(&a->k) + key_at(a, s, j);
    return scale_of(a) * dot(q, k, a->q.dim[3]);
}

static double log_sum_exp(const pt_attention_args *a, const query *s)
{
    double max = score(a, s, s->first), sum = 0;
    for (int64_t j = s->first; j <= s->p; j++) {
        double z = score(a, s, j);
        if (z > max) max = z;
    }
    for (int64_t j = s->first; j <= s->p; j++) sum += pt_exp(score(a, s, j) - max);
    return max + pt_log(sum);
}

static void forward_query(const pt_attention_args *a, const query *s)
{
    int64_t D = a->q.dim[3];
    pt_real *o = pt_reals(&a->o) + query_at(a, s);
    double lse = log_sum_exp(a, s);
    double sum[256] = {0}; /* D <= 256 */
    for (int64_t j = s->first; j <= s->p; j++) {
        const pt_real *v = pt_reals(&a->v) + key_at(a, s, j);
        double weight = pt_exp(score(a, s, j) - lse);
        for (int64_t d = 0; d < D; d++) sum[d] += weight * (double)v[d];
    }
    for (int64_t d = 0; d < D; d++) o[d] = (pt_real)sum[d];
    if (pt_present(&a->lse)) pt_reals(&a->lse)[lse_at(a, s)] = (pt_real)lse;
}

void PT_REF(attention_fwd)(const void *args, pt_pool *pool);
void PT_REF(attention_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_attention_args *a = args;
    for (int64_t b = 0; b < a->q.dim[0]; b++) {
        for (int64_t i = 0; i < a->q.dim[1]; i++) {
            for (int64_t h = 0; h < a->q.dim[2]; h++) {
                query s = query_of(a, b, i, h);
                forward_query(a, &s);
            }
        }
    }
}

/* P_ij and dS_ij of one pair. */
static void pair(const pt_attention_args *a, const query *s, int64_t j, double *weight, double *ds)
{
    int64_t D = a->q.dim[3], at = query_at(a, s);
    const pt_real *d_o = pt_reals(&a->d_o) + at, *o = pt_reals(&a->o) + at;
    const pt_real *v = pt_reals(&a->v) + key_at(a, s, j);
    *weight = pt_exp(score(a, s, j) - (double)pt_reals(&a->lse)[lse_at(a, s)]);
    *ds = *weight * (dot(d_o, v, D) - dot(d_o, o, D));
}

static void query_gradient(const pt_attention_args *a, const query *s)
{
    int64_t D = a->q.dim[3];
    pt_real *dq = pt_reals(&a->dq) + query_at(a, s);
    double sum[256] = {0}, weight, ds;
    for (int64_t j = s->first; j <= s->p; j++) {
        const pt_real *k = pt_reals(&a->k) + key_at(a, s, j);
        pair(a, s, j, &weight, &ds);
        for (int64_t d = 0; d < D; d++) sum[d] += scale_of(a) * ds * (double)k[d];
    }
    for (int64_t d = 0; d < D; d++) dq[d] = (pt_real)sum[d];
}

/* dk and dv of key j of kv head g: sums over the heads of its group and the queries that see it. */
static void key_gradient(const pt_attention_args *a, int64_t b, int64_t j, int64_t g)
{
    int64_t T = a->q.dim[1], H = a->q.dim[2], D = a->q.dim[3], G = a->k.dim[2];
    int64_t at = ((b * T + j) * G + g) * D;
    double sum_k[256] = {0}, sum_v[256] = {0}, weight, ds;
    for (int64_t h = g * (H / G); h < (g + 1) * (H / G); h++) {
        for (int64_t i = j; i < T; i++) {
            query s = query_of(a, b, i, h);
            if (j < s.first) continue;
            pair(a, &s, j, &weight, &ds);
            const pt_real *q = pt_reals(&a->q) + query_at(a, &s);
            const pt_real *d_o = pt_reals(&a->d_o) + query_at(a, &s);
            for (int64_t d = 0; d < D; d++) sum_k[d] += scale_of(a) * ds * (double)q[d];
            for (int64_t d = 0; d < D; d++) sum_v[d] += weight * (double)d_o[d];
        }
    }
    for (int64_t d = 0; d < D; d++) pt_reals(&a->dk)[at + d] = (pt_real)sum_k[d];
    for (int64_t d = 0; d < D; d++) pt_reals(&a->dv)[at + d] = (pt_real)sum_v[d];
}

void PT_REF(attention_bwd)(const void *args, pt_pool *pool);
void PT_REF(attention_bwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_attention_args *a = args;
    for (int64_t b = 0; b < a->q.dim[0]; b++) {
        for (int64_t t = 0; t < a->q.dim[1]; t++) {
            for (int64_t h = 0; h < a->q.dim[2]; h++) {
                query s = query_of(a, b, t, h);
                query_gradient(a, &s);
            }
            for (int64_t g = 0; g < a->k.dim[2]; g++) key_gradient(a, b, t, g);
        }
    }
}
