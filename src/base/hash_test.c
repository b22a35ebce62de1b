/* SPDX-License-Identifier: MIT */
#include "base/hash.h"
#include "base/test.h"

static const char *hex_of(const void *bytes, size_t n)
{
    static char out[65];
    pt_sha256_hex(bytes, n, out);
    return out;
}

TEST(sha256_published_vectors) /* FIPS 180-4 examples and NIST CAVS */
{
    CHECK_STR(hex_of("", 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_STR(hex_of(NULL, 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_STR(hex_of("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    CHECK_STR(hex_of(two, 56), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    const char *long_two = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                           "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
    CHECK_STR(hex_of(long_two, 112),
              "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

TEST(sha256_million_a)
{
    char chunk[1000];
    memset(chunk, 'a', sizeof chunk);
    pt_sha256 h;
    pt_sha256_init(&h);
    for (int i = 0; i < 1000; i++) pt_sha256_update(&h, chunk, sizeof chunk);
    uint8_t digest[32];
    char out[65];
    pt_sha256_final(&h, digest);
    pt_hex(digest, sizeof digest, out);
    CHECK_STR(out, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(hex_there_and_back)
{
    uint8_t bytes[256], back[256];
    char text[513];
    for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
    pt_hex(bytes, sizeof bytes, text);
    CHECK(pt_unhex(text, back, sizeof back) && memcmp(bytes, back, sizeof bytes) == 0);
    CHECK(pt_unhex("aBCdE9rest", back, 3) && memcmp(back, "\xab\xcd\xe9", 3) == 0);
    CHECK(pt_unhex("", back, 0));
    static const char *const bad[] = {"",   "a",  "g0", "0g", " 1", "0x",
                                      "-1", "/0", ":0", "@a", "`a"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(!pt_unhex(bad[i], back, 1));
    CHECK(!pt_unhex("0011", back, 3)); /* stops at the end of the text */
    uint32_t number = 7;
    CHECK(pt_unhex_u32("00c0ffEE", &number) && number == 0xc0ffee);
    CHECK(!pt_unhex_u32("0123456", &number) && number == 0xc0ffee);
}

TEST(sha256_split_anywhere)
{
    uint8_t data[200], digest[32];
    for (int i = 0; i < 200; i++) data[i] = (uint8_t)(i * 7 + 3);
    for (size_t n = 0; n <= 200; n++) {
        char want[65], got[65];
        pt_sha256_hex(data, n, want);
        for (size_t cut = 0; cut <= n; cut++) {
            pt_sha256 h;
            pt_sha256_init(&h);
            pt_sha256_update(&h, data, cut);
            pt_sha256_update(&h, NULL, 0);
            pt_sha256_update(&h, data + cut, n - cut);
            pt_sha256_final(&h, digest);
            pt_hex(digest, 32, got);
            CHECK_STR(got, want);
        }
    }
}

/* The digests of 0 … 199 zero bytes, chained: a length whose padding is wrong cannot hide. The
 * value comes from Python's hashlib. */
TEST(sha256_every_padding)
{
    static const uint8_t zeros[200];
    pt_sha256 chain;
    uint8_t digest[32];
    char out[65];
    pt_sha256_init(&chain);
    for (size_t n = 0; n < 200; n++) {
        pt_sha256 h;
        pt_sha256_init(&h);
        pt_sha256_update(&h, zeros, n);
        pt_sha256_final(&h, digest);
        pt_sha256_update(&chain, digest, 32);
    }
    pt_sha256_final(&chain, digest);
    pt_hex(digest, 32, out);
    CHECK_STR(out, "59e350876ff46da193f0d152dd874fa876d2020a80910c6b83b1537e21104a9f");
}

TEST(hex)
{
    char out[9];
    const uint8_t bytes[] = {0x00, 0x0f, 0xa0, 0xff};
    pt_hex(bytes, 4, out);
    CHECK_STR(out, "000fa0ff");
    pt_hex(bytes, 0, out);
    CHECK_STR(out, "");
}

static uint32_t crc_by_bits(uint32_t crc, const uint8_t *p, size_t n)
{
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int b = 0; b < 8; b++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

TEST(crc32c_published_vectors) /* RFC 3720, appendix B.4 */
{
    uint8_t data[32];
    CHECK_INT(pt_crc32c(0, "123456789", 9), 0xe3069283u);
    CHECK_INT(pt_crc32c(0, NULL, 0), 0);
    memset(data, 0, 32);
    CHECK_INT(pt_crc32c(0, data, 32), 0x8a9136aau);
    memset(data, 0xff, 32);
    CHECK_INT(pt_crc32c(0, data, 32), 0x62a8ab43u);
    for (int i = 0; i < 32; i++) data[i] = (uint8_t)i;
    CHECK_INT(pt_crc32c(0, data, 32), 0x46dd794eu);
    for (int i = 0; i < 32; i++) data[i] = (uint8_t)(31 - i);
    CHECK_INT(pt_crc32c(0, data, 32), 0x113fdb5cu);
    static const uint8_t iscsi_read[48] = {0x01, 0xc0, 0, 0,    0,    0, 0, 0,    0,    0, 0,    0,
                                           0,    0,    0, 0,    0x14, 0, 0, 0,    0,    0, 0x04, 0,
                                           0,    0,    0, 0x14, 0,    0, 0, 0x18, 0x28, 0, 0,    0,
                                           0,    0,    0, 0,    0x02, 0, 0, 0,    0,    0, 0,    0};
    CHECK_INT(pt_crc32c(0, iscsi_read, 48), 0xd9963a56u);
}

TEST(crc32c_every_length_offset_and_split)
{
    uint8_t data[96];
    uint32_t x = 12345;
    for (int i = 0; i < 96; i++) data[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
    for (size_t start = 0; start < 9; start++) {
        for (size_t n = 0; start + n <= 96; n++) {
            uint32_t want = crc_by_bits(0, data + start, n);
            CHECK_INT(pt_crc32c(0, data + start, n), want);
            size_t cut = n * start / 9;
            uint32_t part = pt_crc32c(0, data + start, cut);
            CHECK_INT(pt_crc32c(part, data + start + cut, n - cut), want);
        }
    }
}

TEST(crc32c_every_byte_value_in_every_lane)
{
    for (int lane = 0; lane < 8; lane++) {
        for (int value = 0; value < 256; value++) {
            uint8_t data[16] = {0};
            data[lane] = (uint8_t)value;
            CHECK_INT(pt_crc32c(7, data, 16), crc_by_bits(7, data, 16));
        }
    }
}

PT_TEST_MAIN
