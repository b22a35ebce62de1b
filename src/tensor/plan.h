/* Memory plan: every size is computed before anything is allocated, can be printed, and is held.
 *
 * Build: pt_plan_init, pt_plan_add…, then device/device.h's pt_device_allocate_plan makes one buffer
 * per arena. Tensors are asked for by the id that pt_plan_add returned.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TENSOR_PLAN_H
#define PT_TENSOR_PLAN_H

#include "base/strings.h"
#include "tensor/tensor.h"

/* Arenas by lifetime. HOST entries are memory on the host side (staging, thread scratch): counted
 * and printed, allocated by their owners. */
typedef enum pt_arena_id {
    PT_ARENA_MODEL, /* weights */
    PT_ARENA_RUN,   /* gradients, optimizer moments, KV cache, step state */
    PT_ARENA_STEP,  /* activations and their gradients */
    PT_ARENA_CALL,  /* workspaces of single ops */
    PT_ARENA_HOST,
    PT_ARENA_COUNT
} pt_arena_id;

typedef struct pt_plan_entry {
    char name[48]; /* "blocks.3.att" */
    pt_arena_id arena;
    pt_tensor tensor; /* buffer is set by pt_device_allocate_plan */
    int64_t bytes;
} pt_plan_entry;

typedef struct pt_plan {
    pt_plan_entry *entries;
    int64_t n_entries, capacity;
    int64_t arena_bytes[PT_ARENA_COUNT];
    struct pt_buffer *buffer[PT_ARENA_COUNT]; /* owned once allocated */
    pt_status failure; /* first failure of an add: overflow or no memory; see pt_plan_check */
} pt_plan;

#define PT_PLAN_NONE (-1)

void pt_plan_init(pt_plan *plan);
/* Frees the entries. The buffers must have been released (pt_device_release_plan). */
void pt_plan_deinit(pt_plan *plan);

/* Adds a tensor (each starts at a multiple of 256 bytes, which every GPU can bind at) and returns its id. Unused dims: 0.
 * Failures are kept in plan->failure, the id is then PT_PLAN_NONE. */
int64_t pt_plan_add(pt_plan *plan, pt_arena_id arena, const char *name, pt_dtype dtype,
                    const int64_t dim[PT_MAX_RANK]);
/* Raw bytes of the HOST arena. */
void pt_plan_add_host(pt_plan *plan, const char *name, int64_t bytes);

/* PT_OK, or the failure that an add recorded, in words. */
pt_status pt_plan_check(const pt_plan *plan, pt_error *err);

/* The tensor of an entry; id PT_PLAN_NONE gives an absent tensor. */
pt_tensor pt_plan_tensor(const pt_plan *plan, int64_t id);
int64_t pt_plan_total_bytes(const pt_plan *plan);
bool pt_plan_is_allocated(const pt_plan *plan);
/* The name of the entry that holds this tensor's first byte; "?" when none does. */
const char *pt_plan_name_of(const pt_plan *plan, const pt_tensor *t);
/* A table for people: bytes per arena and the largest entries. */
void pt_plan_print(const pt_plan *plan, pt_strbuf *out);

const char *pt_arena_id_name(pt_arena_id arena);

#endif
