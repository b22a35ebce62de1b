/* Attention on the CPU, flash form, by blocks of query rows times blocks of keys.
 *
 * The heads of a group share their keys, so the queries of one (b, kv head) are one list of rows, head by head and
 * by time within a head; a block of rows may reach over two heads. Blocks of keys begin at multiples of BLOCK_KEYS, so a
 * query's sums are the same in a batch and alone (a cached token).
 * SPDX-License-Identifier: MIT */
#include "device/cpu/gemm.h"
#include "device/cpu/simd_maths.h"
#include "device/cpu/stored.h"
#include "ops/attention/attention.h"

#define BLOCK_ROWS 64
#define BLOCK_KEYS 64
#define STRIP 16 /* rows and keys are cut to what can be seen in steps of this */
#define MAX_D 256
#define NOTHING -3.0e38f /* the maximum of no scores; below every real one */
/* Without a pool the blocks are small and lie on the stack. */
#define SMALL_ROWS 8
#define SMALL_KEYS 16
/* Scratch of n_rows by n_keys blocks: see lay_out. */
#define UPRIGHT(n_keys) (((n_keys) + PT_TILE_COLS - 1) / PT_TILE_COLS * PT_TILE_COLS)
#define FLOATS(n_rows, n_keys) \
    ((2 * (n_rows) + 2 * UPRIGHT(n_keys) + 4 * (n_keys)) * MAX_D + 2 * (n_rows) * (n_keys) + 320)
/* Backward: with at least this many (b, kv head) each is one piece of work; with fewer, dk/dv and dq are made
 * apart, over blocks of keys and of rows, at the price of computing the scores twice. */
#define ENOUGH_PIECES 8

void PT_KERNEL(attention_fwd)(const void *args, pt_pool *pool);
void PT_KERNEL(attention_bwd)(const void *args, pt_pool *pool);

typedef struct layer {
    const pt_attention_args *a;
    pt_pool *pool;
    int64_t T, H, D, G, heads; /* heads per kv head */
    int64_t keys, rows;        /* per (b, kv head) */
    int64_t width;             /* D rounded up to whole vectors: row length in scratch */
    int64_t block_rows, block_keys, n_row_blocks, n_key_blocks;
    float scale;
    float *small; /* scratch when there is no pool */
} layer;

/* One (b, kv head). */
typedef struct piece {
    int64_t b, g;
    const pt_stored *k, *v; /* its first key and value */
    int64_t key_step;       /* from one key to the next */
} piece;

/* What a thread works on: a block of rows, a block of keys, and what of them lies in scratch. */
typedef struct work {
    int64_t row0, n_rows, key0, n_keys;
    int64_t first_key, end_key;   /* keys that any of the rows sees */
    float *q;                     /* [rows][width], times scale */
    float *sum;                   /* forward: the sums that become o; backward: dO. [rows][width] */
    float *k_upright, *v_upright; /* packed, for products over D */
    float *k, *v;                 /* [keys][width]; forward: v; backward: k times scale */
    float *dk, *dv;               /* [keys][width] */
    float *dq;                    /* bf16: [rows][width] from row dq_row0 on */
    int64_t dq_row0;
    float *s, *ds;                            /* [rows][block_keys] */
    bool rows_finite;                         /* backward: q and dO */
    bool keys_finite;                         /* forward: v; backward: k */
    float max[BLOCK_ROWS];                    /* forward: largest score so far; backward: lse */
    float total[BLOCK_ROWS * 16];             /* forward: sums of exp(score - max), by lane */
    float shrink[BLOCK_ROWS];                 /* forward: what a new maximum makes of older sums */
    float delta[BLOCK_ROWS];                  /* backward */
    int64_t from[BLOCK_ROWS], to[BLOCK_ROWS]; /* keys that each row sees: from <= j < to */
    int64_t end[BLOCK_ROWS / STRIP]; /* how many keys of the block each strip of rows reaches */
} work;

