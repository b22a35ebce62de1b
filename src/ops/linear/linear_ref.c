/* Linear layer: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/linear/linear.h"

void PT_REF(linear_fwd)(const void *args, pt_pool *pool);
void PT_REF(linear_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_linear_args *a = args;
    int64_t N = pt_rows(&a->x), I = pt_last_dim(&a->x), O = pt_last_dim(&a->y);
    const pt_real *x = pt_reals(&a->x), *bias = pt_reals(&a->b);
    pt_real *y = pt_reals(&a->y);
    for (int64_t n = 0; n < N; n++) {
        for (int64_t o = 0; o < O; o++) {
            double sum = bias ? (double)bias[o] : 0;
            for (int64_t i = 0; i < I; i++) sum += (double)x[n * I + i] * pt_weight_at(&a->w, o, i);
            y[n * O + o] = (pt_real)sum;
        }
    }
}

static void input_gradient(const pt_linear_args *a, int64_t N, int64_t O)
{
    int64_t I = pt_last_dim(&a->dx);
    const pt_real *dy = pt_reals(&a->dy), *w = pt_reals(&a->w);
    pt_real *dx = pt_reals(&a->dx);
    for (int64_t n = 0; n < N; n++) {
        for (int64_t i = 0; i < I; i++) {
            double sum = a->dx_accumulate ? (double)dx[n * I + i] : 0;
            for (int64_t o = 0; o < O; o++) sum += (double)dy[n * O + o] * (double)w[o * I + i];
            dx[n * I + i] = (pt_real)sum;
        }
    }
}

static void weight_gradient(const pt_linear_args *a, int64_t N, int64_t O)
{
    int64_t I = pt_last_dim(&a->dw);
    const pt_real *dy = pt_reals(&a->dy), *x = pt_reals(&a->x);
    pt_real *dw = pt_reals(&a->dw);
    for (int64_t o = 0; o < O; o++) {
        for (int64_t i = 0; i < I; i++) {
            double sum = (double)dw[o * I + i];
            for (int64_t n = 0; n < N; n++) sum += (double)dy[n * O + o] * (double)x[n * I + i];
            dw[o * I + i] = (pt_real)sum;
        }
    }
}

static void bias_gradient(const pt_linear_args *a, int64_t N, int64_t O)
{
    const pt_real *dy = pt_reals(&a->dy);
    pt_real *db = pt_reals(&a->db);
    for (int64_t o = 0; o < O; o++) {
        double sum = (double)db[o];
        for (int64_t n = 0; n < N; n++) sum += (double)dy[n * O + o];
        db[o] = (pt_real)sum;
    }
}

void PT_REF(linear_bwd)(const void *args, pt_pool *pool);
void PT_REF(linear_bwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_linear_args *a = args;
    int64_t N = pt_rows(&a->dy), O = pt_last_dim(&a->dy);
    if (pt_present(&a->dx)) input_gradient(a, N, O);
    if (pt_present(&a->dw)) weight_gradient(a, N, O);
    if (pt_present(&a->db)) bias_gradient(a, N, O);
}
