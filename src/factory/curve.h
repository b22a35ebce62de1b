/* A noisy curve smoothed for showing it. SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_CURVE_H
#define PT_FACTORY_CURVE_H

#include <stdint.h>

/* out[n]: at each value the trend that the progress line of a run tells there (train/pace.h), which nothing that
 * comes later changes: a curve does not rise before a spike. Values that are not finite are passed over; out is NaN where
 * there is none yet. */
void pt_smooth(const double *values, int64_t n, double *out);

#endif
