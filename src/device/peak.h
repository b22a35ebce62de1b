/* One more measure of the processor, beside those of device.h: for products of what is stored in bf16.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_PEAK_H
#define PT_DEVICE_PEAK_H

#include "device/device.h"

/* As pt_device_cpu_fma, of the instructions that multiply bf16: on amx those of the tiles, with operands in registers;
 * elsewhere, where bf16 is widened before it is multiplied, the same as pt_device_cpu_fma. Blocks of some 10 to 20
 * microseconds. Only where device->bf16. */
double pt_device_cpu_fma_bf16(pt_device *device, bool alone, int64_t blocks);

#endif
