/* Reading GGUF: the header. Every byte is hostile. SPDX-License-Identifier: MIT */
#include "base/safe_text.h"
#include "io/gguf_internal.h"

#define LEAST_VALUE 14  /* bytes of a key and its value: u64, one byte, u32, one byte */
#define LEAST_TENSOR 25 /* bytes of a tensor: u64, one byte, u32, u32, u64 */

static const struct {
    const char *word;
    int bytes;
} kinds[PT_GGUF_KIND_COUNT] = {
#define KIND(name, bytes, word) {word, bytes},
    PT_GGUF_KINDS(KIND)
#undef KIND
};

const char *pt_gguf_kind_name(pt_gguf_kind kind)
{
    return (unsigned)kind < PT_GGUF_KIND_COUNT ? kinds[kind].word : "?";
}

int pt_gguf_kind_bytes(pt_gguf_kind kind) { return kinds[kind].bytes; }

/* ---- names in order ---- */

/* Any order will do: the shorter first. */
static int compare(pt_gguf_text a, pt_gguf_text b)
{
    if (a.n != b.n) return a.n < b.n ? -1 : 1;
    return a.n ? memcmp(a.bytes, b.bytes, (size_t)a.n) : 0;
}

static bool lies_before(const pt_gguf_names *names, int64_t a, int64_t b)
{
    return compare(names->name[a], names->name[b]) < 0;
}

static void sift(pt_gguf_names *names, int64_t root, int64_t n)
{
    int64_t *order = names->order;
    for (int64_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && lies_before(names, order[child], order[child + 1])) child++;
        if (!lies_before(names, order[root], order[child])) return;
        int64_t swap = order[root];
        order[root] = order[child];
        order[child] = swap;
    }
}

/* Heap sort: n log n whatever the file says. Returns the index of a name that is there twice, -1: none. */
static int64_t sort_names(pt_gguf_names *names)
{
    int64_t n = names->n, *order = names->order;
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n / 2 - 1; i >= 0; i--) sift(names, i, n);
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t swap = order[0];
        order[0] = order[i];
        order[i] = swap;
        sift(names, 0, i);
    }
    for (int64_t i = 1; i < n; i++)
        if (compare(names->name[order[i - 1]], names->name[order[i]]) == 0) return order[i];
    return -1;
}

static bool new_names(pt_gguf_names *names, pt_arena *arena, int64_t n)
{
    names->n = n;
    names->name = pt_arena_array(arena, n, sizeof *names->name);
    names->order = pt_arena_array(arena, n, sizeof *names->order);
    return names->name && names->order;
}

int64_t pt_gguf_names_find(const pt_gguf_names *names, const char *name)
{
    pt_gguf_text wanted = {name, (int64_t)strlen(name)};
    int64_t low = 0, high = names->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2, i = names->order[middle];
        int order = compare(names->name[i], wanted);
        if (order == 0) return i;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return -1;
}

bool pt_gguf_text_is(pt_gguf_text text, const char *word)
{
    return compare(text, (pt_gguf_text){word, (int64_t)strlen(word)}) == 0;
}

/* ---- pieces of the header ---- */

typedef struct cursor {
    const uint8_t *data;
    int64_t size, at;
    pt_error *err;
} cursor;

static pt_shown show(pt_gguf_text text) { return pt_show(text.bytes, (size_t)text.n); }

static pt_status cut_short(const cursor *c, const char *what)
{
    return pt_fail_offset(c->err, PT_CORRUPT, c->at,
                          "the file ends within %s: it is cut short or damaged", what);
}

static pt_status take_u32(cursor *c, const char *what, uint32_t *out)
{
    if (c->size - c->at < 4) return cut_short(c, what);
    *out = pt_load_u32(c->data + c->at);
    c->at += 4;
    return PT_OK;
}

static pt_status take_u64(cursor *c, const char *what, uint64_t *out)
{
    if (c->size - c->at < 8) return cut_short(c, what);
    *out = pt_load_u64(c->data + c->at);
    c->at += 8;
    return PT_OK;
}

