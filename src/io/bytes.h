/* Little-endian numbers at any address. All hosts of this program are little-endian.
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_BYTES_H
#define PT_IO_BYTES_H

#include "base/mem.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "files are little-endian, so is the host");

static inline uint16_t pt_load_u16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint32_t pt_load_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint64_t pt_load_u64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void pt_store_u16(uint8_t *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static inline void pt_store_u32(uint8_t *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline void pt_store_u64(uint8_t *p, uint64_t v) { memcpy(p, &v, sizeof v); }

#endif
