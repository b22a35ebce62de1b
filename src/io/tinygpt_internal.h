/* What the reader and the writer of .tinygpt share and nobody else needs.
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_TINYGPT_INTERNAL_H
#define PT_IO_TINYGPT_INTERNAL_H

#include "io/tinygpt.h"

#define PT_TINYGPT_PREFIX 12 /* bytes: magic, version, header_len */
#define PT_TINYGPT_VERSION 2
#define PT_TINYGPT_MAX_HEADER (1 << 28) /* bytes; holds any corpus worth carrying */
#define PT_TINYGPT_BLOCK 64             /* values that share an int4 scale */
#define PT_TINYGPT_BLOCK_BYTES 32
#define PT_TINYGPT_CRC "bodyCrc32c" /* in the "posttrain" object */

static inline int64_t pt_tinygpt_blocks(int64_t n) { return pt_div_up(n, PT_TINYGPT_BLOCK); }
/* int4 blocks of all tensors before `index`; index == n_tensors gives the total. */
int64_t pt_tinygpt_blocks_before(const pt_tinygpt_config *config, int64_t index);
/* The shape in a header's `config`, checked, without the keys of architectures that are not ours.
 * Errors: CORRUPT, UNSUPPORTED. */
pt_status pt_tinygpt_config_parse(const pt_json *header, pt_tinygpt_config *out, pt_error *err);
/* The header of a new file as text. *crc_at: where in it the 8 digits of the checksum stand, still
 * zeros. Errors: BAD_INPUT, NO_MEMORY. */
pt_status pt_tinygpt_header_text(const pt_tinygpt_desc *desc, pt_strbuf *out, int64_t *crc_at,
                                 pt_error *err);

#endif
