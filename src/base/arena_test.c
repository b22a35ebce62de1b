/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/test.h"

TEST(zeroed_aligned_and_separate)
{
    pt_arena arena = {0};
    unsigned char *blocks[300];
    for (int i = 0; i < 300; i++) {
        size_t size = (size_t)(i * 37 % 900);
        unsigned char *p = blocks[i] = pt_arena_alloc(&arena, size);
        CHECK(p != NULL && (uintptr_t)p % 16 == 0);
        for (size_t j = 0; j < size; j++) CHECK(p[j] == 0);
        memset(p, i % 251 + 1, size);
    }
    for (int i = 0; i < 300; i++)
        for (size_t j = 0; j < (size_t)(i * 37 % 900); j++) CHECK_INT(blocks[i][j], i % 251 + 1);
    for (int i = 1; i < 300; i++) CHECK(blocks[i] != blocks[i - 1]);
    pt_arena_deinit(&arena);
    CHECK(arena.head == NULL && arena.used_bytes == 0);
}

TEST(large_blocks_leave_the_current_one_in_use)
{
    pt_arena arena = {0};
    char *a = pt_arena_alloc(&arena, 16);
    char *big = pt_arena_alloc(&arena, (size_t)3 << 20);
    char *b = pt_arena_alloc(&arena, 16);
    CHECK(a && big && b);
    CHECK(b == a + 16);
    memset(big, 1, (size_t)3 << 20);
    CHECK(b[0] == 0);
    CHECK_INT(arena.used_bytes, 32 + ((size_t)3 << 20));
    pt_arena_deinit(&arena);
}

TEST(few_calls_of_the_allocator)
{
    pt_arena arena = {0};
    int64_t before = pt_alloc_count();
    for (int i = 0; i < 100000; i++) CHECK(pt_arena_alloc(&arena, 32) != NULL);
    CHECK(pt_alloc_count() - before < 20);
    pt_arena_deinit(&arena);
}

TEST(impossible_sizes_are_refused)
{
    pt_arena arena = {0};
    CHECK(pt_arena_alloc(&arena, SIZE_MAX) == NULL);
    CHECK(pt_arena_alloc(&arena, SIZE_MAX / 2 + 1) == NULL);
    CHECK(pt_arena_array(&arena, -1, 8) == NULL);
    CHECK(pt_arena_array(&arena, INT64_MAX, 8) == NULL);
    CHECK(pt_arena_array(&arena, (int64_t)1 << 61, 8) == NULL);
    CHECK(pt_arena_copy(&arena, "x", SIZE_MAX) == NULL);
    CHECK(arena.used_bytes == 0);
    CHECK(pt_arena_array(&arena, 0, 8) != NULL);
    CHECK(pt_arena_array(&arena, 3, 0) != NULL);
    uint64_t *numbers = pt_arena_array(&arena, 1000, sizeof *numbers);
    CHECK(numbers && numbers[999] == 0);
    pt_arena_deinit(&arena);
}

TEST(copies_end_in_a_nul)
{
    pt_arena arena = {0};
    CHECK_STR(pt_arena_copy(&arena, "hello world", 5), "hello");
    CHECK_STR(pt_arena_copy(&arena, NULL, 0), "");
    const char *nul = pt_arena_copy(&arena, "a\0b", 3);
    CHECK(memcmp(nul, "a\0b", 4) == 0);
    pt_arena_deinit(&arena);
}

TEST(no_memory_gives_null_and_a_usable_arena)
{
    pt_arena arena = {0};
    pt_alloc_fail_after(1);
    CHECK(pt_arena_alloc(&arena, 10) == NULL);
    char *p = pt_arena_alloc(&arena, 10);
    CHECK(p != NULL);
    pt_alloc_fail_after(1);
    CHECK(pt_arena_alloc(&arena, 100000) == NULL);
    pt_alloc_fail_after(0);
    CHECK(pt_arena_alloc(&arena, 10) == p + 16);
    pt_arena_deinit(&arena);
    pt_arena_deinit(NULL);
}

PT_TEST_MAIN
