/* Whose a file is that is to be replaced. SPDX-License-Identifier: MIT */
#include "cli/cli.h"

/* checkpoints/step-00000100/model.tinygpt */
#define DEEPEST 3

static bool is_own_name(const char *name)
{
    static const char *const names[] = {"run.json", "log.jsonl", "log.jsonl.torn", "model.tinygpt",
                                        NULL};
    for (const char *const *own = names; *own; own++)
        if (strcmp(name, *own) == 0) return true;
    return pt_str_starts(name, "events.out.tfevents.") || pt_str_starts(name, "checkpoints/");
}

bool pt_is_file_of_run(const char *path)
{
    char whole[PT_FS_PATH_MAX], log[PT_FS_PATH_MAX];
    if (!pt_fs_absolute(whole, sizeof whole, path)) return false;
    size_t at = strlen(whole);
    for (int up = 0; up < DEEPEST; up++) {
        while (at > 0 && whole[--at] != '/') {}
        if (at == 0) return false;
        whole[at] = '\0';
        if (pt_fs_join(log, sizeof log, whole, "log.jsonl") && pt_fs_exists(log))
            return is_own_name(whole + at + 1);
        whole[at] = '/';
    }
    return false;
}
