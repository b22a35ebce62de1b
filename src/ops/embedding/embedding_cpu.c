/* Token and position embedding, vectorised. SPDX-License-Identifier: MIT */
#include "device/cpu/chunks.h"
#include "device/cpu/stored.h"
#include "ops/embedding/embedding.h"

void PT_KERNEL(embedding_fwd)(const void *args, pt_pool *pool);
void PT_KERNEL(embedding_bwd)(const void *args, pt_pool *pool);

/* Position of token n = b T + t. */
static inline int64_t position_of(const pt_embedding_args *a, int64_t n)
{
    int64_t T = a->ids.dim[1];
    return pt_int_at(&a->offset, n / T) + n % T - pt_int_at(&a->doc_start, n);
}

/* ---- forward: over tokens ---- */

static inline void add_rows(pt_stored *x, const pt_stored *token, const pt_stored *position,
                            int64_t C)
{
    int64_t i = 0;
    for (; i + PT_LANES <= C; i += PT_LANES)
        pt_vs_store(x + i, pt_vf_add(pt_vs_load(token + i), pt_vs_load(position + i)));
    for (; i < C; i++) pt_put(x + i, pt_get(token + i) + pt_get(position + i));
}

static void forward_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_embedding_args *a = ctx;
    int64_t C = pt_last_dim(&a->x);
    const pt_stored *token = pt_storage(&a->token), *position = pt_storage(&a->position);
    pt_stored *x = pt_storage(&a->x);
    pt_range r = pt_chunk_range(pt_numel(&a->ids), pt_chunk_rows(C), chunk);
    for (int64_t n = r.begin; n < r.end; n++) {
        const pt_stored *row = token + pt_int_at(&a->ids, n) * C;
        if (position) add_rows(x + n * C, row, position + position_of(a, n) * C, C);
        else memcpy(x + n * C, row, (size_t)C * sizeof(pt_stored));
    }
}

void PT_KERNEL(embedding_fwd)(const void *args, pt_pool *pool)
{
    const pt_embedding_args *a = args;
    pt_run_chunks(pool, pt_numel(&a->ids), pt_chunk_rows(pt_last_dim(&a->x)), forward_chunk, a);
}

/* ---- backward: over slabs of columns, each walking all tokens in order ---- */

#define SLAB (2 * PT_LANES)

static inline void add_into(float *table, const pt_stored *dx, int64_t n)
{
    if (n == SLAB) {
        for (int k = 0; k < 2; k++, table += PT_LANES, dx += PT_LANES)
            pt_vf_store(table, pt_vf_add(pt_vf_load(table), pt_vs_load(dx)));
        return;
    }
    for (int64_t i = 0; i < n; i++) table[i] += pt_get(dx + i);
}

static void backward_chunk(void *ctx, int64_t chunk, int thread)
{
    (void)thread;
    const pt_embedding_args *a = ctx;
    int64_t C = pt_last_dim(&a->dx), n_tokens = pt_numel(&a->ids);
    pt_range columns = pt_chunk_range(C, SLAB, chunk);
    int64_t width = columns.end - columns.begin;
    const pt_stored *dx = pt_storage(&a->dx) + columns.begin;
    float *dtoken = pt_floats(&a->dtoken), *dposition = pt_floats(&a->dposition);
    if (dtoken)
        for (int64_t n = 0; n < n_tokens; n++)
            add_into(dtoken + pt_int_at(&a->ids, n) * C + columns.begin, dx + n * C, width);
    if (dposition)
        for (int64_t n = 0; n < n_tokens; n++)
            add_into(dposition + position_of(a, n) * C + columns.begin, dx + n * C, width);
}

void PT_KERNEL(embedding_bwd)(const void *args, pt_pool *pool)
{
    const pt_embedding_args *a = args;
    bool small = pt_numel(&a->dx) <= PT_CHUNK_ELEMENTS;
    pt_run_chunks(small ? NULL : pool, pt_last_dim(&a->dx), SLAB, backward_chunk, a);
}
