/* A run read from its folder. SPDX-License-Identifier: MIT */
#include "base/fs.h"
#include "factory/run_read.h"

/* A file that is not there is an empty one. The bytes are copied: a log may be cut while it is read. */
static pt_status read_file(pt_file_view *out, const char *folder, const char *name, bool *found,
                           pt_error *err)
{
    char path[PT_FS_PATH_MAX];
    *out = (pt_file_view){0};
    *found = pt_fs_join(path, sizeof path, folder, name) && pt_fs_size(path) >= 0;
    if (*found && pt_fs_is_link(path))
        return pt_fail(err, PT_BAD_INPUT, "%s is a link: put the file itself there", path);
    return *found ? pt_file_view_read(out, path, err) : PT_OK;
}

pt_status pt_run_open(pt_run *out, const char *folder, pt_error *err)
{
    pt_file_view json, log = {0};
    bool has_json, has_log = false;
    *out = (pt_run){0};
    pt_status s = read_file(&json, folder, "run.json", &has_json, err);
    if (s == PT_OK) s = read_file(&log, folder, "log.jsonl", &has_log, err);
    if (s == PT_OK && !has_json && !has_log)
        s = pt_fail(err, PT_NOT_FOUND, "'%s' holds no run: neither run.json nor log.jsonl is there",
                    folder);
    if (s == PT_OK)
        s = pt_run_read(out, has_json ? (const char *)json.data : NULL, json.size,
                        (const char *)log.data, log.size, err);
    pt_file_view_close(&json);
    pt_file_view_close(&log);
    return s;
}
