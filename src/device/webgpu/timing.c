/* A race of kernels. SPDX-License-Identifier: MIT */
#include "device/webgpu/timing.h"

#include "base/platform.h"
#include "device/webgpu/selftest.h"

#define SERIES_NS 10000000 /* at least, so that the way to the GPU and back counts for little */
#define MOST_LAUNCHES 1024
#define HOPELESS 3.0 /* times the fastest of the first round: out of the race; a GPU that was idle begins slowly */
#define CLEARLY 1.05 /* times another's: the usual kernel gives way */

/* What is timed of each size: products as training has them. Those of weights (TN) are square and sum over many rows. */
static const int64_t shapes[PT_WG_SIZES][2][3] = {
    {{1024, 128, 256}, {256, 256, 2048}},
    {{2048, 512, 512}, {768, 768, 2048}},
    {{3072, 2048, 512}, {3072, 2048, 512}},
    {{4096, 3072, 768}, {4096, 3072, 768}},
};
#define MOST_A (4096 * 772)
#define MOST_B (3072 * 772)
#define MOST_C (4096 * 3076)
#define MOST_N 3072
#define GAPS 64 /* elements before a matrix */

enum { A, B, C, BIAS, BUFFERS };

typedef enum stage { WARMING_UP, FITTING, RACING } stage;

struct pt_wg_timing {
    pt_device *device;
    int scale;
    pt_buffer *buffer[BUFFERS];
    pt_wg_operands operands;
    int trial; /* whose product is timed */
    int64_t m, n, k;
    const pt_wg_tile *tile[PT_WG_MOST_TILES];
    int n_tiles, usual;
    int64_t times[PT_WG_MOST_TILES][PT_WG_ROUNDS];
    stage stage;
    int at, round, launches;
    bool fitted; /* launches: how many are a series */
    bool flying;
    int64_t begun_ns;
    pt_download download;
    float got; /* one element of C: when it is here, all launches are done */
};

pt_status pt_wg_timing_new(pt_wg_timing **out, pt_device *device, int scale, pt_error *err)
{
    static const int64_t elements[BUFFERS] = {MOST_A + GAPS, MOST_B + GAPS, MOST_C + GAPS, MOST_N};
    pt_wg_timing *t = *out = pt_alloc(sizeof *t);
    if (!t) return pt_fail(err, PT_NO_MEMORY, "no memory to time kernels");
    pt_tensor *tensor[BUFFERS] = {&t->operands.a, &t->operands.b, &t->operands.c,
                                  &t->operands.bias};
    pt_status s = PT_OK;
    t->device = device;
    t->scale = scale;
    for (int i = 0; i < BUFFERS && s == PT_OK; i++) {
        int64_t n = i == BIAS ? elements[i] : elements[i] / scale;
        s = pt_buffer_new(device, n * 4, &t->buffer[i], err);
        pt_tensor whole = {.buffer = t->buffer[i], .dtype = PT_F32};
        *tensor[i] = pt_view(&whole, n, 0, 0, 0);
    }
    if (s) {
        pt_wg_timing_free(t);
        *out = NULL;
    }
    return s;
}

void pt_wg_timing_free(pt_wg_timing *t)
{
    if (!t) return;
    for (int i = 0; i < BUFFERS; i++) pt_buffer_free(t->buffer[i]);
    pt_free(t);
}

void pt_wg_timing_begin(pt_wg_timing *t, pt_wg_size size, pt_wg_layout layout,
                        const pt_wg_tile *const *tile, int n, int usual)
{
    const int64_t *shape = shapes[size][layout == PT_WG_TN];
    t->trial = (int)layout;
    t->m = shape[0] / t->scale;
    t->n = shape[1] / t->scale;
    t->k = shape[2] / t->scale;
    for (int i = 0; i < n; i++) t->tile[i] = tile[i];
    memset(t->times, 0, sizeof t->times);
    t->n_tiles = n;
    t->usual = t->at = usual;
    t->round = 0;
    t->launches = 1;
    t->stage = WARMING_UP;
    t->fitted = t->flying = false;
}

/* ---- one series ---- */

static pt_status take_off(pt_wg_timing *t, int launches, pt_error *err)
{
    pt_wg_product p = pt_wg_trial_product(t->trial, &t->operands, t->m, t->n, t->k);
    pt_status s = PT_OK;
    for (int i = 0; i < launches && s == PT_OK; i++)
        s = pt_wg_matmul_with(t->device, &p, t->tile[t->at], 0, err);
    if (s == PT_OK)
        s = pt_download_begin(t->device, &t->operands.c, &t->got, sizeof t->got, &t->download, err);
    t->begun_ns = pt_platform_monotonic_ns();
    t->flying = true;
    return s == PT_OK ? pt_submit(t->device, err) : s;
}

/* ---- the race ---- */

static int64_t least(const int64_t *times)
{
    int64_t least = times[0];
    for (int i = 1; i < PT_WG_ROUNDS && times[i]; i++) least = pt_min_i64(least, times[i]);
    return least;
}

int pt_wg_timing_winner(int64_t (*times)[PT_WG_ROUNDS], int n, int usual)
{
    int best = usual;
    for (int i = 0; i < n; i++)
        if (least(times[i]) < least(times[best])) best = i;
    return (double)least(times[usual]) > CLEARLY * (double)least(times[best]) ? best : usual;
}

/* Kernels that are far slower than the fastest are not timed again. */
static bool is_out(const pt_wg_timing *t, int i)
{
    int64_t best = t->times[i][0];
    for (int j = 0; j < t->n_tiles && t->round > 0; j++) best = pt_min_i64(best, t->times[j][0]);
    return (double)t->times[i][0] > HOPELESS * (double)best;
}

/* The next kernel of the race, the first of the next round behind the last; false behind the last round. */
static bool next_kernel(pt_wg_timing *t)
{
    do {
        if (++t->at < t->n_tiles) continue;
        t->at = 0;
        t->round++;
    } while (t->round < PT_WG_ROUNDS && is_out(t, t->at));
    return t->round < PT_WG_ROUNDS;
}

/* What follows the series that has landed. OK: nothing, the race is over. */
static pt_status land(pt_wg_timing *t, int64_t ns)
{
    switch (t->stage) {
    case WARMING_UP: t->stage = t->fitted ? RACING : FITTING; break;
    case FITTING:
        if (ns < SERIES_NS && t->launches < MOST_LAUNCHES) {
            t->launches *= 2;
            break;
        }
        t->fitted = true;
        t->at = 0;
        t->stage = WARMING_UP;
        break;
    case RACING:
        t->times[t->at][t->round] = pt_max_i64(ns, 1);
        if (!next_kernel(t)) return PT_OK;
        t->stage = t->round == 0 ? WARMING_UP : RACING;
        break;
    }
    return PT_PENDING;
}

pt_status pt_wg_timing_poll(pt_wg_timing *t, int *winner, pt_error *err)
{
    if (!t->flying) {
        pt_status s = take_off(t, t->stage == WARMING_UP ? 1 : t->launches, err);
        if (s) return s;
    }
    pt_status s = pt_download_poll(t->device, &t->download, err);
    if (s) return s;
    t->flying = false;
    if (land(t, pt_platform_monotonic_ns() - t->begun_ns) == PT_PENDING) return PT_PENDING;
    *winner = pt_wg_timing_winner(t->times, t->n_tiles, t->usual);
    return PT_OK;
}
