/* What the files of the GGUF reader and writer share. SPDX-License-Identifier: MIT */
#ifndef PT_IO_GGUF_INTERNAL_H
#define PT_IO_GGUF_INTERNAL_H

#include "base/arena.h"
#include "io/bytes.h"
#include "io/gguf.h"

#define PT_GGUF_ALIGNMENT_KEY "general.alignment"
#define PT_GGUF_ALIGNMENT 32

/* Names in order, so that one can be found. */
typedef struct pt_gguf_names {
    pt_gguf_text *name; /* [n] */
    int64_t *order;     /* [n] indices into name, sorted */
    int64_t n;
} pt_gguf_names;

struct pt_gguf {
    pt_arena arena;
    int version;
    int64_t alignment;
    int64_t n, n_values;
    pt_gguf_tensor *tensors;
    pt_gguf_value *values;
    uint64_t *offsets; /* of tensors, as the file has them; checked by pt_gguf_parse */
    pt_gguf_names keys, names;
    int64_t data_begin; /* where the data begin */
};

int pt_gguf_kind_bytes(pt_gguf_kind kind); /* of one; 0: they vary */
bool pt_gguf_text_is(pt_gguf_text text, const char *word);
/* Index of a name, -1 when there is none. */
int64_t pt_gguf_names_find(const pt_gguf_names *names, const char *name);

/* Sets n and bytes from dtype, rank and dim. NULL, or what is wrong with them. */
const char *pt_gguf_size_up(pt_gguf_tensor *tensor);
/* Reads and checks a header, of which header_bytes are in memory, of a file of file_bytes bytes; sets all but the tensors'
 * data. Errors as pt_gguf_open; `file` is zeroed before, and its arena the caller's. */
pt_status pt_gguf_parse(pt_gguf *file, const uint8_t *header, int64_t header_bytes,
                        int64_t file_bytes, pt_error *err);

#endif
