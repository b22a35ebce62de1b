/* The threaded product: cutting it into blocks that fit the caches, packing, and sharing the work.
 *
 * Two ways, chosen by shape only:
 *   shared    the threads pack a block together into memory that all of them read, and then share its rows. While
 *             block i is computed, block i+1 is packed. Many rows times a weight: only B is packed. A sum over many rows
 *             (weight gradients): both are.
 *   private   few rows, or little work. C is cut into tiles; whoever takes a tile packs what it needs for it.
 * Both walk k in blocks and go on from C, so a sum is one chain whatever the blocks are.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/gemm.h"
#include "device/cpu/simd.h"

#define BLOCK_K 256 /* k of a block. With 512, what the threads share falls out of a 2 MiB cache */
#define PRIVATE_ROWS 192 /* rows and columns of a tile */
#define PRIVATE_COLS 384
#define LEAST_COLS 64    /* smaller tiles are not worth their packing */
#define FEW_ROWS 96      /* up to here every thread packs for itself */
#define SHARED_ROWS 384  /* rows of a block where A is packed */
#define SERIAL_FLOPS 1e6 /* below, waking threads costs more than they bring */
#define SMALL_K 96       /* without a pool: blocks of SMALL_K by PT_TILE_COLS on the stack */

/* Floats of scratch. Private, in each thread: A, then B. Shared, in that of thread 0: behind A two blocks of B, or
 * two blocks of A and B together. */
#define PRIVATE_A (PRIVATE_ROWS / PT_PANEL_ROWS * 16 * BLOCK_K)
#define SCRATCH (PT_CPU_SCRATCH_BYTES / 4)
#define SHARED_B ((SCRATCH - PRIVATE_A) / 2)
#define SHARED_AB (SCRATCH / 2)
_Static_assert(PRIVATE_A + BLOCK_K * PRIVATE_COLS <= SCRATCH, "a private tile fits");
_Static_assert(SHARED_B >= BLOCK_K * 4 * PT_TILE_COLS, "a block of B fits");

