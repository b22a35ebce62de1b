/* RMS normalisation: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/rmsnorm/rmsnorm.h"

void PT_REF(rmsnorm_fwd)(const void *args, pt_pool *pool);
void PT_REF(rmsnorm_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_rmsnorm_args *a = args;
    int64_t N = pt_rows(&a->x), C = pt_last_dim(&a->x);
    const pt_real *w = pt_reals(&a->w);
    for (int64_t n = 0; n < N; n++) {
        const pt_real *x = pt_reals(&a->x) + n * C;
        pt_real *y = pt_reals(&a->y) + n * C;
        double sum = 0;
        for (int64_t c = 0; c < C; c++) sum += (double)x[c] * (double)x[c];
        double rstd = 1 / pt_sqrt(sum / (double)C + a->eps);
        for (int64_t c = 0; c < C; c++) y[c] = (pt_real)((double)x[c] * rstd * (double)w[c]);
        pt_reals(&a->rstd)[n] = (pt_real)rstd;
    }
}

static void weight_gradient(const pt_rmsnorm_args *a, int64_t N, int64_t C)
{
    const pt_real *x = pt_reals(&a->x), *dy = pt_reals(&a->dy), *rstd = pt_reals(&a->rstd);
    pt_real *dw = pt_reals(&a->dw);
    for (int64_t c = 0; c < C; c++) {
        double sum = (double)dw[c];
        for (int64_t n = 0; n < N; n++)
            sum += (double)dy[n * C + c] * (double)x[n * C + c] * (double)rstd[n];
        dw[c] = (pt_real)sum;
    }
}

static void input_gradient(const pt_rmsnorm_args *a, int64_t n, int64_t C)
{
    const pt_real *x = pt_reals(&a->x) + n * C, *dy = pt_reals(&a->dy) + n * C;
    const pt_real *w = pt_reals(&a->w);
    pt_real *dx = pt_reals(&a->dx) + n * C;
    double mean_gx = 0, rstd = (double)pt_reals(&a->rstd)[n];
    for (int64_t c = 0; c < C; c++)
        mean_gx += (double)dy[c] * (double)w[c] * (double)x[c] / (double)C;
    for (int64_t c = 0; c < C; c++) {
        double g = (double)dy[c] * (double)w[c];
        double d = rstd * (g - (double)x[c] * rstd * rstd * mean_gx);
        dx[c] = (pt_real)(a->dx_accumulate ? (double)dx[c] + d : d);
    }
}

void PT_REF(rmsnorm_bwd)(const void *args, pt_pool *pool);
void PT_REF(rmsnorm_bwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_rmsnorm_args *a = args;
    int64_t N = pt_rows(&a->dy), C = pt_last_dim(&a->dy);
    if (pt_present(&a->dw)) weight_gradient(a, N, C); /* first: dx may overwrite dy */
    if (!pt_present(&a->dx)) return;
    for (int64_t n = 0; n < N; n++) input_gradient(a, n, C);
}
