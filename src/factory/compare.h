/* Two runs side by side: what was set differently, and what came of it.
 * SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_COMPARE_H
#define PT_FACTORY_COMPARE_H

#include "factory/run_read.h"

typedef struct pt_difference {
    const char *key, *a, *b; /* "train.lr", "0.001", "0.003"; "" where the run has no such key */
} pt_difference;

typedef struct pt_common_val {
    int64_t step;
    double a, b, change; /* change: b - a, negative when b is better */
} pt_common_val;

typedef struct pt_comparison {
    pt_difference *differences; /* in the order of a's run.json, then what only b has */
    pt_common_val *vals;        /* steps at which both were evaluated, rising */
    int64_t n_differences, n_vals;
    pt_arena arena;
} pt_comparison;

/* What differs by its nature (when a run was started, its command and folder) is left out. The runs must outlive
 * the comparison. Errors: NO_MEMORY. */
pt_status pt_compare(pt_comparison *out, const pt_run *a, const pt_run *b, pt_error *err);
void pt_comparison_deinit(pt_comparison *comparison);

#endif
