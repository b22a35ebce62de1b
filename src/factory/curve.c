/* What is computed from a run's steps. SPDX-License-Identifier: MIT */
#include "factory/curve.h"

#include "base/maths.h"

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

int64_t pt_find_spikes(const pt_run *run, int64_t *out, int64_t cap)
{
    double recent[PT_SPIKE_WINDOW] = {0};
    int64_t n = 0, seen = 0;
    for (int64_t i = 0; i < run->n_steps; i++) {
        double loss = run->steps[i].loss, highest = recent[0], change = 0;
        if (!pt_is_finite(loss)) continue;
        for (int k = 1; k < PT_SPIKE_WINDOW && seen >= PT_SPIKE_WINDOW; k++) {
            double a = recent[(seen + k - 1) % PT_SPIKE_WINDOW],
                   b = recent[(seen + k) % PT_SPIKE_WINDOW];
            change += pt_fabs(b - a) / (PT_SPIKE_WINDOW - 1);
            highest = a > highest ? a : b > highest ? b : highest;
        }
        double margin = 8 * change > 0.05 ? 8 * change : 0.05;
        if (seen >= PT_SPIKE_WINDOW && loss > highest + margin) {
            if (n < cap) out[n] = i;
            n++;
        }
        recent[seen++ % PT_SPIKE_WINDOW] = loss;
    }
    return n;
}
