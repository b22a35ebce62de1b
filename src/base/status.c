/* Statuses and errors. SPDX-License-Identifier: MIT */
#include "base/status.h"

#include <stdarg.h>

#include "base/format.h"
#include "base/mem.h"

typedef struct status_info {
    const char *name;
    int exit_code;
    int http;
    const char *words;
} status_info;

static const status_info infos[PT_STATUS_COUNT] = {
#define STATUS_INFO(name, exit_code, http, words) {#name, exit_code, http, words},
    PT_STATUS_LIST(STATUS_INFO)
#undef STATUS_INFO
};

static const status_info *info_of(pt_status status)
{
    if ((int)status < 0 || status >= PT_STATUS_COUNT) return &infos[PT_INTERNAL];
    return &infos[status];
}

const char *pt_status_name(pt_status status) { return info_of(status)->name; }
const char *pt_status_words(pt_status status) { return info_of(status)->words; }
int pt_status_exit_code(pt_status status) { return info_of(status)->exit_code; }
int pt_status_http(pt_status status) { return info_of(status)->http; }

void pt_fail_at(pt_error *err, pt_status status, int64_t offset, const char *file, int line,
                const char *fmt, ...)
{
    if (!err || err->status != PT_OK) return;
    err->status = status;
    err->file = file;
    err->line = line;
    err->offset = offset;
    va_list args;
    va_start(args, fmt);
    pt_vformat(err->message, sizeof err->message, fmt, args);
    va_end(args);
}

void pt_error_prefix(pt_error *err, const char *fmt, ...)
{
    if (!err || err->status == PT_OK) return;
    char old[sizeof err->message];
    memcpy(old, err->message, sizeof old);
    va_list args;
    va_start(args, fmt);
    size_t n = pt_vformat(err->message, sizeof err->message, fmt, args);
    va_end(args);
    if (n >= sizeof err->message) n = sizeof err->message - 1;
    pt_format(err->message + n, sizeof err->message - n, ": %s", old);
}
