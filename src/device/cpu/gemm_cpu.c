/* The threaded product: cutting it into blocks that fit the caches, packing, and sharing the work.
 *
 * Two ways, chosen by shape. The tiles of the second also depend on the number of threads, which no sum does:
 *   shared    many rows times a weight. The threads pack a block of B together into memory that all of them read, and
 *             then share the rows. While block i is computed, block i+1 is packed.
 *   private   few rows, sums over many rows (weight gradients), or little work. C is cut into tiles; whoever takes a tile
 *             packs what it needs for it.
 * Both walk k in blocks and go on from C, so a sum is one chain whatever the blocks are.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/gemm.h"
#include "device/cpu/simd.h"

#define BLOCK_K 256      /* k of a block */
#define TILE_MOST 512    /* rows and columns of a private tile, at most */
#define PACK_CYCLES 0.8  /* to pack an element of an operand that comes from the last cache */
#define LONG_FLOPS 150e6 /* of a thread, about a millisecond: with more, each gets two tiles */
#define FEW_ROWS 96      /* up to here, tiles hold all rows, */
#define LEAST_COLS 64    /* and so many columns at least */
#define SHARED_ROWS 192  /* rows that one chunk computes, at most */
#define SERIAL_FLOPS 1e6 /* below, waking threads costs more than they bring */
#define SMALL_K 96       /* without a pool: blocks of SMALL_K by PT_TILE_COLS on the stack */

/* Floats of scratch. Private, in each thread: A, then B. Shared, in that of thread 0: behind A two blocks of B. */
#define SCRATCH (PT_CPU_SCRATCH_BYTES / 4)
#define MOST_PANELS ((TILE_MOST + PT_PANEL_ROWS - 1) / PT_PANEL_ROWS)
#define PRIVATE_A (MOST_PANELS * 16 * BLOCK_K)
#define SHARED_A (SHARED_ROWS * BLOCK_K)
#define SHARED_B (512 * BLOCK_K)
_Static_assert(PRIVATE_A + TILE_MOST * BLOCK_K <= SCRATCH, "a private tile fits");
_Static_assert(SHARED_A + 2 * SHARED_B <= SCRATCH, "two blocks of B fit");

typedef struct gemm_job {
    const pt_gemm *g;
    pt_pool *pool;
    int64_t mc, nc, kc;       /* rows, columns and k of a block */
    int64_t n_mc, n_nc, n_kc; /* how many */
    bool copy_a;              /* shared: the rows of A lie badly for the cache */
    bool pack_a;              /* private: the columns of A are packed */
    int64_t n_pack;           /* shared: chunks that pack */
    float *packed[2];         /* shared: packed blocks of B, taken in turn */
    int64_t step;             /* shared: packs block `step`, computes block `step - 1` */
} gemm_job;

/* Equal blocks of at most `most`, each a multiple of `unit`. */
static int64_t even_block(int64_t n, int64_t most, int64_t unit)
{
    n = pt_max_i64(n, 1);
    return pt_round_up(pt_div_up(n, pt_div_up(n, most)), unit);
}

/* ---- one block ---- */
static void pack_b(const gemm_job *job, float *out, int64_t p0, int64_t j0, int64_t k, int64_t n)
{
    const pt_gemm *g = job->g;
    pt_pack b = {.out = out,
                 .src = g->b + p0 * g->b_row + j0 * g->b_col,
                 .row = g->b_row,
                 .col = g->b_col,
                 .k = k,
                 .n = n,
                 .panel = job->kc * PT_TILE_COLS};
    PT_CPU(gemm_pack_b)(&b);
}

/* The t->m rows of A from i0 and the t->k columns from p0, in panels. */
static void pack_a(const gemm_job *job, pt_gemm_tile *t, int64_t i0, int64_t p0, float *out,
                   float *sums)
{
    const pt_gemm *g = job->g;
    pt_pack a = {.out = out,
                 .src = g->a + p0 * g->a_col + i0,
                 .row = g->a_col,
                 .col = 1,
                 .k = t->k,
                 .n = t->m,
                 .panel = job->kc * 16,
                 .sums = sums};
    PT_CPU(gemm_pack_a)(&a);
    t->a = out;
    t->a_row = 1;
    t->a_col = 16;
    t->a_panel = a.panel;
}

