/* A choice of kernels as text, which the host keeps from one day to the next.
 *
 * It holds for one GPU with its driver, one version of the program and one text of the shaders; what is of another, or damaged, is
 * as good as none. SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_REMEMBERED_H
#define PT_DEVICE_WEBGPU_REMEMBERED_H

#include "base/strings.h"
#include "device/webgpu/choice.h"

/* JSON: adapter, version, shaders (sha256), verdicts of the kernels tried, and the kernel of each size and layout. */
void pt_wg_choice_write(const pt_wg_choice *choice, const char *adapter, pt_strbuf *out);
/* Its verdicts and kernels. false, and nothing changed, when it is not for this GPU, or when a chosen kernel was not right. */
bool pt_wg_choice_read(pt_wg_choice *choice, const char *adapter, const char *text);

#endif