static pt_status take_text(cursor *c, const char *what, pt_gguf_text *out)
{
    uint64_t n = 0;
    pt_status s = take_u64(c, what, &n);
    if (s) return s;
    if (n > (uint64_t)(c->size - c->at))
        return pt_fail_offset(c->err, PT_CORRUPT, c->at - 8,
                              "%s would have %llu bytes, but %lld are left: the file is cut short "
                              "or damaged",
                              what, (unsigned long long)n, (long long)(c->size - c->at));
    *out = (pt_gguf_text){(const char *)c->data + c->at, (int64_t)n};
    c->at += (int64_t)n;
    return PT_OK;
}

/* A key or a tensor's name. */
static pt_status take_name(cursor *c, const char *what, int64_t most, pt_gguf_text *out)
{
    int64_t at = c->at;
    pt_status s = take_text(c, what, out);
    if (s) return s;
    if (out->n == 0) return pt_fail_offset(c->err, PT_CORRUPT, at, "%s is empty", what);
    if (out->n > most)
        return pt_fail_offset(c->err, PT_CORRUPT, at, "%s has %lld bytes, at most %lld are allowed",
                              what, (long long)out->n, (long long)most);
    if (memchr(out->bytes, 0, (size_t)out->n) || !pt_utf8_valid(out->bytes, (size_t)out->n))
        return pt_fail_offset(c->err, PT_CORRUPT, at, "%s '%s' has a NUL in it or is not UTF-8",
                              what, show(*out).text);
    return PT_OK;
}

/* ---- values ---- */

static pt_status take_kind(cursor *c, pt_gguf_kind *out)
{
    uint32_t kind = 0;
    pt_status s = take_u32(c, "the kind of a value", &kind);
    if (s) return s;
    if (kind >= PT_GGUF_KIND_COUNT)
        return pt_fail_offset(c->err, PT_CORRUPT, c->at - 4,
                              "its value is of kind %u, the kinds are 0 to %d", kind,
                              PT_GGUF_KIND_COUNT - 1);
    *out = (pt_gguf_kind)kind;
    return PT_OK;
}

static pt_status take_texts(cursor *c, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        pt_gguf_text text;
        pt_status s = take_text(c, "a string", &text);
        if (s) return s;
        if (text.n > PT_GGUF_MAX_TEXT)
            return pt_fail_offset(c->err, PT_UNSUPPORTED, c->at - text.n,
                                  "a string has %lld bytes, at most %d are read", (long long)text.n,
                                  PT_GGUF_MAX_TEXT);
    }
    return PT_OK;
}

/* n elements of v->kind. */
static pt_status take_elements(cursor *c, pt_gguf_value *v, uint64_t n)
{
    int64_t begin = c->at, left = c->size - c->at;
    int64_t least = v->kind == PT_GGUF_TEXT ? 8 : kinds[v->kind].bytes;
    if (n > (uint64_t)(left / least))
        return pt_fail_offset(c->err, PT_CORRUPT, begin,
                              "%llu of %s do not fit into the %lld bytes that are left: the file "
                              "is cut short or damaged",
                              (unsigned long long)n, kinds[v->kind].word, (long long)left);
    if (n > PT_GGUF_MAX_ARRAY)
        return pt_fail_offset(c->err, PT_UNSUPPORTED, begin,
                              "an array of %llu elements, at most %d are read",
                              (unsigned long long)n, PT_GGUF_MAX_ARRAY);
    v->n = (int64_t)n;
    v->data = c->data + c->at;
    pt_status s = PT_OK;
    if (v->kind == PT_GGUF_TEXT) s = take_texts(c, v->n);
    else c->at += v->n * least;
    v->bytes = c->at - begin;
    for (int64_t i = 0; v->kind == PT_GGUF_BOOL && i < v->n; i++)
        if (v->data[i] > 1)
            return pt_fail_offset(c->err, PT_CORRUPT, begin + i, "a bool is %d, must be 0 or 1",
                                  v->data[i]);
    return s;
}