/* Rows of A copied so that they lie together: [m][kc]. */
static void copy_rows(const gemm_job *job, float *out, int64_t p0, int64_t i0, int64_t k, int64_t m)
{
    const float *a = job->g->a + i0 * job->g->a_row + p0;
    int64_t whole = k / 16 * 16;
    for (int64_t i = 0; i < m; i++, a += job->g->a_row, out += job->kc) {
        for (int64_t p = 0; p < whole; p += 16) pt_vf_store(out + p, pt_vf_load(a + p));
        for (int64_t p = whole; p < k; p++) out[p] = a[p];
    }
}

/* The t->m rows of A from i0 and the t->k columns from p0, copied to scratch where that helps. */
static void place_a(const gemm_job *job, pt_gemm_tile *t, int64_t i0, int64_t p0, float *scratch)
{
    const pt_gemm *g = job->g;
    t->a = g->a + i0 * g->a_row + p0 * g->a_col;
    t->a_row = g->a_row;
    t->a_col = g->a_col;
    if (!job->copy_a) return;
    copy_rows(job, scratch, p0, i0, t->k, t->m);
    t->a = scratch;
    t->a_row = job->kc;
}

static void place_b(const gemm_job *job, pt_gemm_tile *t, const float *packed)
{
    t->b = packed;
    t->b_row = PT_TILE_COLS;
    t->b_panel = job->kc * PT_TILE_COLS;
}

/* C from (i0, j0) on, block kb of k; t has the sizes, A and B. */
static void run_tile(const gemm_job *job, pt_gemm_tile *t, int64_t i0, int64_t j0, int64_t kb)
{
    const pt_gemm *g = job->g;
    t->c = g->c + i0 * g->c_row + j0;
    t->c_row = g->c_row;
    t->accumulate = g->accumulate || kb > 0;
    t->bias = g->bias && !t->accumulate ? g->bias + j0 : NULL;
    PT_CPU(gemm_tile)(t);
}

static void count_blocks(gemm_job *job)
{
    job->n_mc = pt_div_up(job->g->m, job->mc);
    job->n_nc = pt_div_up(job->g->n, job->nc);
    job->n_kc = pt_max_i64(1, pt_div_up(job->g->k, job->kc));
}

/* ---- private ---- */
/* Rows i0 … i0+m-1 of a_sums, to or from the panels in which they are added to. */
static void move_sums(const pt_gemm *g, int64_t i0, int64_t m, float *panels, bool back)
{
    for (int64_t i = 0; i < m; i++) {
        float *panel = &panels[i / PT_PANEL_ROWS * 16 + i % PT_PANEL_ROWS];
        if (back) g->a_sums[i0 + i] = *panel;
        else *panel = g->a_sums[i0 + i];
    }
}

static void private_tile(const gemm_job *job, int64_t chunk, float *scratch_a, float *scratch_b)
{
    const pt_gemm *g = job->g;
    int64_t i0 = chunk % job->n_mc * job->mc, j0 = chunk / job->n_mc * job->nc;
    pt_gemm_tile t = {.m = pt_min_i64(job->mc, g->m - i0), .n = pt_min_i64(job->nc, g->n - j0)};
    _Alignas(64) float sums[MOST_PANELS * 16] = {0};
    bool sum = g->a_sums && j0 == 0;
    if (sum) move_sums(g, i0, t.m, sums, false);
    for (int64_t kb = 0; kb < job->n_kc; kb++) {
        int64_t p0 = kb * job->kc;
        t.k = pt_min_i64(job->kc, g->k - p0);
        pack_b(job, scratch_b, p0, j0, t.k, t.n);
        place_b(job, &t, scratch_b);
        if (job->pack_a) pack_a(job, &t, i0, p0, scratch_a, sum ? sums : NULL);
        else place_a(job, &t, i0, p0, NULL);
        run_tile(job, &t, i0, j0, kb);
    }
    if (sum) move_sums(g, i0, t.m, sums, true);
}