static layer layer_of(const pt_attention_args *a, pt_pool *pool)
{
    layer l = {.a = a, .pool = pool, .T = a->q.dim[1], .H = a->q.dim[2], .D = a->q.dim[3]};
    l.G = a->cached ? a->k.dim[1] : a->k.dim[2];
    l.keys = a->cached ? a->k.dim[2] : a->k.dim[1];
    l.heads = l.H / l.G;
    l.rows = l.heads * l.T;
    l.width = pt_round_up(l.D, 16);
    l.block_rows = pool ? BLOCK_ROWS : SMALL_ROWS;
    l.block_keys = pool ? BLOCK_KEYS : SMALL_KEYS;
    l.n_row_blocks = pt_div_up(l.rows, l.block_rows);
    l.n_key_blocks = pt_div_up(l.keys, l.block_keys);
    l.scale = (float)(a->scale > 0 ? a->scale : 1 / pt_sqrt((double)l.D));
    return l;
}

static piece piece_of(const layer *l, int64_t index)
{
    const pt_attention_args *a = l->a;
    piece p = {.b = index / l->G, .g = index % l->G};
    int64_t at = (p.b * l->keys * l->G + p.g) * l->D;
    p.key_step = l->G * l->D;
    if (a->cached) {
        int64_t slot = pt_present(&a->slot) ? pt_int_at(&a->slot, p.b) : p.b;
        at = (slot * l->G + p.g) * l->keys * l->D;
        p.key_step = l->D;
    }
    p.k = pt_storage(&a->k) + at;
    p.v = pt_storage(&a->v) + at;
    return p;
}

/* Index of a row in q, o, d_o, dq, and (head by head) in lse and delta. */
static int64_t row_at(const layer *l, const piece *p, int64_t row)
{
    int64_t h = p->g * l->heads + row / l->T;
    return ((p->b * l->T + row % l->T) * l->H + h) * l->D;
}
static int64_t stat_at(const layer *l, const piece *p, int64_t row)
{
    return (p->b * l->H + p->g * l->heads) * l->T + row;
}

/* Where dq is summed: in place; with bf16 in scratch, from row dq_row0 on, to be rounded once at the end. */
#if defined(PT_STORED_BF16)
static int64_t dq_step(const layer *l) { return l->width; }
static float *dq_at(const layer *l, const piece *p, const work *w, int64_t row)
{
    (void)p;
    return w->dq + (row - w->dq_row0) * l->width;
}
#else
static int64_t dq_step(const layer *l) { return l->H * l->D; }
static float *dq_at(const layer *l, const piece *p, const work *w, int64_t row)
{
    (void)w;
    return pt_floats(&l->a->dq) + row_at(l, p, row);
}
#endif

static float *take(float **next, int64_t n)
{
    float *p = *next;
    *next += pt_round_up(n, 16) + 16; /* packing may write 16 floats beyond */
    return p;
}

static void lay_out(const layer *l, work *w, int thread)
{
    float *next = l->small ? l->small : pt_pool_scratch(l->pool, thread);
    int64_t rows = l->block_rows * l->width, keys = l->block_keys * l->width;
    int64_t upright = UPRIGHT(l->block_keys) * l->D;
    w->q = take(&next, rows);
    w->sum = take(&next, rows);
    w->k_upright = take(&next, upright);
    w->v_upright = take(&next, upright);
    w->k = take(&next, keys);
    w->v = take(&next, keys);
    w->dk = take(&next, keys);
    w->dv = take(&next, keys);
    w->s = take(&next, l->block_rows * l->block_keys);
    w->ds = take(&next, l->block_rows * l->block_keys);
    w->dq = next; /* of a whole piece, where that fits */
    w->dq_row0 = 0;
}
_Static_assert(FLOATS(BLOCK_ROWS, BLOCK_KEYS) * sizeof(float) <= PT_CPU_SCRATCH_BYTES, "scratch");

/* n rows of D floats, step apart, into rows of `width`, times factor, padded with zeros. False when one of them is
 * not finite. */
