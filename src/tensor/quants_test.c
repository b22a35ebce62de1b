/* Quantised blocks against values worked out by hand, and against the formats' definition written the other way round: there
 * the quants and scales are chosen and put into bytes. What PyPI's gguf makes of random blocks: src/io/gguf_test.c.
 * SPDX-License-Identifier: MIT */
#include "tensor/quants.h"

#include "base/rng.h"
#include "base/test.h"

enum { MOST = 256 };

/* A block by its numbers. */
typedef struct chosen {
    int q[MOST];       /* as stored, from 0; q8_0: signed */
    int sc[16], mn[8]; /* of groups */
    uint16_t d, m;     /* halves */
    float want[MOST];
} chosen;

static void put_half(uint8_t *to, uint16_t h)
{
    to[0] = (uint8_t)h;
    to[1] = (uint8_t)(h >> 8);
}

/* The next number of a stream, below n. */
static int draw(uint64_t *counter, int n)
{
    return (int)(pt_rng_uniform(7, 0, 0, (*counter)++) * n);
}

/* 32 elements of 4 or 5 bits behind their header, which the caller fills in. */
static void put_32(const chosen *c, uint8_t *high, uint8_t *qs)
{
    for (int j = 0; j < 32; j++) {
        qs[j % 16] = (uint8_t)(qs[j % 16] | (c->q[j] & 15) << (j / 16 * 4));
        if (high && c->q[j] >> 4) high[j / 8] = (uint8_t)(high[j / 8] | 1 << j % 8);
    }
}

/* Eight pairs of 6 bits in 12 bytes, bit by bit. */
static void put_scales(const chosen *c, uint8_t *to)
{
    for (int g = 0; g < 8; g++)
        for (int bit = 0; bit < 6; bit++) {
            int sc = c->sc[g] >> bit & 1, mn = c->mn[g] >> bit & 1;
            if (g < 4) {
                to[g] = (uint8_t)(to[g] | sc << bit);
                to[4 + g] = (uint8_t)(to[4 + g] | mn << bit);
            } else if (bit < 4) {
                to[4 + g] = (uint8_t)(to[4 + g] | sc << bit | mn << (4 + bit));
            } else {
                to[g - 4] = (uint8_t)(to[g - 4] | sc << (bit + 2));
                to[g] = (uint8_t)(to[g] | mn << (bit + 2));
            }
        }
}

static void put_grouped(const chosen *c, uint8_t *high, uint8_t *qs)
{
    for (int i = 0; i < 256; i++) {
        int at = i / 64 * 32 + i % 32, group = i / 32;
        qs[at] = (uint8_t)(qs[at] | (c->q[i] & 15) << (i / 32 % 2 * 4));
        if (high) high[i % 32] = (uint8_t)(high[i % 32] | (c->q[i] >> 4) << group);
    }
}

/* ql, then qh. Four elements share a byte of qh. */
static void put_q6(const chosen *c, uint8_t *b)
{
    for (int half = 0; half < 2; half++)
        for (int l = 0; l < 32; l++) {
            const int *q = c->q + half * 128 + l;
            b[half * 64 + l] = (uint8_t)((q[0] & 15) | (q[64] & 15) << 4);
            b[half * 64 + 32 + l] = (uint8_t)((q[32] & 15) | (q[96] & 15) << 4);
            b[128 + half * 32 + l] =
                (uint8_t)(q[0] >> 4 | q[32] >> 4 << 2 | q[64] >> 4 << 4 | q[96] >> 4 << 6);
        }
    for (int i = 0; i < 16; i++) b[192 + i] = (uint8_t)c->sc[i];
    put_half(b + 208, c->d);
}

static void put_block(pt_dtype dtype, const chosen *c, uint8_t *b)
{
    memset(b, 0, MOST);
    put_half(b, c->d);
    if (dtype != PT_Q6_K && dtype != PT_Q4_0 && dtype != PT_Q5_0 && dtype != PT_Q8_0)
        put_half(b + 2, c->m);
    if (dtype == PT_Q4_K || dtype == PT_Q5_K) put_scales(c, b + 4);
    switch (dtype) {
    case PT_Q4_0: put_32(c, NULL, b + 2); break;
    case PT_Q4_1: put_32(c, NULL, b + 4); break;
    case PT_Q5_0: put_32(c, b + 2, b + 6); break;
    case PT_Q5_1: put_32(c, b + 4, b + 8); break;
    case PT_Q4_K: put_grouped(c, NULL, b + 16); break;
    case PT_Q5_K: put_grouped(c, b + 16, b + 48); break;
    case PT_Q6_K: put_q6(c, b); break;
    default:
        for (int i = 0; i < 32; i++) b[2 + i] = (uint8_t)c->q[i];
    }
}

static float value(pt_dtype dtype, const chosen *c, int i)
{
    float d = pt_float_from_half(c->d), m = pt_float_from_half(c->m), q = (float)c->q[i];
    switch (dtype) {
    case PT_Q4_0: return (q - 8) * d;
    case PT_Q4_1:
    case PT_Q5_1: return q * d + m;
    case PT_Q5_0: return (q - 16) * d;
    case PT_Q8_0: return q * d;
    case PT_Q6_K: return d * (float)c->sc[i / 16] * (q - 32);
    default: return d * (float)c->sc[i / 32] * q - m * (float)c->mn[i / 32];
    }
}

