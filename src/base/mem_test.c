/* Allocation, checked sizes, and the platform's answers about memory. SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/platform.h"
#include "base/test.h"

#define MIB (1 << 20)

static void sleep_us(int64_t us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&t, NULL);
}

static bool all_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i]) return false;
    return true;
}

TEST(alloc_is_aligned_and_zero_also_when_memory_is_reused)
{
    static const size_t sizes[] = {1,      63,     64,     65,     4095,   4096,
                                   100000, 262143, 262144, 262145, 3000001};
    for (int round = 0; round < 5; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            uint8_t *p = pt_alloc(sizes[i]);
            CHECK(p);
            CHECK((uintptr_t)p % PT_ALIGN == 0);
            CHECK(all_zero(p, sizes[i]));
            memset(p, 0xa5, sizes[i]);
            pt_free(p);
        }
}

TEST(alloc_of_nothing_is_a_block_and_free_of_null_is_fine)
{
    void *a = pt_alloc(0), *b = pt_alloc(0);
    CHECK(a && b && a != b);
    pt_free(a);
    pt_free(b);
    pt_free(NULL);
}

TEST(alloc_refuses_impossible_sizes)
{
    volatile size_t huge = SIZE_MAX; /* volatile: the compiler must not know */
    CHECK(!pt_alloc(huge));
    CHECK(!pt_alloc(huge - 64));
    CHECK(!pt_alloc(huge / 2 + 1));
    CHECK(!pt_alloc(huge / 2 - 64));
    CHECK(!pt_alloc(huge / 2));
}

TEST(large_blocks_cost_nothing_until_touched)
{
    if (PT_SANITIZED) SKIP("a sanitizer uses memory of its own");
    int64_t before = pt_platform_peak_rss_bytes();
    CHECK(before > 0);
    uint8_t *block = pt_alloc((size_t)1024 * MIB);
    CHECK(block);
    CHECK(pt_platform_peak_rss_bytes() - before < 16 * MIB);
    for (size_t i = 0; i < (size_t)256 * MIB; i += 4096) block[i] = 1;
    int64_t grown = pt_platform_peak_rss_bytes() - before;
    pt_free(block);
    CHECK(grown > 100 * MIB && grown < 400 * MIB); /* so the figure means bytes */
}

TEST(realloc_keeps_the_old_bytes_and_clears_the_new)
{
    uint8_t *p = pt_realloc(NULL, 0, 100);
    CHECK(p && all_zero(p, 100));
    memset(p, 7, 100);
    p = pt_realloc(p, 100, 300000);
    CHECK(p && (uintptr_t)p % PT_ALIGN == 0);
    for (int i = 0; i < 100; i++) CHECK_INT(p[i], 7);
    CHECK(all_zero(p + 100, 300000 - 100));
    p = pt_realloc(p, 300000, 50);
    p = pt_realloc(p, 50, 200);
    for (int i = 0; i < 50; i++) CHECK_INT(p[i], 7);
    CHECK(all_zero(p + 50, 150));
    pt_free(p);
}

TEST(failed_realloc_leaves_the_block)
{
    uint8_t *p = pt_alloc(10);
    p[9] = 3;
    pt_alloc_fail_after(1);
    CHECK(!pt_realloc(p, 10, 1000));
    CHECK_INT(p[9], 3);
    pt_free(p);
}

TEST(the_nth_allocation_fails_once)
{
    pt_alloc_fail_after(3);
    int64_t before = pt_alloc_count();
    for (int i = 1; i <= 5; i++) {
        void *p = pt_alloc(8);
        CHECK((p == NULL) == (i == 3));
        pt_free(p);
    }
    CHECK_INT(pt_alloc_count() - before, 5);
    pt_alloc_fail_after(1);
    pt_alloc_fail_after(0);
    void *p = pt_alloc(8);
    CHECK(p);
    pt_free(p);
}

#define N_THREADS 4
#define N_EACH 20000

static void *allocate_many(void *failures)
{
    for (int i = 0; i < N_EACH; i++) {
        int64_t *p = pt_alloc(sizeof *p);
        if (!p) {
            ++*(int *)failures;
            continue;
        }
        *p = i;
        pt_free(p);
    }
    return NULL;
}

