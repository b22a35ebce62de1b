/* Dropout with a mask that is never stored: element e of the whole run's stream is kept if its number
 * from the counter-based generator (base/rng.h, stream DROPOUT, substream = site) is >= p.
 *   y[i] = x[i] * keep / (1 - p),   e = first + i,   number = word (e mod 4) of counter e/4, over 2^32
 * in   x    out  y, may alias x        bwd  dx = dy * keep / (1 - p), assigned, may alias dy
 * `first` comes from the global sample index, so the mask depends on neither accumulation nor rank nor threads.
 * Exact up to one rounding. Source: Srivastava et al. 2014.
 * May be stored in bf16, all alike: x, y, dy, dx. Then the f32 result, rounded.
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_DROPOUT_H
#define PT_OPS_DROPOUT_H

#include "device/device.h"

typedef struct pt_dropout_args {
    pt_tensor x, y;
    pt_tensor dy, dx;
    double p; /* 0 <= p < 1 */
    uint64_t seed;
    int64_t first; /* a multiple of 4 */
    uint32_t site; /* which dropout of the model */
} pt_dropout_args;

/* Shapes and dtypes; part of every launch through ops/ops.h. */
pt_status pt_dropout_check(const pt_dropout_args *args, pt_pass pass, pt_error *err);

#endif
