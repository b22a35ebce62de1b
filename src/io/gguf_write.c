/* Writing GGUF. SPDX-License-Identifier: MIT */
#include "io/gguf_internal.h"

/* ---- metadata ---- */

static void append_u32(pt_strbuf *to, uint32_t x)
{
    uint8_t bytes[4];
    pt_store_u32(bytes, x);
    pt_strbuf_append(to, (const char *)bytes, sizeof bytes);
}

static void append_u64(pt_strbuf *to, uint64_t x)
{
    uint8_t bytes[8];
    pt_store_u64(bytes, x);
    pt_strbuf_append(to, (const char *)bytes, sizeof bytes);
}

static void append_text(pt_strbuf *to, const char *bytes, int64_t n)
{
    append_u64(to, (uint64_t)n);
    pt_strbuf_append(to, bytes, (size_t)n);
}

/* Key and kind. false: such a value cannot be. */
static bool begin_value(pt_gguf_metadata *m, pt_gguf_text key, pt_gguf_kind kind, bool array,
                        int64_t n)
{
    if (!key.bytes || n < 0 || (unsigned)kind >= PT_GGUF_KIND_COUNT || kind == PT_GGUF_ARRAY) {
        m->wrong = true;
        return false;
    }
    append_text(&m->bytes, key.bytes, key.n);
    if (array) append_u32(&m->bytes, PT_GGUF_ARRAY);
    append_u32(&m->bytes, (uint32_t)kind);
    if (array) append_u64(&m->bytes, (uint64_t)n);
    m->n++;
    return true;
}

static pt_gguf_text text_of(const char *text)
{
    return (pt_gguf_text){text, text ? (int64_t)strlen(text) : 0};
}

void pt_gguf_put_text(pt_gguf_metadata *m, const char *key, const char *text)
{
    if (begin_value(m, text_of(key), PT_GGUF_TEXT, false, text ? 1 : -1))
        append_text(&m->bytes, text, (int64_t)strlen(text));
}

static void put_numbers(pt_gguf_metadata *m, const char *key, pt_gguf_value v)
{
    int64_t bytes = 0;
    v.key = text_of(key);
    if ((unsigned)v.kind >= PT_GGUF_KIND_COUNT || !pt_gguf_kind_bytes(v.kind) ||
        !pt_mul_i64(v.n, pt_gguf_kind_bytes(v.kind), &bytes))
        v.n = -1;
    if (begin_value(m, v.key, v.kind, v.array, v.n) && bytes)
        pt_strbuf_append(&m->bytes, (const char *)v.data, (size_t)bytes);
}

void pt_gguf_put_number(pt_gguf_metadata *m, const char *key, pt_gguf_kind kind, const void *value)
{
    put_numbers(m, key, (pt_gguf_value){.kind = kind, .n = 1, .data = value});
}

void pt_gguf_put_array(pt_gguf_metadata *m, const char *key, pt_gguf_kind kind, const void *values,
                       int64_t n)
{
    put_numbers(m, key, (pt_gguf_value){.kind = kind, .array = true, .n = n, .data = values});
}

void pt_gguf_put_u32(pt_gguf_metadata *m, const char *key, uint32_t value)
{
    pt_gguf_put_number(m, key, PT_GGUF_U32, &value);
}

void pt_gguf_put_f32(pt_gguf_metadata *m, const char *key, float value)
{
    pt_gguf_put_number(m, key, PT_GGUF_F32, &value);
}

void pt_gguf_put_bool(pt_gguf_metadata *m, const char *key, bool value)
{
    uint8_t byte = value;
    pt_gguf_put_number(m, key, PT_GGUF_BOOL, &byte);
}

void pt_gguf_put_texts(pt_gguf_metadata *m, const char *key, const pt_gguf_text *texts, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (texts[i].n < 0) n = -1;
    if (!begin_value(m, text_of(key), PT_GGUF_TEXT, true, n)) return;
    for (int64_t i = 0; i < n; i++) append_text(&m->bytes, texts[i].bytes, texts[i].n);
}

void pt_gguf_put_value(pt_gguf_metadata *m, const pt_gguf_value *v)
{
    if (pt_gguf_text_is(v->key, PT_GGUF_ALIGNMENT_KEY)) return;
    if (begin_value(m, v->key, v->kind, v->array, v->n) && v->bytes)
        pt_strbuf_append(&m->bytes, (const char *)v->data, (size_t)v->bytes);
}

