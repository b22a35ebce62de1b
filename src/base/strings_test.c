/* SPDX-License-Identifier: MIT */
#include "base/strings.h"
#include "base/test.h"

TEST(strbuf_appends)
{
    pt_strbuf buf = {0};
    pt_strbuf_puts(&buf, "");
    CHECK_STR(buf.data, "");
    pt_strbuf_puts(&buf, "ab");
    pt_strbuf_putc(&buf, 'c');
    pt_strbuf_append(&buf, "d\0e", 3);
    pt_strbuf_append(&buf, NULL, 0);
    CHECK_INT(buf.len, 6);
    CHECK(memcmp(buf.data, "abcd\0e", 7) == 0);
    pt_strbuf_clear(&buf);
    CHECK_INT(buf.len, 0);
    CHECK_STR(buf.data, "");
    for (int i = 0; i < 10000; i++) pt_strbuf_printf(&buf, "%d,", i % 10);
    CHECK_INT(buf.len, 20000);
    CHECK(!buf.failed && memcmp(buf.data + 19990, "5,6,7,8,9,", 11) == 0);
    pt_strbuf_deinit(&buf);
    CHECK(!buf.data && !buf.len && !buf.cap);
    pt_strbuf_deinit(NULL);
    pt_strbuf_clear(&buf);
}

TEST(strbuf_printf_at_every_fill)
{
    for (int fill = 0; fill < 140; fill++) {
        pt_strbuf buf = {0};
        for (int i = 0; i < fill; i++) pt_strbuf_putc(&buf, 'x');
        pt_strbuf_printf(&buf, "%s", "0123456789");
        CHECK_INT(buf.len, fill + 10);
        CHECK_STR(buf.data + fill, "0123456789");
        CHECK(buf.len < buf.cap);
        pt_strbuf_deinit(&buf);
    }
}

TEST(strbuf_failure_is_kept)
{
    pt_strbuf buf = {0};
    pt_strbuf_puts(&buf, "kept");
    pt_alloc_fail_after(1);
    pt_strbuf_printf(&buf, "%0100d", 5);
    CHECK(buf.failed);
    CHECK_STR(buf.data, "kept");
    pt_strbuf_puts(&buf, "more");
    pt_strbuf_printf(&buf, "more");
    CHECK_STR(buf.data, "kept");
    pt_strbuf_clear(&buf);
    CHECK(buf.failed);
    pt_strbuf_deinit(&buf);
    CHECK(!buf.failed);
    pt_alloc_fail_after(1);
    pt_strbuf_putc(&buf, 'x');
    CHECK(buf.failed && !buf.data);
    pt_strbuf_deinit(&buf);
    pt_strbuf_append(&buf, "x", SIZE_MAX);
    CHECK(buf.failed);
    pt_strbuf_deinit(&buf);
}

TEST(prefix_and_suffix)
{
    CHECK(pt_str_starts("model.bin", "model"));
    CHECK(pt_str_starts("model", ""));
    CHECK(pt_str_starts("", ""));
    CHECK(!pt_str_starts("mod", "model"));
    CHECK(!pt_str_starts("Model", "model"));
    CHECK(pt_str_ends("model.bin", ".bin"));
    CHECK(pt_str_ends(".bin", ".bin"));
    CHECK(pt_str_ends("x", ""));
    CHECK(!pt_str_ends("bin", ".bin"));
    CHECK(!pt_str_ends("model.bin ", ".bin"));
}

TEST(distance)
{
    CHECK_INT(pt_str_distance("", ""), 0);
    CHECK_INT(pt_str_distance("", "abc"), 3);
    CHECK_INT(pt_str_distance("abc", ""), 3);
    CHECK_INT(pt_str_distance("seed", "seed"), 0);
    CHECK_INT(pt_str_distance("seed", "sed"), 1);
    CHECK_INT(pt_str_distance("sed", "seed"), 1);
    CHECK_INT(pt_str_distance("seed", "sead"), 1);
    CHECK_INT(pt_str_distance("seed", "esed"), 1);
    CHECK_INT(pt_str_distance("batch", "bathc"), 1);
    CHECK_INT(pt_str_distance("kitten", "sitting"), 3);
    CHECK_INT(pt_str_distance("abcd", "badc"), 2);
    CHECK_INT(pt_str_distance("ca", "abc"), 3); /* a swap is not edited again */
    CHECK_INT(pt_str_distance("--steps", "--batch"), 5);
    char a[100], b[100];
    memset(a, 'a', 99);
    memset(b, 'a', 99);
    a[99] = b[99] = 0;
    b[80] = 'x';
    CHECK_INT(pt_str_distance(a, b), 0); /* beyond byte 63 nothing counts */
    memset(b, 'b', 99);
    CHECK_INT(pt_str_distance(a, b), 63);
}

