/* The byte tokenizer. SPDX-License-Identifier: MIT */
#include "text/bytes.h"

void pt_bytes_encode(const uint8_t *bytes, int64_t n, int32_t *ids)
{
    for (int64_t i = 0; i < n; i++) ids[i] = bytes[i];
}

int pt_bytes_decode(int32_t id) { return id >= 0 && id < PT_BYTES_VOCAB ? (int)id : -1; }
