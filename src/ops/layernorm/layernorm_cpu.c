/* Layer normalisation, vectorised. SPDX-License-Identifier: MIT */
#include "device/cpu/chunks.h"
#include "device/cpu/stored.h"
#include "ops/layernorm/layernorm.h"

void PT_KERNEL(layernorm_fwd)(const void *args, pt_pool *pool);
void PT_KERNEL(layernorm_bwd)(const void *args, pt_pool *pool);

/* ---- forward: over rows ---- */

#define WIDE (4 * PT_LANES) /* four independent sums hide the latency of an addition */

static inline float total(const pt_vf s[4])
{
    return pt_vf_sum(pt_vf_add(pt_vf_add(s[0], s[1]), pt_vf_add(s[2], s[3])));
}

static inline float row_sum(const pt_stored *x, int64_t C)
{
    pt_vf s[4] = {pt_vf_zero(), pt_vf_zero(), pt_vf_zero(), pt_vf_zero()};
    int64_t i = 0;
    for (; i + WIDE <= C; i += WIDE)
        for (int k = 0; k < 4; k++) s[k] = pt_vf_add(s[k], pt_vs_load(x + i + k * PT_LANES));
    for (; i + PT_LANES <= C; i += PT_LANES) s[0] = pt_vf_add(s[0], pt_vs_load(x + i));
    if (i < C) s[1] = pt_vf_add(s[1], pt_vs_load_n(x + i, C - i));
    return total(s);
}

static inline pt_vf add_square(pt_vf sum, pt_vf x, pt_vf mean)
{
    pt_vf d = pt_vf_sub(x, mean);
    return pt_vf_fma(d, d, sum);
}

/* Sum of (x - mean)^2. */
static inline float row_spread(const pt_stored *x, float mean, int64_t C)
{
    const pt_vf m = pt_vf_set1(mean);
    pt_vf s[4] = {pt_vf_zero(), pt_vf_zero(), pt_vf_zero(), pt_vf_zero()};
    int64_t i = 0;
    for (; i + WIDE <= C; i += WIDE)
        for (int k = 0; k < 4; k++) s[k] = add_square(s[k], pt_vs_load(x + i + k * PT_LANES), m);
    for (; i + PT_LANES <= C; i += PT_LANES) s[0] = add_square(s[0], pt_vs_load(x + i), m);
    if (i < C) { /* the unused lanes must be 0 in both */
        float lanes[PT_LANES];
        pt_vf_store(lanes, m);
        s[1] = add_square(s[1], pt_vs_load_n(x + i, C - i), pt_vf_load_n(lanes, C - i));
    }
    return total(s);
}

static inline void forward_row(const pt_layernorm_args *a, int64_t row, int64_t C)
{
    const pt_stored *x = pt_storage(&a->x) + row * C;
    const float *w = pt_floats(&a->w), *b = pt_floats(&a->b);
    pt_stored *y = pt_storage(&a->y) + row * C;
    float mean = (float)((double)row_sum(x, C) / (double)C);
    double var = (double)row_spread(x, mean, C) / (double)C;
    float rstd = (float)(1 / pt_sqrt(var + a->eps));
    pt_floats(&a->mean)[row] = mean;
    pt_floats(&a->rstd)[row] = rstd;
    const pt_vf m = pt_vf_set1(mean), r = pt_vf_set1(rstd);
    int64_t i = 0;
    for (; i + PT_LANES <= C; i += PT_LANES) {
        pt_vf h = pt_vf_mul(pt_vf_sub(pt_vs_load(x + i), m), r);
        pt_vf bias = b ? pt_vf_load(b + i) : pt_vf_zero();
        pt_vs_store(y + i, pt_vf_fma(h, pt_vf_load(w + i), bias));
    }
    if (i < C) {
        int64_t n = C - i;
        pt_vf h = pt_vf_mul(pt_vf_sub(pt_vs_load_n(x + i, n), m), r);
        pt_vf bias = b ? pt_vf_load_n(b + i, n) : pt_vf_zero();
        pt_vs_store_n(y + i, pt_vf_fma(h, pt_vf_load_n(w + i, n), bias), n);
    }
}

