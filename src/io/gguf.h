/* The GGUF file: metadata and named tensors, most of them in blocks, as llama.cpp and ollama read and write it.
 *
 *   0    "GGUF"
 *   4    u32 version, 2 or 3 (the same layout)
 *   8    u64 number of tensors
 *   16   u64 number of keys
 *   24   the keys: string, u32 kind, value; a string is u64 bytes and the bytes; an array is u32 kind, u64 n, the elements
 *   …    the tensors: string, u32 rank, u64 dims (the fastest first), u32 type, u64 offset
 *   …    zeros up to a multiple of the alignment: the u32 general.alignment, else 32
 *   …    the data, which offsets count from: in the order of the tensors, each filled up to the alignment. Little-endian.
 * Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Reader and writer work on memory and sinks only, and
 * know no model and no key but general.alignment.
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_GGUF_H
#define PT_IO_GGUF_H

#include "io/sink.h"
#include "tensor/tensor.h"

/* Kinds of values by their numbers in the file, from 0: name, bytes of one (0: they vary), word. */
#define PT_GGUF_KINDS(X) \
    X(U8, 1, "u8")       \
    X(I8, 1, "i8")       \
    X(U16, 2, "u16")     \
    X(I16, 2, "i16")     \
    X(U32, 4, "u32")     \
    X(I32, 4, "i32")     \
    X(F32, 4, "f32")     \
    X(BOOL, 1, "bool")   \
    X(TEXT, 0, "string") \
    X(ARRAY, 0, "array") \
    X(U64, 8, "u64")     \
    X(I64, 8, "i64")     \
    X(F64, 8, "f64")

typedef enum pt_gguf_kind {
#define PT_GGUF_ENUM(name, bytes, word) PT_GGUF_##name,
    PT_GGUF_KINDS(PT_GGUF_ENUM)
#undef PT_GGUF_ENUM
        PT_GGUF_KIND_COUNT
} pt_gguf_kind;

const char *pt_gguf_kind_name(pt_gguf_kind kind); /* "u32" */

/* Types of tensors: pt_dtype, number in the file. */
#define PT_GGUF_TYPES(X) \
    X(F32, 0)            \
    X(F16, 1)            \
    X(Q4_0, 2)           \
    X(Q4_1, 3)           \
    X(Q5_0, 6)           \
    X(Q5_1, 7)           \
    X(Q8_0, 8)           \
    X(Q4_K, 12)          \
    X(Q5_K, 13)          \
    X(Q6_K, 14)          \
    X(BF16, 30)

#define PT_GGUF_MAX_RANK PT_MAX_RANK
#define PT_GGUF_MAX_NAME 63             /* bytes of a tensor's name */
#define PT_GGUF_MAX_KEY 65535           /* bytes */
#define PT_GGUF_MAX_TEXT (1 << 24)      /* bytes of a string */
#define PT_GGUF_MAX_ARRAY (1 << 26)     /* elements */
#define PT_GGUF_MAX_ALIGNMENT (1 << 20) /* bytes */

/* n bytes, not NUL-terminated, borrowed. */
typedef struct pt_gguf_text {
    const char *bytes;
    int64_t n;
} pt_gguf_text;

/* ---- reading ---- */

typedef struct pt_gguf_value {
    pt_gguf_text key;  /* UTF-8 without NUL, not empty */
    pt_gguf_kind kind; /* of the value, or of each element of the array; never ARRAY */
    bool array;
    int64_t n;           /* elements; 1 when it is no array */
    const uint8_t *data; /* as in the file, at any address; borrowed */
    int64_t bytes;
} pt_gguf_value;

typedef struct pt_gguf_tensor {
    char name[PT_GGUF_MAX_NAME + 1]; /* UTF-8, NUL-terminated, not empty */
    pt_dtype dtype;
    int rank; /* 0: a single number */
    int64_t dim
        [PT_GGUF_MAX_RANK]; /* in our order, the reverse of the file's: the last is contiguous; dim[rank..] are 1 */
    int64_t n;           /* elements; may be 0 */
    const uint8_t *data; /* aligned as the file's begin and its alignment are; borrowed */
    int64_t bytes;
} pt_gguf_tensor;

typedef struct pt_gguf pt_gguf;

/* Opens a file that is in memory; the bytes are borrowed until close. Takes memory in proportion to the header, and time
 * n log n. Checked: that everything lies inside the file; that keys and tensors' names are there once; that dimensions, their
 * product and the bytes can be counted; that rows are whole blocks; that the tensors follow one another as the format says.
 * Not checked: texts (but keys and names) for being UTF-8, what fills up, bytes behind the last tensor.
 * Errors: CORRUPT (naming key or tensor and what is wrong), UNSUPPORTED (another version or byte order, a type of tensor that
 * is not in the list, arrays of arrays, what is above a limit), NO_MEMORY. *out is NULL then. */
pt_status pt_gguf_open(pt_gguf **out, const uint8_t *data, int64_t size, pt_error *err);
void pt_gguf_close(pt_gguf *file); /* NULL is fine */

int pt_gguf_version(const pt_gguf *file);
int64_t pt_gguf_alignment(const pt_gguf *file); /* bytes; a power of two */

int64_t pt_gguf_n(const pt_gguf *file);
/* Tensor `index` (0 … n-1), in the order of the file; NULL outside. */
const pt_gguf_tensor *pt_gguf_at(const pt_gguf *file, int64_t index);
/* NULL when there is none of that name. Takes time in proportion to log n. */
const pt_gguf_tensor *pt_gguf_find(const pt_gguf *file, const char *name);

