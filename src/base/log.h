/* Log lines for people who debug: level and text, off by default below WARN.
 * Messages for the user are not logged here: they travel as pt_error or are printed by cli/.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_LOG_H
#define PT_BASE_LOG_H

#include "base/status.h"

typedef enum pt_log_level { PT_LOG_DEBUG, PT_LOG_INFO, PT_LOG_WARN, PT_LOG_ERROR } pt_log_level;
typedef void (*pt_log_sink)(void *ctx, pt_log_level level, const char *line, size_t n);

/* One line of at most 1023 bytes, longer ones end in "..."; control characters become spaces. */
void pt_log_line(pt_log_level level, const char *fmt, ...) PT_PRINTF(2, 3);
/* NULL sink = pt_platform_log_line, with "warning: " or the like before the text. A sink gets
 * the text without the level's name. Set both before threads start. */
void pt_log_configure(pt_log_level lowest, pt_log_sink sink, void *ctx);

#endif
