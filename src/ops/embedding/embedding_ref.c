/* Token and position embedding: the definition. SPDX-License-Identifier: MIT */
#include "device/ref/ref.h"
#include "ops/embedding/embedding.h"

static int64_t position_of(const pt_embedding_args *a, int64_t b, int64_t t, int64_t n_time)
{
    return pt_int_at(&a->offset, b) + t - pt_int_at(&a->doc_start, b * n_time + t);
}

void PT_REF(embedding_fwd)(const void *args, pt_pool *pool);
void PT_REF(embedding_fwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_embedding_args *a = args;
    int64_t B = a->ids.dim[0], T = a->ids.dim[1], C = pt_last_dim(&a->x);
    const pt_real *position = pt_reals(&a->position);
    pt_real *x = pt_reals(&a->x);
    for (int64_t b = 0; b < B; b++) {
        for (int64_t t = 0; t < T; t++) {
            int64_t id = pt_int_at(&a->ids, b * T + t), p = position_of(a, b, t, T);
            for (int64_t c = 0; c < C; c++) {
                double sum = pt_weight_at(&a->token, id, c);
                if (position) sum += (double)position[p * C + c];
                x[(b * T + t) * C + c] = (pt_real)sum;
            }
        }
    }
}

/* The tables' gradients are sums over tokens; each element is summed in double and added once. */
static void sum_rows(const pt_embedding_args *a, pt_real *table, int64_t n_rows, bool positions)
{
    int64_t B = a->ids.dim[0], T = a->ids.dim[1], C = pt_last_dim(&a->dx);
    const pt_real *dx = pt_reals(&a->dx);
    for (int64_t row = 0; row < n_rows; row++) {
        for (int64_t c = 0; c < C; c++) {
            double sum = (double)table[row * C + c];
            for (int64_t n = 0; n < B * T; n++) {
                int64_t at = positions ? position_of(a, n / T, n % T, T) : pt_int_at(&a->ids, n);
                if (at == row) sum += (double)dx[n * C + c];
            }
            table[row * C + c] = (pt_real)sum;
        }
    }
}

void PT_REF(embedding_bwd)(const void *args, pt_pool *pool);
void PT_REF(embedding_bwd)(const void *args, pt_pool *pool)
{
    (void)pool;
    const pt_embedding_args *a = args;
    if (pt_present(&a->dtoken)) sum_rows(a, pt_reals(&a->dtoken), a->dtoken.dim[0], false);
    if (pt_present(&a->dposition)) sum_rows(a, pt_reals(&a->dposition), a->dposition.dim[0], true);
}
