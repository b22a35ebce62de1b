/* The chunked head on the CPU: logits of a run of rows by one product into the workspace, softmax in place,
 * and the two gradient products from there. Masked rows are cut out of the runs.
 * SPDX-License-Identifier: MIT */
#include "device/cpu/product.h"
#include "device/cpu/simd_maths.h"
#include "ops/crossentropy/crossentropy.h"

/* A run goes on over fewer masked rows than this (their dz is 0): cheaper than another product. */
#define GAP 8
#define ROWS_PER_CHUNK 2

void PT_KERNEL(crossentropy_fwd)(const void *args, pt_pool *pool);
void PT_KERNEL(crossentropy_bwd)(const void *args, pt_pool *pool);

typedef struct head {
    const pt_crossentropy_args *a;
    pt_pool *pool;
    int64_t N, C, V;
    int64_t first, rows; /* the run whose logits are in the workspace */
    bool backward;
} head;

static bool masked(const head *h, int64_t n) { return pt_ints(&h->a->target)[n] < 0; }

/* ---- softmax ---- */
static float largest(const float *z, int64_t V)
{
    int64_t v = 0;
    float max = z[0];
    if (V >= 16) {
        pt_vf m = pt_vf_load(z);
        for (v = 16; v + 16 <= V; v += 16) m = pt_vf_max(pt_vf_load(z + v), m);
        max = pt_vf_max_all(m);
    }
    for (; v < V; v++) max = z[v] > max ? z[v] : max;
    return max;
}

/* z = exp(z - max); returns the sum. */
static float exponentials(float *z, int64_t V, float max)
{
    pt_vf shift = pt_vf_set1(max), sum = pt_vf_zero();
    int64_t v = 0;
    for (; v + 16 <= V; v += 16) {
        pt_vf e = pt_vf_exp_weight(pt_vf_sub(pt_vf_load(z + v), shift));
        pt_vf_store(z + v, e);
        sum = pt_vf_add(sum, e);
    }
    if (v < V) {
        pt_vf_store_n(z + v, pt_vf_exp_weight(pt_vf_sub(pt_vf_load_n(z + v, V - v), shift)), V - v);
        sum = pt_vf_add(sum, pt_vf_load_n(z + v, V - v));
    }
    return pt_vf_sum(sum);
}

static void multiply(float *z, int64_t V, float factor)
{
    pt_vf f = pt_vf_set1(factor);
    int64_t v = 0;
    for (; v + 16 <= V; v += 16) pt_vf_store(z + v, pt_vf_mul(pt_vf_load(z + v), f));
    for (; v < V; v++) z[v] *= factor;
}

/* dz of a row lies where its logits were, as it is stored: of a row of V floats bf16 takes the first half. */
#if defined(PT_STORED_BF16)
#define GRADIENT_STEP 2
#else
#define GRADIENT_STEP 1
#endif

static const pt_stored *gradients(const head *h) { return pt_storage(&h->a->logits); }

static void store_gradients(float *z, int64_t V)
{
#if defined(PT_STORED_BF16)
    pt_stored *out = (pt_stored *)(void *)z;
    for (int64_t v = 0; v < V; v += 16) {
        int64_t n = pt_min_i64(16, V - v);
        pt_vs_store_n(out + v, pt_vf_load_n(z + v, n), n);
    }
#else
    (void)z, (void)V;
#endif
}

static void put_row(const head *h, int64_t n, float logp, float lse)
{
    if (pt_present(&h->a->logp)) pt_floats(&h->a->logp)[n] = logp;
    if (pt_present(&h->a->lse)) pt_floats(&h->a->lse)[n] = lse;
}

/* Row n: z holds its logits, and dz afterwards when going backward. */
static void softmax_row(const head *h, int64_t n, float *z)
{
    if (masked(h, n)) {
        if (h->backward) memset(z, 0, (size_t)h->V * sizeof(float));
        return;
    }
    int64_t target = pt_ints(&h->a->target)[n];
    float at_target = z[target], max = largest(z, h->V), sum = exponentials(z, h->V, max);
    float log_sum = pt_logf(sum);
    /* z - max first: both are near each other where it matters, so nothing is lost */
    put_row(h, n, (at_target - max) - log_sum, max + log_sum);
    if (!h->backward) return;
    float coef = pt_floats(&h->a->coef)[n];
    multiply(z, h->V, -coef / sum);
    z[target] += coef;
    store_gradients(z, h->V);
}

