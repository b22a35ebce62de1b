/* A run's report as a file. SPDX-License-Identifier: MIT */
#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/fs.h"
#include "factory/report.h"

/* The last name of the path. */
static void run_name(const char *folder, char *out, size_t cap)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/') n--;
    size_t from = n;
    while (from > 0 && folder[from - 1] != '/') from--;
    pt_format(out, cap, "%.*s", (int)(n - from), folder + from);
}

pt_status pt_report_put(const char *folder, const char *path, pt_error *err)
{
    char beside[PT_FS_PATH_MAX], name[256];
    pt_run run;
    pt_strbuf page = {0};
    pt_status s = pt_fs_path(beside, folder, "report.html", err);
    if (s) return s;
    if (!path && pt_fs_is_link(beside))
        return pt_fail(err, PT_BAD_INPUT,
                       "%s is a link, and a report is not written through one: remove it", beside);
    run_name(folder, name, sizeof name);
    s = pt_run_open(&run, folder, err);
    if (s) return s;
    s = pt_report_write(&page, &run, name, err);
    if (s == PT_OK)
        s = pt_atomic_file_put(path ? path : beside, true, page.data, (int64_t)page.len, err);
    pt_strbuf_deinit(&page);
    pt_run_deinit(&run);
    return s;
}

void pt_report_refresh(pt_report_live *live, const char *folder)
{
    double begun = pt_clock_seconds();
    if (begun < live->due) return;
    pt_error ignored = {0};
    (void)pt_report_put(folder, NULL, &ignored);
    live->due = begun + 50 * (pt_clock_seconds() - begun);
}
