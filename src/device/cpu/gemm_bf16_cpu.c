/* The threaded bf16 product: cutting it into chunks, packing, and what becomes of the sums.
 *
 * A chunk is a rectangle of C. Whoever takes it packs the columns of B that it needs, one block of k at a time, and then
 * walks over the rows of A, which it packs too, as many at a time as the cache holds. How C is cut decides how often each
 * operand is packed; of the ways that give each thread two chunks (one thread: one) the cheapest is taken.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/gemm_bf16.h"
#include "device/cpu/simd.h"

#define TILE PT_BF16_TILE
#define SERIAL_FLOPS 2e6    /* below, waking threads costs more than they bring */
#define CHUNKS_PER_THREAD 2 /* so that one that is late can be helped */

/* Parts of a thread's scratch, in bytes: packed rows of A, sums where k takes several blocks, packed columns of B. */
#define A_BYTES (384 * 1024)
#define SUM_BYTES (320 * 1024)
#define B_BYTES (PT_CPU_SCRATCH_BYTES - A_BYTES - SUM_BYTES)
#if defined(PT_ISA_amx)
#define BLOCK_K 2048
#define STEP_PAD \
    32 /* between rows of A, so that they do not fall into the same sets of the cache */
#else
#define BLOCK_K 512
#define STEP_PAD 16
#endif
#define ELEMENT (int64_t)sizeof(pt_bf16_packed)
_Static_assert(A_BYTES / sizeof(pt_bf16_packed) >= TILE * (BLOCK_K + STEP_PAD), "rows of a tile");
_Static_assert(B_BYTES / sizeof(pt_bf16_packed) >= 4 * TILE * BLOCK_K, "columns of some tiles");

typedef struct bf16_job {
    const pt_gemm_bf16 *g;
    pt_pool *pool;
    int64_t kc, n_kc;    /* k of a block, and how many */
    int64_t row_step;    /* of packed A */
    int64_t rows, cols;  /* of a chunk */
    int64_t n_rows;      /* chunks down a column */
    int64_t packed_rows; /* rows of A that are packed at a time */
} bf16_job;

/* What a thread works on: a chunk, and one block of k of it. */
typedef struct bf16_work {
    int64_t i0, j0, m, n; /* of C */
    int64_t kb, p0, k, packed_k;
    pt_bf16_packed *a, *b;
    float *sums; /* [m][n rounded up to tiles]: of the blocks so far */
    int64_t sums_row;
} bf16_work;

/* ---- what becomes of a tile ---- */

typedef struct bf16_target {
    const float *sum, *before; /* this block's tile; the sums of the blocks before it, or NULL */
    float *after;              /* where the sums go when more blocks follow, else NULL */
    int64_t sums_row;
    uint16_t *c;
    float *c_f32;
    int64_t c_row;
    const float *bias;
    bool accumulate;
} bf16_target;

/* 16 columns, or n of them, of row i. */
PT_SIMD void finish_vector(const bf16_target *t, int64_t i, int64_t j, int64_t n)
{
    bool whole = n == 16;
    pt_vf x = pt_vf_load(t->sum + i * TILE + j);
    if (t->before) x = pt_vf_add(pt_vf_load(t->before + i * t->sums_row + j), x);
    if (t->after) {
        pt_vf_store(t->after + i * t->sums_row + j, x);
        return;
    }
    if (t->bias) x = pt_vf_add(whole ? pt_vf_load(t->bias + j) : pt_vf_load_n(t->bias + j, n), x);
    if (t->c) {
        uint16_t *c = t->c + i * t->c_row + j;
        if (t->accumulate) x = pt_vf_add(whole ? pt_vf_load_bf16(c) : pt_vf_load_bf16_n(c, n), x);
        if (whole) pt_vf_store_bf16(c, x);
        else pt_vf_store_bf16_n(c, x, n);
        return;
    }
    float *c = t->c_f32 + i * t->c_row + j;
    if (t->accumulate) x = pt_vf_add(whole ? pt_vf_load(c) : pt_vf_load_n(c, n), x);
    if (whole) pt_vf_store(c, x);
    else pt_vf_store_n(c, x, n);
}

