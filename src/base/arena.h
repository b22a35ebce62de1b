/* Arena: many small host allocations with one lifetime, released together.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_ARENA_H
#define PT_BASE_ARENA_H

#include "base/mem.h"

typedef struct pt_arena_block pt_arena_block;

/* Zero-initialised is a valid empty arena. Not thread-safe. */
typedef struct pt_arena {
    pt_arena_block *head;
    size_t used_bytes; /* handed out, for statistics */
} pt_arena;

/* Zeroed, aligned to 16. NULL when there is no memory. Lives until pt_arena_deinit. */
void *pt_arena_alloc(pt_arena *arena, size_t bytes);
/* n elements of size bytes each, overflow-checked. */
void *pt_arena_array(pt_arena *arena, int64_t n, size_t element_bytes);
/* A NUL-terminated copy of n bytes. */
char *pt_arena_copy(pt_arena *arena, const char *text, size_t n);
void pt_arena_deinit(pt_arena *arena);

#endif
