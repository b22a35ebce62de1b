/* The thread pool. SPDX-License-Identifier: MIT */
#include "base/threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/platform.h"
#include "base/test.h"

#if defined(__SANITIZE_THREAD__)
#define SLOWER 20 /* ThreadSanitizer makes each step that much dearer */
#elif defined(__has_feature)
#define SLOWER (__has_feature(thread_sanitizer) ? 20 : 1)
#else
#define SLOWER 1
#endif

static void sleep_us(int64_t us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&t, NULL);
}

static pt_pool *new_pool(int n_threads, size_t scratch_bytes)
{
    pt_error err = {0};
    pt_pool *pool;
    CHECK_OK(pt_pool_new(&pool, n_threads, scratch_bytes, &err), err);
    return pool;
}

/* ---- every chunk once ---- */
#define N_MARKS 10007

static int marks[N_MARKS]; /* plain on purpose: TSan sees what the pool does not order */

static void mark(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    ((int *)ctx)[chunk]++;
}

static int64_t chunks_run(const pt_pool *pool)
{
    int64_t n = 0;
    for (int i = 0; i < pt_pool_threads(pool); i++) n += pt_pool_chunks_run(pool, i);
    return n;
}

TEST(every_chunk_runs_once_for_1_to_16_threads)
{
    static const int64_t counts[] = {0, 1, 2, 3, 15, 16, 17, 1000, N_MARKS};
    for (int threads = 1; threads <= 16; threads++) {
        pt_pool *pool = new_pool(threads, 0);
        CHECK_INT(pt_pool_threads(pool), threads);
        int64_t total = 0;
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            memset(marks, 0, sizeof marks);
            pt_pool_run(pool, counts[c], mark, marks);
            for (int64_t i = 0; i < N_MARKS; i++) CHECK_INT(marks[i], i < counts[c]);
            total += counts[c];
        }
        CHECK_INT(chunks_run(pool), total);
        pt_pool_run(pool, -5, mark, marks);
        CHECK_INT(chunks_run(pool), total);
        pt_pool_free(pool);
    }
}

static void append_order(void *ctx, int64_t chunk, int thread)
{
    int64_t *order = ctx;
    if (thread == 0) order[++order[0]] = chunk;
}

TEST(no_pool_runs_in_order_on_the_caller)
{
    int64_t order[6] = {0};
    pt_pool_run(NULL, 5, append_order, order);
    CHECK_INT(order[0], 5);
    for (int i = 0; i < 5; i++) CHECK_INT(order[i + 1], i);
    CHECK_INT(pt_pool_threads(NULL), 1);
    CHECK(!pt_pool_scratch(NULL, 0));
    CHECK_INT(pt_pool_scratch_bytes(NULL), 0);
    CHECK_INT(pt_pool_chunks_run(NULL, 0), 0);
    pt_pool_free(NULL);
}

/* ---- tiny jobs ---- */
static void add_one(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    ((int64_t *)ctx)[chunk * 8]++;
}

/* Millions of jobs so short that workers arrive late, early and not at all. */
TEST(millions_of_tiny_jobs)
{
    static const int threads[] = {1, 2, 3, 8};
    static const int64_t jobs[] = {1000000, 1000000, 300000, 100000};
    for (int k = 0; k < 4; k++) {
        pt_pool *pool = new_pool(threads[k], 0);
        static int64_t sums[3 * 8];
        memset(sums, 0, sizeof sums);
        int64_t n = jobs[k] / SLOWER;
        for (int64_t i = 0; i < n; i++) pt_pool_run(pool, 1 + i % 3, add_one, sums);
        CHECK_INT(sums[0], n);
        CHECK_INT(sums[0] + sums[8] + sums[16], chunks_run(pool));
        CHECK_INT(sums[8], n - (n + 2) / 3);
        pt_pool_free(pool);
    }
}