void pt_gguf_metadata_deinit(pt_gguf_metadata *m)
{
    pt_strbuf_deinit(&m->bytes);
    *m = (pt_gguf_metadata){0};
}

/* ---- the header ---- */

struct pt_gguf_writer {
    pt_sink sink;
    int64_t alignment;
    int64_t n, current; /* tensors; the one under way */
    int64_t done;       /* bytes of it */
    pt_due due;         /* data, without what fills up */
    int64_t bytes[];    /* of tensors */
};

static bool number_of(pt_dtype dtype, uint32_t *out)
{
    switch (dtype) {
#define NUMBER(name, number) \
    case PT_##name: *out = number; return true;
        PT_GGUF_TYPES(NUMBER)
#undef NUMBER
    default: return false;
    }
}

/* Appends a tensor's part of the header; *at is its place in the data, then that of the next. */
static pt_status append_tensor(const pt_gguf_entry *e, pt_gguf_writer *w, int64_t *at,
                               pt_strbuf *to, pt_error *err)
{
    const char *name = e->name ? e->name : "";
    uint32_t type = 0;
    if (!number_of(e->dtype, &type))
        return pt_fail(err, PT_BAD_INPUT, "%s: a GGUF file does not hold %s here", name,
                       pt_dtype_name(e->dtype));
    if (e->rank < 0 || e->rank > PT_GGUF_MAX_RANK)
        return pt_fail(err, PT_BAD_INPUT, "%s: rank %d, must be 0 to %d", name, e->rank,
                       PT_GGUF_MAX_RANK);
    pt_gguf_tensor t = {.dtype = e->dtype, .rank = e->rank};
    memcpy(t.dim, e->dim, sizeof t.dim);
    const char *wrong = pt_gguf_size_up(&t);
    if (wrong) return pt_fail(err, PT_BAD_INPUT, "%s: %s", name, wrong);
    append_text(to, name, (int64_t)strlen(name));
    append_u32(to, (uint32_t)e->rank);
    for (int i = e->rank - 1; i >= 0; i--) append_u64(to, (uint64_t)e->dim[i]);
    append_u32(to, type);
    append_u64(to, (uint64_t)*at);
    if (!pt_add_i64(*at, t.bytes, at) || *at > INT64_MAX / 2)
        return pt_fail(err, PT_BAD_INPUT, "%s: the file would be too large", name);
    *at = pt_round_up(*at, w->alignment);
    w->bytes[w->n++] = t.bytes;
    w->due.left += t.bytes;
    return PT_OK;
}

/* Metadata and tensors to `to`; *data_bytes is what must follow. */
static pt_status build_header(pt_gguf_writer *w, const pt_gguf_metadata *m,
                              const pt_gguf_entry *entries, int64_t n, pt_strbuf *to, pt_error *err)
{
    int64_t data_bytes = 0;
    pt_gguf_metadata first = {0};
    if (w->alignment != PT_GGUF_ALIGNMENT)
        pt_gguf_put_u32(&first, PT_GGUF_ALIGNMENT_KEY, (uint32_t)w->alignment);
    pt_strbuf_append(to, "GGUF", 4);
    append_u32(to, m->version ? (uint32_t)m->version : 3);
    append_u64(to, (uint64_t)n);
    append_u64(to, (uint64_t)(first.n + m->n));
    pt_strbuf_append(to, first.bytes.data, first.bytes.len);
    pt_strbuf_append(to, m->bytes.data, m->bytes.len);
    to->failed = to->failed || first.bytes.failed || m->bytes.failed;
    pt_gguf_metadata_deinit(&first);
    pt_status s = PT_OK;
    for (int64_t i = 0; i < n && s == PT_OK; i++)
        s = append_tensor(&entries[i], w, &data_bytes, to, err);
    while (to->len % (size_t)w->alignment && !to->failed) pt_strbuf_putc(to, 0);
    if (s == PT_OK && to->failed) s = pt_fail(err, PT_NO_MEMORY, "no memory for the header");
    if (s) return s;
    pt_gguf file = {0};
    int64_t size = (int64_t)to->len;
    s = pt_gguf_parse(&file, (const uint8_t *)to->data, size, size + data_bytes, err);
    pt_arena_deinit(&file.arena);
    return s;
}