static void private_chunk(void *ctx, int64_t chunk, int thread)
{
    const gemm_job *job = ctx;
    float *scratch = pt_pool_scratch(job->pool, thread);
    private_tile(job, chunk, scratch, scratch + PRIVATE_A);
}

static void cut(gemm_job *job, int64_t n_mc, int64_t n_nc)
{
    job->mc = pt_round_up(pt_div_up(job->g->m, n_mc), PT_PANEL_ROWS);
    job->nc = pt_round_up(pt_div_up(job->g->n, n_nc), PT_TILE_COLS);
    count_blocks(job);
}

/* Cycles per k of the thread that gets most tiles: multiply-adds of one row of the register tile a cycle, and packing. */
static double cycles_of_cut(const gemm_job *job, int threads)
{
    double m = (double)pt_min_i64(job->mc, job->g->m), n = (double)pt_min_i64(job->nc, job->g->n);
    return (double)pt_div_up(job->n_mc * job->n_nc, threads) *
           (m * n / PT_TILE_COLS + PACK_CYCLES * (m + n));
}

/* Weight gradients: the cheapest way to cut C for so many threads. Sums do not depend on it. */
static void cut_for_threads(gemm_job *job, double flops)
{
    const pt_gemm *g = job->g;
    int threads = flops < SERIAL_FLOPS ? 1 : pt_pool_threads(job->pool);
    int64_t least_m = pt_div_up(g->m, TILE_MOST), least_n = pt_div_up(g->n, TILE_MOST);
    int64_t enough = threads > 1 && flops > LONG_FLOPS * threads ? 2 * threads : 1;
    int64_t most = least_m * least_n + 4 * threads, n_mc = least_m, n_nc = least_n;
    double best = 0;
    for (int64_t i = least_m; i * least_n <= most; i++)
        for (int64_t j = least_n; i * j <= most; j++) {
            cut(job, i, j);
            double cycles = cycles_of_cut(job, threads);
            if (i * j < enough || (best > 0 && cycles >= best)) continue;
            best = cycles;
            n_mc = i;
            n_nc = j;
        }
    cut(job, n_mc, n_nc);
}

/* A is read where it lies. Few rows: enough tiles for many threads, for B comes from memory. */
static void cut_columns(gemm_job *job)
{
    const pt_gemm *g = job->g;
    job->mc = even_block(g->m, TILE_MOST, PT_PANEL_ROWS);
    int64_t most = TILE_MOST;
    if (g->m <= FEW_ROWS) most = pt_min_i64(pt_max_i64(g->n / 16, LEAST_COLS), TILE_MOST);
    job->nc = even_block(g->n, most, PT_TILE_COLS);
    count_blocks(job);
}

static void run_private(gemm_job *job, double flops)
{
    job->kc = even_block(job->g->k, BLOCK_K, 4);
    job->pack_a = job->g->a_col != 1;
    if (job->pack_a) cut_for_threads(job, flops);
    else cut_columns(job);
    int64_t n_chunks = job->n_mc * job->n_nc;
    if (flops >= SERIAL_FLOPS) pt_pool_run(job->pool, n_chunks, private_chunk, job);
    else
        for (int64_t i = 0; i < n_chunks; i++) private_chunk(job, i, 0);
}

/* No scratch: little blocks on the stack, A where it is. */
static void run_without_pool(gemm_job *job)
{
    float b[SMALL_K * PT_TILE_COLS];
    job->mc = job->g->m;
    job->nc = PT_TILE_COLS;
    job->kc = even_block(job->g->k, SMALL_K, 4);
    count_blocks(job);
    for (int64_t i = 0; i < job->n_nc; i++) private_tile(job, i, NULL, b);
}

