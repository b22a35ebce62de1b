/* GGUF files built byte by byte, for tests. Nothing is checked or filled in. SPDX-License-Identifier: MIT */
#ifndef PT_IO_TEST_GGUF_H
#define PT_IO_TEST_GGUF_H

#include "io/bytes.h"
#include "io/gguf.h"

static inline void put_u32(pt_strbuf *to, uint32_t x) { pt_strbuf_append(to, (char *)&x, 4); }
static inline void put_u64(pt_strbuf *to, uint64_t x) { pt_strbuf_append(to, (char *)&x, 8); }
static inline void put_text(pt_strbuf *to, const char *text)
{
    put_u64(to, strlen(text));
    pt_strbuf_puts(to, text);
}

/* An empty buffer becomes the begin of a file. */
static inline void put_begin(pt_strbuf *to, uint32_t version, uint64_t n, uint64_t n_values)
{
    pt_strbuf_clear(to);
    pt_strbuf_puts(to, "GGUF");
    put_u32(to, version);
    put_u64(to, n);
    put_u64(to, n_values);
}

static inline void put_key(pt_strbuf *to, const char *key, uint32_t kind)
{
    put_text(to, key);
    put_u32(to, kind);
}

static inline void put_array(pt_strbuf *to, const char *key, uint32_t kind, uint64_t n)
{
    put_key(to, key, PT_GGUF_ARRAY);
    put_u32(to, kind);
    put_u64(to, n);
}

typedef struct test_tensor {
    const char *name;
    uint32_t rank, type;
    uint64_t dim[4]; /* as in the file: the fastest first */
    uint64_t offset;
} test_tensor;

static inline void put_tensor(pt_strbuf *to, test_tensor t)
{
    put_text(to, t.name);
    put_u32(to, t.rank);
    for (uint32_t i = 0; i < t.rank && i < 4; i++) put_u64(to, t.dim[i]);
    put_u32(to, t.type);
    put_u64(to, t.offset);
}

static inline void put_zeros(pt_strbuf *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) pt_strbuf_putc(to, 0);
}

/* Fills up to the alignment, and n bytes of data. */
static inline void put_data(pt_strbuf *to, int64_t alignment, int64_t n)
{
    put_zeros(to, pt_round_up((int64_t)to->len, alignment) - (int64_t)to->len + n);
}

#endif
