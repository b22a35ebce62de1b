/* Fuzzing the reader of token shards: what has a header is decoded whole, and written again it is the same.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "io/bytes.h"
#include "io/shard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "fuzz_shard: %s\n", what);
    abort();
}

/* A first shard has a stream that is known: its body alone. */
static void write_again(const pt_shard *shard, const uint8_t *data, int64_t size)
{
    pt_shard_writer w;
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    require(pt_shard_writer_init(&w, shard, NULL) == PT_OK, "init");
    w.shard.documents = shard->documents;
    require(pt_shard_writer_begin(&w, &sink, NULL) == PT_OK, "begin");
    require(pt_shard_writer_put(&w, data + PT_SHARD_HEADER_BYTES, shard->n, NULL) == PT_OK, "put");
    require(pt_shard_writer_end(&w, shard->last, NULL) == PT_OK, "end");
    require((int64_t)out.len == size, "size");
    require(memcmp(out.data, data, 88) == 0, "header");
    require(memcmp(out.data + 128, data + 128, (size_t)size - 128) == 0, "body");
    pt_strbuf_deinit(&out);
}

static void read_body(const pt_shard *shard, const uint8_t *body)
{
    int32_t ids[64];
    for (int64_t at = 0; at < shard->n; at += 64) {
        int64_t n = pt_min_i64(64, shard->n - at);
        if (pt_shard_decode(shard, body + at * shard->width, n, ids, NULL)) continue;
        for (int64_t i = 0; i < n; i++) require(ids[i] >= 0 && ids[i] < shard->vocab, "id");
    }
}

static void read_shard(const uint8_t *data, int64_t size)
{
    pt_shard shard;
    if (pt_shard_read_header(&shard, data, size, size, NULL)) return;
    read_body(&shard, data + PT_SHARD_HEADER_BYTES);
    pt_shard_check_order(NULL, &shard, NULL);
    pt_shard_check_order(&shard, &shard, NULL);
    if (shard.index == 0 && shard.first == 0) write_again(&shard, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_shard(data, (int64_t)size);
    if (size < PT_SHARD_HEADER_BYTES) return 0;
    /* Once more with a right checksum of the header, which no fuzzer would find. */
    uint8_t *copy = malloc(size);
    if (!copy) return 0;
    memcpy(copy, data, size);
    pt_store_u32(copy + 124, pt_crc32c(0, copy, 124));
    read_shard(copy, (int64_t)size);
    free(copy);
    return 0;
}