/* ---- shared ---- */
#define STRIP_K 32                    /* k that one chunk packs where B lies in rows */
#define STRIP_COLS (2 * PT_TILE_COLS) /* columns that one chunk packs where they stand upright */

/* A block of B: columns from j0, k from p0; and its size, smaller at the edges. */
typedef struct block {
    int64_t j0, p0, kb, n, k;
    float *packed;
} block;

static block block_of(const gemm_job *job, int64_t index)
{
    block x = {.kb = index % job->n_kc, .packed = job->packed[index % 2]};
    x.p0 = x.kb * job->kc;
    x.j0 = index / job->n_kc * job->nc;
    x.n = pt_min_i64(job->nc, job->g->n - x.j0);
    x.k = pt_min_i64(job->kc, job->g->k - x.p0);
    return x;
}

static void shared_pack(const gemm_job *job, int64_t chunk)
{
    block x = block_of(job, job->step);
    if (job->g->b_col == 1) {
        int64_t p = chunk * STRIP_K, k = pt_min_i64(STRIP_K, x.k - p);
        if (k > 0) pack_b(job, x.packed + p * PT_TILE_COLS, x.p0 + p, x.j0, k, x.n);
    } else {
        int64_t j = chunk * STRIP_COLS, n = pt_min_i64(STRIP_COLS, x.n - j);
        if (n > 0) pack_b(job, x.packed + j * job->kc, x.p0, x.j0 + j, x.k, n);
    }
}

static void shared_compute(const gemm_job *job, int64_t chunk, int thread)
{
    block x = block_of(job, job->step - 1);
    int64_t i0 = chunk * job->mc;
    pt_gemm_tile t = {.m = pt_min_i64(job->mc, job->g->m - i0), .n = x.n, .k = x.k};
    place_b(job, &t, x.packed);
    place_a(job, &t, i0, x.p0, pt_pool_scratch(job->pool, thread));
    run_tile(job, &t, i0, x.j0, x.kb);
}

static void shared_chunk(void *ctx, int64_t chunk, int thread)
{
    const gemm_job *job = ctx;
    int64_t n_pack = job->step < job->n_nc * job->n_kc ? job->n_pack : 0;
    if (chunk < n_pack) shared_pack(job, chunk);
    else shared_compute(job, chunk - n_pack, thread);
}

static void run_shared(gemm_job *job)
{
    const pt_gemm *g = job->g;
    job->copy_a = g->a_row % 1024 == 0;
    job->kc = even_block(g->k, BLOCK_K, 4);
    job->nc = even_block(g->n, SHARED_B / job->kc / PT_TILE_COLS * PT_TILE_COLS, PT_TILE_COLS);
    int64_t panels = pt_min_i64(g->m / (PT_PANEL_ROWS * 24), SHARED_ROWS / PT_PANEL_ROWS);
    job->mc = PT_PANEL_ROWS * pt_max_i64(1, panels);
    count_blocks(job);
    job->n_pack = g->b_col == 1 ? pt_div_up(job->kc, STRIP_K) : pt_div_up(job->nc, STRIP_COLS);
    job->packed[0] = (float *)pt_pool_scratch(job->pool, 0) + SHARED_A;
    job->packed[1] = job->packed[0] + SHARED_B;
    int64_t n_blocks = job->n_nc * job->n_kc;
    for (job->step = 0; job->step <= n_blocks; job->step++) {
        int64_t n_pack = job->step < n_blocks ? job->n_pack : 0;
        pt_pool_run(job->pool, n_pack + (job->step ? job->n_mc : 0), shared_chunk, job);
    }
}

void PT_CPU(gemm)(const pt_gemm *g, pt_pool *pool)
{
    if (g->m <= 0 || g->n <= 0) return;
    gemm_job job = {.g = g, .pool = pool};
    double flops = 2.0 * (double)g->m * (double)g->n * (double)g->k;
    if (!pool) run_without_pool(&job);
    else if (flops < SERIAL_FLOPS || g->a_col != 1 || g->m <= FEW_ROWS) run_private(&job, flops);
    else run_shared(&job);
}
