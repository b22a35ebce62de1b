/* Pieces of text as Python's str sees them: characters are code points, white space is Unicode's. Ill-formed bytes count as
 * one character each piece. Inside text/jinja only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TEXT_JINJA_STRINGS_H
#define PT_TEXT_JINJA_STRINGS_H

#include "base/strings.h"

/* Bytes of the character at text[0]; n >= 1. */
size_t pt_jinja_char(const char *text, size_t n);
int64_t pt_jinja_chars(const char *text, size_t n); /* how many */
/* Bytes before character `index` (0 … number of characters). */
size_t pt_jinja_char_at(const char *text, size_t n, int64_t index);
bool pt_jinja_is_space(const char *text, size_t len); /* one character */
size_t pt_jinja_lstrip(const char *text, size_t n);   /* bytes of white space at the beginning */
size_t pt_jinja_rstrip(const char *text, size_t n);   /* bytes that stay without that at the end */
/* Encodes a code point up to U+10FFFF; returns its bytes. */
size_t pt_jinja_encode(char out[4], uint32_t code);

#endif