/* ---- UTF-8, against a decoder that works the other way: by code point ---- */

static size_t encode(uint32_t code, char *out)
{
    if (code < 0x80) return out[0] = (char)code, 1;
    if (code < 0x800)
        return out[0] = (char)(0xc0 | code >> 6), out[1] = (char)(0x80 | (code & 63)), 2;
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63));
    out[3] = (char)(0x80 | (code & 63));
    return 4;
}

TEST(utf8_every_code_point)
{
    for (uint32_t code = 0; code < 0x120000; code++) {
        char bytes[4];
        size_t n = encode(code, bytes);
        bool want = code < 0x110000 && !(code >= 0xd800 && code < 0xe000);
        CHECK(pt_utf8_valid(bytes, n) == want);
        if (!want) continue;
        CHECK_INT(pt_utf8_char(bytes, n), n);
        CHECK_INT(pt_utf8_complete(bytes, n), n);
        for (size_t k = 1; k < n; k++) {
            CHECK(!pt_utf8_valid(bytes, k));
            CHECK_INT(pt_utf8_char(bytes, k), -(int)k);
            CHECK_INT(pt_utf8_complete(bytes, k), 0);
        }
    }
}

TEST(utf8_malformed)
{
    static const struct {
        const char *bytes;
        int first; /* what pt_utf8_char says of the first piece */
    } cases[] = {
        {"\x80", -1},
        {"\xbf", -1},
        {"\xc0\x80", -1},
        {"\xc1\xbf", -1},
        {"\xe0\x80\x80", -1},
        {"\xe0\x9f\xbf", -1},
        {"\xed\xa0\x80", -1},
        {"\xed\xbf\xbf", -1},
        {"\xf0\x80\x80", -1},
        {"\xf0\x8f\xbf", -1},
        {"\xf4\x90\x80\x80", -1},
        {"\xf5\x80", -1},
        {"\xff", -1},
        {"\xfe", -1},
        {"\xc3(", -1},
        {"\xe2\x82(", -2},
        {"\xf0\x9f\x98(", -3},
        {"\xe2(\xa1", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = strlen(cases[i].bytes);
        CHECK(!pt_utf8_valid(cases[i].bytes, n));
        CHECK_INT(pt_utf8_char(cases[i].bytes, n), cases[i].first);
        CHECK_INT(pt_utf8_complete(cases[i].bytes, n), n);
    }
    CHECK(pt_utf8_valid("", 0));
    CHECK(pt_utf8_valid("a\0b", 3));
    static const char mixed[] = "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80 and plain text";
    CHECK(pt_utf8_valid(mixed, sizeof mixed - 1));
    for (int at = 0; at < 40; at++) { /* no position escapes the eight-byte steps */
        char text[40];
        memset(text, 'a', sizeof text);
        CHECK(pt_utf8_valid(text, sizeof text));
        text[at] = (char)0x80;
        CHECK(!pt_utf8_valid(text, sizeof text));
    }
}

TEST(utf8_complete_prefix)
{
    CHECK_INT(pt_utf8_complete("", 0), 0);
    CHECK_INT(pt_utf8_complete("abc", 3), 3);
    CHECK_INT(pt_utf8_complete("ab\xc3", 3), 2);
    CHECK_INT(pt_utf8_complete("ab\xc3\xbc", 4), 4);
    CHECK_INT(pt_utf8_complete("ab\xe2\x82", 4), 2);
    CHECK_INT(pt_utf8_complete("\xf0\x9f\x98", 3), 0);
    CHECK_INT(pt_utf8_complete("a\x80\x80\x80", 4), 4);
    CHECK_INT(pt_utf8_complete("\x80\x80\x80\x80", 4), 4);
    CHECK_INT(pt_utf8_complete("\xc3\xc3", 2),
              1); /* the first is malformed, the second may go on */
}

PT_TEST_MAIN
