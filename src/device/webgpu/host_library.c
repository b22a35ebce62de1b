/* The library that offers webgpu.h. SPDX-License-Identifier: MIT */
#include "device/webgpu/host_library.h"

#include "base/format.h"
#include "base/platform.h"

struct pt_wgpu pt_wgpu;

/* What is missing first is told. */
static bool load_from(const char *library)
{
    pt_wgpu.whole = true;
#define FIND(name, result, arguments)                                               \
    pt_wgpu.name = (result(*) arguments)pt_platform_library(library, "wgpu" #name); \
    if (pt_wgpu.whole && !pt_wgpu.name)                                             \
        pt_format(pt_wgpu.trouble, sizeof pt_wgpu.trouble,                          \
                  "POSTTRAIN_WEBGPU names no library with webgpu.h: %s",            \
                  pt_platform_library_trouble());                                   \
    pt_wgpu.whole = pt_wgpu.whole && pt_wgpu.name;
    WGPU_FUNCTIONS(FIND)
#undef FIND
    pt_wgpu.native = pt_platform_library(library, "wgpuDevicePoll") != NULL;
    return pt_wgpu.whole;
}

bool pt_wgpu_load(void)
{
    static const char *const names[] = {"libwebgpu_dawn.so",       "libwebgpu_wrapper.so",
                                        "libwgpu_native.so",       "libwebgpu_dawn.dylib",
                                        "libwebgpu_wrapper.dylib", "libwgpu_native.dylib"};
    const char *named = pt_platform_env("POSTTRAIN_WEBGPU");
    if (pt_wgpu.whole) return true;
    if (named && *named) return load_from(named);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (load_from(names[i])) return true;
    pt_format(pt_wgpu.trouble, sizeof pt_wgpu.trouble,
              "no library with webgpu.h: make webgpu, and set POSTTRAIN_WEBGPU");
    return false;
}
