/* Checksums: sha256 (FIPS 180-4) for identity, crc32c (Castagnoli, RFC 3720) for damage.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_HASH_H
#define PT_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pt_sha256 {
    uint32_t state[8];
    uint64_t total_bytes;
    uint8_t block[64];
} pt_sha256;

void pt_sha256_init(pt_sha256 *h);
void pt_sha256_update(pt_sha256 *h, const void *bytes, size_t n);
void pt_sha256_final(pt_sha256 *h, uint8_t digest[32]);
/* Lower-case hex with NUL. */
void pt_sha256_hex(const void *bytes, size_t n, char out[65]);
void pt_hex(const uint8_t *bytes, size_t n, char *out); /* out holds 2n+1 */
/* n bytes from the 2n hex digits, of either case, that the text begins with; false when there are fewer. */
bool pt_unhex(const char *text, uint8_t *bytes, size_t n);
/* A number from 8 hex digits, as %08x prints it. */
bool pt_unhex_u32(const char *text, uint32_t *out);

/* Start with crc = 0 and feed in pieces. */
uint32_t pt_crc32c(uint32_t crc, const void *bytes, size_t n);

#endif