/* Pauses between the jobs of every length, so that workers spin, yield, fall asleep, sleep. */
TEST(no_wake_up_is_lost)
{
    pt_pool *pool = new_pool(4, 0);
    static int64_t sums[4 * 8];
    memset(sums, 0, sizeof sums);
    const int n = 3000 / SLOWER;
    for (int i = 0; i < n; i++) {
        pt_pool_run(pool, 4, add_one, sums);
        int64_t until = pt_platform_monotonic_ns() + (int64_t)(i % 100) * 5000;
        while (pt_platform_monotonic_ns() < until) pt_platform_pause();
    }
    for (int i = 0; i < 4; i++) CHECK_INT(sums[i * 8], n);
    pt_pool_free(pool);
}

/* ---- the threads really run ---- */
typedef struct meeting {
    atomic_int here;
    int expected;
    atomic_int timeouts;
} meeting;

/* Returns only when `expected` chunks are inside at the same time. */
static void meet(void *ctx, int64_t chunk, int thread)
{
    (void)chunk, (void)thread;
    meeting *m = ctx;
    atomic_fetch_add(&m->here, 1);
    int64_t until = pt_platform_monotonic_ns() + 20000000000;
    while (atomic_load(&m->here) < m->expected)
        if (pt_platform_monotonic_ns() > until) {
            atomic_fetch_add(&m->timeouts, 1);
            return;
        } else {
            pt_platform_yield();
        }
}

TEST(all_threads_work_at_the_same_time)
{
    static const int counts[] = {2, 5, 16};
    for (int k = 0; k < 3; k++) {
        int n = counts[k];
        pt_pool *pool = new_pool(n, 0);
        for (int round = 1; round <= 3; round++) {
            meeting m = {.expected = n};
            pt_pool_run(pool, n, meet, &m);
            CHECK_INT(m.timeouts, 0);
            for (int i = 0; i < n; i++) CHECK_INT(pt_pool_chunks_run(pool, i), round);
            if (round == 2) sleep_us(20000); /* the third finds them asleep */
        }
        pt_pool_free(pool);
    }
}

/* The caller has no chunk left long before a worker is done, so it waits in its sleep. */
static void slow_worker(void *ctx, int64_t chunk, int thread)
{
    meeting *m = ctx;
    meet(ctx, chunk, thread);
    if (thread != 0) sleep_us(30000);
    if (thread != 0) atomic_fetch_sub(&m->timeouts, 100);
}

TEST(the_caller_waits_for_stragglers)
{
    pt_pool *pool = new_pool(3, 0);
    for (int i = 0; i < 10; i++) {
        meeting m = {.expected = 3};
        pt_pool_run(pool, 3, slow_worker, &m);
        CHECK_INT(m.timeouts, -200);
    }
    pt_pool_free(pool);
}

/* ---- results do not depend on threads ---- */
typedef struct sum_job {
    float parts[64];
} sum_job;

static void sum_part(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    float s = 0;
    for (int i = 0; i < 1000; i++) s += 1.0f / (float)(1 + chunk * 1000 + i);
    ((sum_job *)ctx)->parts[chunk] = s;
}

TEST(results_do_not_depend_on_the_number_of_threads)
{
    float first = 0;
    for (int threads = 1; threads <= 16; threads++) {
        pt_pool *pool = new_pool(threads, 0);
        sum_job job;
        pt_pool_run(pool, 64, sum_part, &job);
        float total = 0;
        for (int i = 0; i < 64; i++) total += job.parts[i];
        if (threads == 1) first = total;
        CHECK(memcmp(&total, &first, sizeof total) == 0);
        pt_pool_free(pool);
    }
    CHECK_CLOSE(first, 11.644, 0.01); /* H(64000) = ln 64000 + 0.5772 */
}

/* ---- scratch ---- */
static void fill_scratch(void *ctx, int64_t chunk, int thread)
{
    pt_pool *pool = ctx;
    memset(pt_pool_scratch(pool, thread), (int)chunk, pt_pool_scratch_bytes(pool));
}

TEST(each_thread_has_scratch_of_its_own)
{
    pt_pool *pool = new_pool(4, 1000);
    CHECK_INT(pt_pool_scratch_bytes(pool), 1000);
    for (int i = 0; i < 4; i++) {
        char *a = pt_pool_scratch(pool, i);
        CHECK(a && (uintptr_t)a % 64 == 0);
        for (int j = 0; j < i; j++) {
            char *b = pt_pool_scratch(pool, j);
            CHECK(a + 1000 <= b || b + 1000 <= a);
        }
    }
    pt_pool_run(pool, 1000, fill_scratch, pool);
    pt_pool_free(pool);
}