static bool copy_rows(const layer *l, float *out, const pt_stored *in, int64_t step, int64_t n,
                      float factor)
{
    pt_vf f = pt_vf_set1(factor), zero = pt_vf_zero(), check = zero;
    for (int64_t i = 0; i < n; i++, out += l->width, in += step) {
        int64_t d = 0;
        for (; d + 16 <= l->D; d += 16) {
            pt_vf x = pt_vf_mul(pt_vs_load(in + d), f);
            pt_vf_store(out + d, x);
            check = pt_vf_fma(x, zero, check);
        }
        if (d < l->D) {
            pt_vf x = pt_vf_mul(pt_vs_load_n(in + d, l->D - d), f);
            pt_vf_store(out + d, x);
            check = pt_vf_fma(x, zero, check);
        }
    }
    return pt_vf_sum(check) == 0; /* 0 times inf or NaN is NaN */
}

/* Block rb of the piece's rows, and which keys each of them sees. */
static void see_rows(const layer *l, const piece *p, work *w, int64_t rb)
{
    const pt_attention_args *a = l->a;
    int64_t offset = pt_int_at(&a->offset, p->b);
    w->row0 = rb * l->block_rows;
    w->n_rows = pt_min_i64(l->block_rows, l->rows - w->row0);
    w->first_key = l->keys;
    w->end_key = 0;
    for (int64_t r = 0, i = w->row0 % l->T; r < w->n_rows; r++, i = i + 1 < l->T ? i + 1 : 0) {
        int64_t end = offset + i + 1, from = pt_int_at(&a->doc_start, p->b * l->T + i);
        if (a->window > 0) from = pt_max_i64(from, end - a->window);
        w->from[r] = from;
        w->to[r] = end;
        w->first_key = pt_min_i64(w->first_key, from);
        w->end_key = pt_max_i64(w->end_key, end);
    }
}

/* The rows of `in` (q, dO: [B,T,H,D]) into scratch. False when not finite. */
static bool load_rows(const layer *l, const piece *p, const work *w, float *out,
                      const pt_stored *in, float factor)
{
    bool finite = true;
    for (int64_t r = 0; r < w->n_rows;) {
        int64_t row = w->row0 + r, n = pt_min_i64(w->n_rows - r, l->T - row % l->T);
        finite &= copy_rows(l, out + r * l->width, in + row_at(l, p, row), l->H * l->D, n, factor);
        r += n;
    }
    return finite;
}

static void see_keys(const layer *l, work *w, int64_t kb, int64_t limit)
{
    w->key0 = kb * l->block_keys;
    w->n_keys = pt_min_i64(l->block_keys, limit - w->key0);
}

/* How much of the block of keys each strip of rows reaches. */
static void cut_strips(work *w)
{
    for (int64_t r = 0; r < w->n_rows; r += STRIP) {
        int64_t end = 0;
        for (int64_t i = r; i < r + STRIP && i < w->n_rows; i++)
            end = pt_max_i64(end, w->to[i] - w->key0);
        w->end[r / STRIP] = pt_min_i64(pt_round_up(end, STRIP), w->n_keys);
    }
}

/* The next run of strips from row r that reach equally far: its rows, and in *end how far. */
static int64_t strip_run(const work *w, int64_t r, int64_t *end)
{
    int64_t next = r / STRIP * STRIP + STRIP;
    *end = w->end[r / STRIP];
    while (next < w->n_rows && w->end[next / STRIP] == *end) next += STRIP;
    return pt_min_i64(next, w->n_rows) - r;
}

#if defined(PT_STORED_BF16)
/* The block's keys as floats, in `wide` [keys][width]. */
static const float *widened(const layer *l, const piece *p, const work *w, const pt_stored *keys,
                            float *wide, int64_t *step)
{
    copy_rows(l, wide, keys, p->key_step, w->n_keys, 1);
    *step = l->width;
    return wide;
}
#else
static const float *widened(const layer *l, const piece *p, const work *w, const pt_stored *keys,
                            float *wide, int64_t *step)
{
    (void)l, (void)w, (void)wide;
    *step = p->key_step;
    return keys;
}
#endif

