/* The ladder: how fast each kernel of a GPU multiplies square matrices, and the processor beside it. Nothing here waits: a rung is
 * begun and then polled, so that a page can measure. SPDX-License-Identifier: MIT */
#ifndef PT_BENCH_LADDER_H
#define PT_BENCH_LADDER_H

#include "bench/square.h"

typedef struct pt_bench_ladder pt_bench_ladder;

typedef struct pt_bench_rung {
    int64_t blocks; /* that were timed: 5, or 0 when it was stopped */
    int64_t calls;  /* products in each */
    double block;   /* seconds of the shortest block: 0.01 at least */
    double seconds; /* of one product, the median over the blocks */
} pt_bench_rung;

pt_status pt_bench_ladder_new(pt_bench_ladder **out, pt_error *err);
void pt_bench_ladder_free(pt_bench_ladder *ladder); /* before its device; NULL is fine */
/* The kernel (see pt_bench_square) on matrices (n,n), which stay for the next rung of the same size and device. Errors: BAD_INPUT for n or
 * the kernel, and while a rung is under way; NO_MEMORY. */
pt_status pt_bench_ladder_begin(pt_bench_ladder *ladder, pt_device *device, int kernel, int64_t n,
                                pt_error *err);
/* PENDING, or OK with the figure. Errors: UNSUPPORTED where this GPU lacks what the kernel needs; the device's. */
pt_status pt_bench_ladder_poll(pt_bench_ladder *ladder, pt_bench_rung *out, pt_error *err);
/* The rung under way ends with the block under way, without a figure. */
void pt_bench_ladder_stop(pt_bench_ladder *ladder);

#endif
