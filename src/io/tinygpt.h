/* The .tinygpt model file: a JSON header and the weights, in the layouts that the original system's
 * browser page and native program share. Reader and writer.
 *
 * Both work on memory and sinks only: they open no files and so also run in the browser. Neither
 * knows the model; they hand over named f32 tensors.
 *
 * THE LAYOUT TRAP: the manifest states Linear weights as [out,in], but the bytes are stored
 * row-major as [in,out], in every body layout, moments included. This module is the only place that
 * knows: every tensor that crosses this interface is in [out,in] order, except where a function says
 * "stored order".
 *
 *   0     "TGPT" | u32 version 1 or 2 | u32 header_len = H | H bytes of JSON
 *   12+H  the body: i32 step, then
 *           f32    per tensor w[n] m[n] v[n] (m, v: AdamW moments)     4 + 12 N bytes
 *           f16    all weights as IEEE half                            4 + 2 N
 *           int4   all f16 scales, then all nibbles, blocks of 64      4 + 34 ΣB, B = ceil(n/64)
 * with the tensors in the order that pt_tinygpt_tensor_at gives. Little-endian throughout.
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_TINYGPT_H
#define PT_IO_TINYGPT_H

#include "base/json.h"
#include "io/sink.h"

/* ---- the tensors of a model, from its configuration ---- */

typedef struct pt_tinygpt_config {
    int64_t layers, heads, d_model, d_mlp, ctx, vocab;
} pt_tinygpt_config;

#define PT_TINYGPT_NAME_MAX 48 /* bytes, with the NUL */

typedef struct pt_tinygpt_tensor {
    char name[PT_TINYGPT_NAME_MAX]; /* "blocks.3.mlp.fc_in.weight" */
    int rank;                       /* 1 or 2 */
    int64_t dim[2];                 /* [out,in] for a Linear weight; dim[1] is 1 when rank is 1 */
    int64_t n;                      /* elements */
    int64_t offset;                 /* elements before it: the manifest's floatOffset */
    bool transposed;                /* a Linear weight: stored as [in,out] */
} pt_tinygpt_tensor;

/* Every dimension is positive and within bounds (layers 1024, d_model 2^16, d_mlp 2^18, ctx 2^20,
 * vocab 2^22), heads divides d_model. Errors: BAD_INPUT, naming the field. The functions below
 * want a configuration that passed. */
pt_status pt_tinygpt_config_check(const pt_tinygpt_config *config, pt_error *err);
int64_t pt_tinygpt_n_tensors(const pt_tinygpt_config *config); /* 4 + 16 layers */
int64_t pt_tinygpt_n_params(const pt_tinygpt_config *config);
/* Tensor `index` (0 … n_tensors-1) of the file order. */
pt_tinygpt_tensor pt_tinygpt_tensor_at(const pt_tinygpt_config *config, int64_t index);
/* Between the stored order and [out,in]; a plain copy for tensors that are not transposed. n
 * elements each, no overlap. */
void pt_tinygpt_from_stored(const pt_tinygpt_tensor *t, float *dst, const float *stored);
void pt_tinygpt_to_stored(const pt_tinygpt_tensor *t, float *stored, const float *src);

typedef enum pt_tinygpt_dtype {
    PT_TINYGPT_F32,         /* weights and both moments */
    PT_TINYGPT_F32_WEIGHTS, /* weights only: read, never written (no upstream reader takes it) */
    PT_TINYGPT_F16,
    PT_TINYGPT_INT4
} pt_tinygpt_dtype;

const char *pt_tinygpt_dtype_name(pt_tinygpt_dtype dtype); /* "f32", "f32 weights", "f16", "int4" */
/* Bytes of the body, with the step. */
int64_t pt_tinygpt_body_bytes(const pt_tinygpt_config *config, pt_tinygpt_dtype dtype);

typedef enum pt_tinygpt_part {
    PT_TINYGPT_W, /* the weights */
    PT_TINYGPT_M, /* AdamW's first moment, same shape and order as the weights */
    PT_TINYGPT_V  /* AdamW's second moment */
} pt_tinygpt_part;

/* ---- reading ---- */

typedef struct pt_tinygpt pt_tinygpt; /* an open file */

typedef struct pt_tinygpt_info {
    int version; /* 1 or 2, from the prefix */
    pt_tinygpt_dtype dtype;
    pt_tinygpt_config config;
    int64_t step;
    int64_t n_tensors;
    int64_t n_params;
    bool has_manifest; /* false: rebuilt from the configuration */
    bool has_crc;
    uint32_t crc; /* posttrain.bodyCrc32c: crc32c of the whole body, step included */
    int64_t header_bytes;
    int64_t body_offset, body_bytes;
    const pt_json *header; /* the whole header; borrowed */
} pt_tinygpt_info;