/* The block's keys (or values) as columns, for products over D. `wide` holds [keys][width] meanwhile. */
static void stand_up(const layer *l, const piece *p, const work *w, float *out,
                     const pt_stored *keys, float *wide)
{
    int64_t step = 0;
    const float *src = widened(l, p, w, keys, wide, &step);
    pt_pack b = {.out = out,
                 .src = src,
                 .row = 1,
                 .col = step,
                 .k = l->D,
                 .n = w->n_keys,
                 .panel = l->D * PT_TILE_COLS};
    PT_CPU(gemm_pack_b)(&b);
}

/* out[rows][keys] = rows_of · upright keys, over D */
static void products_over_d(const layer *l, const work *w, float *out, const float *rows_of,
                            const float *upright)
{
    for (int64_t r = 0, n; r < w->n_rows; r += n) {
        int64_t end;
        n = strip_run(w, r, &end);
        pt_gemm_tile t = {.m = n,
                          .n = end,
                          .k = l->D,
                          .a = rows_of + r * l->width,
                          .a_row = l->width,
                          .a_col = 1,
                          .b = upright,
                          .b_row = PT_TILE_COLS,
                          .b_panel = l->D * PT_TILE_COLS,
                          .c = out + r * l->block_keys,
                          .c_row = l->block_keys};
        if (end > 0) PT_CPU(gemm_tile)(&t);
    }
}

/* What of a block of keys one row sees: lo <= j < hi, and the whole vectors from <= j < to that hold these. Counted
 * from the block's first key. */
typedef struct span {
    int64_t lo, hi, from, to;
} span;

static span seen(const work *w, int64_t r)
{
    span x = {.lo = pt_max_i64(w->from[r] - w->key0, 0),
              .hi = pt_min_i64(w->to[r] - w->key0, w->n_keys)};
    if (x.lo >= x.hi) x.lo = x.hi = 0;
    x.from = x.lo / 16 * 16;
    x.to = pt_round_up(x.hi, 16);
    return x;
}

static void add_multiple(const layer *l, float *out, float weight, const float *x)
{
    for (int64_t d = 0; d < l->D; d++) out[d] += weight * x[d];
}

/* sum (or dq of these rows) [rows][D] += weights[rows][keys] · keys_of[keys][D] */
static void add_keys(const layer *l, const piece *p, const work *w, const float *weights,
                     const float *keys_of, bool to_dq)
{
    for (int64_t r = 0, n; r < w->n_rows; r += n) {
        int64_t end, row = w->row0 + r;
        n = strip_run(w, r, &end);
        if (to_dq) n = pt_min_i64(n, l->T - row % l->T); /* rows of one head are evenly spaced */
        pt_gemm_tile t = {.m = n,
                          .n = l->D,
                          .k = end,
                          .a = weights + r * l->block_keys,
                          .a_row = l->block_keys,
                          .a_col = 1,
                          .b = keys_of,
                          .b_row = l->width,
                          .c = to_dq ? dq_at(l, p, w, row) : w->sum + r * l->width,
                          .c_row = to_dq ? dq_step(l) : l->width,
                          .accumulate = true};
        if (end > 0 && w->keys_finite) PT_CPU(gemm_tile)(&t);
        /* A weight of 0 would let what is hidden through, if it is not finite. */
        for (int64_t i = r; i < r + n && !w->keys_finite; i++) {
            span x = seen(w, i);
            for (int64_t j = x.lo; j < x.hi; j++)
                add_multiple(l, t.c + (i - r) * t.c_row, weights[i * l->block_keys + j],
                             keys_of + j * l->width);
        }
    }
}