/* A failure of the reader on what we were given is the caller's. */
static pt_status as_input(pt_status s, pt_error *err)
{
    if (s != PT_CORRUPT && s != PT_UNSUPPORTED) return s;
    if (err && err->status == s) err->status = PT_BAD_INPUT;
    return PT_BAD_INPUT;
}

pt_status pt_gguf_writer_begin(pt_gguf_writer **out, const pt_gguf_metadata *metadata,
                               const pt_gguf_entry *entries, int64_t n, const pt_sink *sink,
                               pt_error *err)
{
    static const pt_gguf_metadata none;
    const pt_gguf_metadata *m = metadata ? metadata : &none;
    int64_t bytes = 0, alignment = m->alignment ? m->alignment : PT_GGUF_ALIGNMENT;
    *out = NULL;
    if (m->wrong)
        return pt_fail(err, PT_BAD_INPUT, "GGUF: one of the values has no key or cannot be");
    if (alignment < 1 || alignment > PT_GGUF_MAX_ALIGNMENT)
        return pt_fail(err, PT_BAD_INPUT, "GGUF: alignment %lld, must be a power of two to %d",
                       (long long)alignment, PT_GGUF_MAX_ALIGNMENT);
    if (!pt_mul_i64(n, sizeof *entries, &bytes))
        return pt_fail(err, PT_BAD_INPUT, "GGUF: there cannot be %lld tensors", (long long)n);
    pt_gguf_writer *w = pt_alloc(sizeof *w + (size_t)n * sizeof *w->bytes);
    if (!w) return pt_fail(err, PT_NO_MEMORY, "no memory to write a GGUF file");
    w->sink = *sink;
    w->alignment = alignment;
    pt_strbuf header = {0};
    pt_status s = as_input(build_header(w, m, entries, n, &header, err), err);
    if (s == PT_OK) s = sink->write(sink->ctx, header.data, (int64_t)header.len, err);
    pt_strbuf_deinit(&header);
    if (s) pt_gguf_writer_discard(w);
    else *out = w;
    return s;
}

/* ---- the data ---- */

/* Takes up to n_bytes, *taken, of the current tensor; fills it up when it is complete. */
static pt_status put_some(pt_gguf_writer *w, const uint8_t *bytes, int64_t n_bytes, int64_t *taken,
                          pt_error *err)
{
    static const uint8_t zeros[512];
    int64_t size = w->bytes[w->current], n = pt_min_i64(n_bytes, size - w->done);
    pt_status s = n ? w->sink.write(w->sink.ctx, bytes, n, err) : PT_OK;
    *taken = n;
    w->done += n;
    w->due.left -= n;
    if (s || w->done < size) return s;
    for (int64_t fill = pt_round_up(size, w->alignment) - size; fill > 0 && s == PT_OK;) {
        int64_t piece = pt_min_i64(fill, sizeof zeros);
        s = w->sink.write(w->sink.ctx, zeros, piece, err);
        fill -= piece;
    }
    w->current++;
    w->done = 0;
    return s;
}

pt_status pt_gguf_writer_put(pt_gguf_writer *w, const void *bytes, int64_t n_bytes, pt_error *err)
{
    pt_status s = pt_due_check(&w->due, n_bytes, err);
    for (int64_t at = 0, n = 0; at < n_bytes && s == PT_OK; at += n)
        s = put_some(w, (const uint8_t *)bytes + at, n_bytes - at, &n, err);
    w->due.failed = s != PT_OK;
    return s;
}

pt_status pt_gguf_writer_end(pt_gguf_writer *w, pt_error *err)
{
    pt_status s = pt_due_end(&w->due, err);
    pt_gguf_writer_discard(w);
    return s;
}

void pt_gguf_writer_discard(pt_gguf_writer *w) { pt_free(w); }

pt_status pt_gguf_write(const pt_gguf_metadata *metadata, const pt_gguf_entry *entries, int64_t n,
                        const pt_sink *sink, pt_error *err)
{
    pt_gguf_writer *w = NULL;
    pt_status s = pt_gguf_writer_begin(&w, metadata, entries, n, sink, err);
    if (s) return s;
    for (int64_t i = 0; i < n && s == PT_OK; i++)
        s = pt_gguf_writer_put(w, entries[i].data, w->bytes[i], err);
    if (s == PT_OK) return pt_gguf_writer_end(w, err);
    pt_gguf_writer_discard(w);
    return s;
}
