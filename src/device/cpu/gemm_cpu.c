/* The threaded product: cutting it into blocks that fit the caches, packing, and sharing the work.
 *
 * Two ways, chosen by shape only:
 *   shared    many rows times a weight. B is packed once, block by block, into memory that all threads read; the
 *             threads share the rows. While block i is computed, block i+1 is packed.
 *   private   few rows, or a sum over many rows (weight gradients). C is cut into tiles; whoever takes a tile
 *             packs what it needs for it.
 * Both walk k in blocks of at most BLOCK_K and go on from C, so a sum is one chain whatever the blocks are.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/gemm.h"
#include "device/cpu/simd.h"

#define BLOCK_K \
    320 /* a packed panel of B (BLOCK_K by PT_TILE_COLS) stays in the first-level cache */
/* The scratch of a thread: A and B of a private tile, or a private A and the two shared blocks of B. */
#define PRIVATE_A (192 * BLOCK_K + 16)
#define SHARED_B (128 * 1024)
#define PRIVATE_COLS 384
#define SERIAL_FLOPS 1e6 /* below, waking threads costs more than they bring */
#define SMALL_K 96       /* without a pool: blocks of SMALL_K by PT_TILE_COLS on the stack */

_Static_assert((PRIVATE_A + 2 * SHARED_B) * sizeof(float) <= PT_CPU_SCRATCH_BYTES, "scratch");
_Static_assert((PRIVATE_A + BLOCK_K * PRIVATE_COLS) * sizeof(float) <= PT_CPU_SCRATCH_BYTES,
               "scratch");

typedef struct gemm_job {
    const pt_gemm *g;
    pt_pool *pool;
    int64_t mc, nc, kc;       /* block sizes */
    int64_t n_mc, n_nc, n_kc; /* how many blocks */
    bool copy_a;              /* the rows of A lie badly for the cache */
    float *b_block[2];        /* shared: packed blocks of B, taken in turn */
    int64_t step;             /* shared: packs block `step`, computes block `step - 1` */
} gemm_job;

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

/* Equal blocks of at most `most`, each a multiple of `unit`. */
static int64_t even_block(int64_t n, int64_t most, int64_t unit)
{
    return max64(unit, round_up(ceil_div(n, ceil_div(max64(n, 1), most)), unit));
}

/* ---- one block ---- */
/* Fills in A[i0…, p0…] for a tile of m rows and k columns, by way of `scratch` where that helps. */
static void place_a(const gemm_job *job, pt_gemm_tile *t, int64_t i0, int64_t p0, float *scratch)
{
    const pt_gemm *g = job->g;
    const float *a = g->a + i0 * g->a_row + p0 * g->a_col;
    t->a = a;
    t->a_row = g->a_row;
    t->a_col = g->a_col;
    t->a_panel = 0;
    if (!job->copy_a) return;
    t->a = scratch;
    if (g->a_col != 1) {
        PT_CPU(gemm_pack_a)(scratch, a, g->a_col, t->m, t->k);
        t->a_row = 1;
        t->a_col = PT_TILE_ROWS;
        t->a_panel = t->k * PT_TILE_ROWS;
        return;
    }
    int64_t whole = t->k / 16 * 16;
    t->a_row = job->kc;
    for (int64_t i = 0; i < t->m; i++, a += g->a_row, scratch += job->kc) {
        for (int64_t p = 0; p < whole; p += 16) pt_vf_store(scratch + p, pt_vf_load(a + p));
        for (int64_t p = whole; p < t->k; p++) scratch[p] = a[p];
    }
}

/* C[i0…, j0…] of block kb: t has m, n, k and B. */
static void run_block(const gemm_job *job, pt_gemm_tile *t, int64_t i0, int64_t j0, int64_t kb)
{
    const pt_gemm *g = job->g;
    t->c = g->c + i0 * g->c_row + j0;
    t->c_row = g->c_row;
    t->accumulate = g->accumulate || kb > 0;
    t->bias = g->bias && !t->accumulate ? g->bias + j0 : NULL;
    PT_CPU(gemm_tile)(t);
}

/* ---- private ---- */
static void private_tile(const gemm_job *job, int64_t chunk, float *scratch_a, float *scratch_b)
{
    const pt_gemm *g = job->g;
    int64_t i0 = chunk % job->n_mc * job->mc, j0 = chunk / job->n_mc * job->nc;
    pt_gemm_tile t = {.m = min64(job->mc, g->m - i0), .n = min64(job->nc, g->n - j0)};
    for (int64_t kb = 0; kb < job->n_kc; kb++) {
        int64_t p0 = kb * job->kc;
        t.k = min64(job->kc, g->k - p0);
        PT_CPU(gemm_pack_b)
        (scratch_b, g->b + p0 * g->b_row + j0 * g->b_col, g->b_row, g->b_col, t.k, t.n);
        t.b = scratch_b;
        t.b_row = PT_TILE_COLS;
        t.b_panel = t.k * PT_TILE_COLS;
        place_a(job, &t, i0, p0, scratch_a);
        run_block(job, &t, i0, j0, kb);
    }
}

static void private_chunk(void *ctx, int64_t chunk, int thread)
{
    const gemm_job *job = ctx;
    float *scratch = pt_pool_scratch(job->pool, thread);
    private_tile(job, chunk, scratch, scratch + PRIVATE_A);
}

