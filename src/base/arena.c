/* Arena: a list of blocks, the newest first; memory is cut off the first one.
 * SPDX-License-Identifier: MIT */
#include "base/arena.h"

#define ARENA_ALIGN 16
#define BLOCK_MIN ((size_t)4 << 10)
#define BLOCK_MAX ((size_t)1 << 20)

struct pt_arena_block {
    pt_arena_block *next;
    size_t size; /* bytes in the block after this header */
    size_t used;
};

#define HEADER_BYTES ((sizeof(pt_arena_block) + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN)

static pt_arena_block *block_new(size_t size)
{
    pt_arena_block *block = pt_alloc(HEADER_BYTES + size);
    if (block) block->size = size;
    return block;
}

/* A block with room for `bytes`. Blocks double, so n allocations cost O(log n) calls of pt_alloc;
 * a request that would fill most of a block gets one of its own, put behind the first, whose rest
 * stays in use. */
static pt_arena_block *block_with_room(pt_arena *arena, size_t bytes)
{
    pt_arena_block *head = arena->head;
    if (head && head->size - head->used >= bytes) return head;
    size_t size = head ? 2 * head->size : BLOCK_MIN;
    if (size < BLOCK_MIN) size = BLOCK_MIN;
    if (size > BLOCK_MAX) size = BLOCK_MAX;
    bool own = bytes > size / 2;
    pt_arena_block *block = block_new(own ? bytes : size);
    if (!block) return NULL;
    if (own && head) {
        block->next = head->next;
        head->next = block;
    } else {
        block->next = head;
        arena->head = block;
    }
    return block;
}

void *pt_arena_alloc(pt_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) return NULL;
    size_t rounded = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (rounded == 0) rounded = ARENA_ALIGN; /* every pointer handed out is different */
    pt_arena_block *block = block_with_room(arena, rounded);
    if (!block) return NULL;
    void *out = (char *)block + HEADER_BYTES + block->used;
    block->used += rounded;
    arena->used_bytes += rounded;
    return out;
}

void *pt_arena_array(pt_arena *arena, int64_t n, size_t element_bytes)
{
    if (n < 0 || (element_bytes && (uint64_t)n > SIZE_MAX / 2 / element_bytes)) return NULL;
    return pt_arena_alloc(arena, (size_t)n * element_bytes);
}

char *pt_arena_copy(pt_arena *arena, const char *text, size_t n)
{
    if (n > SIZE_MAX / 2 - 1) return NULL;
    char *out = pt_arena_alloc(arena, n + 1);
    if (out && n) memcpy(out, text, n);
    return out;
}

void pt_arena_deinit(pt_arena *arena)
{
    if (!arena) return;
    for (pt_arena_block *block = arena->head, *next; block; block = next) {
        next = block->next;
        pt_free(block);
    }
    *arena = (pt_arena){0};
}