/* out[keys][D] += weights[rows][keys]^T · rows_of[rows][D] */
static void add_rows(const layer *l, const work *w, float *out, const float *weights,
                     const float *rows_of)
{
    for (int64_t r = 0; r < w->n_rows && !w->rows_finite; r++) {
        span x = seen(w, r);
        for (int64_t j = x.lo; j < x.hi; j++)
            add_multiple(l, out + j * l->width, weights[r * l->block_keys + j],
                         rows_of + r * l->width);
    }
    for (int64_t j = 0, n, first = 0; j < w->n_keys && w->rows_finite; j += n) {
        /* rows before `first` see none of the keys from j on; where does that change? */
        while (first < w->n_rows && w->end[first / STRIP] <= j) first += STRIP;
        if (first >= w->n_rows) break;
        n = w->end[first / STRIP] - j;
        pt_gemm_tile t = {.m = n,
                          .n = l->D,
                          .k = w->n_rows - first,
                          .a = weights + first * l->block_keys + j,
                          .a_row = 1,
                          .a_col = l->block_keys,
                          .b = rows_of + first * l->width,
                          .b_row = l->width,
                          .c = out + j * l->width,
                          .c_row = l->width,
                          .accumulate = true};
        PT_CPU(gemm_tile)(&t);
    }
}

/* A row of the block's scores: in the vectors of what it sees, the rest becomes `hidden`; all other vectors become 0. */
static void mask_row(const layer *l, span x, float *s, float hidden)
{
    for (int64_t j = 0; j < x.from; j++) s[j] = 0;
    for (int64_t j = x.from; j < x.lo; j++) s[j] = hidden;
    for (int64_t j = x.hi; j < x.to; j++) s[j] = hidden;
    for (int64_t j = x.to; j < l->block_keys; j++) s[j] = 0;
}

/* ---- forward ---- */
/* Brings the largest score of row r up to date. */
static void mask_and_max(const layer *l, work *w, int64_t r, span x)
{
    float *s = w->s + r * l->block_keys;
    mask_row(l, x, s, (float)-PT_INF);
    if (x.lo == x.hi) return;
    pt_vf m = pt_vf_load(s + x.from);
    for (int64_t j = x.from + 16; j < x.to; j += 16) m = pt_vf_max(pt_vf_load(s + j), m);
    float max = pt_vf_max_all(m);
    if (max > w->max[r]) w->max[r] = max;
}

/* Scores of row r become weights exp(s - max); its older sums are brought to the new maximum. */
static void weigh_row(const layer *l, work *w, int64_t r, span x)
{
    float *s = w->s + r * l->block_keys, *sum = w->sum + r * l->width;
    float *total = w->total + 16 * r;
    if (w->shrink[r] != 1) {
        pt_vf f = pt_vf_set1(w->shrink[r]);
        pt_vf_store(total, pt_vf_mul(pt_vf_load(total), f));
        for (int64_t d = 0; d < l->width; d += 16)
            pt_vf_store(sum + d, pt_vf_mul(pt_vf_load(sum + d), f));
    }
    pt_vf shift = pt_vf_set1(w->max[r]), so_far = pt_vf_load(total);
    for (int64_t j = x.from; j < x.to; j += 16) {
        pt_vf e = pt_vf_exp_weight(pt_vf_sub(pt_vf_load(s + j), shift));
        pt_vf_store(s + j, e);
        so_far = pt_vf_add(so_far, e);
    }
    pt_vf_store(total, so_far);
}

static void softmax(const layer *l, work *w)
{
    span x[BLOCK_ROWS];
    memcpy(w->shrink, w->max, sizeof w->max);
    for (int64_t r = 0; r < w->n_rows; r++) {
        x[r] = seen(w, r);
        mask_and_max(l, w, r, x[r]);
    }
    for (int64_t r = 0; r < w->n_rows; r += 16) {
        pt_vf step = pt_vf_sub(pt_vf_load(w->shrink + r), pt_vf_load(w->max + r));
        pt_vf_store(w->shrink + r, pt_vf_exp_weight(step));
    }
    for (int64_t r = 0; r < w->n_rows; r++) weigh_row(l, w, r, x[r]);
}