/* Elements first … first+n-1 as f32, by tensor/quants.h. Both are multiples of pt_dtype_block. Errors: BAD_INPUT. */
pt_status pt_gguf_read_f32(const pt_gguf_tensor *tensor, int64_t first, int64_t n, float *dst,
                           pt_error *err);

int64_t pt_gguf_n_values(const pt_gguf *file);
const pt_gguf_value *pt_gguf_value_at(const pt_gguf *file, int64_t index); /* as pt_gguf_at */
const pt_gguf_value *pt_gguf_value_find(const pt_gguf *file, const char *key);

/* A value by its key. Errors: NOT_FOUND, CORRUPT when it is of another kind; *out is left alone then. i64 takes every kind of
 * whole number that fits, f64 every kind of number. */
pt_status pt_gguf_get_i64(const pt_gguf *file, const char *key, int64_t *out, pt_error *err);
pt_status pt_gguf_get_f64(const pt_gguf *file, const char *key, double *out, pt_error *err);
pt_status pt_gguf_get_bool(const pt_gguf *file, const char *key, bool *out, pt_error *err);
pt_status pt_gguf_get_text(const pt_gguf *file, const char *key, pt_gguf_text *out, pt_error *err);
/* An array of n elements (-1: any number) of a kind. */
pt_status pt_gguf_get_array(const pt_gguf *file, const char *key, pt_gguf_kind kind, int64_t n,
                            const pt_gguf_value **out, pt_error *err);

/* Element `index` of a value; false when there is none, it is no number, or (i64) no whole number that fits. */
bool pt_gguf_i64_at(const pt_gguf_value *value, int64_t index, int64_t *out);
bool pt_gguf_f64_at(const pt_gguf_value *value, int64_t index, double *out);

/* The texts of a value, one after another, where they lie:
 *   pt_gguf_text text;
 *   for (pt_gguf_texts at = pt_gguf_texts_of(value); pt_gguf_next_text(&at, &text);) … */
typedef struct pt_gguf_texts {
    const uint8_t *at;
    int64_t left;
} pt_gguf_texts;
pt_gguf_texts pt_gguf_texts_of(const pt_gguf_value *value); /* none when it holds no texts */
bool pt_gguf_next_text(pt_gguf_texts *texts, pt_gguf_text *out);

/* ---- writing ---- */

/* Keys and values to be written. Zero-initialised is valid and empty. What cannot be written, and missing memory, is
 * reported by the writer. general.alignment is the writer's: it stands first where the alignment is not 32. */
typedef struct pt_gguf_metadata {
    int version;       /* 2 or 3; 0: 3 */
    int64_t alignment; /* 0: 32 */
    int64_t n;         /* the rest belongs to the functions below */
    bool wrong;
    pt_strbuf bytes;
} pt_gguf_metadata;

void pt_gguf_put_text(pt_gguf_metadata *m, const char *key, const char *text);
void pt_gguf_put_u32(pt_gguf_metadata *m, const char *key, uint32_t value);
void pt_gguf_put_f32(pt_gguf_metadata *m, const char *key, float value);
void pt_gguf_put_bool(pt_gguf_metadata *m, const char *key, bool value);
/* One number (or bool) of any kind, and an array of n of them. */
void pt_gguf_put_number(pt_gguf_metadata *m, const char *key, pt_gguf_kind kind, const void *value);
void pt_gguf_put_array(pt_gguf_metadata *m, const char *key, pt_gguf_kind kind, const void *values,
                       int64_t n);
void pt_gguf_put_texts(pt_gguf_metadata *m, const char *key, const pt_gguf_text *texts, int64_t n);
/* A value as another file has it. general.alignment is passed over. */
void pt_gguf_put_value(pt_gguf_metadata *m, const pt_gguf_value *value);
void pt_gguf_metadata_deinit(pt_gguf_metadata *m);

/* A tensor to be written: a dtype of PT_GGUF_TYPES, dims in our order; those from rank on are ignored. */
typedef struct pt_gguf_entry {
    const char *name; /* UTF-8 */
    pt_dtype dtype;
    int rank;
    int64_t dim[PT_GGUF_MAX_RANK];
    const void *data; /* for pt_gguf_write; the writer below leaves it alone */
} pt_gguf_entry;

/* A whole file at once. metadata: NULL for none. Errors: those of begin, put and end below. */
pt_status pt_gguf_write(const pt_gguf_metadata *metadata, const pt_gguf_entry *entries, int64_t n,
                        const pt_sink *sink, pt_error *err);

typedef struct pt_gguf_writer pt_gguf_writer;

/* Piece by piece. Writes the header, which pt_gguf_open is known to take; metadata and entries are borrowed until begin
 * returns. Errors: BAD_INPUT (what the reader would refuse, saying what), NO_MEMORY, the sink's. */
pt_status pt_gguf_writer_begin(pt_gguf_writer **out, const pt_gguf_metadata *metadata,
                               const pt_gguf_entry *entries, int64_t n, const pt_sink *sink,
                               pt_error *err);
/* Appends n_bytes of the tensors' data, in order, in pieces of any size; fills up between them. BAD_INPUT beyond the last. */
pt_status pt_gguf_writer_put(pt_gguf_writer *writer, const void *bytes, int64_t n_bytes,
                             pt_error *err);
/* Frees the writer, also on failure. BAD_INPUT when bytes are missing. */
pt_status pt_gguf_writer_end(pt_gguf_writer *writer, pt_error *err);
void pt_gguf_writer_discard(pt_gguf_writer *writer); /* frees; NULL is fine */

#endif
