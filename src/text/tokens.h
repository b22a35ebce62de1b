/* A stream of tokens that can be read at any place: a text in memory, or files behind a function
 * of their owner's (train/corpus.h).
 * SPDX-License-Identifier: MIT */
#ifndef PT_TEXT_TOKENS_H
#define PT_TEXT_TOKENS_H

#include "base/mem.h"

/* A plain value; `ctx` is the owner's and outlives it. */
typedef struct pt_tokens {
    int64_t n; /* tokens */
    /* The ids of tokens first … first+n-1, all of them inside the stream. Errors: the owner's. */
    pt_status (*read)(const void *ctx, int64_t first, int64_t n, int32_t *ids, pt_error *err);
    const void *ctx;
} pt_tokens;

/* The n bytes, each one token (text/bytes.h). Borrowed. */
pt_tokens pt_tokens_of_bytes(const uint8_t *bytes, int64_t n);
/* Ids (T) of the tokens from `start` on and targets (T), the same moved by one: T + 1 tokens are read. */
pt_status pt_tokens_window(const pt_tokens *tokens, int64_t start, int64_t T, int32_t *ids,
                           int32_t *targets, pt_error *err);

#endif
