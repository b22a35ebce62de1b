/* Token and position embedding on a GPU. SPDX-License-Identifier: MIT */
#include "device/webgpu/tiles.h"
#include "ops/embedding/embedding.h"

/* The tables in the order of their gradients' sums. */
enum { TOKENS, POSITIONS, END };

/* The members of P. Rows of the token table: those of one binding. */
static void add_words(pt_wg_call *call, const pt_embedding_args *a, int64_t channels,
                      const pt_tensor *rows, int64_t first_row)
{
    pt_wg_u32(call, pt_numel(&a->ids));
    pt_wg_u32(call, channels);
    pt_wg_u32(call, a->ids.dim[1]);
    pt_wg_u32(call, first_row);
    pt_wg_u32(call, rows->dim[0]);
    pt_wg_u32(call, pt_present(&a->position));
    pt_wg_u32(call, pt_present(&a->doc_start));
    pt_wg_u32(call, pt_present(&a->offset));
}

static pt_status forward(pt_device *device, const pt_embedding_args *a, int64_t first_row,
                         int64_t rows, pt_error *err)
{
    int64_t channels = pt_last_dim(&a->x), n = pt_numel(&a->x);
    pt_tensor token = pt_slice(&a->token, first_row, rows);
    pt_wg_call call = {.shader = "embedding",
                       .entry = "forward",
                       .tensor = {{"ids", &a->ids},
                                  {"token", &token},
                                  {"position", &a->position},
                                  {"doc_start", &a->doc_start},
                                  {"offset", &a->offset},
                                  {"x", &a->x}},
                       .groups = {pt_div_up(n, PT_WG_TILE)},
                       .work = (double)n};
    add_words(&call, a, channels, &token, first_row);
    return pt_wg_run(device, &call, err);
}

static pt_status rank(pt_device *device, const pt_embedding_args *a, const pt_tensor *ordered,
                      const int64_t tables[2], pt_error *err)
{
    int64_t tokens = pt_numel(&a->ids);
    pt_wg_call call = {.shader = "embedding",
                       .entry = "rank",
                       .tensor = {{"ids", &a->ids},
                                  {"doc_start", &a->doc_start},
                                  {"offset", &a->offset},
                                  {"ordered", ordered}},
                       .groups = {pt_div_up(tokens, 32) * (tables[1] - tables[0])},
                       .work = (double)tokens * (double)tokens};
    add_words(&call, a, pt_last_dim(&a->dx), &a->dtoken, 0);
    for (int i = 0; i < 2; i++) pt_wg_u32(&call, tables[i]);
    return pt_wg_run(device, &call, err);
}

/* For rows of the token table, the positions, or both. */
static pt_status sum(pt_device *device, const pt_embedding_args *a, const pt_tensor *ordered,
                     const int64_t tables[2], const pt_tensor *dtoken, int64_t first_row,
                     pt_error *err)
{
    int64_t channels = pt_last_dim(&a->dx), tokens = pt_numel(&a->ids);
    pt_wg_call call = {.shader = "embedding",
                       .entry = "sum",
                       .tensor = {{"ordered", ordered},
                                  {"dx", &a->dx},
                                  {"dtoken", dtoken},
                                  {"dposition", &a->dposition}},
                       .groups = {pt_div_up(channels, 64) * tokens * (tables[1] - tables[0])},
                       .work = 4 * (double)pt_numel(&a->dx)};
    add_words(&call, a, channels, dtoken, first_row);
    for (int i = 0; i < 2; i++) pt_wg_u32(&call, tables[i]);
    return pt_wg_run(device, &call, err);
}

static pt_status backward(pt_device *device, const pt_embedding_args *a, pt_error *err)
{
    const pt_tensor *table = &a->dtoken;
    int64_t tables[2] = {pt_present(table) ? TOKENS : POSITIONS,
                         pt_present(&a->dposition) ? END : POSITIONS};
    pt_tensor ordered;
    if (tables[0] == tables[1]) return PT_OK;
    pt_status status = pt_wg_scratch(device, pt_numel(&a->ids) * 2 * 2 * 4, &ordered, err);
    if (!status) status = rank(device, a, &ordered, tables, err);
    if (tables[0] == POSITIONS)
        return status ? status : sum(device, a, &ordered, tables, table, 0, err);
    int64_t fit = pt_wg_rows_that_fit(device, table);
    for (int64_t row = 0; row < table->dim[0] && !status; row += fit) {
        pt_tensor rows = pt_slice(table, row, pt_min_i64(fit, table->dim[0] - row));
        status = sum(device, a, &ordered, tables, &rows, row, err);
        tables[1] = POSITIONS; /* their sums are made */
    }
    return status;
}

pt_status pt_embedding_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    const pt_embedding_args *a = args;
    if (pass == PT_BACKWARD) return backward(device, a, err);
    int64_t all = a->token.dim[0], fit = pt_wg_rows_that_fit(device, &a->token);
    pt_status status = PT_OK;
    for (int64_t row = 0; row < all && !status; row += fit)
        status = forward(device, a, row, pt_min_i64(fit, all - row), err);
    return status;
}
