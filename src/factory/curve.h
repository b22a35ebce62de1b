/* What is computed from a run's steps for showing them. SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_CURVE_H
#define PT_FACTORY_CURVE_H

#include "factory/run_read.h"

#define PT_SPIKE_WINDOW 10

/* out[n]: the values averaged with weights that halve every n / 100 of them (at least 3; fewer near
 * the beginning), once forwards and once backwards, so that the result does not lag behind. Values
 * that are not finite are passed over; out is NaN where there is none yet. */
void pt_smooth(const double *values, int64_t n, double *out);

/* Steps whose loss stands out: above the highest of the 10 before by more than 8 times their mean
 * change from one to the next, and by more than 0.05. Steps without a finite loss do not count.
 * Returns how many there are, and the indices of the first `cap` of them. */
int64_t pt_find_spikes(const pt_run *run, int64_t *out, int64_t cap);

#endif
