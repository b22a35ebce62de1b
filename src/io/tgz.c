/* .tgz archives. SPDX-License-Identifier: MIT */
#include "io/tgz.h"

#include "io/bytes.h"

/* ---- deflate: RFC 1951 ---- */

#define MAX_BITS 15 /* of a code */
#define MAX_SYMBOLS 288
#define MAX_COPY 258

/* A canonical Huffman code (section 3.2.2): codes of one length are consecutive numbers. */
typedef struct code {
    int count[MAX_BITS + 1];      /* codes of each length */
    uint16_t symbol[MAX_SYMBOLS]; /* in the order of their codes */
} code;

typedef struct inflater {
    const uint8_t *at, *end;
    uint32_t bits; /* read from the input and not yet used, lowest first */
    int n_bits;
    bool failed; /* the input ended or makes no sense */
    pt_strbuf *out;
    int64_t max_bytes;
    bool too_large;
} inflater;

static uint32_t take(inflater *f, int n)
{
    while (f->n_bits < n) {
        if (f->at == f->end) {
            f->failed = true;
            return 0;
        }
        f->bits |= (uint32_t)*f->at++ << f->n_bits;
        f->n_bits += 8;
    }
    uint32_t value = f->bits & ((1u << n) - 1);
    f->bits >>= n;
    f->n_bits -= n;
    return value;
}

/* False when the lengths give more codes than there is room for. */
static bool make_code(code *c, const uint8_t *length, int n)
{
    int first[MAX_BITS + 2] = {0}, room = 1;
    memset(c, 0, sizeof *c);
    for (int i = 0; i < n; i++) c->count[length[i]]++;
    c->count[0] = 0;
    for (int b = 1; b <= MAX_BITS; b++) {
        first[b + 1] = first[b] + c->count[b];
        room = 2 * room - c->count[b];
        if (room < 0) return false;
    }
    for (int i = 0; i < n; i++)
        if (length[i]) c->symbol[first[length[i]]++] = (uint16_t)i;
    return true;
}

/* Bits of a code come highest first. -1: no such code. */
static int decode(inflater *f, const code *c)
{
    int value = 0, first = 0, index = 0;
    for (int b = 1; b <= MAX_BITS && !f->failed; b++) {
        value = value << 1 | (int)take(f, 1);
        if (value - first < c->count[b]) return c->symbol[index + value - first];
        index += c->count[b];
        first = (first + c->count[b]) << 1;
    }
    f->failed = true;
    return -1;
}

static void put(inflater *f, const char *bytes, size_t n)
{
    f->too_large = f->too_large || (int64_t)(f->out->len + n) > f->max_bytes;
    f->failed = f->failed || f->too_large || f->out->failed;
    if (!f->failed) pt_strbuf_append(f->out, bytes, n);
}

/* `length` bytes from `distance` back; they may overlap what they make. */
static void copy(inflater *f, size_t length, size_t distance)
{
    if (distance > f->out->len) f->failed = true;
    while (length > 0 && !f->failed) {
        char piece[MAX_COPY];
        size_t n = length < distance ? length : distance;
        memcpy(piece, f->out->data + f->out->len - distance, n);
        put(f, piece, n);
        length -= n;
    }
}

/* Section 3.2.5: lengths from 3 and distances from 1, in groups with ever more extra bits. */
static void coded_block(inflater *f, const code *literals, const code *distances)
{
    static const uint8_t length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                            2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    while (!f->failed) {
        int symbol = decode(f, literals);
        if (symbol == 256 || f->failed) return;
        if (symbol < 256) {
            char byte = (char)symbol;
            put(f, &byte, 1);
            continue;
        }
        int length = symbol - 257, base = 3;
        if (length >= 29) {
            f->failed = true;
            return;
        }
        for (int i = 0; i < length; i++) base += 1 << length_bits[i];
        if (length == 28) base = 258;
        size_t n = (size_t)base + take(f, length_bits[length]);
        int distance = decode(f, distances);
        if (f->failed || distance >= 30) {
            f->failed = true;
            return;
        }
        int extra = distance < 2 ? 0 : distance / 2 - 1;
        size_t back = distance < 2 ? (size_t)distance + 1
                                   : ((size_t)(2 + distance % 2) << extra) + 1 + take(f, extra);
        copy(f, n, back);
    }
}

static void fixed_block(inflater *f)
{
    uint8_t length[MAX_SYMBOLS], distance[30];
    code literals, distances;
    for (int i = 0; i < MAX_SYMBOLS; i++) length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(distance, 5, sizeof distance);
    make_code(&literals, length, MAX_SYMBOLS);
    make_code(&distances, distance, 30);
    coded_block(f, &literals, &distances);
}

