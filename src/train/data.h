/* Training data: streams of tokens split by position, the order in which their windows are seen, and mixing.
 *
 * A window is T tokens and the T targets that follow them by one; it may reach from one document into the
 * next. All starts 0 … n-T-1 of a part are visited in the order of a stateless permutation (base/rng.h), a
 * new one each epoch: sample number g is the window pt_windows_start(w, g). So the order depends on seed and g
 * alone, not on batch size, accumulation, threads, or where the run was interrupted.
 *
 * A mixture draws from several sources. Of each block of PT_MIX_BLOCK samples every source gets its share, exactly, at
 * places that a stateless permutation chooses. So the source of sample g, and how many samples that source gave
 * before, are again functions of seed and g alone; each source runs through its own windows as if it were alone.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_DATA_H
#define PT_TRAIN_DATA_H

#include "base/rng.h"
#include "text/tokens.h"

/* The windows of one part of a stream. Borrows its owner. */
typedef struct pt_windows {
    pt_tokens tokens; /* of the whole stream */
    int64_t first, n; /* the part: its first token, and how many it has */
    int64_t T;        /* tokens of a window */
    uint64_t seed;
    pt_rng_stream stream;
    const int64_t *starts; /* an explicit list of starts instead of the permutation, or NULL */
    int64_t n_starts;
} pt_windows;

/* Number of windows: n - T; 0 when there is none. */
int64_t pt_windows_count(const pt_windows *windows);
/* Start of global sample g >= 0, counted from the part's first token. There must be a window. */
int64_t pt_windows_start(const pt_windows *windows, int64_t g);

#define PT_SOURCES_MAX 16
#define PT_MIX_BLOCK 1000 /* samples in which the shares are exact */

/* The windows of one part of every source. With one source, sample g is that source's sample g. */
typedef struct pt_mixture {
    pt_windows source[PT_SOURCES_MAX];
    int64_t share[PT_SOURCES_MAX]; /* of PT_MIX_BLOCK samples; their sum */
    int n;                         /* sources that have windows; 0: there is no data */
    uint64_t seed;
    pt_rng_stream stream; /* of the permutation that chooses the places */
} pt_mixture;

/* Which source sample g comes from, an index below mixture->n, and the number it has there. */
int pt_mixture_source(const pt_mixture *mixture, int64_t g, int64_t *sample);
/* Windows of all sources together. */
int64_t pt_mixture_count(const pt_mixture *mixture);
/* Ids and targets (B,T) of the samples g … g+B-1. Errors: those of the sources. */
pt_status pt_mixture_fill(const pt_mixture *mixture, int64_t g, int64_t B, int32_t *ids,
                          int32_t *targets, pt_error *err);

/* What to learn from. */
typedef struct pt_data {
    const pt_tokens *source; /* [n] */
    const double *weight;    /* [n], positive, of any sum; NULL: equal */
    int n;                   /* 1 … PT_SOURCES_MAX */
    const char *name;        /* that messages begin with, borrowed; or NULL */
} pt_data;

/* Whether two lists of n weights mean the same mix: their parts of their sums are equal, but for rounding. */
bool pt_weights_are_same(const double *a, const double *b, int n);
/* Splits each source by position: its first n - ceil(n/10) tokens train, the rest validates. Where either part
 * would be too short for one window everything trains and nothing validates; a source that holds nothing out leaves the
 * mixture of validation, and without any source that one is empty (validate->n = 0).
 * BAD_INPUT when a source is shorter than T + 1 (begins with the data's name), or its weight is no number above 0 or gives it
 * no sample of a block. */
pt_status pt_data_split(const pt_data *data, int64_t T, uint64_t seed, pt_mixture *train,
                        pt_mixture *validate, pt_error *err);

#endif
