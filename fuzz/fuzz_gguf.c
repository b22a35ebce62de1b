/* Fuzzing the GGUF reader and writer: what opens is read whole, written again, and must be the same.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "io/gguf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "fuzz_gguf: %s\n", what);
    abort();
}

static void read_tensor(const pt_gguf *file, const pt_gguf_tensor *t)
{
    float x[256];
    int64_t block = pt_dtype_block(t->dtype), step = block > 1 ? block : 64;
    require(pt_gguf_find(file, t->name) == t, "find a tensor");
    for (int64_t at = 0; at < t->n; at += step)
        require(pt_gguf_read_f32(t, at, pt_min_i64(step, t->n - at), x, NULL) == PT_OK, "read");
    pt_error err = {0};
    require(pt_gguf_read_f32(t, t->n, block, x, &err) == PT_BAD_INPUT, "beyond the end");
}

static void read_value(const pt_gguf_value *v, const uint8_t *end)
{
    int64_t whole = 0, n = 0;
    double x = 0;
    pt_gguf_text text;
    require(v->n >= 0 && v->bytes >= 0 && v->data + v->bytes <= end, "a value inside");
    for (int64_t i = -1; i <= v->n; i++) {
        bool there = pt_gguf_f64_at(v, i, &x);
        require(!pt_gguf_i64_at(v, i, &whole) || there, "a whole number is a number");
        require(!there || (i >= 0 && i < v->n), "an element outside");
    }
    for (pt_gguf_texts at = pt_gguf_texts_of(v); pt_gguf_next_text(&at, &text); n++)
        require((const uint8_t *)text.bytes + text.n <= v->data + v->bytes, "a text inside");
    require(n == (v->kind == PT_GGUF_TEXT ? v->n : 0), "number of texts");
}

static void require_same(const pt_gguf *a, const pt_gguf *b)
{
    int64_t n = pt_gguf_n(a), left = 0;
    require(pt_gguf_n(b) == n && pt_gguf_alignment(a) == pt_gguf_alignment(b), "counts");
    for (int64_t i = 0; i < n; i++) {
        const pt_gguf_tensor *x = pt_gguf_at(a, i), *y = pt_gguf_at(b, i);
        require(strcmp(x->name, y->name) == 0 && x->dtype == y->dtype && x->rank == y->rank &&
                    memcmp(x->dim, y->dim, sizeof x->dim) == 0 && x->n == y->n,
                "a tensor");
        require(x->bytes == y->bytes && memcmp(x->data, y->data, (size_t)x->bytes) == 0, "data");
    }
    for (int64_t i = 0; i < pt_gguf_n_values(a); i++) {
        const pt_gguf_value *x = pt_gguf_value_at(a, i);
        char key[64] = "";
        if (x->key.n < (int64_t)sizeof key) memcpy(key, x->key.bytes, (size_t)x->key.n);
        if (!*key || strcmp(key, "general.alignment") == 0) continue;
        const pt_gguf_value *y = pt_gguf_value_find(b, key);
        require(y && x->kind == y->kind && x->array == y->array && x->n == y->n, "a value");
        require(x->bytes == y->bytes && memcmp(x->data, y->data, (size_t)x->bytes) == 0, "bytes");
        left++;
    }
    require(pt_gguf_n_values(b) >= left, "number of values");
}

static void check_rewriting(const pt_gguf *file)
{
    int64_t n = pt_gguf_n(file);
    pt_gguf_metadata m = {.version = pt_gguf_version(file), .alignment = pt_gguf_alignment(file)};
    pt_gguf_entry *entries = calloc((size_t)n + 1, sizeof *entries);
    require(entries != NULL, "memory");
    for (int64_t i = 0; i < pt_gguf_n_values(file); i++)
        pt_gguf_put_value(&m, pt_gguf_value_at(file, i));
    for (int64_t i = 0; i < n; i++) {
        const pt_gguf_tensor *t = pt_gguf_at(file, i);
        entries[i] =
            (pt_gguf_entry){.name = t->name, .dtype = t->dtype, .rank = t->rank, .data = t->data};
        memcpy(entries[i].dim, t->dim, sizeof t->dim);
    }
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    pt_gguf *again = NULL;
    require(pt_gguf_write(&m, entries, n, &sink, NULL) == PT_OK, "write");
    require(pt_gguf_open(&again, (uint8_t *)out.data, (int64_t)out.len, NULL) == PT_OK, "again");
    require_same(file, again);
    pt_gguf_close(again);
    pt_strbuf_deinit(&out);
    pt_gguf_metadata_deinit(&m);
    free(entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pt_gguf *file;
    pt_error err = {0};
    pt_status s = pt_gguf_open(&file, data, (int64_t)size, &err);
    require((s == PT_OK) == (file != NULL), "a file or an error");
    if (s) {
        require(err.status == s && err.message[0] != '\0', "message");
        return 0;
    }
    int64_t bytes = 0;
    for (int64_t i = 0; i < pt_gguf_n_values(file); i++)
        read_value(pt_gguf_value_at(file, i), data + size);
    for (int64_t i = 0; i < pt_gguf_n(file); i++) {
        const pt_gguf_tensor *t = pt_gguf_at(file, i);
        require(t->bytes >= 0 && t->data >= data && t->data + t->bytes <= data + size, "inside");
        bytes += t->bytes;
        read_tensor(file, t);
    }
    require(bytes <= (int64_t)size, "sum");
    check_rewriting(file);
    pt_gguf_close(file);
    return 0;
}