/* Section 3.2.7: the two codes come as lengths, which are coded themselves. */
static void dynamic_block(inflater *f)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t length[MAX_SYMBOLS + 32] = {0};
    code lengths, literals, distances;
    int n_literals = (int)take(f, 5) + 257, n_distances = (int)take(f, 5) + 1;
    int n = n_literals + n_distances, n_lengths = (int)take(f, 4) + 4;
    for (int i = 0; i < n_lengths; i++) length[order[i]] = (uint8_t)take(f, 3);
    f->failed = f->failed || n_literals > 286 || !make_code(&lengths, length, 19);
    memset(length, 0, sizeof length);
    for (int i = 0; i < n && !f->failed;) {
        int symbol = decode(f, &lengths), again = 1;
        if (symbol < 0) return;
        uint8_t value = (uint8_t)symbol;
        if (symbol == 16) {
            again = 3 + (int)take(f, 2);
            value = i ? length[i - 1] : 0;
            f->failed = f->failed || i == 0;
        } else if (symbol > 16) {
            again = symbol == 17 ? 3 + (int)take(f, 3) : 11 + (int)take(f, 7);
            value = 0;
        }
        f->failed = f->failed || again > n - i;
        for (; again > 0 && !f->failed; again--) length[i++] = value;
    }
    f->failed = f->failed || length[256] == 0 || !make_code(&literals, length, n_literals) ||
                !make_code(&distances, length + n_literals, n_distances);
    if (!f->failed) coded_block(f, &literals, &distances);
}

static void stored_block(inflater *f)
{
    f->bits = 0;
    f->n_bits = 0; /* whole bytes are never held: at most 7 bits are left of one */
    if (f->end - f->at < 4) {
        f->failed = true;
        return;
    }
    uint16_t n = pt_load_u16(f->at), inverse = pt_load_u16(f->at + 2);
    f->at += 4;
    f->failed = (n ^ inverse) != 0xffff || f->end - f->at < n;
    if (f->failed) return;
    put(f, (const char *)f->at, n);
    f->at += n;
}

static void inflate_all(inflater *f)
{
    bool last = false;
    while (!last && !f->failed) {
        last = take(f, 1) != 0;
        switch (take(f, 2)) {
        case 0: stored_block(f); break;
        case 1: fixed_block(f); break;
        case 2: dynamic_block(f); break;
        default: f->failed = true; break;
        }
    }
}

/* ---- gzip: RFC 1952 ---- */

static uint32_t crc32(const uint8_t *bytes, size_t n)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int b = 0; b < 8; b++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* Bytes of the header, 0 when it is none. */
static int64_t header_bytes(const uint8_t *p, int64_t n)
{
    enum { HEADER_CRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16, UNKNOWN = 0xe0 };
    if (n < 18 || p[0] != 0x1f || p[1] != 0x8b || p[2] != 8 || (p[3] & UNKNOWN)) return 0;
    int64_t at = 10;
    if (p[3] & EXTRA) at += 2 + pt_load_u16(p + at);
    for (int text = NAME; text <= COMMENT; text *= 2) {
        if (!(p[3] & text)) continue;
        while (at < n && p[at]) at++;
        at++;
    }
    if (p[3] & HEADER_CRC) at += 2;
    return at <= n - 8 ? at : 0;
}

pt_status pt_gunzip(const uint8_t *bytes, int64_t n, int64_t max_bytes, pt_strbuf *out,
                    pt_error *err)
{
    int64_t begin = header_bytes(bytes, n);
    if (!begin) return pt_fail(err, PT_CORRUPT, "no gzip file, or one cut short");
    inflater f = {.at = bytes + begin, .end = bytes + n, .out = out, .max_bytes = max_bytes};
    inflate_all(&f);
    if (f.too_large)
        return pt_fail(err, PT_BAD_INPUT, "a gzip file of more than %lld bytes",
                       (long long)max_bytes);
    if (out->failed) return pt_fail(err, PT_NO_MEMORY, "no memory for what a gzip file holds");
    if (f.failed || f.end - f.at < 8)
        return pt_fail(err, PT_CORRUPT, "the gzip file is damaged or was cut short");
    const uint8_t *data = (const uint8_t *)out->data;
    if (crc32(data, out->len) != pt_load_u32(f.at) || (uint32_t)out->len != pt_load_u32(f.at + 4))
        return pt_fail(err, PT_CORRUPT, "the checksum of the gzip file is wrong");
    return PT_OK;
}

/* ---- tar ---- */

#define BLOCK 512

/* An octal number of up to 12 characters; -1 when it is none. */
static int64_t octal(const uint8_t *field)
{
    int64_t value = 0;
    for (int i = 0; i < 12 && field[i] && field[i] != ' '; i++) {
        if (field[i] < '0' || field[i] > '7') return -1;
        value = value * 8 + (field[i] - '0');
    }
    return value;
}

pt_status pt_tar_find(const uint8_t *tar, int64_t n, const char *name, const uint8_t **data,
                      int64_t *size, pt_error *err)
{
    size_t len = strlen(name);
    for (int64_t at = 0; at <= n - BLOCK && tar[at];) {
        const uint8_t *header = tar + at;
        bool file = header[156] == '0' || header[156] == 0;
        *size = octal(header + 124);
        *data = header + BLOCK;
        at += BLOCK;
        if (*size < 0 || *size > n - at)
            return pt_fail(err, PT_CORRUPT, "the tar archive is damaged or was cut short");
        if (file && len < 100 && memcmp(header, name, len + 1) == 0) return PT_OK;
        at += pt_round_up(*size, BLOCK);
    }
    *data = NULL;
    *size = 0;
    return pt_fail(err, PT_NOT_FOUND, "the tar archive holds no %s", name);
}