static void store_row(const layer *l, const piece *p, const work *w, int64_t r)
{
    pt_stored *o = pt_storage(&l->a->o) + row_at(l, p, w->row0 + r);
    const float *sum = w->sum + r * l->width;
    float sum_of_weights = pt_vf_sum(pt_vf_load(w->total + 16 * r));
    pt_vf total = pt_vf_set1(sum_of_weights);
    for (int64_t d = 0; d < l->D; d += 16)
        pt_vs_store_n(o + d, pt_vf_div(pt_vf_load(sum + d), total), pt_min_i64(16, l->D - d));
    if (pt_present(&l->a->lse))
        pt_floats(&l->a->lse)[stat_at(l, p, w->row0 + r)] = w->max[r] + pt_logf(sum_of_weights);
}

static void forward_block(void *ctx, int64_t chunk, int thread)
{
    const layer *l = ctx;
    piece p = piece_of(l, chunk / l->n_row_blocks);
    work w;
    lay_out(l, &w, thread);
    /* The last rows see the most keys: they come first, so that no thread is left with them. */
    see_rows(l, &p, &w, l->n_row_blocks - 1 - chunk % l->n_row_blocks);
    load_rows(l, &p, &w, w.q, pt_storage(&l->a->q), l->scale);
    memset(w.sum, 0, (size_t)(w.n_rows * l->width) * sizeof(float));
    for (int64_t r = 0; r < BLOCK_ROWS; r++) w.max[r] = NOTHING;
    memset(w.total, 0, sizeof w.total);
    for (int64_t kb = w.first_key / l->block_keys; kb * l->block_keys < w.end_key; kb++) {
        see_keys(l, &w, kb, w.end_key);
        cut_strips(&w);
        int64_t at = w.key0 * p.key_step;
        stand_up(l, &p, &w, w.k_upright, p.k + at, w.v);
        w.keys_finite = copy_rows(l, w.v, p.v + at, p.key_step, w.n_keys, 1);
        products_over_d(l, &w, w.s, w.q, w.k_upright);
        softmax(l, &w);
        add_keys(l, &p, &w, w.s, w.v, false);
    }
    for (int64_t r = 0; r < w.n_rows; r++) store_row(l, &p, &w, r);
}

/* Few rows of few keys are not worth waking threads. */
static void run(layer *l, int64_t n_chunks, pt_pool_fn fn)
{
    double flops = 4.0 * (double)(l->a->q.dim[0] * l->H * l->T) * (double)(l->keys * l->D);
    if (l->pool && flops >= 1e6) pt_pool_run(l->pool, n_chunks, fn, l);
    else
        for (int64_t i = 0; i < n_chunks; i++) fn(l, i, 0);
}

static void forward(layer *l) { run(l, l->a->q.dim[0] * l->G * l->n_row_blocks, forward_block); }

static void forward_small(layer *l)
{
    float small[FLOATS(SMALL_ROWS, SMALL_KEYS)];
    l->small = small;
    forward(l);
}

void PT_KERNEL(attention_fwd)(const void *args, pt_pool *pool)
{
    layer l = layer_of(args, pool);
    if (pool) forward(&l);
    else forward_small(&l);
}

/* ---- backward ---- */
/* delta_i = dO_i · o_i for one (b, t), all heads */
static void delta_chunk(void *ctx, int64_t bt, int thread)
{
    (void)thread;
    const layer *l = ctx;
    const pt_attention_args *a = l->a;
    for (int64_t h = 0; h < l->H; h++) {
        int64_t at = (bt * l->H + h) * l->D;
        const pt_stored *o = pt_storage(&a->o) + at, *d_o = pt_storage(&a->d_o) + at;
        pt_vf sum = pt_vf_zero();
        for (int64_t d = 0; d < l->D; d += 16) {
            int64_t n = pt_min_i64(16, l->D - d);
            sum = pt_vf_fma(pt_vs_load_n(o + d, n), pt_vs_load_n(d_o + d, n), sum);
        }
        pt_floats(&a->delta)[(bt / l->T * l->H + h) * l->T + bt % l->T] = pt_vf_sum(sum);
    }
}