static void choose(pt_dtype dtype, int levels, uint64_t *rng, chosen *c)
{
    c->d = pt_half_from_float((float)(draw(rng, 2000) - 1000) / 4096);
    c->m = pt_half_from_float((float)(draw(rng, 2000) - 1000) / 512);
    for (int i = 0; i < 16; i++) c->sc[i] = dtype == PT_Q6_K ? draw(rng, 256) - 128 : draw(rng, 64);
    for (int i = 0; i < 8; i++) c->mn[i] = draw(rng, 64);
    for (int i = 0; i < MOST; i++) c->q[i] = draw(rng, levels) - (dtype == PT_Q8_0 ? 128 : 0);
    for (int i = 0; i < MOST; i++) c->want[i] = value(dtype, c, i);
}

TEST(blocks_hold_what_was_put_into_them)
{
    static const struct {
        pt_dtype dtype;
        int levels;
    } types[] = {{PT_Q4_0, 16},  {PT_Q4_1, 16}, {PT_Q5_0, 32}, {PT_Q5_1, 32},
                 {PT_Q8_0, 256}, {PT_Q4_K, 16}, {PT_Q5_K, 32}, {PT_Q6_K, 64}};
    uint64_t rng = 0;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        pt_dtype dtype = types[t].dtype;
        int block = pt_dtype_block(dtype);
        for (int round = 0; round < 50; round++) {
            chosen c[3];
            uint8_t whole[MOST], bytes[3 * MOST + 1];
            float got[3 * MOST + 1];
            int64_t size = pt_dtype_bytes(dtype, block);
            for (int k = 0; k < 3; k++) {
                choose(dtype, types[t].levels, &rng, &c[k]);
                put_block(dtype, &c[k], whole);
                memcpy(bytes + 1 + k * size, whole, (size_t)size); /* at an odd address */
            }
            got[3 * block] = 99;
            CHECK(pt_dequantise(dtype, bytes + 1, 3 * block, got));
            CHECK(got[3 * block] == 99);
            for (int i = 0; i < 3 * block; i++)
                CHECK(pt_float_bits(got[i]) == pt_float_bits(c[i / block].want[i % block]));
        }
    }
}

/* d 0.5 (0x3800), m -1 (0xbc00), worked out by hand. */
TEST(by_hand)
{
    uint8_t b[256] = {0x00, 0x38, 0xf0};
    float y[256];
    CHECK(pt_dequantise(PT_Q4_0, b, 32, y));
    CHECK(y[0] == -4 && y[16] == 3.5f && y[1] == -4 && y[17] == -4);
    memcpy(b, (uint8_t[]){0x00, 0x38, 0x00, 0xbc, 0x21}, 5);
    CHECK(pt_dequantise(PT_Q4_1, b, 32, y));
    CHECK(y[0] == -0.5f && y[16] == 0 && y[1] == -1 && y[31] == -1);
    memcpy(b, (uint8_t[]){0x00, 0x38, 0x02, 0x00, 0x01, 0x00, 0x21}, 7);
    CHECK(pt_dequantise(PT_Q5_0, b, 32, y));
    CHECK(y[0] == -7.5f && y[1] == 0 && y[16] == 1 && y[17] == -8);
    memset(b, 0, sizeof b);
    memcpy(b, (uint8_t[]){0x00, 0x38, 0x80, 0x7f, 0xff}, 5);
    CHECK(pt_dequantise(PT_Q8_0, b, 32, y));
    CHECK(y[0] == -64 && y[1] == 63.5f && y[2] == -0.5f && y[3] == 0);
    /* q4_k: sc of group 0 is 3, its mn 2; group 5 has sc 16 + 2 and mn 48 + 1 */
    memset(b, 0, sizeof b);
    memcpy(b, (uint8_t[]){0x00, 0x38, 0x00, 0xbc, 3, 1 << 6, 0, 0, 2, 3 << 6, 0, 0, 0, 0x12}, 14);
    b[16] = 0x05;
    b[16 + 64 + 31] = 0x70;
    CHECK(pt_dequantise(PT_Q4_K, b, 256, y));
    CHECK(y[0] == 0.5f * 3 * 5 + 2 && y[1] == 2 && y[32] == 0);
    CHECK(y[5 * 32 + 31] == 9 * 7 + 49 && y[5 * 32] == 49 && y[4 * 32 + 31] == 0);
    /* q6_k: all -32, but element 255 is 63 - 32, with scales 1 and -2 */
    memset(b, 0, sizeof b);
    memset(b + 192, 1, 16);
    b[127] = 0xf0;
    b[191] = 0xc0;
    b[207] = 0xfe;
    b[209] = 0x38;
    CHECK(pt_dequantise(PT_Q6_K, b, 256, y));
    CHECK(y[0] == -16 && y[239] == -16 && y[240] == 32 && y[255] == -31);
}

TEST(numbers_without_blocks)
{
    static const uint8_t f32[] = {0xff, 0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc1};
    static const uint8_t f16[] = {0xff, 0x00, 0x3c, 0x01, 0x80},
                         bf16[] = {0xff, 0x80, 0x3f, 0x80, 0xff};
    float y[2];
    CHECK(pt_dequantise(PT_F32, f32 + 1, 2, y) && y[0] == 1 && y[1] == -10);
    CHECK(pt_dequantise(PT_F16, f16 + 1, 2, y) && y[0] == 1 && y[1] == -0x1p-24f);
    CHECK(pt_dequantise(PT_BF16, bf16 + 1, 2, y) && y[0] == 1 && y[1] == -(float)PT_INF);
    y[0] = 5;
    CHECK(pt_dequantise(PT_Q6_K, f32, 0, y) && y[0] == 5);
    static const pt_dtype others[] = {PT_F64,      PT_I32,       PT_U8,
                                      PT_ROWS_F16, PT_ROWS_INT8, PT_DTYPE_COUNT};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK(!pt_dequantise(others[i], f32, 1, y) && y[0] == 5);
}

PT_TEST_MAIN
