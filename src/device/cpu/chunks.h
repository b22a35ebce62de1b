/* Splitting work into chunks: by the size of the problem only, so results do not depend on the number of threads.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_CPU_CHUNKS_H
#define PT_DEVICE_CPU_CHUNKS_H

#include "base/mem.h"
#include "base/threads.h"

/* Elements that one chunk of elementwise work has: some 10 microseconds, well above the cost of handing a chunk to a thread, and
 * a whole number of vectors and of AdamW's blocks. */
#define PT_CHUNK_ELEMENTS 16384

typedef struct pt_range {
    int64_t begin, end;
} pt_range;

/* Chunk number `chunk` of 0 … n-1 in pieces of `per_chunk`. */
static inline pt_range pt_chunk_range(int64_t n, int64_t per_chunk, int64_t chunk)
{
    return (pt_range){chunk * per_chunk, pt_min_i64(n, (chunk + 1) * per_chunk)};
}

/* Rows of C elements that make a chunk of about PT_CHUNK_ELEMENTS; at least one. */
static inline int64_t pt_chunk_rows(int64_t C)
{
    return pt_max_i64(1, PT_CHUNK_ELEMENTS / pt_max_i64(1, C));
}

/* Runs fn over n things in pieces of per_chunk. A single chunk runs here and now, without waking a thread; it gets no
 * thread scratch. */
static inline void pt_run_chunks(pt_pool *pool, int64_t n, int64_t per_chunk, pt_pool_fn fn,
                                 const void *ctx)
{
    union {
        const void *in;
        void *out;
    } un_const = {.in = ctx}; /* the pool passes void *; arguments stay read only */
    int64_t n_chunks = pt_div_up(n, per_chunk);
    if (n_chunks > 0) pt_pool_run(n_chunks > 1 ? pool : NULL, n_chunks, fn, un_const.out);
}

#endif