static void load_rows_backward(const layer *l, const piece *p, work *w)
{
    int64_t at = stat_at(l, p, w->row0);
    memcpy(w->max, pt_floats(&l->a->lse) + at, (size_t)w->n_rows * sizeof(float));
    memcpy(w->delta, pt_floats(&l->a->delta) + at, (size_t)w->n_rows * sizeof(float));
    w->rows_finite = load_rows(l, p, w, w->q, pt_storage(&l->a->q), l->scale);
    w->rows_finite &= load_rows(l, p, w, w->sum, pt_storage(&l->a->d_o), 1);
}

static void load_keys_backward(const layer *l, const piece *p, work *w, int64_t kb)
{
    see_keys(l, w, kb, l->keys);
    int64_t at = w->key0 * p->key_step;
    stand_up(l, p, w, w->k_upright, p->k + at, w->k);
    stand_up(l, p, w, w->v_upright, p->v + at, w->k);
    w->keys_finite = copy_rows(l, w->k, p->k + at, p->key_step, w->n_keys, l->scale);
}

/* s becomes P and ds becomes dS = P (dO·v - delta). Masked last: a NaN in lse or delta must not reach hidden keys. */
static void gradient_row(const layer *l, work *w, int64_t r)
{
    span x = seen(w, r);
    float *s = w->s + r * l->block_keys, *ds = w->ds + r * l->block_keys;
    pt_vf lse = pt_vf_set1(w->max[r]), delta = pt_vf_set1(w->delta[r]);
    for (int64_t j = x.from; j < x.to; j += 16) {
        pt_vf weight = pt_vf_exp_weight(pt_vf_sub(pt_vf_load(s + j), lse));
        pt_vf_store(s + j, weight);
        pt_vf_store(ds + j, pt_vf_mul(weight, pt_vf_sub(pt_vf_load(ds + j), delta)));
    }
    mask_row(l, x, s, 0);
    mask_row(l, x, ds, 0);
}

static void scores_backward(const layer *l, work *w)
{
    cut_strips(w);
    products_over_d(l, w, w->s, w->q, w->k_upright);
    products_over_d(l, w, w->ds, w->sum, w->v_upright);
    for (int64_t r = 0; r < w->n_rows; r++) gradient_row(l, w, r);
}

static void clear_dq(const layer *l, const piece *p, const work *w, int64_t row0, int64_t n_rows)
{
    for (int64_t row = row0; row < row0 + n_rows; row++)
        memset(dq_at(l, p, w, row), 0, (size_t)l->D * sizeof(float));
}

/* One row of sums into a gradient. */
static void store_gradient(const layer *l, pt_stored *to, const float *sums)
{
    for (int64_t d = 0; d < l->D; d += 16) {
        int64_t n = pt_min_i64(16, l->D - d);
        pt_vs_store_n(to + d, pt_vf_load_n(sums + d, n), n);
    }
}

#if defined(PT_STORED_BF16)
static void store_dq(const layer *l, const piece *p, const work *w, int64_t row0, int64_t n_rows)
{
    for (int64_t row = row0; row < row0 + n_rows; row++)
        store_gradient(l, pt_storage(&l->a->dq) + row_at(l, p, row), dq_at(l, p, w, row));
}
static bool whole_dq_fits(const layer *l)
{
    int64_t left = PT_CPU_SCRATCH_BYTES / 4 - FLOATS(BLOCK_ROWS, BLOCK_KEYS);
    return l->pool && l->rows * l->width <= left;
}
#else
static void store_dq(const layer *l, const piece *p, const work *w, int64_t row0, int64_t n_rows)
{
    (void)l, (void)p, (void)w, (void)row0, (void)n_rows;
}
static bool whole_dq_fits(const layer *l)
{
    (void)l;
    return true;
}
#endif

