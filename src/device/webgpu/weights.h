/* Products with matrices of weights: what pt_wg_matmul does with few rows, and with weights that are packed (tensor/packed.h).
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_WEBGPU_WEIGHTS_H
#define PT_DEVICE_WEBGPU_WEIGHTS_H

#include "device/webgpu/matmul.h"

/* Whether the product is one of these: B (N,K) from its tensor's beginning, and packed; or A with at most PT_WG_FEW_ROWS rows. */
bool pt_wg_takes_weights(const pt_device *device, const pt_wg_product *product);
#define PT_WG_FEW_ROWS 8

/* Few rows: every 16 bytes of B are read once, by a kernel that waits for memory alone. More: B becomes f32 piece by piece, in
 * memory of the device's own, and then the product is an ordinary one. Fixed order of sums for given shapes. Errors: as pt_wg_run. */
pt_status pt_wg_weights_product(pt_device *device, const pt_wg_product *product, pt_error *err);

/* The layout of a packed row for a shader, which reads it in elements of `unit` bytes (4 or 16): from one row to the next, and from
 * a row to its scales; and 1 for f16, 2 for int8, 0 for what is f32. */
typedef struct pt_wg_rows {
    uint32_t stored;
    int64_t row, scales;
} pt_wg_rows;
pt_wg_rows pt_wg_rows_of(const pt_tensor *weights, int64_t unit);

#endif
