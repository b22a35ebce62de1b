/* What every x_ref.c uses: the storage type it is compiled for, and the names of its kernels.
 *
 * A reference kernel reads and writes pt_real (float or double) and computes in double, in the plainest way. It
 * is the definition of the op, not a fast version of it.
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_REF_REF_H
#define PT_DEVICE_REF_REF_H

#include "base/maths.h"
#include "device/device.h"
#include "device/step_state.h"

#ifndef PT_REAL
#define PT_REAL float
#define PT_REAL_SUFFIX f32
#endif
typedef PT_REAL pt_real;

#define PT_REF_PASTE_(name, suffix) pt_##name##_ref_##suffix
#define PT_REF_PASTE(name, suffix) PT_REF_PASTE_(name, suffix)
/* PT_REF(linear_fwd) is pt_linear_fwd_ref_f32 or …_f64. Kernels: NAME_fwd and NAME_bwd. */
#define PT_REF(name) PT_REF_PASTE(name, PT_REAL_SUFFIX)

static inline pt_real *pt_reals(const pt_tensor *t) { return (pt_real *)pt_host(t); }
static inline const int32_t *pt_ints(const pt_tensor *t) { return (const int32_t *)pt_host(t); }
/* Element (row, i) of a matrix of weights, which may be packed. */
static inline double pt_weight_at(const pt_tensor *w, int64_t row, int64_t i)
{
    int64_t n = pt_last_dim(w);
    if (!pt_is_packed(w->dtype)) return (double)pt_reals(w)[row * n + i];
    const char *packed = (const char *)pt_host(w) + row * pt_dtype_bytes(w->dtype, n);
    return (double)pt_packed_at(w->dtype, packed, n, i);
}
/* An optional per-row index array: 0 when absent. */
static inline int64_t pt_int_at(const pt_tensor *t, int64_t i)
{
    return t->buffer ? ((const int32_t *)pt_host(t))[i] : 0;
}

#endif
