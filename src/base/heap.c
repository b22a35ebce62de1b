/* First-fit heap over one growing range. SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include "base/mem.h"

#define UNIT 64u /* alignment of blocks and size of their header */
#define STATE_USED 0x75736564626c6f63u
#define STATE_FREE 0x66726565626c6f63u

struct pt_heap_block {
    uint64_t bytes; /* with this header; a multiple of UNIT */
    uint64_t state;
    pt_heap_block *next; /* of a free block: the next free one */
    uint8_t pad[UNIT - 16 - sizeof(pt_heap_block *)];
};
_Static_assert(sizeof(struct pt_heap_block) == UNIT, "the payload stays 64-aligned");

static uint64_t address_of(const pt_heap_block *block) { return (uint64_t)(uintptr_t)block; }
static pt_heap_block *block_at(uint64_t address) { return (pt_heap_block *)(uintptr_t)address; }
static uint64_t round_up(uint64_t n) { return (n + UNIT - 1) / UNIT * UNIT; }

void pt_heap_init(pt_heap *heap, uint64_t start, uint64_t end,
                  uint64_t (*grow)(void *ctx, uint64_t min_bytes, uint64_t *bytes), void *ctx)
{
    start = round_up(start);
    end = end / UNIT * UNIT;
    *heap = (pt_heap){.top = start, .clean = start, .grow = grow, .grow_ctx = ctx};
    heap->end = end > start ? end : start;
}

/* Puts `block` into the list and merges it with neighbours; the highest block becomes unused
 * memory above `top` again. */
static void insert_free(pt_heap *heap, pt_heap_block *block)
{
    pt_heap_block **link = &heap->free_first, **link_to_prev = NULL;
    while (*link && address_of(*link) < address_of(block)) {
        link_to_prev = link;
        link = &(*link)->next;
    }
    block->state = STATE_FREE;
    block->next = *link;
    *link = block;
    pt_heap_block *next = block->next;
    if (next && address_of(block) + block->bytes == address_of(next)) {
        block->bytes += next->bytes;
        block->next = next->next;
    }
    pt_heap_block *prev = link_to_prev ? *link_to_prev : NULL;
    if (prev && address_of(prev) + prev->bytes == address_of(block)) {
        prev->bytes += block->bytes;
        prev->next = block->next;
        block = prev;
        link = link_to_prev;
    }
    if (address_of(block) + block->bytes == heap->top) {
        heap->top = address_of(block);
        *link = block->next;
    }
}

static pt_heap_block *take_free(pt_heap *heap, uint64_t need)
{
    pt_heap_block **link = &heap->free_first;
    while (*link && (*link)->bytes < need) link = &(*link)->next;
    pt_heap_block *block = *link;
    if (!block) return NULL;
    if (block->bytes >= need + 2 * UNIT) {
        pt_heap_block *rest = block_at(address_of(block) + need);
        *rest =
            (pt_heap_block){.bytes = block->bytes - need, .state = STATE_FREE, .next = block->next};
        *link = rest;
        block->bytes = need;
    } else {
        *link = block->next;
    }
    memset(block + 1, 0, (size_t)(block->bytes - UNIT));
    return block;
}

/* Makes room for `need` bytes at `top`. Memory that does not continue at `end` starts a new range,
 * and what was left of the old one becomes a free block. */
static bool reserve(pt_heap *heap, uint64_t need)
{
    while (heap->end - heap->top < need) {
        uint64_t bytes = 0;
        uint64_t start = heap->grow(heap->grow_ctx, need - (heap->end - heap->top), &bytes);
        if (!start) return false;
        if (start != heap->end) {
            uint64_t left = heap->end - heap->top;
            pt_heap_block *rest = block_at(heap->top);
            heap->top = heap->clean = start;
            if (left >= 2 * UNIT) {
                rest->bytes = left;
                insert_free(heap, rest);
            }
        }
        heap->end = start + bytes / UNIT * UNIT;
    }
    return true;
}

static pt_heap_block *take_top(pt_heap *heap, uint64_t need)
{
    if (!reserve(heap, need)) return NULL;
    pt_heap_block *block = block_at(heap->top);
    uint64_t payload = heap->top + UNIT;
    heap->top += need;
    block->bytes = need;
    if (payload < heap->clean) {
        uint64_t dirty_end = heap->clean < heap->top ? heap->clean : heap->top;
        memset(block + 1, 0, (size_t)(dirty_end - payload));
    }
    if (heap->clean < heap->top) heap->clean = heap->top;
    return block;
}

void *pt_heap_alloc(pt_heap *heap, size_t bytes)
{
    if (bytes > PTRDIFF_MAX) return NULL;
    uint64_t need = UNIT + round_up(bytes ? bytes : 1);
    pt_heap_block *block = take_free(heap, need);
    if (!block) block = take_top(heap, need);
    if (!block) return NULL;
    block->state = STATE_USED;
    block->next = NULL;
    return block + 1;
}

void pt_heap_free(pt_heap *heap, void *payload)
{
    pt_heap_block *block = (pt_heap_block *)payload - 1;
    if (block->state != STATE_USED) __builtin_trap();
    insert_free(heap, block);
}
