/* A kernel of the ladder on trial. SPDX-License-Identifier: MIT */
#include "device/webgpu/selftest.h"

#include "base/maths.h"
#include "base/platform.h"
#include "device/webgpu/trial.h"

#define TOLERANCE 2e-5 /* of the largest element: linear.h */
#define RUNS 2
#define COMPILE_MS 10000 /* but for the simplest kernel, which may take as long as it does */

typedef struct trial {
    int64_t m, n, k, slices;
    bool a_transposed, b_transposed;
    int gap; /* of elements before a matrix, and between its rows; a multiple of four reads and writes by fours */
    bool bias, accumulate, mask_m, mask_k;
} trial;

/* Two tiles of 128 along M and of 128 or 256 along N, the second one hardly begun; several steps along K, and the beginning of another;
 * in the first slice of two, a whole number of steps. */
static const trial trials[PT_WG_TRIALS] = {
    {131, 260, 68, 2, .gap = 4, .accumulate = true},
    {131, 260, 48, 1, .b_transposed = true, .gap = 4, .bias = true},
    {132, 260, 69, 2, .a_transposed = true, .gap = 4, .accumulate = true},
    {131, 133, 69, 2, .gap = 3, .mask_m = true, .accumulate = true},
    {129, 130, 37, 1, .b_transposed = true, .gap = 5, .bias = true, .accumulate = true},
    {130, 131, 69, 2, .a_transposed = true, .gap = 3, .mask_k = true, .bias = true},
    {132, 260, 69, 2, .a_transposed = true, .gap = 4, .mask_k = true},
};
#define MOST_M 132
#define MOST_N 260

/* Elements of a trial's share of C; of A and B, which all trials read; of the mask. */
#define SHARE ((MOST_M + 2) * (MOST_N + 8))
#define INPUTS (MOST_N * 76)
#define ROWS 272
#define SCRATCH (1 << 19) /* bytes: more than a trial needs */

enum { A, B, BIAS, MASK, C, BUFFERS = C + RUNS };

struct pt_wg_selftest {
    pt_device *device;
    int64_t compile_ns;
    unsigned all;      /* products, by bit */
    unsigned products; /* that the kernel on trial computes */
    pt_buffer *buffer[BUFFERS];
    pt_tensor tensor[BUFFERS];
    float *input[MASK];
    float *before; /* what C holds before: a share for each trial */
    double *want;  /* and afterwards */
    double tolerance[PT_WG_TRIALS];
    float *got[RUNS];
    const pt_wg_tile *tile;
    int64_t pipelines; /* of the device, before this kernel's */
    int64_t until_ns;
    bool running;
    bool here[RUNS];
    pt_download download[RUNS];
};

const char *pt_wg_verdict_words(pt_wg_verdict verdict)
{
    static const char *const words[PT_WG_VERDICTS] = {
        "not tried",     "right",          "does not compile", "takes too long to compile",
        "wrong results", "varying results"};
    return words[verdict];
}

/* ---- numbers ---- */

/* Element i of one of the inputs: 16 bits between -1 and 1. */
static float number(uint32_t which, int64_t i)
{
    uint32_t x = ((uint32_t)i * 8 + which) * 0x9e3779b1u;
    x = (x ^ x >> 15) * 0x85ebca77u;
    x = (x ^ x >> 13) * 0xc2b2ae3du;
    return (float)((int32_t)(x >> 16) - 32768) / 32768.0f;
}

static bool masked(int64_t row) { return row % 5 == 2; }

static int64_t index_of(const pt_wg_matrix *x, int64_t row, int64_t column)
{
    return x->transposed ? x->first + column * x->ld + row : x->first + row * x->ld + column;
}

static double sum_of(const pt_wg_selftest *t, const pt_wg_product *p, int64_t m, int64_t n)
{
    const float *a = t->input[A], *b = t->input[B];
    double sum = 0;
    for (int64_t k = 0; k < p->k; k++) {
        if (p->mask_k && masked(p->mask_first + k)) continue;
        sum += (double)a[index_of(&p->a, m, k)] * (double)b[index_of(&p->b, k, n)];
    }
    return p->mask_m && masked(p->mask_first + m) ? 0 : sum;
}

/* By the definition: a trial's share of C. */
static void work_out(pt_wg_selftest *t, int at, const pt_wg_product *p)
{
    double largest = 0;
    for (int64_t m = 0; m < p->m; m++) {
        for (int64_t n = 0; n < p->n; n++) {
            int64_t i = index_of(&p->c, m, n);
            double value = sum_of(t, p, m, n) + (p->bias ? (double)t->input[BIAS][n] : 0) +
                           (p->accumulate ? t->want[i] : 0);
            t->want[i] = value;
            if (pt_fabs(value) > largest) largest = pt_fabs(value);
        }
    }
    t->tolerance[at] = TOLERANCE * largest;
}

/* ---- the products ---- */

