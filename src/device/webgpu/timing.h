/* A race of kernels: which of those that are right is the fastest, for each size and layout of products.
 *
 * Each is a series of launches that takes some milliseconds, submitted together and awaited; all kernels of a race launch the same
 * number of times, in turns, and the fastest round counts: whatever comes between makes a round slower, never faster. The usual one
 * keeps its place unless another is clearly faster, so that chance does not choose. SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_TIMING_H
#define PT_DEVICE_WEBGPU_TIMING_H

#include "device/webgpu/matmul.h"

typedef struct pt_wg_timing pt_wg_timing;
/* Sizes of the timed products are divided by `scale`. Errors: NO_MEMORY. */
pt_status pt_wg_timing_new(pt_wg_timing **out, pt_device *device, int scale, pt_error *err);
void pt_wg_timing_free(pt_wg_timing *timing); /* NULL is fine */
/* Begins a race of n kernels, of which the one at `usual` is preferred. */
void pt_wg_timing_begin(pt_wg_timing *timing, pt_wg_size size, pt_wg_layout layout,
                        const pt_wg_tile *const *tile, int n, int usual);
/* PT_PENDING; PT_OK with the index of the winner; or an error. */
pt_status pt_wg_timing_poll(pt_wg_timing *timing, int *winner, pt_error *err);

/* The judge: times[i][round] in ns of n kernels, 0 where one was not in a round. Its fastest counts, of as many as it has. */
#define PT_WG_ROUNDS 3
int pt_wg_timing_winner(int64_t (*times)[PT_WG_ROUNDS], int n, int usual);

#endif