static pt_status take_array(cursor *c, pt_gguf_value *v)
{
    uint64_t n = 0;
    v->array = true;
    pt_status s = take_kind(c, &v->kind);
    if (s == PT_OK) s = take_u64(c, "the size of an array", &n);
    if (s) return s;
    if (v->kind != PT_GGUF_ARRAY) return take_elements(c, v, n);
    return pt_fail_offset(c->err, PT_UNSUPPORTED, c->at - 12,
                          "an array of arrays, which is not read here");
}

static pt_status take_value(cursor *c, pt_gguf_value *v)
{
    pt_status s = take_name(c, "a key", PT_GGUF_MAX_KEY, &v->key);
    if (s) return s;
    s = take_kind(c, &v->kind);
    if (s == PT_OK) s = v->kind == PT_GGUF_ARRAY ? take_array(c, v) : take_elements(c, v, 1);
    if (s) pt_error_prefix(c->err, "key %s", show(v->key).text);
    return s;
}

static pt_status take_values(cursor *c, pt_gguf *file)
{
    pt_status s = PT_OK;
    for (int64_t i = 0; i < file->n_values && s == PT_OK; i++) {
        s = take_value(c, &file->values[i]);
        file->keys.name[i] = file->values[i].key;
    }
    if (s) return s;
    int64_t twice = sort_names(&file->keys);
    if (twice < 0) return PT_OK;
    return pt_fail(c->err, PT_CORRUPT, "key %s: it is there twice",
                   show(file->keys.name[twice]).text);
}

static pt_status find_alignment(pt_gguf *file, pt_error *err)
{
    const pt_gguf_value *v = pt_gguf_value_find(file, PT_GGUF_ALIGNMENT_KEY);
    file->alignment = PT_GGUF_ALIGNMENT;
    if (!v) return PT_OK;
    if (v->kind != PT_GGUF_U32 || v->array)
        return pt_fail(err, PT_CORRUPT, "key %s: it is %s%s, must be a u32", PT_GGUF_ALIGNMENT_KEY,
                       v->array ? "an array of " : "", kinds[v->kind].word);
    uint32_t bytes = pt_load_u32(v->data);
    if (bytes == 0 || (bytes & (bytes - 1)) || bytes > PT_GGUF_MAX_ALIGNMENT)
        return pt_fail(err, PT_CORRUPT, "key %s: it is %u, must be a power of two from 1 to %d",
                       PT_GGUF_ALIGNMENT_KEY, bytes, PT_GGUF_MAX_ALIGNMENT);
    file->alignment = bytes;
    return PT_OK;
}

/* ---- tensors ---- */

static pt_status take_dims(cursor *c, pt_gguf_tensor *t)
{
    uint32_t rank = 0;
    pt_status s = take_u32(c, "a tensor", &rank);
    if (s) return s;
    if (rank > PT_GGUF_MAX_RANK)
        return pt_fail_offset(c->err, PT_UNSUPPORTED, c->at - 4,
                              "it has %u dimensions, at most %d are read", rank, PT_GGUF_MAX_RANK);
    t->rank = (int)rank;
    for (int i = 0; i < PT_GGUF_MAX_RANK; i++) t->dim[i] = 1;
    for (int i = t->rank - 1; i >= 0; i--) { /* the fastest comes first */
        uint64_t dim = 0;
        s = take_u64(c, "a tensor", &dim);
        if (s) return s;
        if (dim > INT64_MAX)
            return pt_fail_offset(c->err, PT_CORRUPT, c->at - 8,
                                  "dimension %d of its shape is not a count", i);
        t->dim[i] = (int64_t)dim;
    }
    return PT_OK;
}

