/* RMS normalisation, vectorised. SPDX-License-Identifier: MIT */
#include "device/cpu/chunks.h"
#include "device/cpu/stored.h"
#include "ops/rmsnorm/rmsnorm.h"

void PT_KERNEL(rmsnorm_fwd)(const void *args, pt_pool *pool);
void PT_KERNEL(rmsnorm_bwd)(const void *args, pt_pool *pool);

/* ---- forward: over rows ---- */

#define WIDE (4 * PT_LANES) /* four independent sums hide the latency of a multiply-add */

static inline float row_square_sum(const pt_stored *x, int64_t C)
{
    pt_vf s[4] = {pt_vf_zero(), pt_vf_zero(), pt_vf_zero(), pt_vf_zero()};
    int64_t i = 0;
    for (; i + WIDE <= C; i += WIDE)
        for (int k = 0; k < 4; k++) {
            pt_vf v = pt_vs_load(x + i + k * PT_LANES);
            s[k] = pt_vf_fma(v, v, s[k]);
        }
    for (; i < C; i += PT_LANES) {
        pt_vf v = pt_vs_load_n(x + i, pt_min_i64(PT_LANES, C - i));
        s[0] = pt_vf_fma(v, v, s[0]);
    }
    return pt_vf_sum(pt_vf_add(pt_vf_add(s[0], s[1]), pt_vf_add(s[2], s[3])));
}

static inline void forward_row(const pt_rmsnorm_args *a, int64_t row, int64_t C)
{
    const pt_stored *x = pt_storage(&a->x) + row * C;
    const float *w = pt_floats(&a->w);
    pt_stored *y = pt_storage(&a->y) + row * C;
    double mean_square = (double)row_square_sum(x, C) / (double)C;
    float rstd = (float)(1 / pt_sqrt(mean_square + a->eps));
    pt_floats(&a->rstd)[row] = rstd;
    const pt_vf r = pt_vf_set1(rstd);
    int64_t i = 0;
    for (; i + PT_LANES <= C; i += PT_LANES)
        pt_vs_store(y + i, pt_vf_mul(pt_vf_mul(pt_vs_load(x + i), r), pt_vf_load(w + i)));
    if (i < C) {
        pt_vf h = pt_vf_mul(pt_vs_load_n(x + i, C - i), r);
        pt_vs_store_n(y + i, pt_vf_mul(h, pt_vf_load_n(w + i, C - i)), C - i);
    }
}

static void forward_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_rmsnorm_args *a = ctx;
    int64_t C = pt_last_dim(&a->x);
    pt_range r = pt_chunk_range(pt_rows(&a->x), pt_chunk_rows(C), chunk);
    for (int64_t row = r.begin; row < r.end; row++) forward_row(a, row, C);
}

void PT_KERNEL(rmsnorm_fwd)(const void *args, pt_pool *pool)
{
    const pt_rmsnorm_args *a = args;
    pt_run_chunks(pool, pt_rows(&a->x), pt_chunk_rows(pt_last_dim(&a->x)), forward_chunk, a);
}

/* ---- backward, dw: over slabs of columns, each walking all rows ---- */

#define SLAB (2 * PT_LANES)
#define SLAB_ROWS \
    256 /* rows summed before their sum joins the total: keeps rounding errors small */

/* Adds the sum of dy x rstd over rows to total; n columns, all SLAB of them when `whole`. */
static inline void add_rows(const pt_rmsnorm_args *a, pt_range rows, pt_range columns, bool whole,
                            pt_vf total[2])
{
    int64_t C = pt_last_dim(&a->x), n = columns.end - columns.begin;
    const pt_stored *x = pt_storage(&a->x) + columns.begin;
    const pt_stored *dy = pt_storage(&a->dy) + columns.begin;
    const float *rstd = pt_floats(&a->rstd);
    pt_vf s0 = pt_vf_zero(), s1 = s0;
    int64_t n0 = pt_min_i64(n, PT_LANES), n1 = n - n0;
    for (int64_t row = rows.begin; row < rows.end; row++) {
        const pt_stored *xr = x + row * C, *dr = dy + row * C;
        const pt_vf r = pt_vf_set1(rstd[row]);
        pt_vf x0 = whole ? pt_vs_load(xr) : pt_vs_load_n(xr, n0);
        pt_vf d0 = whole ? pt_vs_load(dr) : pt_vs_load_n(dr, n0);
        s0 = pt_vf_fma(d0, pt_vf_mul(x0, r), s0);
        if (!whole && n1 == 0) continue;
        pt_vf x1 = whole ? pt_vs_load(xr + PT_LANES) : pt_vs_load_n(xr + PT_LANES, n1);
        pt_vf d1 = whole ? pt_vs_load(dr + PT_LANES) : pt_vs_load_n(dr + PT_LANES, n1);
        s1 = pt_vf_fma(d1, pt_vf_mul(x1, r), s1);
    }
    total[0] = pt_vf_add(total[0], s0);
    total[1] = pt_vf_add(total[1], s1);
}

