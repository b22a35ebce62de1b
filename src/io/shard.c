/* Token shards. SPDX-License-Identifier: MIT */
#include "io/shard.h"

#include "io/bytes.h"

#define VERSION 1
#define NAME_BYTES 12

static const uint8_t magic[8] = "PTSHARD";

/* ---- reading ---- */

bool pt_shard_is(const uint8_t *bytes, int64_t n)
{
    return n >= (int64_t)sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static bool is_zero(const uint8_t *bytes, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum |= bytes[i];
    return sum == 0;
}

/* The tokenizer's name: printable, not empty, nothing behind it. */
static bool read_name(pt_shard *s, const uint8_t *h)
{
    int n = 0;
    while (n < NAME_BYTES && h[76 + n] > ' ' && h[76 + n] < 127) n++;
    memcpy(s->tokenizer, h + 76, (size_t)n);
    s->tokenizer[n] = 0;
    return n > 0 && is_zero(h + 76 + n, NAME_BYTES - n);
}

static bool read_separator(pt_shard *s, const uint8_t *h)
{
    uint32_t n = pt_load_u32(h + 56);
    if (n > PT_SHARD_SEPARATOR_MAX) return false;
    s->n_separator = (int)n;
    for (uint32_t i = 0; i < PT_SHARD_SEPARATOR_MAX; i++) {
        uint32_t id = pt_load_u32(h + 60 + 4 * i);
        if (i < n ? id >= (uint64_t)s->vocab : id != 0) return false;
        s->separator[i] = (int32_t)id;
    }
    return true;
}

/* The name of the first field that cannot be, or NULL. */
static const char *read_fields(pt_shard *s, const uint8_t *h)
{
    uint64_t index = pt_load_u64(h + 24), first = pt_load_u64(h + 32);
    uint64_t n = pt_load_u64(h + 40), documents = pt_load_u64(h + 48);
    uint32_t width = pt_load_u32(h + 12), vocab = pt_load_u32(h + 16), last = pt_load_u32(h + 20);
    if (width != 1 && width != 2 && width != 4) return "bytes of a token";
    if (vocab < 1 || vocab > INT32_MAX || (uint64_t)vocab > (uint64_t)1 << 8 * width)
        return "size of the vocabulary";
    if (last > 1) return "mark of the last shard";
    if (index > INT32_MAX) return "index";
    if (first > PT_SHARD_TOKENS_MAX || n > PT_SHARD_TOKENS_MAX - first) return "number of tokens";
    if (documents > PT_SHARD_TOKENS_MAX) return "number of documents";
    s->width = (int)width;
    s->vocab = vocab;
    s->last = last;
    s->index = (int64_t)index;
    s->first = (int64_t)first;
    s->n = (int64_t)n;
    s->documents = (int64_t)documents;
    if (!read_separator(s, h)) return "separator";
    return read_name(s, h) ? NULL : "name of the tokenizer";
}

pt_status pt_shard_read_header(pt_shard *out, const uint8_t *bytes, int64_t n, int64_t file_bytes,
                               pt_error *err)
{
    *out = (pt_shard){0};
    if (!pt_shard_is(bytes, n))
        return pt_fail(err, PT_CORRUPT, "no token shard: it does not begin with PTSHARD");
    uint32_t version = n < 12 ? 0 : pt_load_u32(bytes + 8);
    if (n >= 12 && version != VERSION)
        return pt_fail(err, PT_UNSUPPORTED,
                       "a token shard of version %u; this program reads version %d", version,
                       VERSION);
    if (n < PT_SHARD_HEADER_BYTES)
        return pt_fail(err, PT_CORRUPT, "%lld bytes are too few for the header of a token shard",
                       (long long)n);
    if (pt_crc32c(0, bytes, 124) != pt_load_u32(bytes + 124))
        return pt_fail(err, PT_CORRUPT,
                       "the checksum of the shard's header is wrong: it was damaged");
    const char *wrong = read_fields(out, bytes);
    if (wrong) return pt_fail(err, PT_CORRUPT, "the shard's header has an impossible %s", wrong);
    int64_t want = PT_SHARD_HEADER_BYTES + out->n * out->width;
    if (file_bytes != want)
        return pt_fail(err, PT_CORRUPT, "the shard has %lld bytes, by its header there are %lld",
                       (long long)file_bytes, (long long)want);
    memcpy(out->sha256, bytes + 88, sizeof out->sha256);
    out->body_crc32c = pt_load_u32(bytes + 120);
    return PT_OK;
}

static bool same_stream(const pt_shard *a, const pt_shard *b)
{
    return strcmp(a->tokenizer, b->tokenizer) == 0 && a->width == b->width &&
           a->vocab == b->vocab && a->n_separator == b->n_separator &&
           memcmp(a->separator, b->separator, sizeof a->separator) == 0;
}

pt_status pt_shard_check_order(const pt_shard *shard, const pt_shard *next, pt_error *err)
{
    static const pt_shard none = {.index = -1};
    const pt_shard *from = shard ? shard : &none;
    long long want = from->index + 1;
    if (!next && from->last) return PT_OK;
    if (!next) return pt_fail(err, PT_CORRUPT, "shard %lld is missing: the stream goes on", want);
    if (from->last)
        return pt_fail(err, PT_CORRUPT, "shard %lld is the last of its stream, yet there is %lld",
                       want - 1, (long long)next->index);
    if (next->index != want)
        return pt_fail(err, PT_CORRUPT, "its header says shard %lld, here belongs %lld",
                       (long long)next->index, want);
    if (shard && !same_stream(shard, next))
        return pt_fail(err, PT_CORRUPT, "shard %lld has other tokens than the one before", want);
    if (next->first != from->first + from->n || next->documents < from->documents)
        return pt_fail(err, PT_CORRUPT, "shard %lld begins at token %lld, here belongs %lld", want,
                       (long long)next->first, (long long)(from->first + from->n));
    return PT_OK;
}

pt_status pt_shard_decode(const pt_shard *shard, const uint8_t *body, int64_t n, int32_t *ids,
                          pt_error *err)
{
    uint32_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t id = shard->width == 1   ? body[i]
                      : shard->width == 2 ? pt_load_u16(body + 2 * i)
                                          : pt_load_u32(body + 4 * i);
        most = id > most ? id : most;
        ids[i] = (int32_t)id;
    }
    if (n < 1 || most < (uint64_t)shard->vocab) return PT_OK;
    return pt_fail(err, PT_CORRUPT, "shard %lld holds token %u, its vocabulary has %lld",
                   (long long)shard->index, most, (long long)shard->vocab);
}

