/* Smoothing. SPDX-License-Identifier: MIT */
#include "factory/curve.h"

#include "train/pace.h"

void pt_smooth(const double *values, int64_t n, double *out)
{
    pt_average average = {0};
    for (int64_t i = 0; i < n; i++)
        out[i] = pt_average_add(&average, values[i], PT_PACE_TREND_STEPS);
}
