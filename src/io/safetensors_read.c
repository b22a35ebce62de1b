/* Reading .safetensors. Every byte is hostile. SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "base/safe_text.h"
#include "io/bytes.h"
#include "io/safetensors.h"

struct pt_safetensors {
    pt_arena arena; /* the header */
    const pt_json *metadata;
    const uint8_t *data; /* where offsets count from */
    int64_t data_bytes;
    int64_t n;
    pt_safetensors_tensor *tensors; /* by position */
    int64_t *by_name;               /* indices into tensors */
};

static const struct {
    const char *name;
    int bytes;
    bool readable;
} dtypes[PT_SAFETENSORS_DTYPE_COUNT] = {
#define DTYPE(name, bytes, readable) {#name, bytes, readable},
    PT_SAFETENSORS_DTYPES(DTYPE)
#undef DTYPE
};

const char *pt_safetensors_dtype_name(pt_safetensors_dtype dtype)
{
    return (unsigned)dtype < PT_SAFETENSORS_DTYPE_COUNT ? dtypes[dtype].name : "?";
}

/* ---- order ---- */

typedef bool (*less_fn)(const pt_safetensors *file, int64_t a, int64_t b);

static bool lies_before(const pt_safetensors *file, int64_t a, int64_t b)
{
    const pt_safetensors_tensor *x = &file->tensors[a], *y = &file->tensors[b];
    return x->data != y->data ? x->data < y->data : x->bytes < y->bytes;
}

static bool named_before(const pt_safetensors *file, int64_t a, int64_t b)
{
    return strcmp(file->tensors[a].name, file->tensors[b].name) < 0;
}

static void sift(const pt_safetensors *file, int64_t *index, int64_t root, int64_t n, less_fn less)
{
    for (int64_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && less(file, index[child], index[child + 1])) child++;
        if (!less(file, index[root], index[child])) return;
        int64_t swap = index[root];
        index[root] = index[child];
        index[child] = swap;
    }
}

/* Heap sort: n log n whatever the file says. */
static void sort(const pt_safetensors *file, int64_t *index, less_fn less)
{
    int64_t n = file->n;
    for (int64_t i = 0; i < n; i++) index[i] = i;
    for (int64_t i = n / 2 - 1; i >= 0; i--) sift(file, index, i, n, less);
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t swap = index[0];
        index[0] = index[i];
        index[i] = swap;
        sift(file, index, 0, i, less);
    }
}

static bool sort_by_position(pt_safetensors *file)
{
    pt_safetensors_tensor *sorted = pt_arena_array(&file->arena, file->n, sizeof *sorted);
    if (!sorted) return false;
    sort(file, file->by_name, lies_before);
    for (int64_t i = 0; i < file->n; i++) sorted[i] = file->tensors[file->by_name[i]];
    file->tensors = sorted;
    return true;
}

/* ---- the header ---- */

static pt_status parse_dtype(const pt_json *entry, const char *name, pt_safetensors_tensor *t,
                             pt_error *err)
{
    const pt_json *dtype = pt_json_get(entry, "dtype");
    if (!dtype || dtype->type != PT_JSON_STRING)
        return pt_fail(err, PT_CORRUPT, "tensor %s: it has no dtype", name);
    for (int i = 0; i < PT_SAFETENSORS_DTYPE_COUNT; i++) {
        if (strlen(dtypes[i].name) != dtype->text_len ||
            memcmp(dtypes[i].name, dtype->text, dtype->text_len) != 0)
            continue;
        t->dtype = (pt_safetensors_dtype)i;
        return PT_OK;
    }
    return pt_fail(err, PT_UNSUPPORTED, "tensor %s: its dtype %s is not known here", name,
                   pt_show(dtype->text, dtype->text_len).text);
}

static pt_status parse_shape(const pt_json *entry, const char *name, pt_safetensors_tensor *t,
                             pt_error *err)
{
    const pt_json *shape = pt_json_get(entry, "shape");
    if (!shape || shape->type != PT_JSON_ARRAY)
        return pt_fail(err, PT_CORRUPT, "tensor %s: it has no shape", name);
    if (shape->n_children > PT_SAFETENSORS_MAX_RANK)
        return pt_fail(err, PT_UNSUPPORTED,
                       "tensor %s: it has %lld dimensions, at most %d are read", name,
                       (long long)shape->n_children, PT_SAFETENSORS_MAX_RANK);
    t->n = 1;
    for (int i = 0; i < PT_SAFETENSORS_MAX_RANK; i++) t->dim[i] = 1;
    for (const pt_json *d = shape->child; d; d = d->next) {
        int64_t dim;
        if (!pt_json_to_i64(d, &dim) || dim < 0)
            return pt_fail(err, PT_CORRUPT, "tensor %s: dimension %d of its shape is not a count",
                           name, t->rank);
        t->dim[t->rank++] = dim;
        if (!pt_mul_i64(t->n, dim, &t->n))
            return pt_fail(err, PT_CORRUPT,
                           "tensor %s: its shape has more elements than can be "
                           "counted",
                           name);
    }
    return PT_OK;
}

