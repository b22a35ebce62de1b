/* Timing blocks of calls. SPDX-License-Identifier: MIT */
#include "bench/measure.h"

#include "base/clock.h"
#include "base/maths.h"
#include "base/strings.h"
#include "device/peak.h"

#define BLOCK_SECONDS 0.01
#define REMOTE_BLOCK_SECONDS 0.1
#define REMOTE_WARM_SECONDS 0.2 /* until its clocks have risen */
#define BESIDE_BLOCKS 48        /* per thread: about a millisecond */
#define LEAST_BLOCKS 3
#define LEAST_REMOTE_BLOCKS 5

/* ---- rows ---- */

pt_bench_row *pt_bench_row_new(pt_bench *b, const char *name, const char *shape, pt_error *err)
{
    if (b->n_rows == b->capacity) {
        int64_t capacity = pt_max_i64(64, 2 * b->capacity);
        size_t one = sizeof(void *);
        void *grown = pt_realloc(b->rows, (size_t)b->capacity * one, (size_t)capacity * one);
        if (!grown) goto failed;
        b->rows = grown;
        b->capacity = capacity;
    }
    pt_bench_row *row = pt_alloc(sizeof *row);
    if (!row) goto failed;
    pt_format(row->name, sizeof row->name, "%s", name);
    pt_format(row->shape, sizeof row->shape, "%s", shape);
    pt_pool *pool = pt_device_pool(b->device);
    row->threads = pool ? pt_pool_threads(pool) : 0;
    b->rows[b->n_rows++] = row;
    return row;
failed:
    (void)pt_fail(err, PT_NO_MEMORY, "no memory for figures");
    return NULL;
}

static bool has_text(const char *text, const char *part)
{
    size_t n = strlen(part);
    for (; *text; text++)
        if (strncmp(text, part, n) == 0) return true;
    return n == 0;
}

bool pt_bench_wants(const pt_bench *b, const char *name, const char *shape)
{
    const char *only = b->options.only;
    return !only || has_text(name, only) || has_text(shape, only);
}

/* ---- timing ---- */

pt_status pt_bench_finish(pt_device *device, pt_error *err)
{
    if (pt_device_pool(device)) return PT_OK;
    pt_bench_work nothing = {.device = device};
    double took;
    return pt_bench_wait(&nothing, &took, err);
}

/* A GPU is waited for once a block, which takes up to a millisecond: so blocks are long there. */
static pt_status warm_up_remote(pt_bench_work *w, pt_error *err)
{
    pt_bench_warmth warmth = {.block = REMOTE_BLOCK_SECONDS, .least = REMOTE_WARM_SECONDS};
    pt_status s = PT_OK;
    w->calls = 1;
    while (s == PT_OK && !warmth.warm) {
        double took;
        s = pt_bench_wait(w, &took, err);
        if (s == PT_OK) pt_bench_warm(&warmth, w, took);
    }
    return s;
}

pt_status pt_bench_warm_up(const pt_bench *b, pt_bench_work *w, pt_error *err)
{
    if (!pt_device_pool(w->device)) return warm_up_remote(w, err);
    double start = pt_clock_seconds(), best = 0, spent = 0;
    for (int i = 0; i < 2 || (spent < b->options.seconds / 10 && i < 100); i++) {
        double before = pt_clock_seconds();
        pt_status s = w->call(w->ctx, err);
        if (s) return s;
        double now = pt_clock_seconds(), took = now - before;
        if (i == 1 || took < best) best = took; /* the very first call touches new memory */
        spent = now - start;
    }
    double block =
        b->options.seconds / 10 < BLOCK_SECONDS ? b->options.seconds / 10 : BLOCK_SECONDS;
    w->calls = best > 0 ? 1 + (int64_t)(block / best) : 1000;
    return PT_OK;
}

/* One more sample of the peak, of `blocks` blocks for each thread. */
static pt_status sample_peak(pt_device *device, pt_dtype dtype, bool alone, int64_t blocks,
                             pt_bench_samples *to, pt_error *err)
{
    if (!alone) blocks *= pt_pool_threads(pt_device_pool(device));
    double before = pt_clock_seconds();
    double flop = dtype == PT_BF16 ? pt_device_cpu_fma_bf16(device, alone, blocks)
                                   : pt_device_cpu_fma(device, alone, blocks);
    return pt_bench_add_sample(to, flop / (pt_clock_seconds() - before), err);
}

/* Of what the row is about, how many a block has. */
static double in_block(const pt_bench_work *w)
{
    return (double)w->calls * (double)pt_max_i64(w->each, 1);
}

pt_status pt_bench_block(pt_bench_row *row, const pt_bench_work *w, pt_error *err)
{
    double took;
    pt_status s = pt_bench_wait(w, &took, err);
    if (s == PT_OK) s = pt_bench_add_sample(&row->seconds, took / in_block(w), err);
    if (s == PT_OK && pt_device_pool(w->device))
        s = sample_peak(w->device, row->dtype, false, BESIDE_BLOCKS, &row->beside, err);
    return s;
}

bool pt_bench_enough(const pt_bench *b, const pt_bench_row *row, const pt_bench_work *w)
{
    double total = 0;
    for (int64_t i = 0; i < row->seconds.n; i++) total += row->seconds.value[i] * in_block(w);
    int64_t least = pt_device_pool(b->device) ? LEAST_BLOCKS : LEAST_REMOTE_BLOCKS;
    return row->seconds.n >= least && total >= b->options.seconds;
}