static void finish_tile(const bf16_target *t, int64_t rows, int64_t n)
{
    for (int64_t i = 0; i < rows; i++) {
        int64_t j = 0;
        for (; j + 16 <= n; j += 16) finish_vector(t, i, j, 16);
        if (j < n) finish_vector(t, i, j, n - j);
    }
}

/* ---- one chunk ---- */

static bf16_target target_of(const bf16_job *job, const bf16_work *w, int64_t i, int64_t j)
{
    const pt_gemm_bf16 *g = job->g;
    float *sums = w->sums + i * w->sums_row + j;
    int64_t at = (w->i0 + i) * g->c_row + w->j0 + j;
    return (bf16_target){.before = w->kb > 0 ? sums : NULL,
                         .after = w->kb + 1 < job->n_kc ? sums : NULL,
                         .sums_row = w->sums_row,
                         .c = g->c ? g->c + at : NULL,
                         .c_f32 = g->c_f32 ? g->c_f32 + at : NULL,
                         .c_row = g->c_row,
                         .bias = g->bias ? g->bias + w->j0 + j : NULL,
                         .accumulate = g->accumulate};
}

/* C of the tile after this one, which comes from far when it is a gradient of weights, is fetched meanwhile. */
static void fetch_tile(const bf16_job *job, const bf16_work *w, int64_t i, int64_t j, int64_t rows)
{
    const pt_gemm_bf16 *g = job->g;
    if (!g->c_f32 || !g->accumulate) return;
    const float *c = g->c_f32 + (w->i0 + i) * g->c_row + w->j0 + j;
    for (int64_t r = 0; r < rows; r++, c += g->c_row) {
        pt_prefetch(c);
        pt_prefetch(c + 16);
    }
}

/* Rows i … i+m-1 of the chunk, which are packed, times all its columns. */
static void multiply_rows(const bf16_job *job, const bf16_work *w, int64_t i, int64_t m)
{
    _Alignas(64) float sum[TILE * TILE];
    for (int64_t r = 0; r < m; r += TILE) {
        int64_t rows = pt_min_i64(TILE, m - r);
        for (int64_t j = 0; j < w->n; j += TILE) {
            int64_t n = pt_min_i64(TILE, w->n - j);
            fetch_tile(job, w, i + r, j + TILE < w->n ? j + TILE : j, rows);
            pt_bf16_tile tile = {.a = w->a + r * job->row_step,
                                 .b = w->b + j * w->packed_k,
                                 .row_step = job->row_step,
                                 .k = w->packed_k,
                                 .rows = (int)rows,
                                 .columns = (int)n,
                                 .sum = sum};
            PT_CPU(bf16_tile)(&tile);
            bf16_target t = target_of(job, w, i + r, j);
            t.sum = sum;
            finish_tile(&t, rows, n);
        }
    }
}

static void run_block(const bf16_job *job, bf16_work *w)
{
    const pt_gemm_bf16 *g = job->g;
    pt_bf16_block b = {.src = g->b + w->p0 * g->b_row + w->j0 * g->b_col,
                       .k_step = g->b_row,
                       .step = g->b_col,
                       .k = w->k,
                       .n = w->n};
    PT_CPU(bf16_pack_b)(w->b, &b);
    for (int64_t i = 0; i < w->m; i += job->packed_rows) {
        pt_bf16_block a = {.src = g->a + (w->i0 + i) * g->a_row + w->p0 * g->a_col,
                           .k_step = g->a_col,
                           .step = g->a_row,
                           .k = w->k,
                           .n = pt_min_i64(job->packed_rows, w->m - i)};
        PT_CPU(bf16_pack_a)(w->a, &a, job->row_step);
        multiply_rows(job, w, i, a.n);
    }
}

