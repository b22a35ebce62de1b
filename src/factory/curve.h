/* A noisy curve smoothed for showing it. SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_CURVE_H
#define PT_FACTORY_CURVE_H

#include <stdint.h>

/* out[n]: the values averaged with weights that halve every n / 100 of them (at least 3; fewer near
 * the beginning), once forwards and once backwards, so that the result does not lag behind. Values
 * that are not finite are passed over; out is NaN where there is none yet. */
void pt_smooth(const double *values, int64_t n, double *out);

#endif