static void forward_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_layernorm_args *a = ctx;
    int64_t C = pt_last_dim(&a->x);
    pt_range r = pt_chunk_range(pt_rows(&a->x), pt_chunk_rows(C), chunk);
    for (int64_t row = r.begin; row < r.end; row++) forward_row(a, row, C);
}

void PT_KERNEL(layernorm_fwd)(const void *args, pt_pool *pool)
{
    const pt_layernorm_args *a = args;
    pt_run_chunks(pool, pt_rows(&a->x), pt_chunk_rows(pt_last_dim(&a->x)), forward_chunk, a);
}

/* ---- backward, dw and db: over slabs of columns, each walking all rows ---- */

#define SLAB (2 * PT_LANES)
#define SLAB_ROWS \
    256 /* rows summed before their sum joins the total: keeps rounding errors small */

/* Loads lanes of a slab; `whole` is known when compiling. */
static inline pt_vf load_part(const pt_stored *p, int64_t n, bool whole)
{
    return whole ? pt_vs_load(p) : pt_vs_load_n(p, pt_max_i64(0, pt_min_i64(n, PT_LANES)));
}

typedef struct slab_sums {
    pt_vf w[2], b[2];
} slab_sums;

static inline slab_sums sum_slab_rows(const pt_layernorm_args *a, pt_range rows, int64_t column,
                                      int64_t n, bool whole)
{
    int64_t C = pt_last_dim(&a->x);
    const pt_stored *x = pt_storage(&a->x) + column, *dy = pt_storage(&a->dy) + column;
    const float *mean = pt_floats(&a->mean), *rstd = pt_floats(&a->rstd);
    pt_vf w0 = pt_vf_zero(), w1 = w0, b0 = w0, b1 = w0;
    for (int64_t row = rows.begin; row < rows.end; row++) {
        const pt_stored *xr = x + row * C, *dr = dy + row * C;
        const pt_vf m = pt_vf_set1(mean[row]), r = pt_vf_set1(rstd[row]);
        pt_vf d0 = load_part(dr, n, whole);
        b0 = pt_vf_add(b0, d0);
        w0 = pt_vf_fma(d0, pt_vf_mul(pt_vf_sub(load_part(xr, n, whole), m), r), w0);
        if (!whole && n <= PT_LANES) continue;
        pt_vf d1 = load_part(dr + PT_LANES, n - PT_LANES, whole);
        b1 = pt_vf_add(b1, d1);
        pt_vf x1 = load_part(xr + PT_LANES, n - PT_LANES, whole);
        w1 = pt_vf_fma(d1, pt_vf_mul(pt_vf_sub(x1, m), r), w1);
    }
    return (slab_sums){{w0, w1}, {b0, b1}};
}

/* out[0 … n-1] += sums */
static void add_to(float *out, const pt_vf sums[2], int64_t n)
{
    float lanes[SLAB];
    pt_vf_store(lanes, sums[0]);
    pt_vf_store(lanes + PT_LANES, sums[1]);
    for (int64_t i = 0; i < n; i++) out[i] += lanes[i];
}

static void slab_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_layernorm_args *a = ctx;
    int64_t N = pt_rows(&a->dy);
    pt_range columns = pt_chunk_range(pt_last_dim(&a->dy), SLAB, chunk);
    int64_t n = columns.end - columns.begin;
    slab_sums sums = {{pt_vf_zero(), pt_vf_zero()}, {pt_vf_zero(), pt_vf_zero()}};
    for (int64_t row = 0; row < N; row += SLAB_ROWS) {
        pt_range rows = {row, pt_min_i64(N, row + SLAB_ROWS)};
        slab_sums more = n == SLAB ? sum_slab_rows(a, rows, columns.begin, n, true)
                                   : sum_slab_rows(a, rows, columns.begin, n, false);
        for (int i = 0; i < 2; i++) {
            sums.w[i] = pt_vf_add(sums.w[i], more.w[i]);
            sums.b[i] = pt_vf_add(sums.b[i], more.b[i]);
        }
    }
    if (pt_present(&a->dw)) add_to(pt_floats(&a->dw) + columns.begin, sums.w, n);
    if (pt_present(&a->db)) add_to(pt_floats(&a->db) + columns.begin, sums.b, n);
}

/* ---- backward, dx: over rows ---- */

