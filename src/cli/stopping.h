/* Signals that ask a run to end: an interrupt, TERM, HUP. The first asks for a clean end, the second ends the program at once.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_STOPPING_H
#define PT_CLI_STOPPING_H

#include "base/status.h"

/* From now on they are caught. What the caller told us to ignore (nohup) stays ignored. */
void pt_stopping_catch(void);
/* The status of a run that was asked to end, else OK. */
pt_status pt_stopping(void);

#endif
