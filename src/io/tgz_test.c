/* .tgz: blocks of every kind, and every cut and flip of them. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "io/bytes.h"
#include "io/tgz.h"

static pt_error err;

/* Made with gzip 1.12: a fixed block whose copies overlap what they make. */
static const char fixed_hex[] = "1f8b0800000000000203cb48cdc9c957c84027b9000088590b18000000";
/* And a block with codes of its own: the lines of text(). */
static const char dynamic_hex[] =
    "1f8b08000000000002038d944b0ac3300c44f73d858e6049b6631fa7508706d2061a437afc52b497"
    "66ffb0e687f7ed3d28d1b1d29de6f84ebab6f9a4f3780dba8ecfe3a474dbff083b081b220e920d51"
    "07e98664ef5035a6384c33a43a8818b278978a31cd63d4980e309c8063ccb16896d83b2b9021e7b8"
    "0b2e71a55ce365f0020cac01eff4588fa4d89730109000498bc68d4906aa97028c482a0221b39606"
    "e8eeb17f4d4090ca71238a7c1e1a2f4473bc342dc03b15d0b300be1a12909ff40fa7bde1b5a30500"
    "00";

static pt_strbuf from_hex(const char *hex)
{
    static const char digits[] = "0123456789abcdef";
    pt_strbuf out = {0};
    for (; *hex; hex += 2)
        pt_strbuf_putc(&out, (char)((strchr(digits, hex[0]) - digits) * 16 +
                                    (strchr(digits, hex[1]) - digits)));
    return out;
}

static const char *text(void)
{
    static char lines[2000];
    size_t n = 0;
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(lines + n, sizeof lines - n, "line %d of a text with some words %d\n",
                              i, i * i % 17);
    return lines;
}

static pt_status unzip(const pt_strbuf *file, int64_t max, pt_strbuf *out)
{
    memset(&err, 0, sizeof err);
    *out = (pt_strbuf){0};
    return pt_gunzip((const uint8_t *)file->data, (int64_t)file->len, max, out, &err);
}

static void check_text(pt_strbuf *file, const char *want)
{
    pt_strbuf out;
    CHECK_OK(unzip(file, 5000, &out), err);
    CHECK_STR(out.data, want);
    pt_strbuf_deinit(&out);
    CHECK_INT(unzip(file, (int64_t)strlen(want) - 1, &out), PT_BAD_INPUT);
    pt_strbuf_deinit(&out);
}

/* A header with all that may be in one, and two blocks stored as they are. */
static pt_strbuf stored(void)
{
    static const uint8_t head[] = {
        0x1f, 0x8b, 8, 2 + 4 + 8 + 16, 0, 0, 0, 0, 0, 3, 3, 0, 1, 2, 3, 'n', 0, 'c', 0, 9, 9};
    static const uint8_t blocks[] = {0, 3, 0, 0xfc, 0xff, 'a', 'b', 'c', 1, 0, 0, 0xff, 0xff};
    static const uint8_t tail[] = {0xc2, 0x41, 0x24, 0x35, 3, 0, 0, 0}; /* CRC-32 of "abc" */
    pt_strbuf out = {0};
    pt_strbuf_append(&out, (const char *)head, sizeof head);
    pt_strbuf_append(&out, (const char *)blocks, sizeof blocks);
    pt_strbuf_append(&out, (const char *)tail, sizeof tail);
    return out;
}

TEST(blocks_of_every_kind)
{
    pt_strbuf a = from_hex(fixed_hex), b = from_hex(dynamic_hex), c = stored();
    check_text(&a, "hello hello hello hello\n");
    check_text(&b, text());
    check_text(&c, "abc");
    pt_strbuf_puts(&c, "what follows");
    check_text(&c, "abc");
    pt_strbuf_deinit(&a);
    pt_strbuf_deinit(&b);
    pt_strbuf_deinit(&c);
}