static pt_status parse_place(const pt_safetensors *file, const pt_json *entry, const char *name,
                             pt_safetensors_tensor *t, pt_error *err)
{
    const pt_json *offsets = pt_json_get(entry, "data_offsets");
    int64_t begin, end, want;
    if (!offsets || offsets->type != PT_JSON_ARRAY || offsets->n_children != 2 ||
        !pt_json_to_i64(offsets->child, &begin) || !pt_json_to_i64(offsets->child->next, &end))
        return pt_fail(err, PT_CORRUPT, "tensor %s: data_offsets is not a pair of numbers", name);
    if (begin < 0 || end < begin || end > file->data_bytes)
        return pt_fail(err, PT_CORRUPT,
                       "tensor %s: its bytes are %lld to %lld, but the file has "
                       "%lld: it is cut short or damaged",
                       name, (long long)begin, (long long)end, (long long)file->data_bytes);
    if (!pt_mul_i64(t->n, dtypes[t->dtype].bytes, &want) || want != end - begin)
        return pt_fail(err, PT_CORRUPT, "tensor %s: %lld elements of %s do not take %lld bytes",
                       name, (long long)t->n, dtypes[t->dtype].name, (long long)(end - begin));
    t->data = file->data + begin;
    t->bytes = end - begin;
    return PT_OK;
}

static pt_status parse_tensor(const pt_safetensors *file, const pt_json *entry,
                              pt_safetensors_tensor *t, pt_error *err)
{
    pt_shown name = pt_show(entry->key, entry->key_len);
    t->name = entry->key;
    if (entry->type != PT_JSON_OBJECT)
        return pt_fail(err, PT_CORRUPT, "tensor %s: its entry is not an object", name.text);
    if (entry->key_len == 0 || strlen(entry->key) != entry->key_len)
        return pt_fail(err, PT_CORRUPT, "tensor '%s': its name is empty or has a NUL in it",
                       name.text);
    pt_status s = parse_dtype(entry, name.text, t, err);
    if (s == PT_OK) s = parse_shape(entry, name.text, t, err);
    if (s == PT_OK) s = parse_place(file, entry, name.text, t, err);
    return s;
}

static pt_status check_metadata(const pt_json *metadata, pt_error *err)
{
    if (metadata->type != PT_JSON_OBJECT)
        return pt_fail(err, PT_CORRUPT, "__metadata__ is not an object");
    for (const pt_json *m = metadata->child; m; m = m->next)
        if (m->type != PT_JSON_STRING)
            return pt_fail(err, PT_CORRUPT, "__metadata__: %s is not a text",
                           pt_show(m->key, m->key_len).text);
    return PT_OK;
}

/* The tensors follow one another and fill the data. */
static pt_status check_places(const pt_safetensors *file, pt_error *err)
{
    const uint8_t *at = file->data;
    for (int64_t i = 0; i < file->n; i++) {
        const pt_safetensors_tensor *t = &file->tensors[i];
        if (t->data != at)
            return pt_fail(err, PT_CORRUPT, "tensor %s begins at byte %lld; %s at %lld",
                           pt_show(t->name, strlen(t->name)).text,
                           (long long)(t->data - file->data),
                           t->data < at ? "it overlaps one that ends" : "the one before it ends",
                           (long long)(at - file->data));
        at += t->bytes;
    }
    if (at == file->data + file->data_bytes) return PT_OK;
    return pt_fail(err, PT_CORRUPT,
                   "the tensors take %lld bytes, but the file has %lld: it is too "
                   "long",
                   (long long)(at - file->data), (long long)file->data_bytes);
}

static pt_status parse_entries(pt_safetensors *file, const pt_json *header, pt_error *err)
{
    file->tensors = pt_arena_array(&file->arena, header->n_children, sizeof *file->tensors);
    file->by_name = pt_arena_array(&file->arena, header->n_children, sizeof *file->by_name);
    if (!file->tensors || !file->by_name)
        return pt_fail(err, PT_NO_MEMORY, "no memory for a list of tensors");
    pt_status s = PT_OK;
    for (const pt_json *entry = header->child; entry && s == PT_OK; entry = entry->next) {
        if (entry->key_len == 12 && memcmp(entry->key, "__metadata__", 12) == 0) {
            file->metadata = entry;
            s = check_metadata(entry, err);
        } else {
            s = parse_tensor(file, entry, &file->tensors[file->n++], err);
        }
    }
    if (s) return s;
    if (!sort_by_position(file))
        return pt_fail(err, PT_NO_MEMORY, "no memory for a list of tensors");
    sort(file, file->by_name, named_before);
    return check_places(file, err);
}

