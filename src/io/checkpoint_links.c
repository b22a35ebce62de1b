/* Links among checkpoints, which are not followed. SPDX-License-Identifier: MIT */
#include "io/checkpoint.h"

#include "base/fs.h"

typedef struct search {
    const char *folder;
    pt_status status;
    pt_error *err;
} search;

static bool is_step(const char *name)
{
    if (!pt_str_starts(name, "step-")) return false;
    for (const char *p = name + 5; *p; p++)
        if (*p < '0' || *p > '9') return false;
    return true;
}

static void refuse(search *w, const char *path)
{
    if (w->status == PT_OK && pt_fs_is_link(path))
        w->status = pt_fail(w->err, PT_BAD_INPUT,
                            "%s is a link, and a run is not written through one: put the real one "
                            "there",
                            path);
}

static void visit_in_step(void *ctx, const char *name, bool folder)
{
    search *w = ctx;
    char path[PT_FS_PATH_MAX];
    (void)folder;
    if (pt_fs_join(path, sizeof path, w->folder, name)) refuse(w, path);
}

static void visit(void *ctx, const char *name, bool folder)
{
    search *w = ctx;
    char path[PT_FS_PATH_MAX];
    bool step = is_step(name);
    if (!step && strcmp(name, "best.json") != 0) return; /* nothing that is written */
    if (!pt_fs_join(path, sizeof path, w->folder, name)) return;
    refuse(w, path);
    if (w->status || !step || !folder) return;
    search in = {path, PT_OK, w->err};
    w->status = pt_fs_list(path, visit_in_step, &in, w->err);
    if (w->status == PT_OK) w->status = in.status;
}

pt_status pt_checkpoint_refuse_links(const char *run_folder, pt_error *err)
{
    char folder[PT_FS_PATH_MAX];
    search w = {folder, PT_OK, err};
    pt_status s = pt_fs_path(folder, run_folder, "checkpoints", err);
    if (s || !pt_fs_is_folder(folder)) return s;
    s = pt_fs_list(folder, visit, &w, err);
    return s ? s : w.status;
}