static void softmax_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const head *h = ctx;
    for (int64_t r = chunk * ROWS_PER_CHUNK; r < (chunk + 1) * ROWS_PER_CHUNK && r < h->rows; r++)
        softmax_row(h, h->first + r, pt_floats(&h->a->logits) + r * h->V);
}

/* ---- products ---- */
static void logits(const head *h)
{
    pt_product g = {.m = h->rows,
                    .n = h->V,
                    .k = h->C,
                    .a = pt_storage(&h->a->x) + h->first * h->C,
                    .a_row = h->C,
                    .a_col = 1,
                    .b = pt_storage(&h->a->w),
                    .b_row = 1,
                    .b_col = h->C,
                    .c_row = h->V};
    pt_product_run(&g, &h->a->logits, 0, h->pool);
}

/* dx = dz w */
static void input_gradient(const head *h)
{
    pt_product g = {.m = h->rows,
                    .n = h->C,
                    .k = h->V,
                    .a = gradients(h),
                    .a_row = GRADIENT_STEP * h->V,
                    .a_col = 1,
                    .b = pt_storage(&h->a->w),
                    .b_row = h->C,
                    .b_col = 1,
                    .c_row = h->C};
    pt_product_run(&g, &h->a->dx, h->first * h->C, h->pool);
}

/* dw += dz^T x */
static void weight_gradient(const head *h)
{
    pt_product g = {.m = h->V,
                    .n = h->C,
                    .k = h->rows,
                    .a = gradients(h),
                    .a_row = 1,
                    .a_col = GRADIENT_STEP * h->V,
                    .b = pt_storage(&h->a->x) + h->first * h->C,
                    .b_row = h->C,
                    .b_col = 1,
                    .c_row = h->C,
                    .accumulate = true};
    pt_product_run(&g, &h->a->dw, 0, h->pool);
}

/* ---- runs of rows ---- */
static bool row_is_finite(const pt_stored *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!__builtin_isfinite(pt_get(x + i))) return false;
    return true;
}

static void skip_row(const head *h, int64_t n)
{
    put_row(h, n, 0, 0);
    if (h->backward && pt_present(&h->a->dx))
        memset(pt_storage(&h->a->dx) + n * h->C, 0, (size_t)h->C * sizeof(pt_stored));
}

/* Where the run that begins with the unmasked row `first` ends. It ends with an unmasked row, has at most `most`
 * rows, and holds no masked row that is not finite: 0 times that would reach dw. */
static int64_t run_end(const head *h, int64_t first, int64_t most)
{
    int64_t end = first + 1;
    for (int64_t n = first + 1; n < h->N && n < first + most && n < end + GAP; n++) {
        if (!masked(h, n)) end = n + 1;
        else if (!row_is_finite(pt_storage(&h->a->x) + n * h->C, h->C)) break;
    }
    return end;
}

static void walk(head *h)
{
    int64_t most = pt_rows(&h->a->logits);
    for (int64_t n = 0; n < h->N;) {
        if (masked(h, n)) {
            skip_row(h, n++);
            continue;
        }
        h->first = n;
        n = run_end(h, n, most);
        h->rows = n - h->first;
        logits(h);
        pt_pool_run(h->pool, pt_div_up(h->rows, ROWS_PER_CHUNK), softmax_chunk, h);
        if (h->backward && pt_present(&h->a->dx)) input_gradient(h);
        if (h->backward && pt_present(&h->a->dw)) weight_gradient(h);
        for (int64_t m = h->first; m < n; m++)
            if (masked(h, m)) skip_row(h, m); /* 0 times a w that is not finite is not 0 */
    }
}

void PT_KERNEL(crossentropy_fwd)(const void *args, pt_pool *pool)
{
    const pt_crossentropy_args *a = args;
    head h = {.a = a, .pool = pool, .N = pt_rows(&a->x), .C = pt_last_dim(&a->x)};
    h.V = pt_rows(&a->w);
    walk(&h);
}

void PT_KERNEL(crossentropy_bwd)(const void *args, pt_pool *pool)
{
    const pt_crossentropy_args *a = args;
    head h = {.a = a, .pool = pool, .N = pt_rows(&a->x), .C = pt_last_dim(&a->x), .backward = true};
    h.V = pt_rows(&a->w);
    walk(&h);
}
