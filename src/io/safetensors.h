/* The .safetensors file: named tensors of many dtypes, as the Hugging Face tools read and write it.
 *
 *   0    u64 H, bytes of the header
 *   8    H bytes of JSON: {"__metadata__": {text: text}, "NAME": {"dtype", "shape",
 *        "data_offsets": [begin, end]}, …}, padded at its end with spaces
 *   8+H  the data; offsets count from here. Row-major, little-endian, without gaps
 * Format: https://github.com/huggingface/safetensors (README, "Format"). Reader and writer work on
 * memory and sinks only, and know no model.
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_SAFETENSORS_H
#define PT_IO_SAFETENSORS_H

#include "base/json.h"
#include "io/sink.h"
#include "tensor/tensor.h"

/* name in the file, bytes of an element, whether pt_safetensors_read_f32 takes it */
#define PT_SAFETENSORS_DTYPES(X) \
    X(F64, 8, true)              \
    X(F32, 4, true)              \
    X(F16, 2, true)              \
    X(BF16, 2, true)             \
    X(I64, 8, true)              \
    X(I32, 4, true)              \
    X(U8, 1, true)               \
    X(BOOL, 1, false)            \
    X(I8, 1, false)              \
    X(I16, 2, false)             \
    X(U16, 2, false)             \
    X(U32, 4, false)             \
    X(U64, 8, false)             \
    X(F8_E4M3, 1, false)         \
    X(F8_E5M2, 1, false)

typedef enum pt_safetensors_dtype {
#define PT_SAFETENSORS_ENUM(name, bytes, readable) PT_SAFETENSORS_##name,
    PT_SAFETENSORS_DTYPES(PT_SAFETENSORS_ENUM)
#undef PT_SAFETENSORS_ENUM
        PT_SAFETENSORS_DTYPE_COUNT
} pt_safetensors_dtype;

const char *pt_safetensors_dtype_name(pt_safetensors_dtype dtype); /* "BF16" */

#define PT_SAFETENSORS_MAX_RANK 8
#define PT_SAFETENSORS_MAX_HEADER 100000000 /* bytes; the limit of the original library */

/* ---- reading ---- */

typedef struct pt_safetensors_tensor {
    const char *name; /* NUL-terminated; borrowed */
    pt_safetensors_dtype dtype;
    int rank;                             /* 0: a single number */
    int64_t dim[PT_SAFETENSORS_MAX_RANK]; /* dim[rank..] are 1 */
    int64_t n;                            /* elements; may be 0 */
    const uint8_t *data;                  /* any alignment; borrowed */
    int64_t bytes;
} pt_safetensors_tensor;

typedef struct pt_safetensors pt_safetensors;

/* Opens a file that is in memory; the bytes are borrowed until close. Checked: header length, that
 * every tensor's bytes lie inside the file, are as many as dtype and shape need, and follow one
 * another without gap or overlap to the end of the file.
 * Errors: CORRUPT (naming the tensor and what is wrong), UNSUPPORTED (an unknown dtype, more than
 * PT_SAFETENSORS_MAX_RANK dimensions, a header above the limit), NO_MEMORY. *out is NULL then. */
pt_status pt_safetensors_open(pt_safetensors **out, const uint8_t *data, int64_t size,
                              pt_error *err);
void pt_safetensors_close(pt_safetensors *file); /* NULL is fine */

int64_t pt_safetensors_n(const pt_safetensors *file);
/* Tensor `index` (0 … n-1), in the order of the data. */
const pt_safetensors_tensor *pt_safetensors_at(const pt_safetensors *file, int64_t index);
/* NULL when there is none of that name. Takes time in proportion to log n. */
const pt_safetensors_tensor *pt_safetensors_find(const pt_safetensors *file, const char *name);
/* A member of __metadata__, NULL when absent. */
const char *pt_safetensors_metadata(const pt_safetensors *file, const char *key);

/* Elements first … first+n-1 of a tensor as f32: floats widen or round to nearest (ties to even),
 * integers round to nearest. Errors: BAD_INPUT (range), UNSUPPORTED (dtype, see the list). */
pt_status pt_safetensors_read_f32(const pt_safetensors_tensor *tensor, int64_t first, int64_t n,
                                  float *dst, pt_error *err);

/* ---- writing ---- */

/* A tensor to be written. dtype: F32, F64, F16, BF16, I32 or U8. Unused dims are ignored. */
typedef struct pt_safetensors_entry {
    const char *name; /* UTF-8 */
    pt_dtype dtype;
    int rank;
    int64_t dim[PT_SAFETENSORS_MAX_RANK];
    const void *data; /* for pt_safetensors_write; the writer below leaves it alone */
} pt_safetensors_entry;

/* A whole file at once. metadata (or NULL): an object of texts that goes into __metadata__ after the
 * {"format":"pt"} that transformers asks for. Errors: those of begin, put and end below. */
pt_status pt_safetensors_write(const pt_safetensors_entry *entries, int64_t n,
                               const pt_json *metadata, const pt_sink *sink, pt_error *err);

typedef struct pt_safetensors_writer pt_safetensors_writer;

/* Piece by piece. Writes the header, with the metadata {"format":"pt"}. The entries are borrowed
 * until begin returns. The data begin at a multiple of 8; each tensor is aligned to its
 * element when the entries are sorted by falling element size. Errors: BAD_INPUT (a dtype or shape
 * that the format cannot hold, a name that is empty, not UTF-8, or there twice), NO_MEMORY, the
 * sink's. */
pt_status pt_safetensors_writer_begin(pt_safetensors_writer **out,
                                      const pt_safetensors_entry *entries, int64_t n,
                                      const pt_sink *sink, pt_error *err);
/* Appends n_bytes of the tensors' data, in order, in pieces of any size. BAD_INPUT beyond the last. */
pt_status pt_safetensors_writer_put(pt_safetensors_writer *writer, const void *bytes,
                                    int64_t n_bytes, pt_error *err);
/* Frees the writer, also on failure. BAD_INPUT when bytes are missing. */
pt_status pt_safetensors_writer_end(pt_safetensors_writer *writer, pt_error *err);
void pt_safetensors_writer_discard(pt_safetensors_writer *writer); /* frees; NULL is fine */

#endif
