/* Log lines. A fixed buffer on the stack: logging works when memory has run out.
 * SPDX-License-Identifier: MIT */
#include "base/log.h"

#include "base/format.h"
#include "base/platform.h"
#include "base/strings.h"

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

/* One record is one line, whatever the text came from: control characters become spaces. A text
 * that does not fit ends in "..." after a whole character. */
static size_t tidy_line(char *line, size_t cap, size_t wanted)
{
    size_t n = wanted;
    if (n >= cap) {
        n = pt_utf8_complete(line, cap - 4);
        memcpy(line + n, "...", 4);
        n += 3;
    }
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) line[i] = ' ';
    return n;
}

void pt_log_line(pt_log_level level, const char *fmt, ...)
{
    static const char *const names[] = {"debug: ", "info: ", "warning: ", "error: "};
    if (level < config.lowest || level > PT_LOG_ERROR) return;
    char line[LINE_MAX_BYTES];
    /* The platform is given no level, so it goes into the text. */
    size_t prefix = config.sink ? 0 : pt_format(line, sizeof line, "%s", names[level]);
    va_list args;
    va_start(args, fmt);
    size_t n = prefix + pt_vformat(line + prefix, sizeof line - prefix, fmt, args);
    va_end(args);
    n = tidy_line(line, sizeof line, n);
    if (config.sink) config.sink(config.ctx, level, line, n);
    else pt_platform_log_line(line, n);
}
