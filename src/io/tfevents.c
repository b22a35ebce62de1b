/* TensorBoard's event files. SPDX-License-Identifier: MIT */
#include "io/tfevents.h"

#include "base/hash.h"
#include "base/safe_text.h"
#include "io/bytes.h"

#define HEAD_BYTES 12 /* length and its checksum */
#define TAIL_BYTES 4  /* the message's checksum */

static uint32_t masked_crc(const void *bytes, size_t n)
{
    uint32_t crc = pt_crc32c(0, bytes, n);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

/* ---- protocol buffers ---- */

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

static size_t varint(uint64_t value, char out[10])
{
    size_t n = 0;
    for (; value >= 128; value >>= 7) out[n++] = (char)(value | 128);
    out[n++] = (char)value;
    return n;
}

static void put_varint(pt_strbuf *out, uint64_t value)
{
    char bytes[10];
    pt_strbuf_append(out, bytes, varint(value, bytes));
}

static void put_key(pt_strbuf *out, int field, enum wire wire)
{
    put_varint(out, (uint64_t)field << 3 | wire);
}

static void put_number(pt_strbuf *out, int field, int64_t value)
{
    put_key(out, field, WIRE_VARINT);
    put_varint(out, (uint64_t)value);
}

static void put_bytes(pt_strbuf *out, int field, const char *bytes, size_t n)
{
    put_key(out, field, WIRE_BYTES);
    put_varint(out, n);
    pt_strbuf_append(out, bytes, n);
}

/* What was appended since `at` becomes the value of a field: its key and length go in front. */
static void wrap(pt_strbuf *out, int field, size_t at)
{
    char head[20];
    if (out->failed) return;
    size_t n = out->len - at, n_head = varint((uint64_t)field << 3 | WIRE_BYTES, head);
    n_head += varint(n, head + n_head);
    pt_strbuf_append(out, head, n_head);
    if (out->failed) return;
    memmove(out->data + at + n_head, out->data + at, n);
    memcpy(out->data + at, head, n_head);
}

/* ---- records ---- */

/* Room for the record's head, then the fields that every event has. */
static size_t begin_event(pt_strbuf *out, double wall, int64_t step)
{
    static const char head[HEAD_BYTES];
    size_t at = out->len;
    char bytes[8];
    memcpy(bytes, &wall, sizeof bytes);
    pt_strbuf_append(out, head, HEAD_BYTES);
    put_key(out, 1, WIRE_64);
    pt_strbuf_append(out, bytes, sizeof bytes);
    if (step) put_number(out, 2, step);
    return at;
}

static void end_event(pt_strbuf *out, size_t at)
{
    if (out->failed) return;
    uint8_t *head = (uint8_t *)out->data + at, tail[TAIL_BYTES];
    size_t n = out->len - at - HEAD_BYTES;
    pt_store_u64(head, n);
    pt_store_u32(head + 8, masked_crc(head, 8));
    pt_store_u32(tail, masked_crc(head + HEAD_BYTES, n));
    pt_strbuf_append(out, (const char *)tail, TAIL_BYTES);
}

void pt_tfevents_version(pt_strbuf *out, double wall)
{
    static const char version[] = "brain.Event:2";
    size_t at = begin_event(out, wall, 0);
    put_bytes(out, 3, version, sizeof version - 1);
    end_event(out, at);
}

void pt_tfevents_start(pt_strbuf *out, double wall, int64_t step)
{
    size_t at = begin_event(out, wall, step), log = out->len;
    put_number(out, 1, 1); /* SessionLog.status = START */
    wrap(out, 7, log);
    end_event(out, at);
}

void pt_tfevents_scalars(pt_strbuf *out, double wall, int64_t step,
                         const pt_tfevents_scalar *scalars, int n)
{
    size_t at = begin_event(out, wall, step), summary = out->len;
    for (int i = 0; i < n; i++) {
        size_t value = out->len;
        float number = (float)scalars[i].value;
        char bytes[4];
        memcpy(bytes, &number, sizeof bytes);
        put_bytes(out, 1, scalars[i].tag, strlen(scalars[i].tag));
        put_key(out, 2, WIRE_32);
        pt_strbuf_append(out, bytes, sizeof bytes);
        wrap(out, 1, value);
    }
    wrap(out, 5, summary);
    end_event(out, at);
}

/* ---- text ---- */

static void put_code_block(pt_strbuf *out, const char *bytes, size_t n)
{
    pt_strbuf_puts(out, "    ");
    for (size_t i = 0; i < n;) {
        int len = 1;
        const char *other = bytes[i] == '\n'   ? "\n    "
                            : bytes[i] == '\t' ? "\t"
                                               : pt_safe_char(bytes + i, n - i, &len);
        if (other) pt_strbuf_puts(out, other);
        else pt_strbuf_append(out, bytes + i, (size_t)len);
        i += (size_t)len;
    }
}

/* TensorProto: a vector of one string. */
static void put_string_tensor(pt_strbuf *out, const char *bytes, size_t n)
{
    size_t tensor = out->len;
    put_number(out, 1, 7); /* dtype = DT_STRING */
    size_t shape = out->len;
    put_number(out, 1, 1); /* dim[0].size = 1 */
    wrap(out, 2, shape);   /* dim */
    wrap(out, 2, shape);   /* tensor_shape */
    size_t text = out->len;
    put_code_block(out, bytes, n);
    wrap(out, 8, text);
    wrap(out, 8, tensor);
}

void pt_tfevents_text(pt_strbuf *out, double wall, int64_t step, const char *tag, const char *bytes,
                      size_t n)
{
    size_t at = begin_event(out, wall, step), value = out->len;
    put_bytes(out, 1, tag, strlen(tag));
    put_string_tensor(out, bytes, n);
    size_t metadata = out->len;
    put_bytes(out, 1, "text", 4); /* plugin_name */
    wrap(out, 1, metadata);       /* plugin_data */
    wrap(out, 9, metadata);
    wrap(out, 1, value); /* Summary.value */
    wrap(out, 5, value); /* summary */
    end_event(out, at);
}

int64_t pt_tfevents_whole(const uint8_t *bytes, int64_t n)
{
    int64_t at = 0;
    while (n - at >= HEAD_BYTES + TAIL_BYTES) {
        const uint8_t *head = bytes + at, *message = head + HEAD_BYTES;
        uint64_t len = pt_load_u64(head);
        if (len > (uint64_t)(n - at - HEAD_BYTES - TAIL_BYTES)) break;
        if (pt_load_u32(head + 8) != masked_crc(head, 8)) break;
        if (pt_load_u32(message + len) != masked_crc(message, (size_t)len)) break;
        at += HEAD_BYTES + (int64_t)len + TAIL_BYTES;
    }
    return at;
}