static pt_wg_matrix matrix(const pt_tensor *t, int gap, int64_t rows, int64_t columns,
                           bool transposed)
{
    return (pt_wg_matrix){t, gap, (transposed ? rows : columns) + gap, transposed};
}

pt_wg_product pt_wg_trial_product(int at, const pt_wg_operands *o, int64_t m, int64_t n, int64_t k)
{
    const trial *t = &trials[at];
    return (pt_wg_product){.a = matrix(&o->a, t->gap, m, k, t->a_transposed),
                           .b = matrix(&o->b, t->gap, k, n, t->b_transposed),
                           .c = matrix(&o->c, t->gap, m, n, false),
                           .bias = t->bias ? &o->bias : NULL,
                           .m = m,
                           .n = n,
                           .k = k,
                           .accumulate = t->accumulate,
                           .mask = t->mask_m || t->mask_k ? &o->mask : NULL,
                           .mask_first = 3,
                           .mask_m = t->mask_m,
                           .mask_k = t->mask_k};
}

static pt_wg_operands operands_of(const pt_wg_selftest *t, int run)
{
    return (pt_wg_operands){.a = t->tensor[A],
                            .b = t->tensor[B],
                            .c = t->tensor[C + run],
                            .bias = t->tensor[BIAS],
                            .mask = t->tensor[MASK]};
}

static pt_wg_product product_of(int at, const pt_wg_operands *o)
{
    const trial *t = &trials[at];
    pt_wg_product p = pt_wg_trial_product(at, o, t->m, t->n, t->k);
    p.c.first += (int64_t)at * SHARE;
    return p;
}

/* What an earlier kernel left in its slices must not stand in for what this one fails to write. */
static pt_status clear_scratch(pt_device *device, pt_error *err)
{
    pt_tensor scratch;
    pt_status s = pt_wg_scratch(device, SCRATCH, &scratch, err);
    return s == PT_OK ? pt_fill_zero(device, &scratch, err) : s;
}

static pt_status launch(pt_wg_selftest *t, int run, bool compile_only, pt_error *err)
{
    pt_wg_operands operands = operands_of(t, run);
    pt_status s = PT_OK;
    for (int i = 0; i < PT_WG_TRIALS && s == PT_OK; i++) {
        pt_wg_product p = product_of(i, &operands);
        if (!(t->products >> i & 1)) continue;
        if (!compile_only) s = clear_scratch(t->device, err);
        if (s == PT_OK) s = pt_wg_matmul_with(t->device, &p, t->tile, trials[i].slices, err);
    }
    return s;
}

/* ---- what all kernels share ---- */

static pt_status make_buffer(pt_wg_selftest *t, int which, int64_t n, pt_error *err)
{
    pt_status s = pt_buffer_new(t->device, n * 4, &t->buffer[which], err);
    pt_tensor whole = {.buffer = t->buffer[which], .dtype = which == MASK ? PT_I32 : PT_F32};
    t->tensor[which] = pt_view(&whole, n, 0, 0, 0);
    return s;
}

static pt_status fill_mask(pt_wg_selftest *t, pt_error *err)
{
    int32_t values[ROWS];
    for (int64_t i = 0; i < ROWS; i++) values[i] = masked(i) ? -1 : 1;
    return pt_upload(t->device, &t->tensor[MASK], values, sizeof values, err);
}

static pt_status fill(pt_wg_selftest *t, int which, int64_t n, pt_error *err)
{
    for (int64_t i = 0; i < n; i++) t->input[which][i] = number((uint32_t)which, i);
    return pt_upload(t->device, &t->tensor[which], t->input[which], n * 4, err);
}

static const int64_t inputs[C] = {[A] = INPUTS, [B] = INPUTS, [BIAS] = ROWS, [MASK] = ROWS};

static bool allocate(pt_wg_selftest *t)
{
    size_t n = (size_t)PT_WG_TRIALS * SHARE;
    t->before = pt_alloc(n * sizeof *t->before);
    t->want = pt_alloc(n * sizeof *t->want);
    bool all = t->before && t->want;
    for (int run = 0; run < RUNS; run++)
        all = (t->got[run] = pt_alloc(n * sizeof *t->got[run])) != NULL && all;
    for (int i = 0; i < MASK; i++)
        all = (t->input[i] = pt_alloc((size_t)inputs[i] * sizeof *t->input[i])) != NULL && all;
    return all;
}

static void work_out_all(pt_wg_selftest *t)
{
    pt_wg_operands operands = operands_of(t, 0);
    for (int64_t i = 0; i < PT_WG_TRIALS * SHARE; i++)
        t->want[i] = (double)(t->before[i] = number(C, i));
    for (int i = 0; i < PT_WG_TRIALS; i++) {
        pt_wg_product p = product_of(i, &operands);
        if (t->all >> i & 1) work_out(t, i, &p);
    }
}

