/* Thread pool.
 *
 * A job is open from its publication until the caller finds no chunk left. A worker joins an open
 * job, takes chunks, and leaves; the caller closes the job and waits only for those who joined. So
 * a worker that sleeps, or that a busy neighbour keeps off its processor, delays nobody.
 * SPDX-License-Identifier: MIT */
#include "base/threads.h"

#include <stdalign.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "base/platform.h"

#define MAX_THREADS 4096
#define SPIN_PAUSES \
    2000 /* some 20 to 90 us: longer than the gap between two ops of a training step */
/* Yielding stops at either limit. On a quiet machine a yield takes under a microsecond; on a busy one
 * it gives away a whole time slice, and a thread that goes on yielding cannot be woken. */
#define YIELDS 50
#define YIELD_NS 100000
#define OPEN 0x10000u /* bit of `state`; the bits below count the workers inside the job */

typedef struct pool_thread {
    alignas(PT_ALIGN) pt_pool *pool;
    int index;
    void *scratch;
    pt_platform_thread *handle; /* NULL for thread 0, the caller */
    _Atomic int64_t chunks_run;
} pool_thread;

struct pt_pool {
    /* Read by all, written once per job. */
    alignas(PT_ALIGN) pt_pool_fn fn;
    void *ctx;
    int64_t n_chunks;
    int n_threads;
    int spin_pauses;
    size_t scratch_bytes;
    pool_thread *threads;
    bool stop;
    /* Each on its own cache line. */
    alignas(PT_ALIGN) _Atomic int64_t next_chunk;
    alignas(PT_ALIGN) atomic_uint state;
    alignas(PT_ALIGN) atomic_uint generation; /* changes with every job; workers wait on it */
    alignas(PT_ALIGN) atomic_uint any_sleeps; /* a new job must wake workers */
    atomic_uint caller_sleeps;                /* the last worker out must wake the caller */
    atomic_uint busy;
};

static void run_chunks(pt_pool *pool, pool_thread *self)
{
    pt_pool_fn fn = pool->fn;
    void *ctx = pool->ctx;
    int64_t n_chunks = pool->n_chunks, n_run = 0;
    for (;;) {
        int64_t chunk = atomic_fetch_add_explicit(&pool->next_chunk, 1, memory_order_relaxed);
        if (chunk >= n_chunks) break;
        fn(ctx, chunk, self->index);
        n_run++;
    }
    if (n_run) atomic_fetch_add_explicit(&self->chunks_run, n_run, memory_order_relaxed);
}

/* The first part of every wait: until *word is no longer `expected` (true), or it is time to sleep
 * (false). *seen is the word's last value. */
static bool spin(const pt_pool *pool, atomic_uint *word, unsigned expected, unsigned *seen)
{
    for (int i = 0; i < pool->spin_pauses; i++) {
        *seen = atomic_load_explicit(word, memory_order_acquire);
        if (*seen != expected) return true;
        pt_platform_pause();
    }
    int64_t until = pt_platform_monotonic_ns() + YIELD_NS;
    for (int i = 0; i < YIELDS && pt_platform_monotonic_ns() < until; i++) {
        pt_platform_yield();
        *seen = atomic_load_explicit(word, memory_order_acquire);
        if (*seen != expected) return true;
    }
    return false;
}

/* ---- workers ---- */
/* Waits for a generation other than `seen` and returns it. */
static unsigned await_job(pt_pool *pool, unsigned seen)
{
    unsigned now;
    if (spin(pool, &pool->generation, seen, &now)) return now;
    for (;;) {
        /* Announce first, look again after: begin_job changes the generation first and then looks
         * for sleepers, so one of the two sees the other. */
        atomic_store(&pool->any_sleeps, 1);
        now = atomic_load(&pool->generation);
        if (now != seen) return now;
        pt_platform_wait(&pool->generation, seen);
    }
}