static void run_private(gemm_job *job, bool serial)
{
    const pt_gemm *g = job->g;
    int64_t least_m = min64(g->m, 48), least_n = min64(g->n, 64);
    job->mc = even_block(g->m, 192, PT_TILE_ROWS);
    job->nc = even_block(g->n, PRIVATE_COLS, PT_TILE_COLS);
    /* Enough tiles for the threads, as long as they stay big enough to be worth their packing. */
    while (!serial) {
        job->n_mc = ceil_div(g->m, job->mc);
        job->n_nc = ceil_div(g->n, job->nc);
        if (job->n_mc * job->n_nc >= 8) break;
        if (job->mc / 2 >= least_m && (job->mc >= job->nc || job->nc / 2 < least_n))
            job->mc = even_block(g->m, job->mc / 2, PT_TILE_ROWS);
        else if (job->nc / 2 >= least_n) job->nc = even_block(g->n, job->nc / 2, PT_TILE_COLS);
        else break;
    }
    job->n_mc = ceil_div(g->m, job->mc);
    job->n_nc = ceil_div(g->n, job->nc);
    int64_t n_chunks = job->n_mc * job->n_nc;
    if (!serial) pt_pool_run(job->pool, n_chunks, private_chunk, job);
    else
        for (int64_t i = 0; i < n_chunks; i++) private_chunk(job, i, 0);
}

/* No pool, no scratch: little blocks on the stack, A where it is. */
static void run_without_pool(gemm_job *job)
{
    float b[SMALL_K * PT_TILE_COLS];
    const pt_gemm *g = job->g;
    job->copy_a = false;
    job->mc = max64(g->m, 1);
    job->nc = PT_TILE_COLS;
    job->kc = even_block(g->k, SMALL_K, 4);
    job->n_mc = 1;
    job->n_nc = ceil_div(g->n, job->nc);
    job->n_kc = max64(1, ceil_div(g->k, job->kc));
    for (int64_t i = 0; i < job->n_nc; i++) private_tile(job, i, NULL, b);
}

/* ---- shared ---- */
#define PACK_COLS (2 * PT_TILE_COLS) /* columns of B that one chunk packs */

static void shared_pack(const gemm_job *job, int64_t block, int64_t chunk)
{
    const pt_gemm *g = job->g;
    int64_t jb = block / job->n_kc, p0 = block % job->n_kc * job->kc;
    int64_t j0 = jb * job->nc + chunk * PACK_COLS, end = min64(g->n, (jb + 1) * job->nc);
    if (j0 >= end) return;
    int64_t k = min64(job->kc, g->k - p0);
    PT_CPU(gemm_pack_b)
    (job->b_block[block % 2] + chunk * PACK_COLS * k, g->b + p0 * g->b_row + j0 * g->b_col,
     g->b_row, g->b_col, k, min64(PACK_COLS, end - j0));
}

static void shared_compute(const gemm_job *job, int64_t block, int64_t chunk, int thread)
{
    const pt_gemm *g = job->g;
    int64_t jb = block / job->n_kc, kb = block % job->n_kc;
    int64_t i0 = chunk * job->mc, j0 = jb * job->nc, p0 = kb * job->kc;
    pt_gemm_tile t = {.m = min64(job->mc, g->m - i0),
                      .n = min64(job->nc, g->n - j0),
                      .k = min64(job->kc, g->k - p0),
                      .b = job->b_block[block % 2],
                      .b_row = PT_TILE_COLS};
    t.b_panel = t.k * PT_TILE_COLS;
    place_a(job, &t, i0, p0, pt_pool_scratch(job->pool, thread));
    run_block(job, &t, i0, j0, kb);
}

static void shared_chunk(void *ctx, int64_t chunk, int thread)
{
    const gemm_job *job = ctx;
    int64_t n_pack = job->step < job->n_nc * job->n_kc ? ceil_div(job->nc, PACK_COLS) : 0;
    if (chunk < n_pack) shared_pack(job, job->step, chunk);
    else shared_compute(job, job->step - 1, chunk - n_pack, thread);
}

static void run_shared(gemm_job *job)
{
    const pt_gemm *g = job->g;
    float *scratch = pt_pool_scratch(job->pool, 0);
    job->b_block[0] = scratch + PRIVATE_A;
    job->b_block[1] = job->b_block[0] + SHARED_B;
    job->mc = PT_TILE_ROWS * max64(1, min64(g->m / (PT_TILE_ROWS * 24), 192 / PT_TILE_ROWS));
    job->nc = even_block(g->n, SHARED_B / job->kc / PT_TILE_COLS * PT_TILE_COLS, PT_TILE_COLS);
    job->n_mc = ceil_div(g->m, job->mc);
    job->n_nc = ceil_div(g->n, job->nc);
    int64_t n_blocks = job->n_nc * job->n_kc;
    for (job->step = 0; job->step <= n_blocks; job->step++) {
        int64_t n_pack = job->step < n_blocks ? ceil_div(job->nc, PACK_COLS) : 0;
        pt_pool_run(job->pool, n_pack + (job->step ? job->n_mc : 0), shared_chunk, job);
    }
}

void PT_CPU(gemm)(const pt_gemm *g, pt_pool *pool)
{
    if (g->m <= 0 || g->n <= 0) return;
    gemm_job job = {.g = g, .pool = pool};
    if (!pool) {
        run_without_pool(&job);
        return;
    }
    job.kc = even_block(g->k, BLOCK_K, 4);
    job.n_kc = max64(1, ceil_div(g->k, job.kc));
    bool serial = 2.0 * (double)g->m * (double)g->n * (double)g->k < SERIAL_FLOPS;
    bool upright = g->a_col != 1;
    job.copy_a = upright || g->a_row % 1024 == 0;
    if (serial || upright || g->m <= 96) run_private(&job, serial);
    else run_shared(&job);
}
