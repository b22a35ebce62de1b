/* The micro-kernels, one register tile each, and the in-cache product that covers a block with them.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/gemm.h"
#include "device/cpu/simd.h"

/* Where a tile's sums start. */
enum { FROM_ZERO, FROM_BIAS, FROM_C };
/* How A lies: ROWS, k is contiguous within each row; PANELS, the rows are contiguous for each k. */
enum { ROWS, PANELS };

typedef struct tile_run {
    const float *a;
    int64_t a_step; /* to the next row (ROWS), to the next k (PANELS) */
    const float *b;
    int64_t b_row;
    float *c;
    const float *next_c; /* to prefetch; any address will do */
    int64_t c_row;
    const float *bias;
    int64_t k;
    int from;
} tile_run;

#if PT_TILE_HALVES
typedef pt_hf tile_vec;
#define TILE_LANES 8
#define TILE_OP(name) pt_hf_##name
#else
typedef pt_vf tile_vec;
#define TILE_LANES 16
#define TILE_OP(name) pt_vf_##name
#endif

/* Loops over a tile. They must vanish, or the sums are moved through memory before and after each tile. */
#define EACH_ROW _Pragma("GCC unroll 16") for (int i = 0; i < rows; i++)
#define EACH_VEC _Pragma("GCC unroll 16") for (int j = 0; j < vecs; j++)

/* Always called with constants for rows, vecs and layout, so that the sums stay in registers. */
PT_SIMD void micro_kernel(const tile_run *r, const int rows, const int vecs, const int layout)
{
    tile_vec sum[PT_TILE_ROWS][PT_TILE_VECS], start[PT_TILE_VECS];
    float *c = r->c;
    const int64_t c_row = r->c_row;
    if (r->from == FROM_C) {
        EACH_ROW EACH_VEC sum[i][j] = TILE_OP(load)(c + i * c_row + TILE_LANES * j);
    } else {
        EACH_VEC start[j] =
            r->from == FROM_BIAS ? TILE_OP(load)(r->bias + TILE_LANES * j) : TILE_OP(zero)();
        EACH_ROW EACH_VEC sum[i][j] = start[j];
    }
    const float *next_c = r->next_c;
    EACH_ROW EACH_VEC pt_prefetch(next_c + i * c_row + TILE_LANES * j);

    const float *a = r->a, *b = r->b;
    const int64_t a_step = r->a_step, b_row = r->b_row;
    for (int64_t p = r->k; p > 0; p--) {
        tile_vec x, col[PT_TILE_VECS];
        EACH_VEC col[j] = TILE_OP(load)(b + TILE_LANES * j);
        EACH_ROW
        {
            x = TILE_OP(set1)(layout == ROWS ? a[i * a_step] : a[i]);
            EACH_VEC sum[i][j] = TILE_OP(fma)(x, col[j], sum[i][j]);
        }
        a += layout == ROWS ? 1 : a_step;
        b += b_row;
    }
    EACH_ROW EACH_VEC TILE_OP(store)(c + i * c_row + TILE_LANES * j, sum[i][j]);
}

/* Halves go one after the other over the same rows of A and B. */
PT_SIMD void whole_kernel(const tile_run *r, const int rows, const int vecs, const int layout)
{
    micro_kernel(r, rows, vecs, layout);
#if PT_TILE_HALVES
    tile_run right = *r;
    right.b += TILE_LANES;
    right.c += TILE_LANES;
    right.next_c += TILE_LANES;
    if (right.bias) right.bias += TILE_LANES;
    micro_kernel(&right, rows, vecs, layout);
#endif
}

/* Tile heights: the full one, then those that the rows left over are cut into. */
#if PT_TILE_ROWS == 4
#define HEIGHTS(X, ...) X(4, __VA_ARGS__) X(2, __VA_ARGS__) X(1, __VA_ARGS__)
#elif PT_TILE_ROWS == 6
#define HEIGHTS(X, ...) X(6, __VA_ARGS__) X(4, __VA_ARGS__) X(2, __VA_ARGS__) X(1, __VA_ARGS__)
#elif PT_TILE_ROWS == 12
#define HEIGHTS(X, ...) \
    X(12, __VA_ARGS__) X(8, __VA_ARGS__) X(4, __VA_ARGS__) X(2, __VA_ARGS__) X(1, __VA_ARGS__)
#endif