typedef struct gemm_job {
    const pt_gemm *g;
    pt_pool *pool;
    int64_t mc, nc, kc;       /* rows, columns and k of a block */
    int64_t n_mc, n_nc, n_kc; /* how many */
    bool copy_a;              /* the rows of A lie badly for the cache */
    bool pack_a;              /* shared: A is packed with B */
    int64_t rows, cols;       /* shared: what one chunk computes of a block */
    int64_t n_rows, n_pack;   /* shared: chunks across the rows, chunks that pack */
    float *packed[2];         /* shared: packed blocks, taken in turn */
    int64_t a_floats;         /* shared: of a packed block, A's part; B follows */
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

static void pack_a(const gemm_job *job, float *out, int64_t p0, int64_t i0, int64_t k, int64_t m)
{
    const pt_gemm *g = job->g;
    pt_pack a = {.out = out,
                 .src = g->a + p0 * g->a_col + i0,
                 .row = g->a_col,
                 .col = 1,
                 .k = k,
                 .n = m,
                 .panel = job->kc * 16};
    PT_CPU(gemm_pack_a)(&a);
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

/* Fills in the t->m rows of A from i0 and the t->k columns from p0, copied to scratch where that helps. */
static void place_a(const gemm_job *job, pt_gemm_tile *t, int64_t i0, int64_t p0, float *scratch)
{
    const pt_gemm *g = job->g;
    t->a = g->a + i0 * g->a_row + p0 * g->a_col;
    t->a_row = g->a_row;
    t->a_col = g->a_col;
    if (!job->copy_a) return;
    t->a = scratch;
    if (g->a_col == 1) {
        copy_rows(job, scratch, p0, i0, t->k, t->m);
        t->a_row = job->kc;
    } else {
        pack_a(job, scratch, p0, i0, t->k, t->m);
        t->a_col = 16;
        t->a_panel = job->kc * 16;
    }
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
static void private_tile(const gemm_job *job, int64_t chunk, float *scratch_a, float *scratch_b)
{
    const pt_gemm *g = job->g;
    int64_t i0 = chunk % job->n_mc * job->mc, j0 = chunk / job->n_mc * job->nc;
    pt_gemm_tile t = {.m = pt_min_i64(job->mc, g->m - i0), .n = pt_min_i64(job->nc, g->n - j0)};
    for (int64_t kb = 0; kb < job->n_kc; kb++) {
        int64_t p0 = kb * job->kc;
        t.k = pt_min_i64(job->kc, g->k - p0);
        pack_b(job, scratch_b, p0, j0, t.k, t.n);
        place_b(job, &t, scratch_b);
        place_a(job, &t, i0, p0, scratch_a);
        run_tile(job, &t, i0, j0, kb);
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
    job->mc = even_block(g->m, PRIVATE_ROWS, PT_PANEL_ROWS);
    job->nc = even_block(g->n, PRIVATE_COLS, PT_TILE_COLS);
    job->kc = even_block(g->k, BLOCK_K, 4);
    job->copy_a = g->a_col != 1;
    while (!serial && job->nc / 2 >= LEAST_COLS && pt_div_up(g->n, job->nc) < 16)
        job->nc = even_block(g->n, job->nc / 2, PT_TILE_COLS);
    count_blocks(job);
    int64_t n_chunks = job->n_mc * job->n_nc;
    if (!serial) pt_pool_run(job->pool, n_chunks, private_chunk, job);
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
#define STRIP_K 32                    /* k that one chunk packs where the source lies in rows */
#define STRIP_COLS (2 * PT_TILE_COLS) /* columns that one chunk packs where they stand upright */

/* Where a block lies: rows from i0, columns from j0, k from p0; and its sizes, smaller at the edges. */
typedef struct block {
    int64_t i0, j0, p0, kb, m, n, k;
    float *a, *b;
} block;

static block block_of(const gemm_job *job, int64_t index)
{
    const pt_gemm *g = job->g;
    int64_t ij = index / job->n_kc;
    block x = {.kb = index % job->n_kc};
    x.p0 = x.kb * job->kc;
    x.i0 = ij % job->n_mc * job->mc;
    x.j0 = ij / job->n_mc * job->nc;
    x.m = pt_min_i64(job->mc, g->m - x.i0);
    x.n = pt_min_i64(job->nc, g->n - x.j0);
    x.k = pt_min_i64(job->kc, g->k - x.p0);
    x.a = job->packed[index % 2];
    x.b = x.a + job->a_floats;
    return x;
}

static void shared_pack(const gemm_job *job, int64_t chunk)
{
    block x = block_of(job, job->step);
    if (job->g->b_col != 1) { /* upright, and then A is not packed */
        int64_t j = chunk * STRIP_COLS;
        if (j < x.n)
            pack_b(job, x.b + j * job->kc, x.p0, x.j0 + j, x.k, pt_min_i64(STRIP_COLS, x.n - j));
        return;
    }
    int64_t p = chunk * STRIP_K, k = pt_min_i64(STRIP_K, x.k - p);
    if (k <= 0) return;
    pack_b(job, x.b + p * PT_TILE_COLS, x.p0 + p, x.j0, k, x.n);
    if (job->pack_a) pack_a(job, x.a + p * 16, x.p0 + p, x.i0, k, x.m);
}

static void shared_compute(const gemm_job *job, int64_t chunk, int thread)
{
    block x = block_of(job, job->step - 1);
    int64_t i = chunk % job->n_rows * job->rows, j = chunk / job->n_rows * job->cols;
    if (i >= x.m || j >= x.n) return;
    pt_gemm_tile t = {
        .m = pt_min_i64(job->rows, x.m - i), .n = pt_min_i64(job->cols, x.n - j), .k = x.k};
    place_b(job, &t, x.b + j * job->kc);
    if (job->pack_a) {
        t.a = x.a + i / PT_PANEL_ROWS * job->kc * 16;
        t.a_row = 1;
        t.a_col = 16;
        t.a_panel = job->kc * 16;
    } else {
        place_a(job, &t, x.i0 + i, x.p0, pt_pool_scratch(job->pool, thread));
    }
    run_tile(job, &t, x.i0 + i, x.j0 + j, x.kb);
}

static void shared_chunk(void *ctx, int64_t chunk, int thread)
{
    const gemm_job *job = ctx;
    int64_t n_pack = job->step < job->n_mc * job->n_nc * job->n_kc ? job->n_pack : 0;
    if (chunk < n_pack) shared_pack(job, chunk);
    else shared_compute(job, chunk - n_pack, thread);
}

/* All rows, as many columns as fit: B is packed. */
static void plan_shared_b(gemm_job *job, float *scratch)
{
    const pt_gemm *g = job->g;
    job->copy_a = g->a_row % 1024 == 0;
    job->mc = g->m;
    job->kc = even_block(g->k, BLOCK_K, 4);
    job->nc = even_block(g->n, SHARED_B / job->kc / PT_TILE_COLS * PT_TILE_COLS, PT_TILE_COLS);
    job->rows = PT_PANEL_ROWS * pt_max_i64(1, pt_min_i64(g->m / (PT_PANEL_ROWS * 24),
                                                         PRIVATE_ROWS / PT_PANEL_ROWS));
    job->cols = job->nc;
    job->packed[0] = scratch + PRIVATE_A;
    job->packed[1] = job->packed[0] + SHARED_B;
}

/* A square of C and as much k as fits: both are packed. */
static void plan_shared_ab(gemm_job *job, float *scratch)
{
    const pt_gemm *g = job->g;
    job->mc = even_block(g->m, SHARED_ROWS, PT_PANEL_ROWS);
    job->nc = even_block(g->n, PRIVATE_COLS, PT_TILE_COLS);
    int64_t width = job->mc / PT_PANEL_ROWS * 16 + job->nc;
    job->kc = even_block(g->k, pt_min_i64(BLOCK_K, SHARED_AB / width / 4 * 4), 4);
    job->a_floats = job->mc / PT_PANEL_ROWS * 16 * job->kc;
    job->rows = PT_PANEL_ROWS * pt_max_i64(1, job->mc / (PT_PANEL_ROWS * 16));
    job->cols = job->mc < 8 * PT_PANEL_ROWS ? even_block(job->nc, 128, PT_TILE_COLS) : job->nc;
    job->pack_a = true;
    job->packed[0] = scratch;
    job->packed[1] = scratch + SHARED_AB;
}

static void run_shared(gemm_job *job)
{
    const pt_gemm *g = job->g;
    float *scratch = pt_pool_scratch(job->pool, 0);
    if (g->a_col == 1) plan_shared_b(job, scratch);
    else plan_shared_ab(job, scratch);
    count_blocks(job);
    job->n_rows = pt_div_up(job->mc, job->rows);
    job->n_pack = g->b_col == 1 ? pt_div_up(job->kc, STRIP_K) : pt_div_up(job->nc, STRIP_COLS);
    int64_t n_compute = job->n_rows * pt_div_up(job->nc, job->cols);
    int64_t n_blocks = job->n_mc * job->n_nc * job->n_kc;
    for (job->step = 0; job->step <= n_blocks; job->step++) {
        int64_t n_pack = job->step < n_blocks ? job->n_pack : 0;
        pt_pool_run(job->pool, n_pack + (job->step ? n_compute : 0), shared_chunk, job);
    }
}

void PT_CPU(gemm)(const pt_gemm *g, pt_pool *pool)
{
    if (g->m <= 0 || g->n <= 0) return;
    gemm_job job = {.g = g, .pool = pool};
    bool serial = 2.0 * (double)g->m * (double)g->n * (double)g->k < SERIAL_FLOPS;
    bool upright_both = g->a_col != 1 && g->b_col != 1;
    if (!pool) run_without_pool(&job);
    else if (serial || upright_both || (g->a_col == 1 && g->m <= FEW_ROWS))
        run_private(&job, serial);
    else run_shared(&job);
}
