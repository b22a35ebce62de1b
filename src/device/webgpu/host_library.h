/* The library that offers webgpu.h: Dawn or wgpu-native, loaded when it is first used. SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_HOST_LIBRARY_H
#define PT_DEVICE_WEBGPU_HOST_LIBRARY_H

#include <stdbool.h>

#include "device/webgpu/abi.h"

/* Its functions. */
extern struct pt_wgpu {
    bool whole;
    bool native;       /* wgpu-native: it compiles while one waits */
    char trouble[256]; /* why there is no library */
#define MEMBER(name, result, arguments) result(*name) arguments;
    WGPU_FUNCTIONS(MEMBER)
#undef MEMBER
} pt_wgpu;

/* Whether it is there, once and for all; else pt_wgpu.trouble says why not. */
bool pt_wgpu_load(void);

#endif
