/* Token shards: what is written is read, and every lie of a header is refused. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "io/bytes.h"
#include "io/shard.h"

static pt_error err;

static pt_shard like_bytes(void)
{
    return (pt_shard){
        .tokenizer = "bytes", .width = 1, .vocab = 256, .separator = {10, 10}, .n_separator = 2};
}

/* A shard of n tokens of `width` bytes that count up, as a file in memory. */
static void make(pt_shard_writer *w, pt_strbuf *out, int64_t n, bool last)
{
    uint8_t body[4000];
    for (int64_t i = 0; i < n; i++) {
        uint32_t id = (uint32_t)(i * 3 % w->shard.vocab);
        memcpy(body + i * w->shard.width, &id, (size_t)w->shard.width);
    }
    *out = (pt_strbuf){0};
    pt_sink sink = pt_sink_to_strbuf(out);
    CHECK_OK(pt_shard_writer_begin(w, &sink, &err), err);
    w->shard.documents += n > 0;
    CHECK_OK(pt_shard_writer_put(w, body, n / 2, &err), err);
    CHECK_OK(pt_shard_writer_put(w, body + n / 2 * w->shard.width, n - n / 2, &err), err);
    CHECK_OK(pt_shard_writer_end(w, last, &err), err);
}

static pt_status read_header(const pt_strbuf *file, pt_shard *out)
{
    memset(&err, 0, sizeof err);
    return pt_shard_read_header(out, (const uint8_t *)file->data, (int64_t)file->len,
                                (int64_t)file->len, &err);
}

TEST(the_layout)
{
    pt_shard_writer w;
    pt_shard like = like_bytes();
    pt_strbuf a, b;
    CHECK_OK(pt_shard_writer_init(&w, &like, &err), err);
    make(&w, &a, 5, false);
    make(&w, &b, 7, true);
    const uint8_t *h = (const uint8_t *)b.data;
    CHECK_INT(b.len, 128 + 7);
    CHECK(memcmp(h, "PTSHARD", 8) == 0);
    CHECK_INT(pt_load_u32(h + 8), 1);
    CHECK_INT(pt_load_u32(h + 12), 1);
    CHECK_INT(pt_load_u32(h + 16), 256);
    CHECK_INT(pt_load_u32(h + 20), 1);
    CHECK_INT(pt_load_u64(h + 24), 1);
    CHECK_INT(pt_load_u64(h + 32), 5);
    CHECK_INT(pt_load_u64(h + 40), 7);
    CHECK_INT(pt_load_u64(h + 48), 2);
    CHECK_INT(pt_load_u32(h + 56), 2);
    CHECK_INT(pt_load_u32(h + 60), 10);
    CHECK_STR((const char *)h + 76, "bytes");
    uint8_t stream[12] = {0, 3, 6, 9, 12, 0, 3, 6, 9, 12, 15, 18};
    char want[65], got[65];
    pt_sha256_hex(stream, 12, want);
    pt_hex(h + 88, 32, got);
    CHECK_STR(got, want);
    CHECK_INT(pt_load_u32(h + 120), pt_crc32c(0, stream + 5, 7));
    CHECK_INT(pt_load_u32(h + 124), pt_crc32c(0, h, 124));
    CHECK_INT(h[128 + 6], 18);
    pt_strbuf_deinit(&a);
    pt_strbuf_deinit(&b);
}

TEST(every_width_comes_back)
{
    static const int64_t vocab[] = {256, 50257, 65536, 100000, INT32_MAX};
    static const int width[] = {1, 2, 2, 4, 4};
    for (int i = 0; i < 5; i++) {
        pt_shard like = {.tokenizer = "twelve.bytes", .width = width[i], .vocab = vocab[i]}, got;
        pt_shard_writer w;
        pt_strbuf file;
        int32_t ids[300];
        CHECK_OK(pt_shard_writer_init(&w, &like, &err), err);
        make(&w, &file, 300, true);
        CHECK_OK(read_header(&file, &got), err);
        CHECK_STR(got.tokenizer, "twelve.bytes");
        CHECK_INT(got.width, width[i]);
        CHECK_INT(got.vocab, vocab[i]);
        CHECK_INT(got.n, 300);
        CHECK(got.last && got.n_separator == 0);
        CHECK_OK(pt_shard_decode(&got, (const uint8_t *)file.data + 128, 300, ids, &err), err);
        for (int t = 0; t < 300; t++) CHECK_INT(ids[t], t * 3 % vocab[i]);
        pt_strbuf_deinit(&file);
    }
}

TEST(a_token_beyond_the_vocabulary)
{
    uint8_t body[8] = {1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    int32_t ids[2];
    memset(&err, 0, sizeof err);
    pt_shard shard = {.width = 4, .vocab = 1000, .index = 7};
    CHECK_INT(pt_shard_decode(&shard, body, 1, ids, &err), PT_OK);
    CHECK_INT(pt_shard_decode(&shard, body, 2, ids, &err), PT_CORRUPT);
    CHECK(strstr(err.message, "shard 7") && strstr(err.message, "4294967295"));
}

/* ---- headers that lie ---- */

static pt_strbuf one(void)
{
    pt_shard_writer w;
    pt_shard like = like_bytes();
    pt_strbuf file;
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_shard_writer_init(&w, &like, &err), err);
    make(&w, &file, 100, true);
    return file;
}

static void refuse(const pt_strbuf *file, pt_status status, const char *words)
{
    pt_shard got;
    CHECK_INT(read_header(file, &got), status);
    if (!strstr(err.message, words)) printf("%s\n", err.message);
    CHECK(strstr(err.message, words));
}