static void run_chunk(void *ctx, int64_t chunk, int thread)
{
    const bf16_job *job = ctx;
    const pt_gemm_bf16 *g = job->g;
    char *scratch = pt_pool_scratch(job->pool, thread);
    bf16_work w = {.i0 = chunk % job->n_rows * job->rows, .j0 = chunk / job->n_rows * job->cols};
    w.m = pt_min_i64(job->rows, g->m - w.i0);
    w.n = pt_min_i64(job->cols, g->n - w.j0);
    w.a = (pt_bf16_packed *)(void *)scratch;
    w.sums = (float *)(void *)(scratch + A_BYTES);
    w.b = (pt_bf16_packed *)(void *)(scratch + A_BYTES + SUM_BYTES);
    w.sums_row = pt_round_up(w.n, TILE);
    PT_CPU(bf16_tiles_begin)();
    for (w.kb = 0; w.kb < job->n_kc; w.kb++) {
        w.p0 = w.kb * job->kc;
        w.k = pt_min_i64(job->kc, g->k - w.p0);
        w.packed_k = pt_round_up(w.k, PT_BF16_UNIT);
        run_block(job, &w);
    }
    PT_CPU(bf16_tiles_end)();
}

/* ---- cutting C ---- */

/* Equal parts of n, at least `parts` of them, each a multiple of TILE. */
static int64_t part_of(int64_t n, int64_t parts) { return pt_round_up(pt_div_up(n, parts), TILE); }

/* Time to pack both operands once for all chunks, in arbitrary units: what lies across k is turned. */
static double packing_cost(const bf16_job *job, int64_t rows, int64_t cols)
{
    const pt_gemm_bf16 *g = job->g;
    double a = (double)g->m * (g->a_col == 1 ? 1 : 3), b = (double)g->n * (g->b_col == 1 ? 2 : 3);
    return a * (double)pt_div_up(g->n, cols) + b * (double)pt_div_up(g->m, rows);
}

static void cut(bf16_job *job, int64_t enough)
{
    const pt_gemm_bf16 *g = job->g;
    int64_t most_cols = B_BYTES / (job->kc * ELEMENT) / TILE * TILE;
    double best = 0;
    job->rows = 0;
    for (int64_t n_cols = pt_div_up(g->n, most_cols);; n_cols *= 2) {
        int64_t cols = part_of(g->n, n_cols);
        int64_t n_rows = pt_max_i64(1, enough / pt_div_up(g->n, cols));
        int64_t rows = part_of(g->m, n_rows);
        if (job->n_kc > 1) rows = pt_min_i64(rows, SUM_BYTES / 4 / cols / TILE * TILE);
        double cost = rows ? packing_cost(job, rows, cols) : 0;
        if (rows && (!job->rows || cost < best)) {
            best = cost;
            job->rows = rows;
            job->cols = cols;
        }
        if (n_cols >= enough && job->rows) break;
    }
    job->n_rows = pt_div_up(g->m, job->rows);
}

void PT_CPU(gemm_bf16)(const pt_gemm_bf16 *g, pt_pool *pool)
{
    if (g->m <= 0 || g->n <= 0) return;
    bf16_job job = {.g = g, .pool = pool};
    int64_t k = pt_max_i64(g->k, 1);
    job.kc = pt_round_up(pt_div_up(k, pt_div_up(k, BLOCK_K)), 32);
    job.n_kc = pt_div_up(k, job.kc);
    job.row_step = job.kc + STEP_PAD;
    job.packed_rows = A_BYTES / ELEMENT / job.row_step / TILE * TILE;
    bool serial = 2.0 * (double)g->m * (double)g->n * (double)g->k < SERIAL_FLOPS;
    int64_t threads = serial ? 1 : pt_pool_threads(pool);
    cut(&job, threads == 1 ? 1 : threads * CHUNKS_PER_THREAD);
    int64_t n_chunks = job.n_rows * pt_div_up(g->n, job.cols);
    if (!serial) pt_pool_run(pool, n_chunks, run_chunk, &job);
    else
        for (int64_t i = 0; i < n_chunks; i++) run_chunk(&job, i, 0);
}
