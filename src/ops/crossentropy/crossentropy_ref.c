/* The chunked head: the definition. Logits are computed again where they are needed again, in double;
 * the workspace only holds dz in the backward pass. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/crossentropy/crossentropy.h"

static double logit(const pt_crossentropy_args *a, int64_t n, int64_t v)
{
    int64_t C = pt_last_dim(&a->x);
    const pt_real *x = pt_reals(&a->x) + n * C;
    double sum = 0;
    for (int64_t c = 0; c < C; c++) sum += (double)x[c] * pt_weight_at(&a->w, v, c);
    return sum;
}

static double log_sum_exp(const pt_crossentropy_args *a, int64_t n)
{
    int64_t V = pt_rows(&a->w);
    double max = logit(a, n, 0), sum = 0;
    for (int64_t v = 1; v < V; v++) {
        double z = logit(a, n, v);
        if (z > max) max = z;
    }
    for (int64_t v = 0; v < V; v++) sum += pt_exp(logit(a, n, v) - max);
    return max + pt_log(sum);
}

/* Writes logp and lse of row n where they are present; returns lse. */
static double forward_row(const pt_crossentropy_args *a, int64_t n)
{
    int64_t target = pt_int_at(&a->target, n);
    double lse = target < 0 ? 0 : log_sum_exp(a, n);
    double logp = target < 0 ? 0 : logit(a, n, target) - lse;
    if (pt_present(&a->logp)) pt_reals(&a->logp)[n] = (pt_real)logp;
    if (pt_present(&a->lse)) pt_reals(&a->lse)[n] = (pt_real)lse;
    return lse;
}

void PT_REF(crossentropy_fwd)(const void *args, pt_pool *pool);
void PT_REF(crossentropy_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_crossentropy_args *a = args;
    for (int64_t n = 0; n < pt_rows(&a->x); n++) forward_row(a, n);
}

/* dL/dz of row n into dz (V); zeros when it is masked. */
static void logit_gradient(const pt_crossentropy_args *a, int64_t n, pt_real *dz)
{
    int64_t V = pt_rows(&a->w), target = pt_int_at(&a->target, n);
    double lse = forward_row(a, n), coef = (double)pt_reals(&a->coef)[n];
    for (int64_t v = 0; v < V; v++)
        dz[v] = (pt_real)(target < 0 ? 0 : coef * ((v == target) - pt_exp(logit(a, n, v) - lse)));
}

/* Rows first … first+R-1, whose dz is in the workspace. Masked rows are skipped, not multiplied. */
static void input_gradient(const pt_crossentropy_args *a, int64_t first, int64_t R)
{
    int64_t C = pt_last_dim(&a->x), V = pt_rows(&a->w);
    const pt_real *dz = pt_reals(&a->logits), *w = pt_reals(&a->w);
    pt_real *dx = pt_reals(&a->dx) + first * C;
    for (int64_t r = 0; r < R; r++) {
        bool masked = pt_int_at(&a->target, first + r) < 0;
        for (int64_t c = 0; c < C; c++) {
            double sum = 0;
            for (int64_t v = 0; v < V && !masked; v++)
                sum += (double)dz[r * V + v] * (double)w[v * C + c];
            dx[r * C + c] = (pt_real)sum;
        }
    }
}

static void weight_gradient(const pt_crossentropy_args *a, int64_t first, int64_t R)
{
    int64_t C = pt_last_dim(&a->x), V = pt_rows(&a->w);
    const pt_real *dz = pt_reals(&a->logits), *x = pt_reals(&a->x) + first * C;
    pt_real *dw = pt_reals(&a->dw);
    for (int64_t v = 0; v < V; v++) {
        for (int64_t c = 0; c < C; c++) {
            double sum = (double)dw[v * C + c];
            for (int64_t r = 0; r < R; r++)
                if (pt_int_at(&a->target, first + r) >= 0)
                    sum += (double)dz[r * V + v] * (double)x[r * C + c];
            dw[v * C + c] = (pt_real)sum;
        }
    }
}

void PT_REF(crossentropy_bwd)(const void *args, pt_pool *pool);
void PT_REF(crossentropy_bwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_crossentropy_args *a = args;
    int64_t N = pt_rows(&a->x), V = pt_rows(&a->w), chunk = pt_rows(&a->logits);
    for (int64_t first = 0; first < N; first += chunk) {
        int64_t R = pt_min_i64(chunk, N - first);
        for (int64_t r = 0; r < R; r++) logit_gradient(a, first + r, pt_reals(&a->logits) + r * V);
        if (pt_present(&a->dx)) input_gradient(a, first, R);
        if (pt_present(&a->dw)) weight_gradient(a, first, R);
    }
}
