/* A line on stderr that tells how far a long work is: rewritten on a terminal a few times a second; elsewhere a new line every
 * few seconds.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_LIVE_LINE_H
#define PT_CLI_LIVE_LINE_H

#include <stdbool.h>

typedef struct pt_live_line {
    bool terminal; /* one that rewrites its line */
    bool open;     /* the line is on the screen */
    double shown;  /* when it was written last */
} pt_live_line;

pt_live_line pt_live_line_begin(void); /* the first line is due at once */
/* Whether it is time to write it; from `now` (seconds) on the next one is waited for. */
bool pt_live_line_is_due(pt_live_line *line, double now);
/* Columns that a line may have. */
int pt_live_line_columns(const pt_live_line *line);
/* Writes it; text has no newline. */
void pt_live_line_show(pt_live_line *line, const char *text);
/* Something else is to be said: the line gives way. */
void pt_live_line_clear(pt_live_line *line);
/* The line stays on the screen. */
void pt_live_line_keep(pt_live_line *line);

#endif
