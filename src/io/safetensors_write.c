/* Writing .safetensors. SPDX-License-Identifier: MIT */
#include "io/bytes.h"
#include "io/safetensors.h"

struct pt_safetensors_writer {
    pt_sink sink;
    pt_due due; /* data */
};

static const char *name_of(pt_dtype dtype)
{
    switch (dtype) {
    case PT_F64: return "F64";
    case PT_F32: return "F32";
    case PT_F16: return "F16";
    case PT_BF16: return "BF16";
    case PT_I32: return "I32";
    case PT_U8: return "U8";
    default: return NULL;
    }
}

/* The dtype, shape and name of one entry, and its size. */
static pt_status check_entry(const pt_safetensors_entry *e, int64_t *bytes, pt_error *err)
{
    if (!e->name || !e->name[0] || !pt_utf8_valid(e->name, strlen(e->name)) ||
        strcmp(e->name, "__metadata__") == 0)
        return pt_fail(err, PT_BAD_INPUT, ".safetensors: '%s' cannot be a tensor's name",
                       e->name ? e->name : "");
    if (!name_of(e->dtype))
        return pt_fail(err, PT_BAD_INPUT, "%s: a .safetensors file does not hold %s", e->name,
                       pt_dtype_name(e->dtype));
    if (e->rank < 0 || e->rank > PT_SAFETENSORS_MAX_RANK)
        return pt_fail(err, PT_BAD_INPUT, "%s: rank %d, must be 0 to %d", e->name, e->rank,
                       PT_SAFETENSORS_MAX_RANK);
    int64_t n = 1;
    for (int i = 0; i < e->rank; i++)
        if (e->dim[i] < 0 || !pt_mul_i64(n, e->dim[i], &n)) n = -1;
    *bytes = pt_dtype_bytes(e->dtype, n);
    if (*bytes < 0) return pt_fail(err, PT_BAD_INPUT, "%s: its shape cannot be", e->name);
    return PT_OK;
}

/* Which of the names in `table` (open addressing, `slots` a power of two) is this one's place? */
static int64_t slot_of(const pt_safetensors_entry *entries, const int64_t *table, int64_t slots,
                       const char *name)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    int64_t slot = (int64_t)(hash >> 20 & (uint64_t)(slots - 1));
    while (table[slot] && strcmp(entries[table[slot] - 1].name, name) != 0)
        slot = (slot + 1) & (slots - 1);
    return slot;
}

static pt_status check_twice(const pt_safetensors_entry *entries, int64_t n, pt_error *err)
{
    int64_t slots = 16;
    while (slots < 2 * n) slots *= 2;
    int64_t *table = pt_alloc((size_t)slots * sizeof *table); /* 1 + index, 0: free */
    if (!table) return pt_fail(err, PT_NO_MEMORY, "no memory for the names of tensors");
    pt_status s = PT_OK;
    for (int64_t i = 0; i < n && s == PT_OK; i++) {
        int64_t slot = slot_of(entries, table, slots, entries[i].name);
        if (table[slot])
            s = pt_fail(err, PT_BAD_INPUT, "%s: two tensors of this name", entries[i].name);
        table[slot] = i + 1;
    }
    pt_free(table);
    return s;
}

static pt_status put_metadata(pt_json_writer *w, const pt_json *metadata, pt_error *err)
{
    bool texts = !metadata || metadata->type == PT_JSON_OBJECT;
    pt_json_begin_object(w, "__metadata__");
    pt_json_string(w, "format", "pt");
    for (const pt_json *m = metadata && texts ? metadata->child : NULL; m && texts; m = m->next) {
        texts = m->type == PT_JSON_STRING && strlen(m->key) == m->key_len;
        if (texts && strcmp(m->key, "format") != 0) pt_json_value(w, m->key, m);
    }
    pt_json_end_object(w);
    if (texts) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "the metadata of a .safetensors file must be texts");
}