TEST(every_flipped_bit_of_a_header_is_seen)
{
    pt_strbuf file = one();
    pt_shard got;
    for (int bit = 0; bit < 128 * 8; bit++) {
        file.data[bit / 8] = (char)(file.data[bit / 8] ^ 1 << bit % 8);
        pt_status s = read_header(&file, &got);
        CHECK(s == PT_CORRUPT || (s == PT_UNSUPPORTED && bit / 8 >= 8 && bit / 8 < 12));
        file.data[bit / 8] = (char)(file.data[bit / 8] ^ 1 << bit % 8);
    }
    CHECK_OK(read_header(&file, &got), err);
    pt_strbuf_deinit(&file);
}

TEST(every_length_is_checked)
{
    pt_strbuf file = one();
    size_t whole = file.len;
    pt_shard got;
    for (file.len = 0; file.len < whole; file.len++)
        CHECK_INT(read_header(&file, &got), PT_CORRUPT);
    pt_strbuf_putc(&file, 'x');
    refuse(&file, PT_CORRUPT, "229 bytes");
    pt_strbuf_deinit(&file);
}

/* A field set to a value, with a right checksum. */
static void refuse_field(int offset, int bytes, uint64_t value, const char *words)
{
    pt_strbuf file = one();
    memcpy(file.data + offset, &value, (size_t)bytes);
    pt_store_u32((uint8_t *)file.data + 124, pt_crc32c(0, file.data, 124));
    refuse(&file, offset == 8 ? PT_UNSUPPORTED : PT_CORRUPT, words);
    pt_strbuf_deinit(&file);
}

TEST(impossible_fields)
{
    refuse_field(8, 4, 2, "version 2");
    refuse_field(8, 4, 0, "version 0");
    refuse_field(12, 4, 3, "bytes of a token");
    refuse_field(12, 4, 0, "bytes of a token");
    refuse_field(12, 4, 2, "by its header there are 328");
    refuse_field(16, 4, 0, "vocabulary");
    refuse_field(16, 4, 257, "vocabulary");
    refuse_field(16, 4, UINT32_MAX, "vocabulary");
    refuse_field(20, 4, 2, "last");
    refuse_field(24, 8, UINT64_MAX, "index");
    refuse_field(32, 8, UINT64_MAX, "number of tokens");
    refuse_field(40, 8, (uint64_t)1 << 63, "number of tokens");
    refuse_field(40, 8, (uint64_t)1 << 56, "by its header");
    refuse_field(48, 8, UINT64_MAX, "documents");
    refuse_field(56, 4, 5, "separator");
    refuse_field(60, 4, 256, "separator");
    refuse_field(68, 4, 1, "separator");
    refuse_field(76, 1, 0, "tokenizer");
    refuse_field(87, 1, 'x', "tokenizer");
    refuse_field(77, 1, '\n', "tokenizer");
}

TEST(the_order_of_a_stream)
{
    pt_shard a = like_bytes(), b;
    memset(&err, 0, sizeof err);
    a.n = 100;
    a.documents = 2;
    b = a;
    b.index = 1;
    b.first = 100;
    CHECK_INT(pt_shard_check_order(NULL, &a, NULL), PT_OK);
    CHECK_INT(pt_shard_check_order(&a, &b, NULL), PT_OK);
    CHECK_INT(pt_shard_check_order(NULL, &b, NULL), PT_CORRUPT);
    CHECK_INT(pt_shard_check_order(&b, &a, NULL), PT_CORRUPT);
    CHECK_INT(pt_shard_check_order(&b, NULL, &err), PT_CORRUPT);
    CHECK(strstr(err.message, "shard 2 is missing"));
    b.last = true;
    CHECK_INT(pt_shard_check_order(&b, NULL, NULL), PT_OK);
    CHECK_INT(pt_shard_check_order(NULL, NULL, NULL), PT_CORRUPT);
    a.last = true;
    CHECK_INT(pt_shard_check_order(&a, &b, NULL), PT_CORRUPT);
    a.last = false;
    b.separator[1] = 32;
    CHECK_INT(pt_shard_check_order(&a, &b, NULL), PT_CORRUPT);
    b.separator[1] = 10;
    b.first = 99;
    CHECK_INT(pt_shard_check_order(&a, &b, NULL), PT_CORRUPT);
    b.first = 100;
    b.documents = 1;
    CHECK_INT(pt_shard_check_order(&a, &b, NULL), PT_CORRUPT);
}

TEST(what_the_writer_refuses)
{
    pt_shard_writer w;
    pt_shard bad[7];
    for (int i = 0; i < 7; i++) bad[i] = like_bytes();
    bad[0].width = 3;
    bad[1].vocab = 257;
    bad[2].vocab = 0;
    bad[3].tokenizer[0] = 0;
    bad[4].n_separator = 5;
    bad[5].separator[0] = 256;
    bad[6].separator[0] = -1;
    for (int i = 0; i < 7; i++) CHECK_INT(pt_shard_writer_init(&w, &bad[i], NULL), PT_BAD_INPUT);
}

TEST(a_shard_that_never_ended_is_none)
{
    pt_shard_writer w;
    pt_shard like = like_bytes(), got;
    pt_strbuf file = {0};
    pt_sink sink = pt_sink_to_strbuf(&file);
    CHECK_OK(pt_shard_writer_init(&w, &like, &err), err);
    CHECK_OK(pt_shard_writer_begin(&w, &sink, &err), err);
    CHECK_OK(pt_shard_writer_put(&w, (const uint8_t *)"abc", 3, &err), err);
    CHECK_INT(read_header(&file, &got), PT_CORRUPT);
    pt_strbuf_deinit(&file);
}

PT_TEST_MAIN
