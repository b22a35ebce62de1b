/* Linear layer on the CPU: three uses of the matrix product; the column sum for the bias is taken on the
 * way, or by itself.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/product.h"
#include "ops/linear/linear.h"

#define BIAS_COLS 64 /* columns of dy that one chunk sums */

void PT_KERNEL(linear_fwd)(const void *args, pt_pool *pool);
void PT_KERNEL(linear_bwd)(const void *args, pt_pool *pool);

/* y = x w^T + b */
void PT_KERNEL(linear_fwd)(const void *args, pt_pool *pool)
{
    const pt_linear_args *a = args;
    int64_t N = pt_rows(&a->x), I = pt_last_dim(&a->x), O = pt_last_dim(&a->y);
    pt_product g = {.m = N,
                    .n = O,
                    .k = I,
                    .a = pt_storage(&a->x),
                    .a_row = I,
                    .a_col = 1,
                    .b = pt_storage(&a->w),
                    .b_row = 1,
                    .b_col = I,
                    .c_row = O,
                    .bias = pt_floats(&a->b)};
    pt_product_run(&g, &a->y, 0, pool);
}

/* dx = dy w */
static void input_gradient(const pt_linear_args *a, int64_t N, int64_t O, pt_pool *pool)
{
    int64_t I = pt_last_dim(&a->dx);
    pt_product g = {.m = N,
                    .n = I,
                    .k = O,
                    .a = pt_storage(&a->dy),
                    .a_row = O,
                    .a_col = 1,
                    .b = pt_storage(&a->w),
                    .b_row = I,
                    .b_col = 1,
                    .c_row = I,
                    .accumulate = a->dx_accumulate};
    pt_product_run(&g, &a->dx, 0, pool);
}

/* dw += dy^T x, and db on the way if it is wanted and that is possible: then true. */
static bool weight_gradient(const pt_linear_args *a, int64_t N, int64_t O, pt_pool *pool)
{
    int64_t I = pt_last_dim(&a->dw);
    pt_product g = {.m = O,
                    .n = I,
                    .k = N,
                    .a = pt_storage(&a->dy),
                    .a_row = 1,
                    .a_col = O,
                    .b = pt_storage(&a->x),
                    .b_row = I,
                    .b_col = 1,
                    .c_row = I,
                    .accumulate = true};
    bool summed = pt_present(&a->db) && pt_product_sum_a(&g, pt_floats(&a->db));
    pt_product_run(&g, &a->dw, 0, pool);
    return summed;
}

/* db[o…] += sum_n dy[n,o…], in row order. */
static void bias_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_linear_args *a = ctx;
    int64_t N = pt_rows(&a->dy), O = pt_last_dim(&a->dy);
    int64_t o = chunk * BIAS_COLS, end = pt_min_i64(o + BIAS_COLS, O);
    const pt_stored *dy = pt_storage(&a->dy);
    float *db = pt_floats(&a->db);
    if (end - o == BIAS_COLS) {
        pt_vf sum[BIAS_COLS / 16];
        for (int j = 0; j < BIAS_COLS / 16; j++) sum[j] = pt_vf_load(db + o + 16 * j);
        for (int64_t n = 0; n < N; n++)
            for (int j = 0; j < BIAS_COLS / 16; j++)
                sum[j] = pt_vf_add(sum[j], pt_vs_load(dy + n * O + o + 16 * j));
        for (int j = 0; j < BIAS_COLS / 16; j++) pt_vf_store(db + o + 16 * j, sum[j]);
        return;
    }
    for (; o < end; o += 16) {
        int64_t width = pt_min_i64(end - o, 16);
        pt_vf sum = pt_vf_load_n(db + o, width);
        for (int64_t n = 0; n < N; n++) sum = pt_vf_add(sum, pt_vs_load_n(dy + n * O + o, width));
        pt_vf_store_n(db + o, sum, width);
    }
}

void PT_KERNEL(linear_bwd)(const void *args, pt_pool *pool)
{
    const pt_linear_args *a = args;
    int64_t N = pt_rows(&a->dy), O = pt_last_dim(&a->dy);
    if (pt_present(&a->dx)) input_gradient(a, N, O, pool);
    bool summed = pt_present(&a->dw) && weight_gradient(a, N, O, pool);
    if (pt_present(&a->db) && !summed) {
        pt_linear_args copy = *a; /* the pool's context is not const */
        pt_pool_run(pool, pt_div_up(O, BIAS_COLS), bias_chunk, &copy);
    }
}