pt_status pt_wg_selftest_new(pt_wg_selftest **out, pt_device *device, pt_error *err)
{
    const pt_webgpu_options *o = pt_wg_options_of(device);
    pt_wg_selftest *t = *out = pt_alloc(sizeof *t);
    pt_status s = PT_OK;
    if (!t || !allocate(t)) s = pt_fail(err, PT_NO_MEMORY, "no memory to try a kernel");
    if (s == PT_OK) {
        t->device = device;
        t->compile_ns = (o->compile_ms ? o->compile_ms : COMPILE_MS) * 1000000;
        t->all = o->trials ? o->trials : PT_WG_ALL_TRIALS;
    }
    for (int i = 0; i < BUFFERS && s == PT_OK; i++) {
        s = make_buffer(t, i, i < C ? inputs[i] : PT_WG_TRIALS * SHARE, err);
        if (s == PT_OK && i < MASK) s = fill(t, i, inputs[i], err);
    }
    if (s == PT_OK) s = fill_mask(t, err);
    if (s == PT_OK) {
        work_out_all(t);
    } else {
        pt_wg_selftest_free(t);
        *out = NULL;
    }
    return s;
}

void pt_wg_selftest_free(pt_wg_selftest *t)
{
    if (!t) return;
    for (int i = 0; i < BUFFERS; i++) pt_buffer_free(t->buffer[i]);
    for (int run = 0; run < RUNS; run++) pt_free(t->got[run]);
    for (int i = 0; i < MASK; i++) pt_free(t->input[i]);
    pt_free(t->before);
    pt_free(t->want);
    pt_free(t);
}

/* ---- a kernel ---- */

pt_status pt_wg_selftest_begin(pt_wg_selftest *t, const pt_wg_tile *tile, unsigned products,
                               pt_error *err)
{
    t->tile = tile;
    t->products = products & t->all ? products & t->all : t->all;
    t->running = false;
    t->pipelines = pt_wg_pipelines(t->device);
    t->until_ns = pt_platform_monotonic_ns() + t->compile_ns;
    pt_wg_compile_only(t->device, true);
    pt_status s = launch(t, 0, true, err);
    pt_wg_compile_only(t->device, false);
    return s;
}

static pt_status run_all(pt_wg_selftest *t, pt_error *err)
{
    int64_t bytes = PT_WG_TRIALS * SHARE * 4;
    pt_status s = PT_OK;
    for (int run = 0; run < RUNS && s == PT_OK; run++) {
        pt_tensor *c = &t->tensor[C + run];
        t->here[run] = false;
        s = pt_upload(t->device, c, t->before, bytes, err);
        if (s == PT_OK) s = launch(t, run, false, err);
        if (s == PT_OK)
            s = pt_download_begin(t->device, c, t->got[run], bytes, &t->download[run], err);
    }
    return s == PT_OK ? pt_submit(t->device, err) : s;
}

static bool is_right(const pt_wg_selftest *t, const float *got)
{
    for (int64_t i = 0; i < PT_WG_TRIALS * SHARE; i++) {
        bool computed = t->products >> (i / SHARE) & 1;
        if (!computed) continue;
        if (!(pt_fabs((double)got[i] - t->want[i]) <= t->tolerance[i / SHARE])) return false;
    }
    return true;
}

static pt_wg_verdict judge(const pt_wg_selftest *t)
{
    for (int run = 0; run < RUNS; run++)
        if (!is_right(t, t->got[run])) return PT_WG_WRONG;
    const void *one = t->got[0], *other = t->got[1];
    bool same = memcmp(one, other, (size_t)PT_WG_TRIALS * SHARE * 4) == 0;
    return same ? PT_WG_RIGHT : PT_WG_UNSTEADY;
}

/* OK: all programs are compiled, and run. */
static pt_status compile(pt_wg_selftest *t, pt_wg_verdict *verdict, pt_error *err)
{
    bool failed = false;
    pt_status s = pt_wg_pipelines_poll(t->device, t->pipelines, &failed, err);
    bool simplest = t->tile == pt_wg_tiles;
    if (s == PT_PENDING && !simplest && pt_platform_monotonic_ns() >= t->until_ns)
        *verdict = PT_WG_TOO_SLOW;
    else if (s) return s;
    else if (failed) *verdict = PT_WG_NOT_COMPILED;
    if (*verdict != PT_WG_UNTRIED) return PT_OK;
    t->running = true;
    return run_all(t, err);
}

pt_status pt_wg_selftest_poll(pt_wg_selftest *t, pt_wg_verdict *verdict, pt_error *err)
{
    pt_status s = PT_OK;
    *verdict = PT_WG_UNTRIED;
    if (!t->running) s = compile(t, verdict, err);
    for (int run = 0; run < RUNS && t->running && s == PT_OK; run++) {
        if (!t->here[run]) s = pt_download_poll(t->device, &t->download[run], err);
        if (s == PT_OK) t->here[run] = true;
    }
    if (s) return s;
    if (t->running) *verdict = judge(t);
    if (*verdict != PT_WG_RIGHT) pt_wg_pipelines_drop(t->device, t->pipelines);
    return PT_OK;
}
