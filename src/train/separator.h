/* What stands between two documents of a corpus: a few byte tokens.
 *
 * A vocabulary of the 256 bytes has no token of its own for the end of a document. The default is an empty line, so that all a
 * model reads and writes is text; it says "something new" as paragraphs do, not more. A byte that no text holds, as \0, marks
 * the boundary without doubt, and a model trained on it writes it.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_SEPARATOR_H
#define PT_TRAIN_SEPARATOR_H

#include "base/strings.h"

#define PT_SEPARATOR_MAX 4 /* bytes; a shard's header has room for as many tokens */

typedef struct pt_separator {
    uint8_t bytes[PT_SEPARATOR_MAX];
    int n; /* 0: documents follow one another directly */
} pt_separator;

#define PT_SEPARATOR_DEFAULT ((pt_separator){.bytes = {'\n', '\n'}, .n = 2})

/* From text in which \n, \r, \t, \0, \\ and \xHH stand for a byte. BAD_INPUT for another backslash and for
 * more than PT_SEPARATOR_MAX bytes. */
pt_status pt_separator_parse(pt_separator *out, const char *text, pt_error *err);
/* The same form, printable. */
void pt_separator_print(const pt_separator *separator, pt_strbuf *to);

#endif
