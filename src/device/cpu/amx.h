/* The tile registers of AMX: eight tiles of 16 rows by 64 bytes. With simd.h the only file with intrinsics.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_CPU_AMX_H
#define PT_DEVICE_CPU_AMX_H

#include <immintrin.h>
#include <stdint.h>

typedef struct pt_amx_config {
    uint8_t palette, start_row, zero[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} pt_amx_config;

/* Every tile 16 by 64 bytes, until the end. Per thread. A constant, since gcc 12 believes that the instruction reads eight
 * bytes and drops the stores of the rest. */
static inline void pt_amx_begin(void)
{
    static const pt_amx_config config = {.palette = 1,
                                         .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
                                         .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    _tile_loadconfig(&config);
}
static inline void pt_amx_end(void) { _tile_release(); }

/* The tile's number must be a constant, so these are macros. step: bytes between rows. */
#define pt_amx_zero(tile) _tile_zero(tile)
#define pt_amx_load(tile, from, step) _tile_loadd(tile, from, step)
#define pt_amx_store(tile, to, step) _tile_stored(tile, to, step)
/* sum[i][j] += a[i][2p] b[p][2j] + a[i][2p+1] b[p][2j+1], p = 0 … 15 */
#define pt_amx_multiply(sum, a, b) _tile_dpbf16ps(sum, a, b)

#endif
