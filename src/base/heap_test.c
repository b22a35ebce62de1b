/* The heap of the WASM platform, over memory that is handed out piece by piece.
 * SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/test.h"

#define HOST_BYTES (1 << 20)
#define PAGE 4096

/* The host: grows in whole pages; `gap` pages go to somebody else at the next growth. */
typedef struct host {
    _Alignas(64) uint8_t memory[HOST_BYTES];
    uint64_t used;
    uint64_t gap;
    int n_grown;
} host;

static host h;
static pt_heap heap;

static uint64_t grow(void *ctx, uint64_t min_bytes, uint64_t *bytes)
{
    host *self = ctx;
    uint64_t n = (min_bytes + PAGE - 1) / PAGE * PAGE;
    memset(self->memory + self->used, 0x77, (size_t)(self->gap * PAGE));
    self->used += self->gap * PAGE;
    self->gap = 0;
    if (n > HOST_BYTES - self->used) return 0;
    uint64_t start = (uintptr_t)self->memory + self->used;
    self->used += n;
    self->n_grown++;
    *bytes = n;
    return start;
}

static void fresh(uint64_t initial)
{
    memset(&h, 0, sizeof h);
    h.used = initial;
    /* An odd start, as the end of a program's data is. */
    uint64_t start = (uintptr_t)h.memory;
    pt_heap_init(&heap, start + (initial ? 13 : 0), start + initial, grow, &h);
}

static bool holds(const uint8_t *p, size_t n, uint8_t value)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != value) return false;
    return true;
}

TEST(blocks_are_aligned_zero_and_apart)
{
    fresh(PAGE);
    uint8_t *blocks[50];
    for (size_t i = 0; i < 50; i++) {
        blocks[i] = pt_heap_alloc(&heap, i * 37);
        CHECK(blocks[i] && (uintptr_t)blocks[i] % 64 == 0);
        CHECK(holds(blocks[i], i * 37, 0));
        memset(blocks[i], (int)i + 1, i * 37);
    }
    for (size_t i = 0; i < 50; i++) CHECK(holds(blocks[i], i * 37, (uint8_t)(i + 1)));
    CHECK(h.n_grown > 0);
}

TEST(freed_memory_is_used_again_and_zero)
{
    fresh(0);
    uint8_t *a = pt_heap_alloc(&heap, 1000), *b = pt_heap_alloc(&heap, 1000);
    memset(a, 1, 1000);
    memset(b, 2, 1000);
    pt_heap_free(&heap, a);
    uint8_t *c = pt_heap_alloc(&heap, 900);
    CHECK(c == a && holds(c, 900, 0)); /* from the list */
    CHECK(holds(b, 1000, 2));
    memset(c, 3, 900);
    pt_heap_free(&heap, b);
    pt_heap_free(&heap, c);
    uint8_t *d = pt_heap_alloc(&heap, 5000);
    CHECK(d == a && holds(d, 5000, 0)); /* from the top, part of it used before */
}

TEST(neighbours_merge_in_any_order)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int o = 0; o < 6; o++) {
        fresh(0);
        void *before = pt_heap_alloc(&heap, 64), *three[3];
        for (int i = 0; i < 3; i++) three[i] = pt_heap_alloc(&heap, 256);
        void *after = pt_heap_alloc(&heap, 64);
        for (int i = 0; i < 3; i++) pt_heap_free(&heap, three[orders[o][i]]);
        void *whole = pt_heap_alloc(&heap, 3 * 256 + 2 * 64);
        CHECK(whole == three[0]);
        pt_heap_free(&heap, whole);
        pt_heap_free(&heap, after);
        pt_heap_free(&heap, before);
        CHECK(!heap.free_first);
        CHECK(heap.top == (uintptr_t)h.memory);
    }
}

TEST(memory_of_somebody_else_is_stepped_over)
{
    fresh(PAGE);
    uint8_t *a = pt_heap_alloc(&heap, 2000);
    h.gap = 3;
    uint8_t *b = pt_heap_alloc(&heap, 3000);
    CHECK(a && b);
    memset(b, 9, 3000);
    CHECK(holds(h.memory + PAGE, 3 * PAGE, 0x77));
    uint8_t *c = pt_heap_alloc(&heap, 1000); /* fits in what was left before the gap */
    CHECK(c > a && c < b && holds(c, 1000, 0));
    pt_heap_free(&heap, a);
    pt_heap_free(&heap, c);
    pt_heap_free(&heap, b);
    CHECK(pt_heap_alloc(&heap, 3500) == a);
    CHECK(holds(h.memory + PAGE, 3 * PAGE, 0x77));
}

TEST(a_full_host_refuses_and_keeps_what_is_there)
{
    fresh(0);
    uint8_t *a = pt_heap_alloc(&heap, 600000);
    CHECK(a);
    memset(a, 5, 600000);
    CHECK(!pt_heap_alloc(&heap, 600000));
    CHECK(!pt_heap_alloc(&heap, SIZE_MAX));
    CHECK(!pt_heap_alloc(&heap, PTRDIFF_MAX));
    CHECK(pt_heap_alloc(&heap, 100));
    CHECK(holds(a, 600000, 5));
    pt_heap_free(&heap, a);
    CHECK(pt_heap_alloc(&heap, 600000) == a && holds(a, 600000, 0));
}

TEST(a_long_random_life)
{
    enum { N = 64 };
    static uint8_t *blocks[N];
    static size_t sizes[N];
    memset(blocks, 0, sizeof blocks);
    fresh(PAGE);
    uint64_t x = 12345;
    for (int step = 0; step < 50000; step++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        size_t i = (size_t)(x >> 58), n = (size_t)(x >> 33) % 5000;
        if (blocks[i]) {
            CHECK(holds(blocks[i], sizes[i], (uint8_t)(i + 1)));
            pt_heap_free(&heap, blocks[i]);
            blocks[i] = NULL;
        } else if ((blocks[i] = pt_heap_alloc(&heap, n))) {
            CHECK(holds(blocks[i], n, 0));
            memset(blocks[i], (int)i + 1, n);
            sizes[i] = n;
        }
        if (step % 1000 == 0) h.gap = 1;
    }
    for (int i = 0; i < N; i++)
        if (blocks[i]) pt_heap_free(&heap, blocks[i]);
    CHECK(h.used < HOST_BYTES); /* 64 blocks of at most 5 kB never need it all */
}

TEST(freeing_twice_traps)
{
    fresh(0);
    void *a = pt_heap_alloc(&heap, 10);
    CHECK(a && pt_heap_alloc(&heap, 10));
    pid_t child = fork();
    if (child == 0) {
        signal(SIGILL, SIG_DFL);
        signal(SIGTRAP, SIG_DFL);
        pt_heap_free(&heap, a);
        pt_heap_free(&heap, a);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

PT_TEST_MAIN
