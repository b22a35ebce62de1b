/* TensorBoard's event files: golden records, and where a torn file ends whole.
 * SPDX-License-Identifier: MIT */
#include "io/tfevents.h"

#include "base/hash.h"
#include "base/test.h"

static const char *hex_of(const pt_strbuf *b)
{
    static char hex[2048];
    CHECK(!b->failed && 2 * b->len < sizeof hex);
    pt_hex((const uint8_t *)b->data, b->len, hex);
    return hex;
}

/* As in the definition of the format; the checksums were worked out independently of this program. */
TEST(golden_records)
{
    pt_strbuf out = {0};
    pt_tfevents_version(&out, 0.0);
    CHECK_STR(hex_of(&out), "1800000000000000a37f4b22"
                            "0900000000000000001a0d627261696e2e4576656e743a32"
                            "eedf28a3");
    pt_strbuf_clear(&out);
    pt_tfevents_scalars(&out, 1.0, 7, &(pt_tfevents_scalar){"loss", 0.5}, 1);
    CHECK_STR(hex_of(&out), "1a00000000000000129bd82d"
                            "09000000000000f03f10072a0d0a0b0a046c6f7373150000003f"
                            "862c9a2f");
    pt_strbuf_deinit(&out);
}

/* The message without head and tail. */
static const char *message_of(pt_strbuf *b)
{
    static char hex[2048];
    CHECK(!b->failed && b->len > 16);
    CHECK_INT(pt_tfevents_whole((const uint8_t *)b->data, (int64_t)b->len), b->len);
    pt_hex((const uint8_t *)b->data + 12, b->len - 16, hex);
    pt_strbuf_clear(b);
    return hex;
}

TEST(several_scalars_share_an_event)
{
    pt_strbuf out = {0};
    pt_tfevents_scalars(&out, 0, 300, (pt_tfevents_scalar[]){{"a", 1}, {"b", -2}}, 2);
    CHECK_STR(message_of(&out), "090000000000000000"   /* wall 0 */
                                "10ac02"               /* step 300 */
                                "2a14"                 /* summary, 20 bytes */
                                "0a080a0161150000803f" /* a = 1 */
                                "0a080a016215000000c0" /* b = -2 */);
    pt_strbuf_deinit(&out);
}

TEST(a_session_starts)
{
    pt_strbuf out = {0};
    pt_tfevents_start(&out, 0, 101);
    CHECK_STR(message_of(&out), "090000000000000000"
                                "1065"
                                "3a020801");
    pt_strbuf_deinit(&out);
}

TEST(a_sample_is_a_tensor_of_text)
{
    pt_strbuf out = {0};
    pt_tfevents_text(&out, 0, 1, "s", "a\n\x01\xff", 4);
    CHECK_STR(message_of(&out), "090000000000000000"
                                "1001"
                                "2a2a0a28"             /* summary, value */
                                "0a0173"               /* tag */
                                "4219"                 /* tensor */
                                "0807"                 /* DT_STRING */
                                "120412020801"         /* shape [1] */
                                "420f"                 /* the text */
                                "20202020610a20202020" /* ····a newline ···· */
                                "c2b7efbfbd"           /* a dot, U+FFFD */
                                "4a080a060a0474657874" /* plugin "text" */);
    pt_strbuf_deinit(&out);
}

/* Lengths of more than one byte in front of what is already written. */
TEST(a_long_text)
{
    static char text[70000];
    memset(text, 'x', sizeof text);
    pt_strbuf out = {0};
    pt_tfevents_text(&out, 5, 1, "sample", text, sizeof text);
    CHECK(!out.failed && out.len > sizeof text);
    CHECK_INT(pt_tfevents_whole((const uint8_t *)out.data, (int64_t)out.len), out.len);
    pt_strbuf_deinit(&out);
}

TEST(a_torn_tail_is_found_wherever_it_is_torn)
{
    pt_strbuf out = {0};
    pt_tfevents_version(&out, 1);
    int64_t first = (int64_t)out.len;
    pt_tfevents_scalars(&out, 2, 1, &(pt_tfevents_scalar){"loss", 5.5}, 1);
    int64_t second = (int64_t)out.len;
    uint8_t *bytes = (uint8_t *)out.data;
    for (int64_t n = 0; n <= second; n++)
        CHECK_INT(pt_tfevents_whole(bytes, n), n < first ? 0 : n < second ? first : second);
    for (int64_t i = first; i < second; i++) { /* one wrong byte anywhere in the last record */
        bytes[i] ^= 0x40;
        CHECK_INT(pt_tfevents_whole(bytes, second), first);
        bytes[i] ^= 0x40;
    }
    memset(bytes + first, 0xff, 8); /* a length beyond all files */
    CHECK_INT(pt_tfevents_whole(bytes, second), first);
    pt_strbuf_deinit(&out);
}

TEST(no_memory_is_remembered)
{
    for (int nth = 1; nth <= 2; nth++) {
        pt_strbuf out = {0};
        pt_alloc_fail_after(nth);
        pt_tfevents_text(&out, 0, 1, "sample", "0123456789012345678901234567890123456789", 40);
        pt_alloc_fail_after(0);
        CHECK(out.failed || nth > 1);
        pt_strbuf_deinit(&out);
    }
}

PT_TEST_MAIN