/* Behind the header, whose fields may say anything, no bit may change unseen. */
static void damage(pt_strbuf file, size_t body)
{
    pt_strbuf out;
    size_t whole = file.len;
    for (file.len = 0; file.len < whole; file.len++) {
        CHECK_INT(unzip(&file, 5000, &out), PT_CORRUPT);
        pt_strbuf_deinit(&out);
    }
    for (size_t bit = 8 * body; bit < 8 * whole; bit++) {
        file.data[bit / 8] = (char)(file.data[bit / 8] ^ 1 << bit % 8);
        pt_status s = unzip(&file, 5000, &out);
        /* Bits that nobody reads: behind the last block, and before the lengths of a stored one. */
        bool same = s == PT_OK && (strcmp(out.data, text()) == 0 || strcmp(out.data, "abc") == 0 ||
                                   strcmp(out.data, "hello hello hello hello\n") == 0);
        CHECK(s == PT_CORRUPT || s == PT_BAD_INPUT || same);
        pt_strbuf_deinit(&out);
        file.data[bit / 8] = (char)(file.data[bit / 8] ^ 1 << bit % 8);
    }
    pt_strbuf_deinit(&file);
}

TEST(damage_is_seen)
{
    damage(from_hex(fixed_hex), 10);
    damage(from_hex(dynamic_hex), 10);
    damage(stored(), 21);
}

TEST(no_gzip)
{
    static const char *const hex[] = {"", "1f8b", "504b0304000000000000000000000000000000000000",
                                      "1f8b08e0000000000203cb48cdc9c957c84027b9000088590b18000000"};
    for (size_t i = 0; i < sizeof hex / sizeof *hex; i++) {
        pt_strbuf file = from_hex(hex[i]), out;
        CHECK_INT(unzip(&file, 5000, &out), PT_CORRUPT);
        pt_strbuf_deinit(&file);
        pt_strbuf_deinit(&out);
    }
}

/* ---- tar ---- */

static void put_entry(char *tar, const char *name, char type, const char *size)
{
    memset(tar, 0, 512);
    memcpy(tar, name, strlen(name));
    memcpy(tar + 124, size, strlen(size));
    tar[156] = type;
}

TEST(a_file_in_a_tar)
{
    static char tar[512 * 6];
    const uint8_t *bytes = (const uint8_t *)tar, *data;
    int64_t size;
    put_entry(tar, "package", '5', "00000000000");
    put_entry(tar + 512, "package/long", '0', "00000001001"); /* octal: 513 */
    put_entry(tar + 4 * 512, "package/b", 0, "00000000003 ");
    memcpy(tar + 5 * 512, "abc", 3);
    CHECK_OK(pt_tar_find(bytes, sizeof tar, "package/b", &data, &size, &err), err);
    CHECK_INT(size, 3);
    CHECK(memcmp(data, "abc", 3) == 0);
    CHECK_OK(pt_tar_find(bytes, sizeof tar, "package/long", &data, &size, &err), err);
    CHECK(size == 513 && data == bytes + 1024);
    CHECK_INT(pt_tar_find(bytes, sizeof tar, "package", &data, &size, NULL), PT_NOT_FOUND);
    CHECK_INT(pt_tar_find(bytes, sizeof tar, "package/", &data, &size, NULL), PT_NOT_FOUND);
    CHECK_INT(pt_tar_find(bytes, 5 * 512 + 2, "package/b", &data, &size, NULL), PT_CORRUPT);
    CHECK_INT(pt_tar_find(bytes, 0, "package/b", &data, &size, NULL), PT_NOT_FOUND);
    put_entry(tar + 512, "package/long", '0', "77777777777");
    CHECK_INT(pt_tar_find(bytes, sizeof tar, "package/b", &data, &size, NULL), PT_CORRUPT);
    put_entry(tar + 512, "package/long", '0', "0000000000x");
    CHECK_INT(pt_tar_find(bytes, sizeof tar, "package/b", &data, &size, NULL), PT_CORRUPT);
}

PT_TEST_MAIN