static pt_status take_type(cursor *c, pt_gguf_tensor *t)
{
    uint32_t type = 0;
    pt_status s = take_u32(c, "a tensor", &type);
    if (s) return s;
    switch (type) {
#define TYPE(name, number) \
    case number: t->dtype = PT_##name; return PT_OK;
        PT_GGUF_TYPES(TYPE)
#undef TYPE
    default:
        return pt_fail_offset(c->err, PT_UNSUPPORTED, c->at - 4, "its type %u is not known here",
                              type);
    }
}

const char *pt_gguf_size_up(pt_gguf_tensor *t)
{
    int64_t n = 1, row = t->rank ? t->dim[t->rank - 1] : 1;
    bool empty = false;
    for (int i = 0; i < t->rank; i++) {
        empty = empty || t->dim[i] == 0;
        if (t->dim[i] < 0 || !pt_mul_i64(n, pt_max_i64(t->dim[i], 1), &n))
            return "its shape has more elements than can be counted";
    }
    if (row % pt_dtype_block(t->dtype)) return "its rows are not a whole number of blocks";
    t->n = empty ? 0 : n;
    t->bytes = pt_dtype_bytes(t->dtype, n);
    if (t->bytes < 0) return "its data would have more bytes than can be counted";
    if (empty) t->bytes = 0;
    return NULL;
}

static pt_status take_tensor(cursor *c, pt_gguf_tensor *t, pt_gguf_text *name, uint64_t *offset)
{
    pt_status s = take_name(c, "a tensor's name", PT_GGUF_MAX_NAME, name);
    if (s) return s;
    memcpy(t->name, name->bytes, (size_t)name->n);
    s = take_dims(c, t);
    if (s == PT_OK) s = take_type(c, t);
    if (s == PT_OK) s = take_u64(c, "a tensor", offset);
    const char *wrong = s == PT_OK ? pt_gguf_size_up(t) : NULL;
    if (wrong) s = pt_fail(c->err, PT_CORRUPT, "%s", wrong);
    if (s) pt_error_prefix(c->err, "tensor %s", show(*name).text);
    return s;
}

static pt_status take_tensors(cursor *c, pt_gguf *file)
{
    pt_status s = PT_OK;
    for (int64_t i = 0; i < file->n && s == PT_OK; i++)
        s = take_tensor(c, &file->tensors[i], &file->names.name[i], &file->offsets[i]);
    if (s) return s;
    int64_t twice = sort_names(&file->names);
    if (twice < 0) return PT_OK;
    return pt_fail(c->err, PT_CORRUPT, "tensor %s: it is there twice",
                   show(file->names.name[twice]).text);
}

/* The tensors follow one another, each filled up to the alignment. Sums stay small: a tensor's bytes are in the file before
 * they are added. */
static pt_status check_places(const pt_gguf *file, int64_t data_bytes, pt_error *err)
{
    int64_t at = 0;
    for (int64_t i = 0; i < file->n; i++) {
        const pt_gguf_tensor *t = &file->tensors[i];
        pt_shown name = show(file->names.name[i]);
        unsigned long long offset = file->offsets[i];
        if (offset % (uint64_t)file->alignment)
            return pt_fail(err, PT_CORRUPT,
                           "tensor %s: its offset %llu is no multiple of the alignment %lld",
                           name.text, offset, (long long)file->alignment);
        if (offset != (uint64_t)at)
            return pt_fail(
                err, PT_CORRUPT, "tensor %s begins at byte %llu; %s at %lld", name.text, offset,
                offset < (uint64_t)at ? "it overlaps one that ends" : "the one before it ends",
                (long long)at);
        if (t->bytes > 0 && t->bytes > data_bytes - at)
            return pt_fail(err, PT_CORRUPT,
                           "tensor %s: its bytes are %lld to %lld, but the file has %lld: it is "
                           "cut short or damaged",
                           name.text, (long long)at, (long long)at + (long long)t->bytes,
                           (long long)data_bytes);
        at = pt_round_up(at + t->bytes, file->alignment);
    }
    return PT_OK;
}

