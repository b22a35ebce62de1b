/* Layer normalisation: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/layernorm/layernorm.h"

void PT_REF(layernorm_fwd)(const void *args, pt_pool *pool);
void PT_REF(layernorm_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_layernorm_args *a = args;
    int64_t N = pt_rows(&a->x), C = pt_last_dim(&a->x);
    const pt_real *w = pt_reals(&a->w), *bias = pt_reals(&a->b);
    for (int64_t n = 0; n < N; n++) {
        const pt_real *x = pt_reals(&a->x) + n * C;
        pt_real *y = pt_reals(&a->y) + n * C;
        double mean = 0, var = 0;
        for (int64_t c = 0; c < C; c++) mean += (double)x[c];
        mean /= (double)C;
        for (int64_t c = 0; c < C; c++) var += ((double)x[c] - mean) * ((double)x[c] - mean);
        var /= (double)C;
        double rstd = 1 / pt_sqrt(var + a->eps);
        for (int64_t c = 0; c < C; c++) {
            double h = ((double)x[c] - mean) * rstd;
            y[c] = (pt_real)(h * (double)w[c] + (bias ? (double)bias[c] : 0));
        }
        pt_reals(&a->mean)[n] = (pt_real)mean;
        pt_reals(&a->rstd)[n] = (pt_real)rstd;
    }
}

static double normalised(const pt_layernorm_args *a, int64_t n, int64_t c)
{
    double x = (double)pt_reals(&a->x)[n * pt_last_dim(&a->x) + c];
    return (x - (double)pt_reals(&a->mean)[n]) * (double)pt_reals(&a->rstd)[n];
}

static void parameter_gradients(const pt_layernorm_args *a, int64_t N, int64_t C)
{
    const pt_real *dy = pt_reals(&a->dy);
    pt_real *dw = pt_reals(&a->dw), *db = pt_reals(&a->db);
    for (int64_t c = 0; c < C; c++) {
        double sum_w = 0, sum_b = 0;
        for (int64_t n = 0; n < N; n++) {
            sum_w += (double)dy[n * C + c] * normalised(a, n, c);
            sum_b += (double)dy[n * C + c];
        }
        if (dw) dw[c] = (pt_real)((double)dw[c] + sum_w);
        if (db) db[c] = (pt_real)((double)db[c] + sum_b);
    }
}

static void input_gradient(const pt_layernorm_args *a, int64_t n, int64_t C)
{
    const pt_real *dy = pt_reals(&a->dy) + n * C, *w = pt_reals(&a->w);
    pt_real *dx = pt_reals(&a->dx) + n * C;
    double mean_g = 0, mean_gh = 0, rstd = (double)pt_reals(&a->rstd)[n];
    for (int64_t c = 0; c < C; c++) {
        double g = (double)dy[c] * (double)w[c];
        mean_g += g / (double)C;
        mean_gh += g * normalised(a, n, c) / (double)C;
    }
    for (int64_t c = 0; c < C; c++) {
        double g = (double)dy[c] * (double)w[c];
        double d = rstd * (g - mean_g - normalised(a, n, c) * mean_gh);
        dx[c] = (pt_real)(a->dx_accumulate ? (double)dx[c] + d : d);
    }
}

void PT_REF(layernorm_bwd)(const void *args, pt_pool *pool);
void PT_REF(layernorm_bwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_layernorm_args *a = args;
    int64_t N = pt_rows(&a->dy), C = pt_last_dim(&a->dy);
    parameter_gradients(a, N, C); /* first: dx may overwrite dy */
    if (!pt_present(&a->dx)) return;
    for (int64_t n = 0; n < N; n++) input_gradient(a, n, C);
}
