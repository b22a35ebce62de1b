/* Text: a growable buffer and a few look-ups.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_STRINGS_H
#define PT_BASE_STRINGS_H

#include <stdarg.h>

#include "base/format.h"
#include "base/mem.h"

/* A growable byte buffer, always NUL-terminated once it has data. Zero-initialised is valid and
 * empty. After an allocation failure `failed` stays set and appends do nothing, so a long series
 * of appends is checked once at its end. Bytes appended may not lie in the buffer itself. */
typedef struct pt_strbuf {
    char *data;
    size_t len; /* bytes, without the NUL */
    size_t cap;
    bool failed;
} pt_strbuf;

void pt_strbuf_append(pt_strbuf *buf, const char *bytes, size_t n);
void pt_strbuf_puts(pt_strbuf *buf, const char *text);
void pt_strbuf_putc(pt_strbuf *buf, char c);
void pt_strbuf_printf(pt_strbuf *buf, const char *fmt, ...) PT_PRINTF(2, 3);
void pt_strbuf_clear(pt_strbuf *buf); /* keeps the memory, and `failed` */
void pt_strbuf_deinit(pt_strbuf *buf);

bool pt_str_starts(const char *text, const char *prefix);
bool pt_str_ends(const char *text, const char *suffix);
/* Edit distance (insert, delete, replace, swap of neighbours), for "did you mean". Texts longer
 * than 63 bytes count as their first 63. */
int pt_str_distance(const char *a, const char *b);
/* Length of the longest prefix of the n bytes that ends on a UTF-8 character boundary: the bytes
 * after it are an incomplete character. Malformed bytes count as complete characters. */
size_t pt_utf8_complete(const char *bytes, size_t n);
bool pt_utf8_valid(const char *bytes, size_t n);
/* Length (1 … 4) of the well-formed character at bytes[0]; or, where there is none, minus the
 * length (1 … 3) of the ill-formed piece that one U+FFFD stands for (the "maximal subpart" of
 * Unicode 15, section 3.9). Reads at most n bytes, n >= 1. */
int pt_utf8_char(const char *bytes, size_t n);

#endif
