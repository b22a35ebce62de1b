/* What machine this is, from Linux's /proc. SPDX-License-Identifier: MIT */
#include "bench/machine.h"

#include "base/decimal.h"
#include "base/fs.h"
#include "base/platform.h"
#include "base/strings.h"

/* The text after "name   : " of the first line that begins so. */
static void line_value(const char *text, const char *name, char *out, size_t cap)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        while (*line == '\n') line++;
        if (!pt_str_starts(line, name)) continue;
        const char *value = line + strlen(name);
        while (*value == ' ' || *value == '\t' || *value == ':') value++;
        const char *end = strchr(value, '\n');
        pt_format(out, cap, "%.*s", (int)(end ? end - value : (int64_t)strlen(value)), value);
        return;
    }
}

pt_machine pt_machine_read(void)
{
    pt_machine machine = {.processor = "unknown",
                          .cores = pt_platform_cpu_count(),
                          .memory_bytes = pt_platform_memory_bytes(),
                          .load = -1};
    char *text = NULL;
    int64_t size = 0;
    if (pt_fs_read("/proc/cpuinfo", 1 << 22, &text, &size, NULL) == PT_OK) {
        line_value(text, "model name", machine.processor, sizeof machine.processor);
        pt_free(text);
    }
    if (pt_fs_read("/proc/loadavg", 4096, &text, &size, NULL) == PT_OK) {
        char *end = strchr(text, ' ');
        double load = 0;
        if (end && pt_decimal_to_double(text, (size_t)(end - text), &load)) machine.load = load;
        pt_free(text);
    }
    return machine;
}
