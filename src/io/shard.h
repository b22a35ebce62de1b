/* Token shards: a stream of tokens cut into files, shard-00000.bin and so on in one folder.
 *
 *   offset bytes
 *   0      8   "PTSHARD" and a zero byte
 *   8      4   u32 version, 1
 *   12     4   u32 bytes of a token: 1, 2 or 4
 *   16     4   u32 size of the vocabulary: every token is below it
 *   20     4   u32 1 in the last shard of the stream, else 0
 *   24     8   u64 index of this shard, from 0
 *   32     8   u64 tokens in the shards before it
 *   40     8   u64 tokens in it
 *   48     8   u64 documents that begin in it or before it
 *   56     4   u32 tokens of the separator that stands between documents: 0 to 4
 *   60     16  u32 each of them, else 0
 *   76     12  name of the tokenizer, filled up with zeros
 *   88     32  sha256 of the tokens of the stream from its begin to the end of this shard
 *   120    4   u32 CRC-32C of the body
 *   124    4   u32 CRC-32C of the 124 bytes before
 *   128    …   the tokens, little-endian
 *
 * So the header of the last shard has the checksum of the whole stream, which does not depend on where the stream is cut;
 * for tokens that are bytes it is the checksum of the text. Reader and writer know no files.
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_SHARD_H
#define PT_IO_SHARD_H

#include <stdbool.h>

#include "base/hash.h"
#include "io/sink.h"

#define PT_SHARD_HEADER_BYTES 128
#define PT_SHARD_SEPARATOR_MAX 4
#define PT_SHARD_TOKENS_MAX ((int64_t)1 << 56) /* of a stream */

typedef struct pt_shard {
    char tokenizer[13]; /* NUL-terminated */
    int width;          /* bytes of a token */
    int64_t vocab;
    int32_t separator[PT_SHARD_SEPARATOR_MAX];
    int n_separator;
    bool last;
    int64_t index;
    int64_t first;     /* tokens in the shards before */
    int64_t n;         /* tokens */
    int64_t documents; /* that begin in it or before it */
    uint8_t sha256[32];
    uint32_t body_crc32c;
} pt_shard;

/* ---- reading ---- */

/* True when the n bytes begin as a shard does. */
bool pt_shard_is(const uint8_t *bytes, int64_t n);
/* Reads a header from the first bytes of a file of file_bytes bytes; n, at least the smaller of file_bytes and
 * PT_SHARD_HEADER_BYTES, are in memory. The body is not looked at. Errors: CORRUPT (no shard, a checksum, a field
 * out of range, a size that is not what the header says), UNSUPPORTED (another version). */
pt_status pt_shard_read_header(pt_shard *out, const uint8_t *bytes, int64_t n, int64_t file_bytes,
                               pt_error *err);
/* Whether `next` (NULL: the end) comes after `shard` (NULL: the begin) in one stream. CORRUPT says what is missing. */
pt_status pt_shard_check_order(const pt_shard *shard, const pt_shard *next, pt_error *err);
/* n tokens of the body to ids. CORRUPT for one that is not in the vocabulary. */
pt_status pt_shard_decode(const pt_shard *shard, const uint8_t *body, int64_t n, int32_t *ids,
                          pt_error *err);

/* ---- writing ---- */

/* One stream of shards, written one after another; a plain value that allocates nothing. */
typedef struct pt_shard_writer {
    pt_shard shard; /* the one under way; the caller counts `documents` */
    pt_sha256 stream;
    pt_sink sink;
} pt_shard_writer;

/* `like` gives tokenizer, width, vocab and separator. BAD_INPUT when they do not fit the format. */
pt_status pt_shard_writer_init(pt_shard_writer *writer, const pt_shard *like, pt_error *err);
/* Begins a shard at the start of the sink. */
pt_status pt_shard_writer_begin(pt_shard_writer *writer, const pt_sink *sink, pt_error *err);
/* n tokens as they will lie in the file: the caller answers for vocabulary and width. */
pt_status pt_shard_writer_put(pt_shard_writer *writer, const uint8_t *body, int64_t n,
                              pt_error *err);
/* Ends it: the header is complete. Unless it was the last, another may begin. */
pt_status pt_shard_writer_end(pt_shard_writer *writer, bool last, pt_error *err);

#endif
