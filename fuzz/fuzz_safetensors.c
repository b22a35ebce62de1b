/* Fuzzing the .safetensors reader and writer: what opens is read whole, and where the writer knows
 * all its dtypes, written again and compared.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "io/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "fuzz_safetensors: %s\n", what);
    abort();
}

/* PT_DTYPE_COUNT: the writer does not know it. */
static pt_dtype to_write(pt_safetensors_dtype dtype)
{
    pt_dtype known;
    char lower[16] = "";
    const char *name = pt_safetensors_dtype_name(dtype);
    for (int i = 0; name[i]; i++) lower[i] = (char)(name[i] >= 'A' ? name[i] | 32 : name[i]);
    return pt_dtype_from_name(lower, &known) ? known : PT_DTYPE_COUNT;
}

static void read_all(const pt_safetensors *file, const pt_safetensors_tensor *t)
{
    require(pt_safetensors_find(file, t->name) == t, "find");
    float x[64];
    for (int64_t at = 0; at < t->n; at += 64) {
        int64_t n = pt_min_i64(64, t->n - at);
        pt_status s = pt_safetensors_read_f32(t, at, n, x, NULL);
        require(s == PT_OK || s == PT_UNSUPPORTED, "read");
    }
    pt_error err = {0};
    require(pt_safetensors_read_f32(t, t->n, 1, x, &err) == PT_BAD_INPUT, "beyond the end");
}

static void require_same(const pt_safetensors *a, const pt_safetensors *b)
{
    int64_t n = pt_safetensors_n(a);
    require(pt_safetensors_n(b) == n, "number of tensors");
    for (int64_t i = 0; i < n; i++) {
        const pt_safetensors_tensor *x = pt_safetensors_at(a, i);
        const pt_safetensors_tensor *y = pt_safetensors_find(b, x->name);
        require(y && y->dtype == x->dtype && y->rank == x->rank && y->n == x->n, "shape");
        require(x->bytes == y->bytes && memcmp(x->data, y->data, (size_t)x->bytes) == 0, "data");
    }
}

static void check_rewriting(const pt_safetensors *file)
{
    int64_t n = pt_safetensors_n(file);
    pt_safetensors_entry *entries = calloc((size_t)n + 1, sizeof *entries);
    require(entries != NULL, "memory");
    bool writable = true;
    for (int64_t i = 0; i < n; i++) {
        const pt_safetensors_tensor *t = pt_safetensors_at(file, i);
        entries[i] = (pt_safetensors_entry){
            .name = t->name, .dtype = to_write(t->dtype), .rank = t->rank, .data = t->data};
        memcpy(entries[i].dim, t->dim, sizeof t->dim);
        writable = writable && entries[i].dtype != PT_DTYPE_COUNT;
    }
    pt_strbuf out = {0};
    pt_sink sink = pt_sink_to_strbuf(&out);
    pt_error err = {0};
    pt_status s = pt_safetensors_write(entries, n, NULL, &sink, &err);
    require((s == PT_OK) == writable, "write");
    if (s == PT_OK) {
        pt_safetensors *again;
        s = pt_safetensors_open(&again, (uint8_t *)out.data, (int64_t)out.len, &err);
        require(s == PT_OK, "open again");
        require_same(file, again);
        pt_safetensors_close(again);
    }
    pt_strbuf_deinit(&out);
    free(entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pt_safetensors *file;
    pt_error err = {0};
    pt_status s = pt_safetensors_open(&file, data, (int64_t)size, &err);
    require((s == PT_OK) == (file != NULL), "a file or an error");
    if (s) {
        require(err.status == s && err.message[0] != '\0', "message");
        return 0;
    }
    int64_t bytes = 0;
    for (int64_t i = 0; i < pt_safetensors_n(file); i++) {
        const pt_safetensors_tensor *t = pt_safetensors_at(file, i);
        require(t->bytes >= 0 && t->data >= data && t->data + t->bytes <= data + size, "inside");
        bytes += t->bytes;
        read_all(file, t);
    }
    require(bytes <= (int64_t)size, "sum");
    check_rewriting(file);
    pt_safetensors_close(file);
    return 0;
}
