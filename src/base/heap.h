/* A heap for hosts that only hand out memory at the end of one growing range (WASM).
 *
 * First fit over an address-ordered list of free blocks, neighbours merged. A block costs 64 bytes
 * more than its size. Built for few, long-lived blocks (arenas and tensors); many small ones belong
 * in an arena. Portable, so that its test runs on every host. Not thread-safe: the caller locks.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_HEAP_H
#define PT_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct pt_heap_block pt_heap_block;

/* Addresses are 64 bits wide, because the end of a full wasm32 memory does not fit in 32. */
typedef struct pt_heap {
    uint64_t top;              /* first byte above all blocks, a multiple of 64 */
    uint64_t end;              /* first byte above the memory the heap has */
    uint64_t clean;            /* bytes from here to `end` were never used, so they are zero */
    pt_heap_block *free_first; /* in address order; none of them touches `top` */
    /* Gets at least min_bytes of zeroed memory from the host: returns its start, 64-aligned, and in
     * *bytes its size; 0 when there is none. Need not continue at `end`. */
    uint64_t (*grow)(void *ctx, uint64_t min_bytes, uint64_t *bytes);
    void *grow_ctx;
} pt_heap;

/* The heap starts with the zeroed memory from `start` to `end` (may be the same). */
void pt_heap_init(pt_heap *heap, uint64_t start, uint64_t end,
                  uint64_t (*grow)(void *ctx, uint64_t min_bytes, uint64_t *bytes), void *ctx);
/* Zeroed, aligned to 64; NULL when there is no memory. bytes == 0 gives a valid block. */
void *pt_heap_alloc(pt_heap *heap, size_t bytes);
/* Gives a block back. Anything that is not a block in use, also one freed twice, traps. */
void pt_heap_free(pt_heap *heap, void *block);

#endif
