/* TensorBoard's event files: records of protocol-buffer messages, written to memory.
 *
 * A record is u64 length, u32 masked CRC-32C of the length's 8 bytes, the message, u32 masked CRC-32C of the
 * message; masked(c) = ((c >> 15) | (c << 17)) + 0xa282ead8. The messages are those of event.proto,
 * summary.proto and tensor.proto in TensorBoard's tensorboard/compat/proto. A file begins with
 * pt_tfevents_version. Every function appends one record; check out->failed at the end.
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_TFEVENTS_H
#define PT_IO_TFEVENTS_H

#include "base/strings.h"

/* wall: Unix seconds, in all of them. */
void pt_tfevents_version(pt_strbuf *out, double wall);
/* A session begins at `step`: what an earlier session in the same folder logged for this step and later ones
 * is to be forgotten by the reader. */
void pt_tfevents_start(pt_strbuf *out, double wall, int64_t step);

typedef struct pt_tfevents_scalar {
    const char *tag;
    double value; /* stored as f32 */
} pt_tfevents_scalar;
void pt_tfevents_scalars(pt_strbuf *out, double wall, int64_t step,
                         const pt_tfevents_scalar *scalars, int n);
/* Any bytes, shown as they are: TensorBoard renders Markdown, so the text becomes a block of code
 * (indented by four). Newline and tab stay, all else is made harmless as in base/safe_text.h. */
void pt_tfevents_text(pt_strbuf *out, double wall, int64_t step, const char *tag, const char *bytes,
                      size_t n);

/* How many of the n bytes are whole records whose checksums are right: what follows was torn by a crash.
 * For pt_append_file_open_records. */
int64_t pt_tfevents_whole(const uint8_t *bytes, int64_t n);

#endif