/* ---- writing ---- */

pt_status pt_shard_writer_init(pt_shard_writer *w, const pt_shard *like, pt_error *err)
{
    *w = (pt_shard_writer){.shard = *like};
    pt_shard *s = &w->shard;
    bool fits = (s->width == 1 || s->width == 2 || s->width == 4) && s->vocab >= 1 &&
                s->vocab <= INT32_MAX && s->vocab <= (int64_t)1 << 8 * s->width &&
                s->n_separator >= 0 && s->n_separator <= PT_SHARD_SEPARATOR_MAX;
    for (int i = 0; fits && i < s->n_separator; i++)
        fits = s->separator[i] >= 0 && s->separator[i] < s->vocab;
    pt_sha256_init(&w->stream);
    s->index = s->first = s->n = s->documents = 0;
    if (fits && *s->tokenizer) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "tokens of '%s' with a vocabulary of %lld fit no shard",
                   s->tokenizer, (long long)s->vocab);
}

static void put_header(const pt_shard *s, uint8_t h[PT_SHARD_HEADER_BYTES])
{
    memset(h, 0, PT_SHARD_HEADER_BYTES);
    memcpy(h, magic, sizeof magic);
    pt_store_u32(h + 8, VERSION);
    pt_store_u32(h + 12, (uint32_t)s->width);
    pt_store_u32(h + 16, (uint32_t)s->vocab);
    pt_store_u32(h + 20, s->last);
    pt_store_u64(h + 24, (uint64_t)s->index);
    pt_store_u64(h + 32, (uint64_t)s->first);
    pt_store_u64(h + 40, (uint64_t)s->n);
    pt_store_u64(h + 48, (uint64_t)s->documents);
    pt_store_u32(h + 56, (uint32_t)s->n_separator);
    for (int i = 0; i < s->n_separator; i++)
        pt_store_u32(h + 60 + 4 * i, (uint32_t)s->separator[i]);
    memcpy(h + 76, s->tokenizer, strlen(s->tokenizer));
    memcpy(h + 88, s->sha256, sizeof s->sha256);
    pt_store_u32(h + 120, s->body_crc32c);
    pt_store_u32(h + 124, pt_crc32c(0, h, 124));
}

pt_status pt_shard_writer_begin(pt_shard_writer *w, const pt_sink *sink, pt_error *err)
{
    static const uint8_t nothing[PT_SHARD_HEADER_BYTES]; /* no shard, should it never end */
    w->sink = *sink;
    w->shard.n = 0;
    w->shard.body_crc32c = 0;
    return sink->write(sink->ctx, nothing, sizeof nothing, err);
}

pt_status pt_shard_writer_put(pt_shard_writer *w, const uint8_t *body, int64_t n, pt_error *err)
{
    pt_shard *s = &w->shard;
    if (n > PT_SHARD_TOKENS_MAX - s->first - s->n)
        return pt_fail(err, PT_BAD_INPUT, "a stream of more than 2^56 tokens");
    size_t bytes = (size_t)(n * s->width);
    pt_sha256_update(&w->stream, body, bytes);
    s->body_crc32c = pt_crc32c(s->body_crc32c, body, bytes);
    s->n += n;
    return w->sink.write(w->sink.ctx, body, (int64_t)bytes, err);
}

pt_status pt_shard_writer_end(pt_shard_writer *w, bool last, pt_error *err)
{
    uint8_t header[PT_SHARD_HEADER_BYTES];
    pt_sha256 so_far = w->stream;
    pt_sha256_final(&so_far, w->shard.sha256);
    w->shard.last = last;
    put_header(&w->shard, header);
    pt_status s = w->sink.patch(w->sink.ctx, 0, header, sizeof header, err);
    w->shard.first += w->shard.n;
    w->shard.index++;
    return s;
}
