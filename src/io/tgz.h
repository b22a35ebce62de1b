/* One file out of a .tgz archive: gzip (RFC 1952) over deflate (RFC 1951) over tar (POSIX ustar), in memory.
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_TGZ_H
#define PT_IO_TGZ_H

#include "base/strings.h"

/* Appends what the gzip member holds to `out`, which must be empty; what follows the member is ignored. Errors: CORRUPT
 * (no gzip, damaged, checksum), BAD_INPUT (more than max_bytes come out), NO_MEMORY. */
pt_status pt_gunzip(const uint8_t *bytes, int64_t n, int64_t max_bytes, pt_strbuf *out,
                    pt_error *err);
/* The bytes of the regular file `name` in a tar of n bytes; borrowed. Errors: NOT_FOUND, CORRUPT. */
pt_status pt_tar_find(const uint8_t *tar, int64_t n, const char *name, const uint8_t **data,
                      int64_t *size, pt_error *err);

#endif