/* ---- the file ---- */

static pt_status take_begin(cursor *c, pt_gguf *file)
{
    if (c->size < 4 || memcmp(c->data, "GGUF", 4) != 0)
        return pt_fail_offset(c->err, PT_CORRUPT, 0,
                              "not a GGUF file: it does not begin with GGUF");
    if (c->size < 24)
        return pt_fail_offset(c->err, PT_CORRUPT, 0, "%lld bytes are too few for a GGUF file",
                              (long long)c->size);
    uint32_t version = pt_load_u32(c->data + 4);
    if (version && (version & 0xffff) == 0)
        return pt_fail_offset(c->err, PT_UNSUPPORTED, 4,
                              "a GGUF file of the other byte order (big-endian), which is not read "
                              "here");
    if (version != 2 && version != 3)
        return pt_fail_offset(c->err, PT_UNSUPPORTED, 4,
                              "a GGUF file of version %u; this program reads versions 2 and 3",
                              version);
    uint64_t n = pt_load_u64(c->data + 8), n_values = pt_load_u64(c->data + 16);
    uint64_t left = (uint64_t)c->size - 24;
    if (n > left / LEAST_TENSOR || n_values > (left - n * LEAST_TENSOR) / LEAST_VALUE)
        return pt_fail_offset(c->err, PT_CORRUPT, 8,
                              "%llu tensors and %llu keys do not fit into %lld bytes: the file is "
                              "cut short or damaged",
                              (unsigned long long)n, (unsigned long long)n_values,
                              (long long)c->size);
    file->version = (int)version;
    file->n = (int64_t)n;
    file->n_values = (int64_t)n_values;
    c->at = 24;
    return PT_OK;
}

static bool new_lists(pt_gguf *file)
{
    pt_arena *arena = &file->arena;
    file->tensors = pt_arena_array(arena, file->n, sizeof *file->tensors);
    file->offsets = pt_arena_array(arena, file->n, sizeof *file->offsets);
    file->values = pt_arena_array(arena, file->n_values, sizeof *file->values);
    return file->tensors && file->offsets && file->values &&
           new_names(&file->keys, arena, file->n_values) && new_names(&file->names, arena, file->n);
}

pt_status pt_gguf_parse(pt_gguf *file, const uint8_t *header, int64_t header_bytes,
                        int64_t file_bytes, pt_error *err)
{
    cursor c = {.data = header, .size = header_bytes, .err = err};
    pt_status s = take_begin(&c, file);
    if (s) return s;
    if (!new_lists(file))
        return pt_fail(err, PT_NO_MEMORY, "no memory for the keys and tensors of a GGUF file");
    s = take_values(&c, file);
    if (s == PT_OK) s = find_alignment(file, err);
    if (s == PT_OK) s = take_tensors(&c, file);
    if (s) return s;
    /* a file without data may end where its header ends */
    file->data_begin = pt_min_i64(pt_round_up(c.at, file->alignment), file_bytes);
    return check_places(file, file_bytes - file->data_begin, err);
}

pt_status pt_gguf_open(pt_gguf **out, const uint8_t *data, int64_t size, pt_error *err)
{
    *out = NULL;
    pt_gguf *file = pt_alloc(sizeof *file);
    if (!file) return pt_fail(err, PT_NO_MEMORY, "no memory to open a GGUF file");
    pt_status s = pt_gguf_parse(file, data, size, size, err);
    if (s) {
        pt_gguf_close(file);
        return s;
    }
    for (int64_t i = 0; i < file->n; i++) /* an empty one may lie behind the end */
        file->tensors[i].data = data + pt_min_i64(file->data_begin + (int64_t)file->offsets[i],
                                                  size - file->tensors[i].bytes);
    *out = file;
    return PT_OK;
}

void pt_gguf_close(pt_gguf *file)
{
    if (!file) return;
    pt_arena_deinit(&file->arena);
    pt_free(file);
}
