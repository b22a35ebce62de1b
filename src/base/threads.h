/* Thread pool: data-parallel loops whose results do not depend on the number of threads.
 *
 * The caller splits its work into chunks by the size of the problem, never by the number of
 * threads; threads then take chunks from a shared counter. Anything summed across chunks is summed
 * by the caller in chunk order. A waiting thread spins shortly, then yields, then sleeps, so a busy
 * neighbour process does not make two threads slower than one.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_THREADS_H
#define PT_BASE_THREADS_H

#include "base/status.h"

typedef struct pt_pool pt_pool;

/* One chunk of work. `thread` is 0 … pt_pool_threads-1, for scratch memory; results must not
 * depend on it. Must not call pt_pool_run on the same pool. */
typedef void (*pt_pool_fn)(void *ctx, int64_t chunk, int thread);

/* n_threads <= 0 takes every processor; the calling thread is one of them. Each thread gets
 * scratch_bytes of private scratch memory (aligned to 64; not touched until used).
 * Where a thread can't be started the pool goes on with those it has. Errors: NO_MEMORY. */
pt_status pt_pool_new(pt_pool **out, int n_threads, size_t scratch_bytes, pt_error *err);
void pt_pool_free(pt_pool *pool);

/* Runs fn for chunks 0 … n_chunks-1 and returns when all are done. pool may be NULL: then the
 * chunks run in order on the calling thread, as thread 0, without scratch. Single caller. */
void pt_pool_run(pt_pool *pool, int64_t n_chunks, pt_pool_fn fn, void *ctx);

int pt_pool_threads(const pt_pool *pool); /* 1 for NULL */
void *pt_pool_scratch(pt_pool *pool, int thread);
size_t pt_pool_scratch_bytes(const pt_pool *pool);
/* Chunks that thread has run since the pool began: lets a test show that the threads really run. */
int64_t pt_pool_chunks_run(const pt_pool *pool, int thread);

#endif
