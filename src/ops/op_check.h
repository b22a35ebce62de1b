/* Words for the pt_NAME_check functions: each says one thing that must hold, and the first that does
 * not is kept. A check first asks for presence and dtypes, returns if that failed, and then looks at
 * shapes (whose helpers may only see tensors that passed the first part).
 * SPDX-License-Identifier: MIT */
#ifndef PT_OPS_OP_CHECK_H
#define PT_OPS_OP_CHECK_H

#include "base/maths.h"
#include "device/step_state.h"
#include "ops/ops.h"

typedef struct pt_op_check {
    const char *op;
    pt_error *err;
    pt_status status;        /* PT_OK until something failed */
    const pt_device *device; /* of the first tensor; all must live there */
    bool stored;             /* a stored tensor was seen, of this dtype: */
    pt_dtype stored_dtype;
} pt_op_check;

/* Fails with INTERNAL naming op, tensor and shapes: a wrong shape is a bug of the caller, but one
 * that must not write out of bounds. */
pt_status pt_op_bad(pt_error *err, const char *op, const char *what, const pt_tensor *t);
/* The tensor lies inside its buffer. */
bool pt_in_bounds(const pt_tensor *t);

/* `what` reads like "y must be (N,O), is"; t (or NULL) is described after it. */
void pt_want(pt_op_check *c, bool condition, const char *what, const pt_tensor *t);

/* Present, well formed (rank, dimensions >= 1, aligned offset), on the same device as the others and of
 * the dtype: real = what the device computes in, ints = i32, bytes = u8, bf16.
 * stored = activations and matrix weights: what the device computes in, or bf16 where the device has that; all
 * of one call alike. */
void pt_need_real(pt_op_check *c, const pt_tensor *t, const char *name);
void pt_need_stored(pt_op_check *c, const pt_tensor *t, const char *name);
/* Weights that are multiplied or looked up: stored like the others, or packed where the device has that. */
void pt_need_weights(pt_op_check *c, const pt_tensor *t, const char *name);
void pt_need_ints(pt_op_check *c, const pt_tensor *t, const char *name);
void pt_need_bytes(pt_op_check *c, const pt_tensor *t, const char *name);
/* The same, or absent. */
void pt_may_real(pt_op_check *c, const pt_tensor *t, const char *name);
void pt_may_stored(pt_op_check *c, const pt_tensor *t, const char *name);
void pt_may_bf16(pt_op_check *c, const pt_tensor *t, const char *name);
void pt_may_ints(pt_op_check *c, const pt_tensor *t, const char *name);
/* A step state (device/step_state.h). */
void pt_need_state(pt_op_check *c, const pt_tensor *t);

/* Shapes; an absent tensor fits. */
static inline bool pt_fits_rows(const pt_tensor *t, int64_t n, int64_t c)
{
    return !pt_present(t) || (pt_rows(t) == n && pt_last_dim(t) == c);
}
static inline bool pt_fits_count(const pt_tensor *t, int64_t n)
{
    return !pt_present(t) || pt_numel(t) == n;
}
static inline bool pt_fits_like(const pt_tensor *t, const pt_tensor *other)
{
    return !pt_present(t) || pt_same_shape(t, other);
}

/* The tensors share no byte (absent ones share nothing). */
bool pt_apart(const pt_tensor *a, const pt_tensor *b);
/* They share no byte, or are the very same memory. */
bool pt_same_or_apart(const pt_tensor *a, const pt_tensor *b);
/* out[0 … n_out-1] share no byte with each other nor with in[0 … n_in-1]. NULL entries are skipped. */
void pt_want_apart(pt_op_check *c, const pt_tensor *const *out, int n_out,
                   const pt_tensor *const *in, int n_in);
#define PT_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#endif
