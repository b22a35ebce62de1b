/* A line that is rewritten. SPDX-License-Identifier: MIT */
#include "cli/live_line.h"

#include <limits.h>

#include "cli/cli.h"

#define NEVER (-1e300)

pt_live_line pt_live_line_begin(void)
{
    return (pt_live_line){.terminal = pt_stderr_is_terminal(), .shown = NEVER};
}

bool pt_live_line_is_due(pt_live_line *l, double now)
{
    double every = l->terminal ? 0.2 : 10.0;
    if (now - l->shown < every) return false;
    l->shown = now;
    return true;
}

/* One less than the terminal has: some go to the next line when the last column is written. */
int pt_live_line_columns(const pt_live_line *l)
{
    return l->terminal ? pt_stderr_columns() - 1 : INT_MAX;
}

void pt_live_line_show(pt_live_line *l, const char *text)
{
    if (l->terminal) pt_say("\r%s\033[K", text);
    else pt_say("%s\n", text);
    l->open = l->terminal;
}

void pt_live_line_clear(pt_live_line *l)
{
    if (l->open) pt_say("\r\033[K");
    l->open = false;
}

void pt_live_line_keep(pt_live_line *l)
{
    if (l->open) pt_say("\n");
    l->open = false;
}
