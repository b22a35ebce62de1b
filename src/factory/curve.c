/* Smoothing. SPDX-License-Identifier: MIT */
#include "factory/curve.h"

#include "base/maths.h"
#include "base/mem.h"

typedef struct average {
    double sum, weight;
} average;

static double take(average *a, double value, double keep)
{
    if (pt_is_finite(value)) {
        a->sum = keep * a->sum + value;
        a->weight = keep * a->weight + 1;
    }
    return a->weight > 0 ? a->sum / a->weight : PT_NAN;
}

/* What a neighbour's weight is multiplied by. Near the beginning, where curves are steep, less. */
static double keep_at(int64_t i, int64_t n)
{
    double half = (double)pt_max_i64(3, n / 100), first = 1 + (double)i / 8;
    return pt_exp(-PT_LN2 / (first < half ? first : half));
}

void pt_smooth(const double *values, int64_t n, double *out)
{
    average forwards = {0}, backwards = {0};
    for (int64_t i = 0; i < n; i++) out[i] = take(&forwards, values[i], keep_at(i, n));
    for (int64_t i = n - 1; i >= 0; i--) out[i] = take(&backwards, out[i], keep_at(i, n));
}
