/* What is remembered of a GPU, natively: a file in the folder for caches. SPDX-License-Identifier: MIT */
#include "base/atomic_file.h"
#include "base/format.h"
#include "base/fs.h"
#include "base/platform.h"
#include "device/webgpu/host.h"

#define NAME "webgpu.json"

/* false where there is no such folder. */
static bool folder(char path[PT_FS_PATH_MAX])
{
    const char *caches = pt_platform_env("XDG_CACHE_HOME"), *home = pt_platform_env("HOME");
    if (caches && *caches == '/') return pt_fs_join(path, PT_FS_PATH_MAX, caches, "posttrain");
    return home && *home && pt_fs_join(path, PT_FS_PATH_MAX, home, ".cache/posttrain");
}

void pt_gpu_remembered(uint32_t gpu, char *out, int32_t cap)
{
    char in[PT_FS_PATH_MAX], path[PT_FS_PATH_MAX], *text = NULL;
    int64_t n = 0;
    (void)gpu;
    out[0] = '\0';
    if (!folder(in) || !pt_fs_join(path, sizeof path, in, NAME)) return;
    if (pt_fs_read(path, cap - 1, &text, &n, NULL)) return;
    memcpy(out, text, (size_t)n + 1);
    pt_free(text);
}

/* A folder that cannot be written costs the time of another trial, and nothing else. */
void pt_gpu_remember(uint32_t gpu, const char *text, int32_t n)
{
    char in[PT_FS_PATH_MAX], path[PT_FS_PATH_MAX];
    (void)gpu;
    if (!folder(in) || !pt_fs_join(path, sizeof path, in, NAME)) return;
    if (pt_fs_make_folder(in, NULL) == PT_OK) (void)pt_atomic_file_put(path, true, text, n, NULL);
}