TEST(counting_and_failing_are_exact_with_threads)
{
    pthread_t threads[N_THREADS];
    int failures[N_THREADS] = {0}, total = 0;
    int64_t before = pt_alloc_count();
    pt_alloc_fail_after(N_EACH);
    for (int i = 0; i < N_THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, allocate_many, &failures[i]) == 0);
    for (int i = 0; i < N_THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < N_THREADS; i++) total += failures[i];
    CHECK_INT(total, 1);
    CHECK_INT(pt_alloc_count() - before, N_THREADS * N_EACH);
}

TEST(checked_products_and_sums)
{
    int64_t r = -1;
    CHECK(pt_mul_i64(6, 7, &r) && r == 42);
    CHECK(pt_mul_i64(0, INT64_MAX, &r) && r == 0);
    CHECK(pt_mul_i64(INT64_MAX, 0, &r) && r == 0);
    CHECK(pt_mul_i64(INT64_MAX, 1, &r) && r == INT64_MAX);
    CHECK(pt_mul_i64(3037000499, 3037000499, &r) && r == 9223372030926249001);
    r = 5;
    CHECK(!pt_mul_i64(3037000500, 3037000500, &r));
    CHECK(!pt_mul_i64(INT64_MAX, 2, &r));
    CHECK(!pt_mul_i64(INT64_MAX / 2 + 1, 2, &r));
    CHECK(!pt_mul_i64(-1, 2, &r) && !pt_mul_i64(2, -1, &r) && !pt_mul_i64(INT64_MIN, -1, &r));
    CHECK_INT(r, 5);
    CHECK(pt_add_i64(INT64_MAX - 1, 1, &r) && r == INT64_MAX);
    CHECK(pt_add_i64(0, 0, &r) && r == 0);
    CHECK(!pt_add_i64(INT64_MAX, 1, &r) && !pt_add_i64(-1, 5, &r) && !pt_add_i64(5, -1, &r));
    CHECK_INT(pt_round_up(1, 64), 64);
    CHECK_INT(pt_round_up(64, 64), 64);
    CHECK_INT(pt_round_up(0, 64), 0);
    CHECK_INT(pt_div_up(7, 3), 3);
}

TEST(the_platform_knows_the_machine)
{
    int64_t physical = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    int64_t bytes = pt_platform_memory_bytes();
    CHECK(bytes > 16 * MIB && bytes <= physical);
    int cpus = pt_platform_cpu_count();
    CHECK(cpus >= 1 && cpus <= sysconf(_SC_NPROCESSORS_CONF));
    CHECK(pt_platform_env("PATH"));
    CHECK(!pt_platform_env("PT_NO_SUCH_VARIABLE"));
}

TEST(the_clocks_run)
{
    int64_t a = pt_platform_monotonic_ns(), b = pt_platform_monotonic_ns();
    CHECK(b >= a);
    sleep_us(20000);
    int64_t passed = pt_platform_monotonic_ns() - a;
    CHECK(passed >= 20000000 && passed < 20000000000);
    CHECK(pt_platform_unix_ms() > 1700000000000 && pt_platform_unix_ms() < 100000000000000);
}

TEST(a_log_line_is_the_line_and_a_newline)
{
    int ends[2], old = dup(STDERR_FILENO);
    CHECK(pipe(ends) == 0);
    dup2(ends[1], STDERR_FILENO);
    pt_platform_log_line("hello there", 5);
    pt_platform_log_line("", 0);
    dup2(old, STDERR_FILENO);
    close(old);
    close(ends[1]);
    char got[32] = {0};
    CHECK_INT(read(ends[0], got, sizeof got - 1), 7);
    close(ends[0]);
    CHECK_STR(got, "hello\n\n");
}

TEST(what_is_available_is_part_of_what_there_is)
{
    int64_t all = pt_platform_memory_bytes(), now = pt_platform_available_bytes();
    CHECK(now >= 0);
    if (all) CHECK(now > 0 && now <= all);
}

PT_TEST_MAIN
