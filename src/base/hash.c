/* Checksums. SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include "base/mem.h"

/* ---- sha256: FIPS 180-4, sections 4.1.2, 5.3.3 and 6.2.2 ---- */

static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate_right(uint32_t x, int by) { return x >> by | x << (32 - by); }

static inline uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store_be32(uint8_t *p, uint32_t x)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(x >> (24 - 8 * i));
}

/* One round without moving the eight variables: the caller rotates their names instead. */
#define ROUND(a, b, c, d, e, f, g, h, kw)                                                    \
    do {                                                                                     \
        uint32_t t1 = h + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) + \
                      (g ^ (e & (f ^ g))) + (kw);                                            \
        uint32_t t2 = (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) +     \
                      ((a & b) | (c & (a | b)));                                             \
        d += t1;                                                                             \
        h = t1 + t2;                                                                         \
    } while (0)

static void sha256_blocks(uint32_t state[8], const uint8_t *p, size_t n_blocks)
{
    uint32_t w[64];
    for (; n_blocks; n_blocks--, p += 64) {
        for (int i = 0; i < 16; i++) w[i] = load_be32(p + 4 * i);
        for (int i = 16; i < 64; i++) {
            uint32_t x = w[i - 15], y = w[i - 2];
            uint32_t s0 = rotate_right(x, 7) ^ rotate_right(x, 18) ^ (x >> 3);
            uint32_t s1 = rotate_right(y, 17) ^ rotate_right(y, 19) ^ (y >> 10);
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int i = 0; i < 64; i += 8) {
            ROUND(a, b, c, d, e, f, g, h, sha256_k[i] + w[i]);
            ROUND(h, a, b, c, d, e, f, g, sha256_k[i + 1] + w[i + 1]);
            ROUND(g, h, a, b, c, d, e, f, sha256_k[i + 2] + w[i + 2]);
            ROUND(f, g, h, a, b, c, d, e, sha256_k[i + 3] + w[i + 3]);
            ROUND(e, f, g, h, a, b, c, d, sha256_k[i + 4] + w[i + 4]);
            ROUND(d, e, f, g, h, a, b, c, sha256_k[i + 5] + w[i + 5]);
            ROUND(c, d, e, f, g, h, a, b, sha256_k[i + 6] + w[i + 6]);
            ROUND(b, c, d, e, f, g, h, a, sha256_k[i + 7] + w[i + 7]);
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

void pt_sha256_init(pt_sha256 *h)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    *h = (pt_sha256){0};
    memcpy(h->state, start, sizeof start);
}

void pt_sha256_update(pt_sha256 *h, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    size_t held = (size_t)(h->total_bytes % 64);
    h->total_bytes += n;
    if (held) {
        size_t take = n < 64 - held ? n : 64 - held;
        if (take) memcpy(h->block + held, p, take);
        if (held + take < 64) return;
        sha256_blocks(h->state, h->block, 1);
        p += take;
        n -= take;
    }
    if (n >= 64) {
        sha256_blocks(h->state, p, n / 64);
        p += n / 64 * 64;
        n %= 64;
    }
    if (n) memcpy(h->block, p, n);
}

void pt_sha256_final(pt_sha256 *h, uint8_t digest[32])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = h->total_bytes * 8;
    size_t held = (size_t)(h->total_bytes % 64);
    pt_sha256_update(h, padding, held < 56 ? 56 - held : 120 - held);
    uint8_t length[8];
    store_be32(length, (uint32_t)(bits >> 32));
    store_be32(length + 4, (uint32_t)bits);
    pt_sha256_update(h, length, sizeof length);
    for (int i = 0; i < 8; i++) store_be32(digest + 4 * i, h->state[i]);
}

void pt_sha256_hex(const void *bytes, size_t n, char out[65])
{
    pt_sha256 h;
    uint8_t digest[32];
    pt_sha256_init(&h);
    pt_sha256_update(&h, bytes, n);
    pt_sha256_final(&h, digest);
    pt_hex(digest, sizeof digest, out);
}

void pt_hex(const uint8_t *bytes, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool pt_unhex(const char *text, uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++, text += 2) {
        int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);
        if (low < 0) return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool pt_unhex_u32(const char *text, uint32_t *out)
{
    uint8_t bytes[4];
    bool good = pt_unhex(text, bytes, sizeof bytes);
    if (good) *out = load_be32(bytes);
    return good;
}

/* ---- crc32c: RFC 3720 appendix B.4, polynomial 0x1EDC6F41, reflected 0x82F63B78 ---- */

/* Eight bytes at a time (Kounavis & Berry 2005, "slicing by 8"): table[k][i] is the remainder of
 * byte i followed by k zero bytes. A remainder is linear over GF(2), so an entry is the xor of
 * those of its bits, and each table follows from the eight remainders of 1, 2, 4, … 128. */
#define BIT(i, b, r) ((uint32_t)((i) >> (b)&1) * (r))
#define ENTRY(i, r0, r1, r2, r3, r4, r5, r6, r7)                                     \
    (BIT(i, 0, r0) ^ BIT(i, 1, r1) ^ BIT(i, 2, r2) ^ BIT(i, 3, r3) ^ BIT(i, 4, r4) ^ \
     BIT(i, 5, r5) ^ BIT(i, 6, r6) ^ BIT(i, 7, r7))
#define ENTRIES4(i, ...)                                                               \
    ENTRY((i), __VA_ARGS__), ENTRY((i) + 1, __VA_ARGS__), ENTRY((i) + 2, __VA_ARGS__), \
        ENTRY((i) + 3, __VA_ARGS__)
#define ENTRIES16(i, ...)                                                                       \
    ENTRIES4((i), __VA_ARGS__), ENTRIES4((i) + 4, __VA_ARGS__), ENTRIES4((i) + 8, __VA_ARGS__), \
        ENTRIES4((i) + 12, __VA_ARGS__)
#define ENTRIES64(i, ...)                                          \
    ENTRIES16((i), __VA_ARGS__), ENTRIES16((i) + 16, __VA_ARGS__), \
        ENTRIES16((i) + 32, __VA_ARGS__), ENTRIES16((i) + 48, __VA_ARGS__)
#define TABLE(...)                                                                          \
    {                                                                                       \
        ENTRIES64(0, __VA_ARGS__), ENTRIES64(64, __VA_ARGS__), ENTRIES64(128, __VA_ARGS__), \
            ENTRIES64(192, __VA_ARGS__)                                                     \
    }

/* A WebAssembly module travels, and seven tables of what looks like noise do not compress: there it is a byte at a time. */
#if __STDC_HOSTED__
#define SLICES 8
#else
#define SLICES 1
#endif

static const uint32_t crc32c_table[SLICES][256] = {
    TABLE(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf, 0x105ec76f, 0x20bd8ede, 0x417b1dbc,
          0x82f63b78),
#if __STDC_HOSTED__
    TABLE(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8, 0x3fc5f181, 0x7f8be302, 0xff17c604,
          0xfbc3faf9),
    TABLE(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5, 0x70a27d8a, 0xe144fb14, 0xc76580d9,
          0x8b277743),
    TABLE(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6, 0xe964b13d, 0xd725148b, 0xaba65fe7,
          0x52a0c93f),
    TABLE(0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91, 0x8f2261d3, 0x1ba8b557, 0x37516aae,
          0x6ea2d55c),
    TABLE(0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f, 0xc00c303e, 0x85f4168d, 0x0e045beb,
          0x1c08b7d6),
    TABLE(0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53, 0x9c5bfaa6, 0x3d5b83bd, 0x7ab7077a,
          0xf56e0ef4),
    TABLE(0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da, 0x847609b4, 0x0d006599, 0x1a00cb32,
          0x34019664),
#endif
};

uint32_t pt_crc32c(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    const uint32_t(*t)[256] = crc32c_table;
    crc = ~crc;
#if __STDC_HOSTED__
    for (; n >= 8; n -= 8, p += 8) {
        crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        crc = t[7][crc & 255] ^ t[6][crc >> 8 & 255] ^ t[5][crc >> 16 & 255] ^ t[4][crc >> 24] ^
              t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
    }
#endif
    for (; n; n--, p++) crc = crc >> 8 ^ t[0][(crc ^ *p) & 255];
    return ~crc;
}
