/* Which kernel multiplies: chosen when a device is made ready, before its first op, and never again.
 *
 * Each kernel of the ladder that the GPU can run, and that is as exact as f32, is put on trial (selftest.h). Those that pass race
 * (timing.h), once for each size and layout of products; the winners are used, and remembered for the next time (remembered.h), when
 * they alone are tried again. Before, and on an emulated GPU, naive is used; where nothing is timed, the usual kernel of a size, or
 * the next simpler one that is right.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_CHOICE_H
#define PT_DEVICE_WEBGPU_CHOICE_H

#include "device/webgpu/selftest.h"

#define PT_WG_CHOICES ((int)PT_WG_SIZES * (int)PT_WG_LAYOUTS)

typedef struct pt_wg_choice {
    const pt_wg_tile *tile[PT_WG_SIZES][PT_WG_LAYOUTS];
    pt_wg_verdict verdict[PT_WG_MOST_TILES];
    char remark[400]; /* what is not used, and why; empty: nothing is wrong */
} pt_wg_choice;
const pt_wg_choice *pt_wg_choice_of(const pt_device *device);
void pt_wg_choose(pt_device *device, const pt_wg_choice *choice);
/* Before the trial: the usual kernels, or naive. */
void pt_wg_choice_init(pt_wg_choice *choice, bool usual);

typedef struct pt_wg_choosing pt_wg_choosing;
/* Nothing else may be under way on the device. Errors: NO_MEMORY. */
pt_status pt_wg_choosing_new(pt_wg_choosing **out, pt_device *device, pt_error *err);
/* PT_PENDING; PT_OK when the device's choice is made; or an error: UNSUPPORTED when not even naive is right. Tells in
 * device->readied, of device->to_ready, how far it is. */
pt_status pt_wg_choosing_poll(pt_wg_choosing *choosing, pt_error *err);
void pt_wg_choosing_free(pt_wg_choosing *choosing); /* NULL is fine */

#endif
