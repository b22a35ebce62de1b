/* Token and position embedding on a GPU. SPDX-License-Identifier: MIT */
#include "device/webgpu/tiles.h"
#include "device/webgpu/weights.h"
#include "ops/embedding/embedding.h"

/* What a call is about: rows of the token table, all of which lie in one binding; and, backwards, which tables' sums. */
typedef struct embedding_part {
    int64_t first_row, rows;
    int64_t first_table, tables; /* 0: tokens, 1: positions; up to but not `tables` */
} embedding_part;

/* The members of P. */
static void add_words(pt_wg_call *call, const pt_embedding_args *a, int64_t channels,
                      const embedding_part *part)
{
    pt_wg_u32(call, pt_numel(&a->ids));
    pt_wg_u32(call, channels);
    pt_wg_u32(call, a->ids.dim[1]);
    pt_wg_u32(call, part->first_row);
    pt_wg_u32(call, part->rows);
    pt_wg_u32(call, pt_present(&a->position));
    pt_wg_u32(call, pt_present(&a->doc_start));
    pt_wg_u32(call, pt_present(&a->offset));
    pt_wg_u32(call, part->first_table);
    pt_wg_u32(call, part->tables);
    pt_wg_rows rows = pt_wg_rows_of(&a->token, 4);
    pt_wg_u32(call, rows.stored);
    pt_wg_u32(call, rows.row);
    pt_wg_u32(call, rows.scales);
}

static pt_status look_up(pt_device *device, const pt_embedding_args *a, const embedding_part *part,
                         pt_error *err)
{
    int64_t n = pt_numel(&a->x);
    pt_tensor token = pt_slice(&a->token, part->first_row, part->rows);
    pt_wg_call call = {.shader = "embedding",
                       .entry = "forward",
                       .tensor = {{"ids", &a->ids},
                                  {pt_is_packed(token.dtype) ? "packed_token" : "token", &token},
                                  {"position", &a->position},
                                  {"doc_start", &a->doc_start},
                                  {"offset", &a->offset},
                                  {"x", &a->x}},
                       .groups = {pt_div_up(n, PT_WG_TILE)},
                       .work = (double)n};
    add_words(&call, a, pt_last_dim(&a->x), part);
    return pt_wg_run(device, &call, err);
}

static pt_status rank(pt_device *device, const pt_embedding_args *a, const pt_tensor *ordered,
                      const embedding_part *part, pt_error *err)
{
    int64_t tokens = pt_numel(&a->ids), tables = part->tables - part->first_table;
    pt_wg_call call = {.shader = "embedding",
                       .entry = "rank",
                       .tensor = {{"ids", &a->ids},
                                  {"doc_start", &a->doc_start},
                                  {"offset", &a->offset},
                                  {"ordered", ordered}},
                       .groups = {pt_div_up(tokens, 32) * tables},
                       .work = (double)tokens * (double)tokens * (double)tables};
    add_words(&call, a, pt_last_dim(&a->dx), part);
    return pt_wg_run(device, &call, err);
}

static pt_status sum(pt_device *device, const pt_embedding_args *a, const pt_tensor *ordered,
                     const embedding_part *part, pt_error *err)
{
    int64_t channels = pt_last_dim(&a->dx), tables = part->tables - part->first_table;
    pt_tensor dtoken = a->dtoken;
    if (pt_present(&dtoken)) dtoken = pt_slice(&dtoken, part->first_row, part->rows);
    pt_wg_call call = {.shader = "embedding",
                       .entry = "sum",
                       .tensor = {{"ordered", ordered},
                                  {"dx", &a->dx},
                                  {"dtoken", &dtoken},
                                  {"dposition", &a->dposition}},
                       .groups = {pt_div_up(channels, 64) * pt_numel(&a->ids) * tables},
                       .work = 2 * (double)pt_numel(&a->dx) * (double)tables};
    add_words(&call, a, channels, part);
    return pt_wg_run(device, &call, err);
}

static pt_status forward(pt_device *device, const pt_embedding_args *a, pt_error *err)
{
    int64_t all = a->token.dim[0], fit = pt_wg_rows_that_fit(device, &a->token);
    pt_status status = PT_OK;
    for (int64_t row = 0; row < all && !status; row += fit) {
        embedding_part part = {.first_row = row, .rows = pt_min_i64(fit, all - row)};
        status = look_up(device, a, &part, err);
    }
    return status;
}

static pt_status backward(pt_device *device, const pt_embedding_args *a, pt_error *err)
{
    bool tokens = pt_present(&a->dtoken);
    int64_t all = tokens ? a->dtoken.dim[0] : 1;
    int64_t fit = tokens ? pt_wg_rows_that_fit(device, &a->dtoken) : 1;
    embedding_part part = {.first_table = tokens ? 0 : 1,
                           .tables = pt_present(&a->dposition) ? 2 : 1};
    pt_tensor ordered;
    if (part.first_table == part.tables) return PT_OK;
    pt_status status = pt_wg_scratch(device, pt_numel(&a->ids) * 2 * 2 * 4, &ordered, err);
    if (!status) status = rank(device, a, &ordered, &part, err);
    for (int64_t row = 0; row < all && !status; row += fit) {
        part.first_row = row;
        part.rows = pt_min_i64(fit, all - row);
        status = sum(device, a, &ordered, &part, err);
        part.tables = 1; /* the positions' sums are made */
    }
    return status;
}

pt_status pt_embedding_webgpu(pt_device *device, pt_pass pass, const void *args, pt_error *err)
{
    return pass == PT_FORWARD ? forward(device, args, err) : backward(device, args, err);
}
