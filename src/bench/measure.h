/* What the kinds of measurement share. SPDX-License-Identifier: MIT */
#ifndef PT_BENCH_MEASURE_H
#define PT_BENCH_MEASURE_H

#include "bench/bench.h"

pt_status pt_bench_add_sample(pt_bench_samples *samples, double value, pt_error *err);
void pt_bench_settle(pt_bench_samples *samples);

/* Work to be timed; one call is one unit of row->flop and so on. */
typedef struct pt_bench_work {
    pt_device *device; /* whose peak is measured beside it */
    void *ctx;
    pt_status (*call)(void *ctx, pt_error *err);
    int64_t each;  /* of what a row is about, in one call; 0 = 1 */
    int64_t calls; /* per block; set by warming up */
} pt_bench_work;

/* A new row of the bench, which owns it. NULL and an error when there is no memory. */
pt_bench_row *pt_bench_row_new(pt_bench *bench, const char *name, const char *shape, pt_error *err);
/* Of activations, as options say. */
static inline pt_dtype pt_bench_dtype(const pt_bench *b)
{
    return b->options.bf16 ? PT_BF16 : PT_F32;
}
/* Whether options.only wants this figure. */
bool pt_bench_wants(const pt_bench *bench, const char *name, const char *shape);
/* Runs the work some times and chooses the length of a block. */
pt_status pt_bench_warm_up(const pt_bench *bench, pt_bench_work *work, pt_error *err);
/* Waits until the device has done what it was given. On the processor it has. */
pt_status pt_bench_finish(pt_device *device, pt_error *err);
/* One timed block and the peak beside it. */
pt_status pt_bench_block(pt_bench_row *row, const pt_bench_work *work, pt_error *err);
/* Whether the row has enough blocks. */
bool pt_bench_enough(const pt_bench *bench, const pt_bench_row *row, const pt_bench_work *work);
/* Quantiles and rates of a row that has its blocks; then options.ready. */
void pt_bench_complete(const pt_bench *bench, pt_bench_row *row);
/* All of the above. */
pt_status pt_bench_measure(pt_bench *bench, pt_bench_row *row, pt_bench_work *work, pt_error *err);

/* ---- blocks, also where nothing may wait: timed.c ---- */

/* One block of work->calls calls, which begins, and then is or is not done. Zeroed at first; it must not move. */
typedef struct pt_bench_timed {
    bool under_way;
    double begun;
    float word; /* read back when the calls are done */
    pt_buffer *buffer;
    pt_download download;
} pt_bench_timed;
/* Begins it, or looks: PENDING, or OK with the seconds that it took. The next poll begins another. */
pt_status pt_bench_timed_poll(pt_bench_timed *timed, const pt_bench_work *work, double *took,
                              pt_error *err);
void pt_bench_timed_end(pt_bench_timed *timed); /* not while one is under way */
/* The same, with waiting. */
pt_status pt_bench_wait(const pt_bench_work *work, double *took, pt_error *err);

/* How a device is warmed up by blocks of ever more calls. */
typedef struct pt_bench_warmth {
    double block, least; /* seconds: that a block is to take, and of warming in all */
    double spent;
    bool
        compiled; /* the first call, whose time says nothing: it compiles, and touches new memory */
    bool warm;
} pt_bench_warmth;
/* After a block that took so long: sets work->calls of the next, which counts once `warm` is set. */
void pt_bench_warm(pt_bench_warmth *warmth, pt_bench_work *work, double took);

/* Random tensors. The first failure is kept in err and status; later calls give absent tensors. */
typedef struct pt_bench_memory {
    pt_device *device;
    pt_buffer *buffers[24];
    int n;
    uint32_t next; /* substream of the next tensor */
    pt_status status;
    pt_error *err;
} pt_bench_memory;
/* Uniform in (-scale, scale). Unused dims: 0. */
pt_tensor pt_bench_floats(pt_bench_memory *memory, float scale, const int64_t dim[PT_MAX_RANK]);
/* The same in f32 or bf16. */
pt_tensor pt_bench_stored(pt_bench_memory *memory, pt_dtype dtype, float scale,
                          const int64_t dim[PT_MAX_RANK]);
/* Uniform in (0, scale). */
pt_tensor pt_bench_positive(pt_bench_memory *memory, float scale, const int64_t dim[PT_MAX_RANK]);
/* Uniform in 0 … below-1. */
pt_tensor pt_bench_ints(pt_bench_memory *memory, int32_t below, const int64_t dim[PT_MAX_RANK]);
/* n bytes of value 1. */
pt_tensor pt_bench_ones(pt_bench_memory *memory, int64_t n);
void pt_bench_release(pt_bench_memory *memory);

#endif
