/* Bytes to whole characters: nothing lost, nothing split, nothing held longer than needed.
 * SPDX-License-Identifier: MIT */
#include "base/strings.h"
#include "base/test.h"
#include "text/utf8_stream.h"

/* What a stream gave out: all bytes, and where each piece ended. */
typedef struct given {
    char bytes[64];
    size_t n;
    char pieces[128]; /* the pieces, each ended by a '|' */
} given;

static void take(given *g, const char *piece, size_t n)
{
    size_t at = strlen(g->pieces);
    CHECK(n <= 8);
    memcpy(g->bytes + g->n, piece, n);
    g->n += n;
    memcpy(g->pieces + at, piece, n);
    memcpy(g->pieces + at + n, "|", 2);
}

static given run(const char *bytes, size_t n)
{
    given g = {0};
    pt_utf8_stream stream = {0};
    char out[8];
    for (size_t i = 0; i < n; i++) {
        size_t got = pt_utf8_stream_push(&stream, bytes[i], out);
        if (got) take(&g, out, got);
        CHECK(stream.n <= 3);
        CHECK_INT(g.n + stream.n, i + 1); /* given out or held */
        CHECK_INT(pt_utf8_complete(bytes, i + 1), g.n);
    }
    size_t rest = pt_utf8_stream_flush(&stream, out);
    if (rest) take(&g, out, rest);
    CHECK_INT(stream.n, 0);
    CHECK_INT(pt_utf8_stream_flush(&stream, out), 0);
    CHECK_INT(g.n, n);
    CHECK(memcmp(g.bytes, bytes, n) == 0);
    return g;
}

static void check_pieces(const char *bytes, const char *want)
{
    given g = run(bytes, strlen(bytes));
    CHECK_STR(g.pieces, want);
}

TEST(characters_come_whole)
{
    check_pieces("", "");
    check_pieces("ab", "a|b|");
    check_pieces("a\xc3\xa9z", "a|\xc3\xa9|z|");
    check_pieces("\xe2\x82\xac", "\xe2\x82\xac|");
    check_pieces("\xf0\x9f\x98\x80!", "\xf0\x9f\x98\x80|!|");
    check_pieces("\xf0\x9f\x98\x80\xe2\x82\xac\xc3\xa9", "\xf0\x9f\x98\x80|\xe2\x82\xac|\xc3\xa9|");
    char zero[3] = {'a', 0, 'b'};
    CHECK_INT(run(zero, 3).n, 3);
}

TEST(a_torn_end_is_flushed_as_it_is)
{
    check_pieces("x\xc3", "x|\xc3|");
    check_pieces("\xe2\x82", "\xe2\x82|");
    check_pieces("\xf0\x9f\x98", "\xf0\x9f\x98|");
    pt_utf8_stream stream = {0};
    char out[8];
    CHECK_INT(pt_utf8_stream_push(&stream, '\xe2', out), 0);
    CHECK_INT(pt_utf8_stream_flush(&stream, out), 1);
    CHECK_INT(pt_utf8_stream_push(&stream, 'a', out), 1); /* and the stream goes on afresh */
    CHECK(out[0] == 'a');
}

TEST(malformed_bytes_are_not_held_back)
{
    check_pieces("\x80\xbf", "\x80|\xbf|"); /* continuations of nothing */
    check_pieces("\xff\xfe\xf5\xc0\xc1", "\xff|\xfe|\xf5|\xc0|\xc1|"); /* never lead bytes */
    check_pieces("\xc3(", "\xc3(|"); /* broken off by a character */
    check_pieces("\xe2\x82(", "\xe2\x82(|");
    check_pieces("\xe0\x80", "\xe0\x80|"); /* overlong */
    check_pieces("\xf0\x8f", "\xf0\x8f|");
    check_pieces("\xed\xa0", "\xed\xa0|");          /* a surrogate */
    check_pieces("\xf4\x90", "\xf4\x90|");          /* above U+10FFFF */
    check_pieces("\xc3\xc3\xa9", "\xc3|\xc3\xa9|"); /* the second lead begins anew */
    check_pieces("\xf0\x9f\xe2\x82\xac", "\xf0\x9f|\xe2\x82\xac|");
}

/* All 4-byte strings over bytes of every class: run() checks that none is lost or late. */
TEST(every_mix_of_classes)
{
    static const char classes[] = "a\x80\x8f\x9f\xa0\xbf\xc1\xc3\xe0\xe2\xed\xf0\xf1\xf4\xf5";
    enum { N = sizeof classes - 1 };
    char bytes[4];
    for (int i = 0; i < N * N * N * N; i++) {
        for (int k = 0, rest = i; k < 4; k++, rest /= N) bytes[k] = classes[rest % N];
        run(bytes, 4);
    }
}

PT_TEST_MAIN