static bool join_job(pt_pool *pool)
{
    unsigned state = atomic_load_explicit(&pool->state, memory_order_relaxed);
    while (state & OPEN)
        if (atomic_compare_exchange_weak_explicit(&pool->state, &state, state + 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    return false;
}

static void leave_job(pt_pool *pool)
{
    unsigned state = atomic_fetch_sub(&pool->state, 1) - 1;
    if (state == 0 && atomic_load(&pool->caller_sleeps)) pt_platform_wake(&pool->state);
}

static void worker_main(void *arg)
{
    pool_thread *self = arg;
    pt_pool *pool = self->pool;
    for (unsigned seen = 0;;) {
        seen = await_job(pool, seen);
        if (!join_job(pool)) continue;
        if (pool->stop) return;
        run_chunks(pool, self);
        leave_job(pool);
    }
}

/* ---- the caller ---- */
static void begin_job(pt_pool *pool)
{
    atomic_fetch_or_explicit(&pool->state, OPEN, memory_order_release);
    atomic_fetch_add(&pool->generation, 1);
    /* The first job after they fell asleep wakes them; those that follow need not. */
    if (atomic_load(&pool->any_sleeps) && atomic_exchange(&pool->any_sleeps, 0))
        pt_platform_wake(&pool->generation);
}

static void end_job(pt_pool *pool)
{
    unsigned state = atomic_fetch_and(&pool->state, ~OPEN) & ~OPEN;
    /* Each worker that leaves is progress, and starts the spinning anew. */
    while (state && spin(pool, &pool->state, state, &state)) {}
    if (!state) return;
    atomic_store(&pool->caller_sleeps, 1);
    while ((state = atomic_load(&pool->state)) != 0) pt_platform_wait(&pool->state, state);
    atomic_store(&pool->caller_sleeps, 0);
}

static void claim(pt_pool *pool)
{
    static const char text[] = "pt_pool_run: the pool is in use already (called from inside a "
                               "chunk, or by two threads); this is a bug";
    if (!atomic_exchange_explicit(&pool->busy, 1, memory_order_acquire)) return;
    pt_platform_log_line(text, sizeof text - 1);
    __builtin_trap();
}

void pt_pool_run(pt_pool *pool, int64_t n_chunks, pt_pool_fn fn, void *ctx)
{
    if (!pool) {
        for (int64_t chunk = 0; chunk < n_chunks; chunk++) fn(ctx, chunk, 0);
        return;
    }
    if (n_chunks <= 0) return;
    claim(pool);
    pool->fn = fn;
    pool->ctx = ctx;
    pool->n_chunks = n_chunks;
    atomic_store_explicit(&pool->next_chunk, 0, memory_order_relaxed);
    bool shared = n_chunks > 1 && pool->n_threads > 1;
    if (shared) begin_job(pool);
    run_chunks(pool, &pool->threads[0]);
    if (shared) end_job(pool);
    atomic_store_explicit(&pool->busy, 0, memory_order_release);
}

/* ---- lifetime ---- */
/* Spinning only pays while every thread has a processor of its own. */
static int spin_pauses_for(int n_threads)
{
    return n_threads <= pt_platform_cpu_count() ? SPIN_PAUSES : 0;
}

pt_status pt_pool_new(pt_pool **out, int n_threads, size_t scratch_bytes, pt_error *err)
{
    *out = NULL;
    if (n_threads <= 0) n_threads = pt_platform_cpu_count();
    if (n_threads > MAX_THREADS) n_threads = MAX_THREADS;
    pt_pool *pool = pt_alloc(sizeof *pool);
    if (pool) pool->threads = pt_alloc((size_t)n_threads * sizeof *pool->threads);
    if (!pool || !pool->threads) goto no_memory;
    pool->scratch_bytes = scratch_bytes;
    pool->spin_pauses = spin_pauses_for(n_threads);
    /* All scratch first: n_threads must not change once a worker runs, except to drop the tail. */
    for (int i = 0; i < n_threads; i++) {
        pool_thread *t = &pool->threads[i];
        t->pool = pool;
        t->index = i;
        if (scratch_bytes && !(t->scratch = pt_alloc(scratch_bytes))) goto no_memory;
        pool->n_threads = i + 1;
    }
    for (int i = 1; i < n_threads; i++) {
        pool_thread *t = &pool->threads[i];
        t->handle = pt_platform_thread_start(worker_main, t);
        if (t->handle) continue;
        pool->n_threads = i;
        for (int j = i; j < n_threads; j++) pt_free(pool->threads[j].scratch);
        break;
    }
    *out = pool;
    return PT_OK;
no_memory:
    pt_pool_free(pool);
    return pt_fail(err, PT_NO_MEMORY, "no memory for %d threads with %zu bytes of scratch each",
                   n_threads, scratch_bytes);
}

void pt_pool_free(pt_pool *pool)
{
    if (!pool) return;
    pool->stop = true;
    begin_job(pool);
    for (int i = 0; i < pool->n_threads; i++) {
        if (pool->threads[i].handle) pt_platform_thread_join(pool->threads[i].handle);
        pt_free(pool->threads[i].scratch);
    }
    pt_free(pool->threads);
    pt_free(pool);
}

int pt_pool_threads(const pt_pool *pool) { return pool ? pool->n_threads : 1; }

void *pt_pool_scratch(pt_pool *pool, int thread)
{
    return pool ? pool->threads[thread].scratch : NULL;
}

size_t pt_pool_scratch_bytes(const pt_pool *pool) { return pool ? pool->scratch_bytes : 0; }

int64_t pt_pool_chunks_run(const pt_pool *pool, int thread)
{
    return pool ? atomic_load_explicit(&pool->threads[thread].chunks_run, memory_order_relaxed) : 0;
}