#define DEFINE(rows, vecs)                                                                     \
    static void rows_##rows##x##vecs(const tile_run *r) { whole_kernel(r, rows, vecs, ROWS); } \
    static void panels_##rows##x##vecs(const tile_run *r) { whole_kernel(r, rows, vecs, PANELS); }
#define LIST_ROWS(rows, vecs) rows_##rows##x##vecs,
#define LIST_PANELS(rows, vecs) panels_##rows##x##vecs,
#define LIST_HEIGHT(rows, unused) rows,

HEIGHTS(DEFINE, 1)
#if PT_TILE_VECS == 2
HEIGHTS(DEFINE, 2)
#endif

typedef void (*tile_kernel)(const tile_run *r);
static const int tile_heights[] = {HEIGHTS(LIST_HEIGHT, )};
#define N_HEIGHTS (int)(sizeof tile_heights / sizeof *tile_heights)
static const tile_kernel kernels[2][PT_TILE_VECS][N_HEIGHTS] = {
    [ROWS] = {{HEIGHTS(LIST_ROWS, 1)},
#if PT_TILE_VECS == 2
              {HEIGHTS(LIST_ROWS, 2)}
#endif
    },
    [PANELS] = {{HEIGHTS(LIST_PANELS, 1)},
#if PT_TILE_VECS == 2
                {HEIGHTS(LIST_PANELS, 2)}
#endif
    }};

/* A tile whose last vector sticks out of C: computed in a copy. */
static void run_ragged(tile_kernel kernel, const tile_run *r, int rows, int64_t n)
{
    float c[PT_TILE_ROWS][PT_TILE_COLS] = {{0}}, bias[PT_TILE_COLS] = {0};
    tile_run inside = *r;
    inside.c = &c[0][0];
    inside.c_row = PT_TILE_COLS;
    inside.bias = bias;
    for (int64_t j = 0; j < n; j++) {
        if (r->from == FROM_BIAS) bias[j] = r->bias[j];
        if (r->from == FROM_C)
            for (int i = 0; i < rows; i++) c[i][j] = r->c[i * r->c_row + j];
    }
    kernel(&inside);
    for (int i = 0; i < rows; i++)
        for (int64_t j = 0; j < n; j++) r->c[i * r->c_row + j] = c[i][j];
}

/* The column panel that r stands at: n <= PT_TILE_COLS columns, all rows of A. */
static void run_panel(const pt_gemm_tile *t, tile_run *r, int64_t n)
{
    int layout = t->a_col == 1 ? ROWS : PANELS, vecs = (int)((n + 15) / 16);
    int64_t a_panel = layout == ROWS ? PT_PANEL_ROWS * t->a_row
                      : t->a_panel   ? t->a_panel
                                     : PT_PANEL_ROWS;
    float *c = r->c;
    for (int64_t i0 = 0; i0 < t->m; i0 += PT_PANEL_ROWS) {
        const float *a = t->a + i0 / PT_PANEL_ROWS * a_panel;
        int64_t left = pt_min_i64(t->m - i0, PT_PANEL_ROWS);
        for (int h = 0; left > 0; h++) {
            int rows = tile_heights[h];
            for (; left >= rows; left -= rows) {
                r->a = a;
                r->c = c;
                c += rows * r->c_row;
                a += rows * t->a_row;
                /* C of the next tile is fetched while this one is computed. */
                r->next_c = i0 + PT_PANEL_ROWS < t->m ? c : r->c;
                tile_kernel kernel = kernels[layout][vecs - 1][h];
                if (n % 16) run_ragged(kernel, r, rows, n);
                else kernel(r);
            }
        }
    }
}

void PT_CPU(gemm_tile)(const pt_gemm_tile *t)
{
    int64_t b_panel = t->b_panel ? t->b_panel : PT_TILE_COLS;
    tile_run r = {.a_step = t->a_col == 1 ? t->a_row : t->a_col,
                  .b_row = t->b_row,
                  .c_row = t->c_row,
                  .k = t->k,
                  .from = t->accumulate ? FROM_C
                          : t->bias     ? FROM_BIAS
                                        : FROM_ZERO};
    for (int64_t j = 0; j < t->n; j += PT_TILE_COLS) {
        r.b = t->b + j / PT_TILE_COLS * b_panel;
        r.c = t->c + j;
        r.bias = t->bias ? t->bias + j : NULL;
        run_panel(t, &r, t->n - j < PT_TILE_COLS ? t->n - j : PT_TILE_COLS);
    }
}