/* Opens a file that is in memory. The bytes are borrowed until pt_tinygpt_close; nothing is copied
 * but the header. Everything is checked against the size before it is used: magic, version, header
 * length, configuration, manifest (names, shapes, order and floatOffset must be those that the
 * configuration implies), stateByteLength, and the exact size of the body.
 * Errors: BAD_INPUT (not a .tinygpt file), UNSUPPORTED (newer version; an architecture that is not
 * ours, naming the key), CORRUPT (everything else, naming field, value found, value wanted),
 * NO_MEMORY. *out is NULL on failure. */
pt_status pt_tinygpt_open(pt_tinygpt **out, const uint8_t *data, int64_t size, pt_error *err);
void pt_tinygpt_close(pt_tinygpt *file);                       /* NULL is fine */
const pt_tinygpt_info *pt_tinygpt_get(const pt_tinygpt *file); /* lives as long as the file */

/* Decodes one whole tensor to f32 in [out,in] order; dst holds its n elements. Moments exist only in
 * the F32 layout; in the others they read as zeros. Errors: BAD_INPUT for an index out of range. */
pt_status pt_tinygpt_read(const pt_tinygpt *file, int64_t tensor, pt_tinygpt_part part, float *dst,
                          pt_error *err);
/* Checks the body against its checksum; PT_OK when the file has none. Errors: CORRUPT. */
pt_status pt_tinygpt_verify(const pt_tinygpt *file, pt_error *err);

/* ---- writing ---- */

/* A point of the loss history. */
typedef struct pt_tinygpt_loss {
    int64_t step;
    double train, val; /* nats; val NaN: not measured (null) */
} pt_tinygpt_loss;

/* The settings that stand in the header's `config` beside the shape. */
typedef struct pt_tinygpt_run {
    int64_t batch_size, max_steps, eval_every;
    double learning_rate, grad_clip;
    uint64_t seed;
    const char *backend; /* "wasm", "webgpu", "cpu", … */
} pt_tinygpt_run;

/* What to write. Zero or NULL means: take it from `from` when there is one, else the value the
 * original writes for "none". Pointers are borrowed until begin returns. */
typedef struct pt_tinygpt_desc {
    pt_tinygpt_config config;
    pt_tinygpt_dtype dtype; /* F32, F16 or INT4 */
    int64_t step;           /* 0 … 2^31-1 */
    /* The header of a file to pass through: keys keep their order, unknown ones are kept, what
     * describes the body is made new. Its configuration must have the shape of `config`. */
    const pt_json *from;
    const pt_tinygpt_run *run;
    const char *saved_at; /* ISO with milliseconds (pt_clock_iso); required unless `from` has it */
    const char *corpus;   /* UTF-8; NULL: no corpus in the header, or that of `from` */
    size_t corpus_len;
    bool drop_corpus; /* leave out the corpus of `from` too */
    /* The whole history; more than 512 points are thinned and losses rounded to 4 decimals as the
     * browser does. */
    const pt_tinygpt_loss *history;
    int64_t n_history;
    const pt_tinygpt_loss *final_loss; /* written unrounded */
    const pt_tinygpt_loss *best_val;   /* step and val */
    const char *sample;                /* UTF-8; its first 320 UTF-16 units are written */
    const char *converted_from;        /* the file name of a conversion's source; NULL: none */
    /* An object (or NULL) whose members go into the header's "posttrain" object; our own
     * `bodyCrc32c` follows them. */
    const pt_json *posttrain;
} pt_tinygpt_desc;

typedef struct pt_tinygpt_writer pt_tinygpt_writer;

/* Writes prefix, header and step. The sink must be empty. Errors: BAD_INPUT, NO_MEMORY, the sink's. */
pt_status pt_tinygpt_writer_begin(pt_tinygpt_writer **out, const pt_tinygpt_desc *desc,
                                  const pt_sink *sink, pt_error *err);
/* Appends n_rows rows (indices of dim[0]) of `part` of tensor `index`, in [out,in] order. Tensors
 * come in file order, of each W and, in the F32 layout only, then M and then V. A transposed tensor
 * comes whole; others may come in consecutive pieces. rows == NULL writes zeros.
 * F16 rounds to nearest, ties to even. INT4 quantises the f16 value of the weight as the original
 * does, except that a block which is already a multiple of one scale is kept exactly, so that
 * re-writing an int4 file changes nothing.
 * Errors: BAD_INPUT (out of order; a finite weight too large for f16; a weight that is not finite in
 * an INT4 file), the sink's. After an error the writer can only be discarded. */
pt_status pt_tinygpt_writer_put(pt_tinygpt_writer *writer, int64_t index, pt_tinygpt_part part,
                                const float *rows, int64_t n_rows, pt_error *err);
/* Completes the body, patches its checksum into the header, and frees the writer, also on failure.
 * Errors: BAD_INPUT when tensors are missing, the sink's. */
pt_status pt_tinygpt_writer_end(pt_tinygpt_writer *writer, pt_error *err);
void pt_tinygpt_writer_discard(pt_tinygpt_writer *writer); /* frees; NULL is fine */

#endif