/* Appends the header to `out`; *total is the bytes of all data. */
static pt_status build_header(const pt_safetensors_entry *entries, int64_t n,
                              const pt_json *metadata, pt_strbuf *out, int64_t *total,
                              pt_error *err)
{
    pt_json_writer w = pt_json_writer_begin(out, 0);
    pt_json_begin_object(&w, NULL);
    pt_status s = put_metadata(&w, metadata, err);
    if (s) return s;
    *total = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t bytes = 0, begin = *total;
        s = check_entry(&entries[i], &bytes, err);
        if (s) return s;
        if (!pt_add_i64(*total, bytes, total))
            return pt_fail(err, PT_BAD_INPUT, "%s: the file would be too large", entries[i].name);
        pt_json_begin_object(&w, entries[i].name);
        pt_json_string(&w, "dtype", name_of(entries[i].dtype));
        pt_json_begin_array(&w, "shape");
        for (int d = 0; d < entries[i].rank; d++) pt_json_i64(&w, NULL, entries[i].dim[d]);
        pt_json_end_array(&w);
        pt_json_begin_array(&w, "data_offsets");
        pt_json_i64(&w, NULL, begin);
        pt_json_i64(&w, NULL, *total);
        pt_json_end_array(&w);
        pt_json_end_object(&w);
    }
    pt_json_end_object(&w);
    while (out->len % 8 && !out->failed) pt_strbuf_putc(out, ' ');
    if (out->failed) return pt_fail(err, PT_NO_MEMORY, "no memory for the header");
    if (out->len > PT_SAFETENSORS_MAX_HEADER)
        return pt_fail(err, PT_BAD_INPUT, "%lld tensors are too many for a .safetensors file",
                       (long long)n);
    return check_twice(entries, n, err);
}

/* Writes prefix and header; *data_bytes is what must follow. */
static pt_status write_header(const pt_safetensors_entry *entries, int64_t n,
                              const pt_json *metadata, const pt_sink *sink, int64_t *data_bytes,
                              pt_error *err)
{
    pt_strbuf header = {0};
    pt_status s = build_header(entries, n, metadata, &header, data_bytes, err);
    uint8_t prefix[8];
    pt_store_u64(prefix, header.len);
    if (s == PT_OK) s = sink->write(sink->ctx, prefix, sizeof prefix, err);
    if (s == PT_OK) s = sink->write(sink->ctx, header.data, (int64_t)header.len, err);
    pt_strbuf_deinit(&header);
    return s;
}

pt_status pt_safetensors_write(const pt_safetensors_entry *entries, int64_t n,
                               const pt_json *metadata, const pt_sink *sink, pt_error *err)
{
    int64_t all = 0, bytes = 0;
    pt_status s = write_header(entries, n, metadata, sink, &all, err);
    for (int64_t i = 0; i < n && s == PT_OK; i++) {
        s = check_entry(&entries[i], &bytes, err);
        if (s == PT_OK && bytes) s = sink->write(sink->ctx, entries[i].data, bytes, err);
    }
    return s;
}

pt_status pt_safetensors_writer_begin(pt_safetensors_writer **out,
                                      const pt_safetensors_entry *entries, int64_t n,
                                      const pt_sink *sink, pt_error *err)
{
    *out = NULL;
    pt_safetensors_writer *w = pt_alloc(sizeof *w);
    if (!w) return pt_fail(err, PT_NO_MEMORY, "no memory to write a .safetensors file");
    w->sink = *sink;
    pt_status s = write_header(entries, n, NULL, sink, &w->due.left, err);
    if (s) pt_safetensors_writer_discard(w);
    else *out = w;
    return s;
}

pt_status pt_safetensors_writer_put(pt_safetensors_writer *w, const void *bytes, int64_t n_bytes,
                                    pt_error *err)
{
    pt_status s = pt_due_check(&w->due, n_bytes, err);
    if (s == PT_OK && n_bytes) s = w->sink.write(w->sink.ctx, bytes, n_bytes, err);
    if (s == PT_OK) w->due.left -= n_bytes;
    w->due.failed = s != PT_OK;
    return s;
}

pt_status pt_safetensors_writer_end(pt_safetensors_writer *w, pt_error *err)
{
    pt_status s = pt_due_end(&w->due, err);
    pt_safetensors_writer_discard(w);
    return s;
}

void pt_safetensors_writer_discard(pt_safetensors_writer *w) { pt_free(w); }
