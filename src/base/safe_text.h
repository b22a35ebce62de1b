/* Text that may hold any byte, made harmless for whoever shows it: a terminal, a page, a log. One rule for all: control
 * characters (also DEL and the two-byte ones) become "·"; what is no UTF-8, and what turns the direction of text around (and
 * could make a line show something else than it says), becomes U+FFFD.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_SAFE_TEXT_H
#define PT_BASE_SAFE_TEXT_H

#include "base/strings.h"

/* The character at bytes[0] of n >= 1; *len is its length in bytes. Returns what stands for it, or NULL: itself. Newline and
 * tab are control characters: who lets them through looks for them first. */
const char *pt_safe_char(const char *bytes, size_t n, int *len);

/* Lines of text: those after the first begin with `indent`. A character that is incomplete at the end is left out. */
void pt_put_safely(pt_strbuf *to, const char *bytes, size_t n, const char *indent);

/* One line, newlines made harmless too, into out[cap] with cap >= 4: what does not fit ends in "..." after a whole
 * character. Returns its bytes. Takes no memory, so that an error can always be told. */
size_t pt_safe_line(char *out, size_t cap, const char *bytes, size_t n);

/* A word of a file or of the user in a message: one short line. */
typedef struct pt_shown {
    char text[64];
} pt_shown;
pt_shown pt_show(const char *bytes, size_t n);

#endif