/* ---- life and death ---- */
TEST(pools_come_and_go)
{
    static int64_t sums[4 * 8];
    memset(sums, 0, sizeof sums);
    for (int i = 0; i < 300; i++) {
        pt_pool *pool = new_pool(1 + i % 5, (size_t)(i % 3) * 100);
        if (i % 2) pt_pool_run(pool, 4, add_one, sums);
        pt_pool_free(pool);
    }
    for (int i = 0; i < 4; i++) CHECK_INT(sums[i * 8], 150);
}

TEST(default_is_every_processor)
{
    pt_pool *pool = new_pool(0, 0);
    CHECK_INT(pt_pool_threads(pool), pt_platform_cpu_count());
    pt_pool_free(pool);
}

TEST(no_memory_is_reported_at_every_step)
{
    for (int nth = 1;; nth++) {
        pt_error err = {0};
        pt_pool *pool;
        pt_alloc_fail_after(nth);
        pt_status status = pt_pool_new(&pool, 3, 1 << 20, &err);
        pt_alloc_fail_after(0);
        pt_pool_free(pool);
        if (status == PT_OK) {
            CHECK_INT(nth, 6); /* pool, threads, three scratches */
            return;
        }
        CHECK_INT(status, PT_NO_MEMORY);
        CHECK(!pool && err.message[0]);
    }
}

/* ---- misuse ---- */
static void run_inside(void *ctx, int64_t chunk, int thread)
{
    (void)chunk, (void)thread;
    pt_pool_run(ctx, 2, mark, marks);
}

/* The child's way to end; the sanitizers turn the trap's signal into an exit code. */
static int status_of_nested(int n_threads, int64_t n_chunks)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        pt_pool *pool;
        close(STDERR_FILENO);
        if (pt_pool_new(&pool, n_threads, 0, NULL)) _exit(0);
        pt_pool_run(pool, n_chunks, run_inside, pool);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

TEST(nested_use_traps)
{
    CHECK(status_of_nested(1, 1) != 0);
    CHECK(status_of_nested(2, 1) != 0);
    CHECK(status_of_nested(3, 50) != 0);
}

/* ---- the platform's threads ---- */
static void wait_then_answer(void *arg)
{
    atomic_uint *words = arg;
    while (atomic_load(&words[0]) == 0) pt_platform_wait(&words[0], 0);
    atomic_store(&words[1], 1);
    pt_platform_wake(&words[1]);
}

TEST(wait_and_wake)
{
    for (int i = 0; i < 200; i++) {
        atomic_uint words[2] = {0};
        pt_platform_thread *t = pt_platform_thread_start(wait_then_answer, words);
        CHECK(t);
        if (i % 50 == 0) sleep_us(2000);
        atomic_store(&words[0], 1);
        pt_platform_wake(&words[0]);
        while (atomic_load(&words[1]) == 0) pt_platform_wait(&words[1], 0);
        pt_platform_thread_join(t);
    }
    atomic_uint word = 5;
    pt_platform_wait(&word, 4); /* another value: returns at once */
}

static void see_signals(void *arg)
{
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    int *blocked = arg;
    blocked[0] = sigismember(&set, SIGINT);
    blocked[1] = sigismember(&set, SIGSEGV);
}

TEST(signals_stay_with_the_starting_thread)
{
    int blocked[2] = {-1, -1};
    pt_platform_thread *t = pt_platform_thread_start(see_signals, blocked);
    CHECK(t);
    pt_platform_thread_join(t);
    CHECK_INT(blocked[0], 1);
    CHECK_INT(blocked[1], 0);
    sigset_t mine;
    pthread_sigmask(SIG_SETMASK, NULL, &mine);
    CHECK_INT(sigismember(&mine, SIGINT), 0);
}

PT_TEST_MAIN
