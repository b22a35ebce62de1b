/* A line that fits: parts side by side, the least important ones left out first.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_FIT_LINE_H
#define PT_BASE_FIT_LINE_H

#include "base/mem.h"

typedef struct pt_line_part {
    const char *text; /* UTF-8; NULL or "" is left out */
    int rank;         /* the highest goes first; parts of one rank go together */
    bool glued;       /* follows the part before without two spaces */
} pt_line_part;

/* Joins the parts into out[cap] so that they take at most `columns` columns (one per character). When the last part alone is
 * too wide, its end goes. Returns the columns. */
int pt_fit_line(char *out, size_t cap, const pt_line_part *parts, int n, int columns);
/* Characters of UTF-8 text. */
int pt_text_columns(const char *text);

#endif
