/* Log lines. A fixed buffer on the stack: logging works when memory has run out.
 * SPDX-License-Identifier: MIT */
#include "base/log.h"

#include "base/format.h"
#include "base/platform.h"
#include "base/safe_text.h"

#define LINE_MAX_BYTES 1024

static struct {
    pt_log_level lowest;
    pt_log_sink sink;
    void *ctx;
} config = {.lowest = PT_LOG_WARN};

void pt_log_configure(pt_log_level lowest, pt_log_sink sink, void *ctx)
{
    config.lowest = lowest;
    config.sink = sink;
    config.ctx = ctx;
}

void pt_log_line(pt_log_level level, const char *fmt, ...)
{
    static const char *const names[] = {"debug: ", "info: ", "warning: ", "error: "};
    if (level < config.lowest || level > PT_LOG_ERROR) return;
    char text[LINE_MAX_BYTES + 4], line[LINE_MAX_BYTES]; /* + 4: a text that is cut is too long */
    /* The platform is given no level, so it goes into the text. */
    size_t prefix = config.sink ? 0 : pt_format(text, sizeof text, "%s", names[level]);
    va_list args;
    va_start(args, fmt);
    size_t n = prefix + pt_vformat(text + prefix, sizeof text - prefix, fmt, args);
    va_end(args);
    n = pt_safe_line(line, sizeof line, text, n < sizeof text ? n : sizeof text - 1);
    if (config.sink) config.sink(config.ctx, level, line, n);
    else pt_platform_log_line(line, n);
}