void pt_bench_complete(const pt_bench *b, pt_bench_row *row)
{
    pt_bench_settle(&row->seconds);
    pt_bench_settle(&row->beside);
    double seconds = row->seconds.median;
    const pt_bench_limit *limit = row->threads == b->alone.threads ? &b->alone : &b->all;
    bool comparable = row->threads > 0 && row->threads == limit->threads;
    row->flop_rate = row->flop / seconds;
    row->flop_rate_6n = row->flop_6n / seconds;
    row->byte_rate = row->bytes / seconds;
    row->token_rate = row->tokens / seconds;
    double peak = row->dtype == PT_BF16 ? limit->flop_rate_bf16.most : limit->flop_rate.most;
    row->of_peak = comparable ? row->flop_rate / peak : 0;
    row->of_beside = row->beside.n ? row->flop_rate / row->beside.median : 0;
    row->of_bandwidth = comparable ? row->byte_rate / limit->byte_rate.most : 0;
    if (b->options.ready) b->options.ready(b->options.ctx, row);
}

pt_status pt_bench_measure(pt_bench *b, pt_bench_row *row, pt_bench_work *w, pt_error *err)
{
    pt_status s = pt_bench_warm_up(b, w, err);
    while (s == PT_OK && !pt_bench_enough(b, row, w)) s = pt_bench_block(row, w, err);
    if (s == PT_OK) pt_bench_complete(b, row);
    return s;
}

/* ---- limits ---- */

/* Alone and on all threads in turns, so that a passing load meets both. */
static pt_status measure_peak(pt_bench *b, pt_dtype dtype, pt_error *err)
{
    pt_status s = PT_OK;
    double start = pt_clock_seconds(), enough = 2 * b->options.seconds;
    for (int i = 0; s == PT_OK && (i < 2 * LEAST_BLOCKS || pt_clock_seconds() - start < enough);
         i++) {
        pt_bench_limit *limit = i % 2 ? &b->all : &b->alone;
        s = sample_peak(b->device, dtype, limit == &b->alone, 4 * BESIDE_BLOCKS,
                        dtype == PT_BF16 ? &limit->flop_rate_bf16 : &limit->flop_rate, err);
    }
    return s;
}

static pt_status measure_triad(pt_bench *b, pt_error *err)
{
    int64_t n[4] = {b->options.array_bytes / 4, 0, 0, 0};
    pt_bench_memory memory = {.device = b->device, .err = err};
    pt_tensor a = pt_bench_floats(&memory, 1, n), x = pt_bench_floats(&memory, 1, n),
              y = pt_bench_floats(&memory, 1, n);
    pt_status s = memory.status;
    double start = pt_clock_seconds(), enough = 2 * b->options.seconds;
    for (int i = 0; s == PT_OK && (i < 2 * LEAST_BLOCKS || pt_clock_seconds() - start < enough);
         i++) {
        pt_bench_limit *limit = i % 2 ? &b->all : &b->alone;
        double before = pt_clock_seconds();
        double bytes = pt_device_cpu_triad(b->device, limit == &b->alone, &a, &x, &y);
        s = pt_bench_add_sample(&limit->byte_rate, bytes / (pt_clock_seconds() - before), err);
    }
    pt_bench_release(&memory);
    return s;
}

pt_status pt_bench_begin(pt_bench *b, pt_device *device, const pt_bench_options *options,
                         pt_error *err)
{
    *b = (pt_bench){.device = device, .options = *options};
    if (!(options->seconds >= 0.001 && options->seconds <= 3600))
        return pt_fail(err, PT_BAD_INPUT, "--seconds is %g, it must be 0.001 to 3600",
                       options->seconds);
    if (options->array_bytes < 1 << 16 || options->array_bytes > (int64_t)1 << 36)
        return pt_fail(err, PT_BAD_INPUT, "--array-mb must be 1 to 65536");
    if (!pt_device_pool(device)) return PT_OK;
    b->alone.threads = 1;
    b->all.threads = pt_pool_threads(pt_device_pool(device));
    pt_status s = measure_peak(b, PT_F32, err);
    if (s == PT_OK && device->bf16) s = measure_peak(b, PT_BF16, err);
    if (s == PT_OK) s = measure_triad(b, err);
    pt_bench_settle(&b->alone.flop_rate);
    pt_bench_settle(&b->all.flop_rate);
    pt_bench_settle(&b->alone.flop_rate_bf16);
    pt_bench_settle(&b->all.flop_rate_bf16);
    pt_bench_settle(&b->alone.byte_rate);
    pt_bench_settle(&b->all.byte_rate);
    return s;
}

static void free_limit(pt_bench_limit *limit)
{
    pt_free(limit->flop_rate.value);
    pt_free(limit->flop_rate_bf16.value);
    pt_free(limit->byte_rate.value);
}

void pt_bench_end(pt_bench *b)
{
    for (int64_t i = 0; i < b->n_rows; i++) {
        pt_free(b->rows[i]->seconds.value);
        pt_free(b->rows[i]->beside.value);
        pt_free(b->rows[i]);
    }
    pt_free(b->rows);
    free_limit(&b->alone);
    free_limit(&b->all);
    *b = (pt_bench){0};
}