static void slab_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_rmsnorm_args *a = ctx;
    int64_t N = pt_rows(&a->dy);
    pt_range columns = pt_chunk_range(pt_last_dim(&a->dy), SLAB, chunk);
    int64_t n = columns.end - columns.begin;
    pt_vf total[2] = {pt_vf_zero(), pt_vf_zero()};
    for (int64_t row = 0; row < N; row += SLAB_ROWS) {
        pt_range rows = {row, pt_min_i64(N, row + SLAB_ROWS)};
        if (n == SLAB) add_rows(a, rows, columns, true, total);
        else add_rows(a, rows, columns, false, total);
    }
    float lanes[SLAB], *dw = pt_floats(&a->dw) + columns.begin;
    pt_vf_store(lanes, total[0]);
    pt_vf_store(lanes + PT_LANES, total[1]);
    for (int64_t i = 0; i < n; i++) dw[i] += lanes[i];
}

/* ---- backward, dx: over rows ---- */

static inline void backward_row(const pt_rmsnorm_args *a, int64_t row, int64_t C)
{
    const pt_stored *x = pt_storage(&a->x) + row * C, *dy = pt_storage(&a->dy) + row * C;
    const float *w = pt_floats(&a->w);
    pt_stored *dx = pt_storage(&a->dx) + row * C;
    pt_vf s[2] = {pt_vf_zero(), pt_vf_zero()};
    int64_t i = 0;
    for (; i + 2 * PT_LANES <= C; i += 2 * PT_LANES)
        for (int k = 0; k < 2; k++) {
            int64_t j = i + k * PT_LANES;
            pt_vf g = pt_vf_mul(pt_vs_load(dy + j), pt_vf_load(w + j));
            s[k] = pt_vf_fma(g, pt_vs_load(x + j), s[k]);
        }
    for (; i < C; i += PT_LANES) {
        int64_t n = pt_min_i64(PT_LANES, C - i);
        pt_vf g = pt_vf_mul(pt_vs_load_n(dy + i, n), pt_vf_load_n(w + i, n));
        s[0] = pt_vf_fma(g, pt_vs_load_n(x + i, n), s[0]);
    }
    double mean_gx = (double)pt_vf_sum(pt_vf_add(s[0], s[1])) / (double)C;

    /* dx = rstd g - x rstd^3 mean_gx */
    float rstd = pt_floats(&a->rstd)[row];
    double r = (double)rstd;
    const pt_vf of_g = pt_vf_set1(rstd), of_x = pt_vf_set1((float)(-r * r * r * mean_gx));
    for (i = 0; i + PT_LANES <= C; i += PT_LANES) {
        pt_vf g = pt_vf_mul(pt_vs_load(dy + i), pt_vf_load(w + i));
        pt_vf d = pt_vf_fma(pt_vs_load(x + i), of_x, pt_vf_mul(g, of_g));
        pt_vs_store(dx + i, a->dx_accumulate ? pt_vf_add(pt_vs_load(dx + i), d) : d);
    }
    if (i < C) {
        int64_t n = C - i;
        pt_vf g = pt_vf_mul(pt_vs_load_n(dy + i, n), pt_vf_load_n(w + i, n));
        pt_vf d = pt_vf_fma(pt_vs_load_n(x + i, n), of_x, pt_vf_mul(g, of_g));
        pt_vs_store_n(dx + i, a->dx_accumulate ? pt_vf_add(pt_vs_load_n(dx + i, n), d) : d, n);
    }
}

static void backward_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_rmsnorm_args *a = ctx;
    int64_t C = pt_last_dim(&a->dy);
    pt_range r = pt_chunk_range(pt_rows(&a->dy), pt_chunk_rows(C), chunk);
    for (int64_t row = r.begin; row < r.end; row++) backward_row(a, row, C);
}

void PT_KERNEL(rmsnorm_bwd)(const void *args, pt_pool *pool)
{
    const pt_rmsnorm_args *a = args;
    int64_t N = pt_rows(&a->dy), C = pt_last_dim(&a->dy);
    if (pt_present(&a->dw)) { /* first: dx may overwrite dy */
        bool small = N * C <= PT_CHUNK_ELEMENTS;
        pt_run_chunks(small ? NULL : pool, C, SLAB, slab_chunk, a);
    }
    if (pt_present(&a->dx)) pt_run_chunks(pool, N, pt_chunk_rows(C), backward_chunk, a);
}
