/* A stream of tokens. SPDX-License-Identifier: MIT */
#include "text/tokens.h"

#include "text/bytes.h"

#define PIECE 1024 /* tokens read at a time */

static pt_status read_bytes(const void *ctx, int64_t first, int64_t n, int32_t *ids, pt_error *err)
{
    (void)err;
    pt_bytes_encode((const uint8_t *)ctx + first, n, ids);
    return PT_OK;
}

pt_tokens pt_tokens_of_bytes(const uint8_t *bytes, int64_t n)
{
    return (pt_tokens){.n = n, .read = read_bytes, .ctx = bytes};
}

pt_status pt_tokens_window(const pt_tokens *tokens, int64_t start, int64_t T, int32_t *ids,
                           int32_t *targets, pt_error *err)
{
    int32_t piece[PIECE + 1];
    for (int64_t t = 0; t < T; t += PIECE) {
        int64_t n = pt_min_i64(PIECE, T - t);
        pt_status s = tokens->read(tokens->ctx, start + t, n + 1, piece, err);
        if (s) return s;
        memcpy(ids + t, piece, (size_t)n * sizeof *ids);
        memcpy(targets + t, piece + 1, (size_t)n * sizeof *targets);
    }
    return PT_OK;
}
