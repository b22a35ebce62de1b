/* A table of texts that fits the screen: columns of little importance are left out, then the widest texts lose their
 * beginning. In a file it is whole.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_TABLE_H
#define PT_CLI_TABLE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/strings.h"

#define PT_TABLE_COLUMNS 16 /* at most */

typedef struct pt_table {
    int64_t rows;
    int columns;
    int screen;       /* columns of the screen; 0: any number */
    const char *left; /* what a row begins with, or NULL */
    unsigned right;   /* bit k: column k is aligned to the right, and never cut */
    const int *ranks; /* [columns]: the highest is left out first; NULL: all stay */
    int kept;         /* ranks below this one stay */

    const char **cells; /* [rows][columns], in the arena */
    pt_arena arena;
} pt_table;

/* The cells of the `rows` and `columns` that were set, all empty. NO_MEMORY. */
pt_status pt_table_begin(pt_table *table, pt_error *err);
void pt_table_end(pt_table *table); /* a zeroed one is fine */
/* A cell's text: what it says, or any bytes made harmless (base/safe_text.h). Without memory it is "?". */
void pt_table_put(pt_table *table, int64_t row, int column, const char *fmt, ...) PT_PRINTF(4, 5);
void pt_table_text(pt_table *table, int64_t row, int column, const char *text);
const char *pt_table_cell(const pt_table *table, int64_t row, int column);
/* One line a row, without spaces at its end. */
void pt_table_print(const pt_table *table, pt_strbuf *out);

#endif
