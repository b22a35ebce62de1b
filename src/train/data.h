/* Training data: a text split by position, and the order in which its windows are seen.
 *
 * A window is T tokens and the T targets that follow them by one. All starts 0 … n-T-1 of a part are
 * visited in the order of a stateless permutation (base/rng.h), a new one each epoch: sample number
 * g is the window pt_windows_start(w, g). So the order depends on seed and g alone, not on batch size, accumulation,
 * threads, or where the run was interrupted.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_DATA_H
#define PT_TRAIN_DATA_H

#include "base/rng.h"
#include "base/status.h"

/* The windows of one part of a corpus of byte tokens. Borrows the bytes. */
typedef struct pt_windows {
    const uint8_t *bytes;
    int64_t n; /* bytes of the part */
    int64_t T; /* tokens of a window */
    uint64_t seed;
    pt_rng_stream stream;
    const int64_t *starts; /* an explicit list of starts instead of the permutation, or NULL */
    int64_t n_starts;
} pt_windows;

/* Number of windows: n - T; 0 when there is none. */
int64_t pt_windows_count(const pt_windows *windows);
/* Start of global sample g >= 0. There must be a window. */
int64_t pt_windows_start(const pt_windows *windows, int64_t g);
/* Ids and targets (B,T) of the samples g … g+B-1. */
void pt_windows_fill(const pt_windows *windows, int64_t g, int64_t B, int32_t *ids,
                     int32_t *targets);

/* The 90/10 split by position of `whole` (bytes, n, T and seed are used): the first n - ceil(n/10) bytes train, the rest validates. Where either part would be
 * too short for one window everything trains and nothing validates (validate.n = 0).
 * BAD_INPUT when the corpus is shorter than T + 1. */
pt_status pt_data_split(const pt_windows *whole, pt_windows *train, pt_windows *validate,
                        pt_error *err);

#endif
