/* The byte tokenizer: a token is a byte, its id the byte's value. Vocabulary 256.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TEXT_BYTES_H
#define PT_TEXT_BYTES_H

#include "base/mem.h"

#define PT_BYTES_VOCAB 256

/* n bytes to n ids. */
void pt_bytes_encode(const uint8_t *bytes, int64_t n, int32_t *ids);
/* The byte of an id; ids from 256 on (a model with a larger vocabulary than the tokenizer's) have none: -1. */
int pt_bytes_decode(int32_t id);

#endif
