/* Rotary position embedding: pairs of channels turned by an angle that grows with the position.
 *   p = offset[b] + t - doc_start[b,t],  angle a_i = p * freq[i],  i = 0 … D/2-1
 *   y1 = x1 cos a - x2 sin a,   y2 = x2 cos a + x1 sin a
 * with (x1, x2) = (x[i], x[i + D/2]), or (x[2i], x[2i+1]) when interleaved.
 * in   x (B,T,H,D), D even    freq (D/2) f32 (f64 on ref f64), usually theta^(-2i/D)
 *      offset (B) i32 or absent    doc_start (B,T) i32 or absent
 * out  y (B,T,H,D), may alias x
 * bwd  dx = dy turned back by the same angle (assigned); dx may alias dy.
 * cos and sin are computed in double from base/maths. Parity tolerance 1e-6 relative to the largest component.
 * Source: Su et al. 2021, arXiv:2104.09864, eq. 34.
 * May be stored in bf16, all alike: x, y, dy, dx. Then the f32 result, rounded.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_ROPE_H
#define PT_OPS_ROPE_H

#include "device/device.h"

typedef struct pt_rope_args {
    pt_tensor x, freq, offset, doc_start, y;
    pt_tensor dy, dx;
    bool interleaved;
} pt_rope_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_rope_check(const pt_rope_args *args, pt_pass pass, pt_error *err);

#endif
