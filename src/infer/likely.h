/* From a row of logits to probabilities, for people to look at: softmax, its largest entries.
 * Computed in double, in index order. Logits that are NaN count as impossible.
 * SPDX-License-Identifier: MIT */
#ifndef PT_INFER_LIKELY_H
#define PT_INFER_LIKELY_H

#include <stdint.h>

typedef struct pt_likely {
    int32_t id;
    double p;
} pt_likely;

/* The k likeliest of n tokens, likeliest first, equal ones by id. Returns how many there are: k, or fewer when
 * fewer have a probability. */
int64_t pt_likely_top(const float *logits, int64_t n, int64_t k, pt_likely *out);
/* Of one token; 0 for an id outside 0 … n-1. */
double pt_likely_probability(const float *logits, int64_t n, int64_t id);

#endif