/* dk and dv of key block kb; with dq, also that block's share of dq. */
static void key_block(const layer *l, const piece *p, work *w, int64_t kb, bool dq)
{
    const pt_attention_args *a = l->a;
    load_keys_backward(l, p, w, kb);
    memset(w->dk, 0, (size_t)(w->n_keys * l->width) * sizeof(float));
    memset(w->dv, 0, (size_t)(w->n_keys * l->width) * sizeof(float));
    for (int64_t rb = 0; rb < l->n_row_blocks; rb++) {
        see_rows(l, p, w, rb);
        if (w->first_key >= w->key0 + w->n_keys || w->end_key <= w->key0) continue;
        load_rows_backward(l, p, w);
        scores_backward(l, w);
        add_rows(l, w, w->dv, w->s, w->sum);
        add_rows(l, w, w->dk, w->ds, w->q);
        if (dq) add_keys(l, p, w, w->ds, w->k, true);
    }
    for (int64_t j = 0; j < w->n_keys; j++) {
        int64_t at = ((p->b * l->keys + w->key0 + j) * l->G + p->g) * l->D;
        store_gradient(l, pt_storage(&a->dk) + at, w->dk + j * l->width);
        store_gradient(l, pt_storage(&a->dv) + at, w->dv + j * l->width);
    }
}

static void whole_piece(void *ctx, int64_t chunk, int thread)
{
    const layer *l = ctx;
    piece p = piece_of(l, chunk);
    work w;
    lay_out(l, &w, thread);
    clear_dq(l, &p, &w, 0, l->rows);
    for (int64_t kb = 0; kb < l->n_key_blocks; kb++) key_block(l, &p, &w, kb, true);
    store_dq(l, &p, &w, 0, l->rows);
}

static void keys_chunk(void *ctx, int64_t chunk, int thread)
{
    const layer *l = ctx;
    piece p = piece_of(l, chunk / l->n_key_blocks);
    work w;
    lay_out(l, &w, thread);
    key_block(l, &p, &w, chunk % l->n_key_blocks, false);
}

static void queries_chunk(void *ctx, int64_t chunk, int thread)
{
    const layer *l = ctx;
    piece p = piece_of(l, chunk / l->n_row_blocks);
    work w;
    lay_out(l, &w, thread);
    see_rows(l, &p, &w, l->n_row_blocks - 1 - chunk % l->n_row_blocks);
    load_rows_backward(l, &p, &w);
    w.dq = w.dk; /* not needed for anything else here */
    w.dq_row0 = w.row0;
    clear_dq(l, &p, &w, w.row0, w.n_rows);
    for (int64_t kb = w.first_key / l->block_keys; kb * l->block_keys < w.end_key; kb++) {
        load_keys_backward(l, &p, &w, kb);
        scores_backward(l, &w);
        add_keys(l, &p, &w, w.ds, w.k, true);
    }
    store_dq(l, &p, &w, w.row0, w.n_rows);
}

static void backward(layer *l)
{
    int64_t pieces = l->a->q.dim[0] * l->G;
    run(l, l->a->q.dim[0] * l->T, delta_chunk);
    if ((pieces >= ENOUGH_PIECES || !l->pool) && whole_dq_fits(l)) {
        run(l, pieces, whole_piece);
    } else {
        run(l, pieces * l->n_key_blocks, keys_chunk);
        run(l, pieces * l->n_row_blocks, queries_chunk);
    }
}

static void backward_small(layer *l)
{
    float small[FLOATS(SMALL_ROWS, SMALL_KEYS)];
    l->small = small;
    backward(l);
}

void PT_KERNEL(attention_bwd)(const void *args, pt_pool *pool)
{
    layer l = layer_of(args, pool);
    if (pool) backward(&l);
    else backward_small(&l);
}
