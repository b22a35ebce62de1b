/* Facts about the values of a weight, for people who look at a model.
 * SPDX-License-Identifier: MIT */
#ifndef PT_MODEL_FACTS_H
#define PT_MODEL_FACTS_H

#include <stdint.h>

typedef struct pt_facts {
    double l2;      /* norm of the finite values */
    double largest; /* absolute value of the largest finite one */
    int64_t bad;    /* how many are infinite or NaN */
} pt_facts;

pt_facts pt_facts_of(const float *values, int64_t n);

#endif