/* Adds g = dy w and g (x - mean) to the sums. */
static inline pt_vf add_products(pt_vf sums[2], pt_vf dy, pt_vf w, pt_vf centred)
{
    pt_vf g = pt_vf_mul(dy, w);
    sums[0] = pt_vf_add(sums[0], g);
    sums[1] = pt_vf_fma(g, centred, sums[1]);
    return g;
}

static inline void backward_row(const pt_layernorm_args *a, int64_t row, int64_t C)
{
    const pt_stored *x = pt_storage(&a->x) + row * C, *dy = pt_storage(&a->dy) + row * C;
    const float *w = pt_floats(&a->w);
    pt_stored *dx = pt_storage(&a->dx) + row * C;
    float rstd = pt_floats(&a->rstd)[row];
    const pt_vf m = pt_vf_set1(pt_floats(&a->mean)[row]);
    pt_vf s[2][2] = {{pt_vf_zero(), pt_vf_zero()}, {pt_vf_zero(), pt_vf_zero()}};
    int64_t i = 0;
    for (; i + 2 * PT_LANES <= C; i += 2 * PT_LANES)
        for (int k = 0; k < 2; k++) {
            int64_t j = i + k * PT_LANES;
            add_products(s[k], pt_vs_load(dy + j), pt_vf_load(w + j),
                         pt_vf_sub(pt_vs_load(x + j), m));
        }
    for (; i < C; i += PT_LANES) {
        int64_t n = pt_min_i64(PT_LANES, C - i);
        add_products(s[0], pt_vs_load_n(dy + i, n), pt_vf_load_n(w + i, n),
                     pt_vf_sub(pt_vs_load_n(x + i, n), m));
    }
    double mean_g = (double)pt_vf_sum(pt_vf_add(s[0][0], s[1][0])) / (double)C;
    double mean_gd = (double)pt_vf_sum(pt_vf_add(s[0][1], s[1][1])) / (double)C;

    /* dx = rstd (g - mean_g) - (x - mean) rstd^3 mean_gd */
    double r = (double)rstd;
    const pt_vf of_g = pt_vf_set1(rstd), of_x = pt_vf_set1((float)(-r * r * r * mean_gd));
    const pt_vf mg = pt_vf_set1((float)mean_g);
    for (i = 0; i + PT_LANES <= C; i += PT_LANES) {
        pt_vf g = pt_vf_mul(pt_vs_load(dy + i), pt_vf_load(w + i));
        pt_vf of_row = pt_vf_mul(pt_vf_sub(pt_vs_load(x + i), m), of_x);
        pt_vf d = pt_vf_fma(pt_vf_sub(g, mg), of_g, of_row);
        pt_vs_store(dx + i, a->dx_accumulate ? pt_vf_add(pt_vs_load(dx + i), d) : d);
    }
    if (i < C) {
        int64_t n = C - i;
        pt_vf g = pt_vf_mul(pt_vs_load_n(dy + i, n), pt_vf_load_n(w + i, n));
        pt_vf of_row = pt_vf_mul(pt_vf_sub(pt_vs_load_n(x + i, n), m), of_x);
        pt_vf d = pt_vf_fma(pt_vf_sub(g, mg), of_g, of_row);
        pt_vs_store_n(dx + i, a->dx_accumulate ? pt_vf_add(pt_vs_load_n(dx + i, n), d) : d, n);
    }
}

static void backward_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_layernorm_args *a = ctx;
    int64_t C = pt_last_dim(&a->dy);
    pt_range r = pt_chunk_range(pt_rows(&a->dy), pt_chunk_rows(C), chunk);
    for (int64_t row = r.begin; row < r.end; row++) backward_row(a, row, C);
}

void PT_KERNEL(layernorm_bwd)(const void *args, pt_pool *pool)
{
    const pt_layernorm_args *a = args;
    int64_t N = pt_rows(&a->dy), C = pt_last_dim(&a->dy);
    if (pt_present(&a->dw) || pt_present(&a->db)) { /* first: dx may overwrite dy */
        bool small = N * C <= PT_CHUNK_ELEMENTS;
        pt_run_chunks(small ? NULL : pool, C, SLAB, slab_chunk, a);
    }
    if (pt_present(&a->dx)) pt_run_chunks(pool, N, pt_chunk_rows(C), backward_chunk, a);
}