static pt_status open_file(pt_safetensors *file, const uint8_t *data, int64_t size, pt_error *err)
{
    if (size < 8)
        return pt_fail(err, PT_CORRUPT, "not a .safetensors file: it has only %lld bytes",
                       (long long)size);
    uint64_t header_bytes = pt_load_u64(data);
    if (header_bytes > (uint64_t)(size - 8))
        return pt_fail_offset(err, PT_CORRUPT, 0,
                              "the header would have %llu bytes, but the file "
                              "has %lld: it is cut short or no .safetensors file",
                              (unsigned long long)header_bytes, (long long)size);
    if (header_bytes > PT_SAFETENSORS_MAX_HEADER)
        return pt_fail_offset(err, PT_UNSUPPORTED, 0,
                              "the header has %llu bytes, at most %d are "
                              "read",
                              (unsigned long long)header_bytes, PT_SAFETENSORS_MAX_HEADER);
    const pt_json *header;
    pt_error why = {0};
    pt_status s =
        pt_json_parse((const char *)data + 8, (size_t)header_bytes, &file->arena, &header, &why);
    if (s)
        return pt_fail_offset(err, s == PT_BAD_INPUT ? PT_CORRUPT : s,
                              why.offset < 0 ? -1 : 8 + why.offset, "header: %s", why.message);
    if (header->type != PT_JSON_OBJECT)
        return pt_fail_offset(err, PT_CORRUPT, 8, "header: it is not an object");
    file->data = data + 8 + header_bytes;
    file->data_bytes = size - 8 - (int64_t)header_bytes;
    return parse_entries(file, header, err);
}

pt_status pt_safetensors_open(pt_safetensors **out, const uint8_t *data, int64_t size,
                              pt_error *err)
{
    *out = NULL;
    pt_safetensors *file = pt_alloc(sizeof *file);
    if (!file) return pt_fail(err, PT_NO_MEMORY, "no memory to open a .safetensors file");
    pt_status s = open_file(file, data, size, err);
    if (s) pt_safetensors_close(file);
    else *out = file;
    return s;
}

void pt_safetensors_close(pt_safetensors *file)
{
    if (!file) return;
    pt_arena_deinit(&file->arena);
    pt_free(file);
}

/* ---- look-ups ---- */

int64_t pt_safetensors_n(const pt_safetensors *file) { return file->n; }

const pt_safetensors_tensor *pt_safetensors_at(const pt_safetensors *file, int64_t index)
{
    return index >= 0 && index < file->n ? &file->tensors[index] : NULL;
}

const pt_safetensors_tensor *pt_safetensors_find(const pt_safetensors *file, const char *name)
{
    int64_t low = 0, high = file->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const pt_safetensors_tensor *t = &file->tensors[file->by_name[middle]];
        int order = strcmp(t->name, name);
        if (order == 0) return t;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}

const char *pt_safetensors_metadata(const pt_safetensors *file, const char *key)
{
    return pt_json_get_string(file->metadata, key);
}

/* ---- numbers ---- */

static float number_at(const pt_safetensors_tensor *t, int64_t i)
{
    const uint8_t *at = t->data + i * dtypes[t->dtype].bytes;
    switch (t->dtype) {
    case PT_SAFETENSORS_F64: return (float)pt_double_from_bits(pt_load_u64(at));
    case PT_SAFETENSORS_F32: return pt_float_from_bits(pt_load_u32(at));
    case PT_SAFETENSORS_F16: return pt_float_from_half(pt_load_u16(at));
    case PT_SAFETENSORS_BF16: return pt_float_from_bf16(pt_load_u16(at));
    case PT_SAFETENSORS_I64: return (float)(int64_t)pt_load_u64(at);
    case PT_SAFETENSORS_I32: return (float)(int32_t)pt_load_u32(at);
    case PT_SAFETENSORS_U8: return (float)*at;
    default: return 0; /* not readable: refused before */
    }
}

pt_status pt_safetensors_read_f32(const pt_safetensors_tensor *t, int64_t first, int64_t n,
                                  float *dst, pt_error *err)
{
    if (first < 0 || n < 0 || n > t->n || first > t->n - n)
        return pt_fail(err, PT_BAD_INPUT, "tensor %s: it does not have %lld elements from %lld on",
                       pt_show(t->name, strlen(t->name)).text, (long long)n, (long long)first);
    if (!dtypes[t->dtype].readable)
        return pt_fail(err, PT_UNSUPPORTED, "tensor %s: dtype %s is not read as numbers here",
                       pt_show(t->name, strlen(t->name)).text, dtypes[t->dtype].name);
    if (t->dtype == PT_SAFETENSORS_F32) memcpy(dst, t->data + 4 * first, (size_t)n * sizeof *dst);
    else
        for (int64_t i = 0; i < n; i++) dst[i] = number_at(t, first + i);
    return PT_OK;
}
