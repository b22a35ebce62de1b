/* The byte tokenizer. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "text/bytes.h"

TEST(every_byte_is_its_own_token)
{
    uint8_t bytes[256];
    int32_t ids[257];
    for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)(255 - i);
    ids[256] = -7;
    pt_bytes_encode(bytes, 256, ids);
    for (int i = 0; i < 256; i++) {
        CHECK_INT(ids[i], 255 - i);
        CHECK_INT(pt_bytes_decode(ids[i]), bytes[i]);
    }
    CHECK_INT(ids[256], -7);
}

TEST(no_bytes_no_tokens)
{
    int32_t id = 42;
    pt_bytes_encode((const uint8_t *)"x", 0, &id);
    CHECK_INT(id, 42);
}

TEST(ids_beyond_the_bytes_have_none)
{
    static const int32_t beyond[] = {-1, 256, 257, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 5; i++) CHECK_INT(pt_bytes_decode(beyond[i]), -1);
    CHECK_INT(PT_BYTES_VOCAB, 256);
}

PT_TEST_MAIN
