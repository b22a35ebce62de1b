/* What was built. The Makefile gives the words. SPDX-License-Identifier: MIT */
#include "cli/build.h"

const pt_build pt_build_info = {
    .revision = PT_BUILD_REVISION,
    .date = PT_BUILD_DATE,
#if defined(__clang__)
    .compiler = __VERSION__,
#else
    .compiler = "gcc " __VERSION__,
#endif
    .flags = PT_BUILD_FLAGS,
};
