/* Where a writer puts its bytes: a file being written, a growing buffer, a stream to the browser.
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_SINK_H
#define PT_IO_SINK_H

#include "base/strings.h"

/* A plain value; `ctx` is the owner's. A writer appends with `write` and may overwrite bytes it has
 * already written with `patch` (never beyond them): that is how a checksum gets into a header that
 * comes first. `offset` counts from the first byte written through the sink. */
typedef struct pt_sink {
    pt_status (*write)(void *ctx, const void *bytes, int64_t n, pt_error *err);
    pt_status (*patch)(void *ctx, int64_t offset, const void *bytes, int64_t n, pt_error *err);
    void *ctx;
} pt_sink;

/* Appends to `buf`, which must be empty at the start and outlive the sink. Errors: NO_MEMORY. */
pt_sink pt_sink_to_strbuf(pt_strbuf *buf);

/* Writes into a file that is being made (base/atomic_file.h), which must be empty at the start and
 * outlive the sink; the caller commits or discards it. Not part of the WASM build (sink_file.c). */
struct pt_atomic_file;
pt_sink pt_sink_to_file(struct pt_atomic_file *file);

/* What a header has announced and a writer still waits for. A plain value, zero at first: nothing. */
typedef struct pt_due {
    int64_t left; /* bytes */
    bool failed;  /* an earlier piece was refused or could not be written */
} pt_due;

/* Whether n bytes may come now. BAD_INPUT: after a failure, or more than is due. */
pt_status pt_due_check(const pt_due *due, int64_t n, pt_error *err);
/* Whether all has come. BAD_INPUT: after a failure, or with bytes missing. */
pt_status pt_due_end(const pt_due *due, pt_error *err);

#endif
