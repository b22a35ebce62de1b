/* Token streams: windows of every length around a piece, and errors passed on. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "text/tokens.h"

static uint8_t text[5000];

TEST(windows_of_every_length)
{
    static int32_t ids[4000], targets[4000];
    for (int i = 0; i < 5000; i++) text[i] = (uint8_t)(i * 7 % 256);
    pt_tokens tokens = pt_tokens_of_bytes(text, sizeof text);
    static const int64_t lengths[] = {1, 2, 1023, 1024, 1025, 2047, 2048, 2049, 3999};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int64_t T = lengths[i], start = 5000 - T - 1;
        CHECK_INT(pt_tokens_window(&tokens, start, T, ids, targets, NULL), PT_OK);
        for (int64_t t = 0; t < T; t++) {
            CHECK_INT(ids[t], text[start + t]);
            CHECK_INT(targets[t], text[start + t + 1]);
        }
    }
}

static pt_status fail_behind(const void *ctx, int64_t first, int64_t n, int32_t *ids, pt_error *err)
{
    memset(ids, 0, (size_t)n * sizeof *ids);
    return first + n <= *(const int64_t *)ctx ? PT_OK : pt_fail(err, PT_IO, "behind");
}

TEST(an_error_is_passed_on)
{
    int64_t good = 1500;
    static int32_t ids[2000], targets[2000];
    pt_tokens tokens = {.n = 3000, .read = fail_behind, .ctx = &good};
    pt_error err = {0};
    CHECK_INT(pt_tokens_window(&tokens, 0, 1499, ids, targets, &err), PT_OK);
    CHECK_INT(pt_tokens_window(&tokens, 0, 1500, ids, targets, &err), PT_IO);
    CHECK_STR(err.message, "behind");
}

PT_TEST_MAIN
