/* What the device offers to those that try its kernels (selftest.c, choice.c). SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_TRIAL_H
#define PT_DEVICE_WEBGPU_TRIAL_H

#include "device/webgpu/webgpu.h"

/* As it was opened; a software GPU is one without `tuned`. */
const pt_webgpu_options *pt_wg_options_of(const pt_device *device);
/* The host's number of the GPU. */
uint32_t pt_wg_host_of(const pt_device *device);

/* While it is on, pt_wg_run records nothing: it has its program compiled, if there is none yet, and one that does not compile does no
 * harm. */
void pt_wg_compile_only(pt_device *device, bool on);
/* Programs so far. */
int64_t pt_wg_pipelines(const pt_device *device);
/* Of those from index `first` on: PT_PENDING while one is compiled; PT_OK; or an error of the GPU. *failed: one did not compile. */
pt_status pt_wg_pipelines_poll(pt_device *device, int64_t first, bool *failed, pt_error *err);
/* Lets them go, compiled or not. Nothing recorded may need them. */
void pt_wg_pipelines_drop(pt_device *device, int64_t first);

#endif
