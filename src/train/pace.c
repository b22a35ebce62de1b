/* How a run is getting on. SPDX-License-Identifier: MIT */
#include "train/pace.h"

#include "base/maths.h"
#include "base/mem.h"

#define SLOW_STEPS (4 * PT_PACE_TREND_STEPS)

void pt_pace_begin(pt_pace *pace, double now) { *pace = (pt_pace){.mark = now}; }

double pt_average_add(pt_average *a, double value, double over)
{
    if (pt_is_finite(value)) {
        double n = (double)++a->n;
        a->value += (value - a->value) / (n < over ? n : over);
    }
    return a->n ? a->value : PT_NAN;
}

void pt_pace_step(pt_pace *pace, double now, double seconds, double loss)
{
    double whole = now - pace->mark, own = seconds < whole ? seconds : whole;
    pace->mark = now;
    int64_t n = ++pace->n_steps;
    if (n > PT_PACE_WARM_UP) {
        pace->recent[n % PT_PACE_RECENT] = own;
        pace->between += whole - own;
    }
    double trend = pt_average_add(&pace->fast, loss, PT_PACE_TREND_STEPS);
    pt_average_add(&pace->slow, loss, SLOW_STEPS);
    pt_average_add(&pace->noise, pt_fabs(loss - trend), SLOW_STEPS);
}

static void sort(double *values, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        double value = values[i];
        int64_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
        values[at] = value;
    }
}

pt_pace_left pt_pace_rest(const pt_pace *pace, int64_t steps_left)
{
    double sorted[PT_PACE_RECENT], sum = 0;
    int64_t seen = pace->n_steps - PT_PACE_WARM_UP, n = pt_min_i64(seen, PT_PACE_RECENT);
    if (n < 2) return (pt_pace_left){0};
    for (int64_t i = 0; i < n; i++) {
        sorted[i] = pace->recent[(pace->n_steps - i) % PT_PACE_RECENT];
        sum += sorted[i];
    }
    sort(sorted, n);
    double left = (double)steps_left, between = left * pace->between / (double)seen;
    return (pt_pace_left){.known = true,
                          .seconds = left * sum / (double)n + between,
                          .low = left * sorted[n / 6] + between,
                          .high = left * sorted[n - 1 - n / 6] + between};
}

pt_pace_trend pt_pace_direction(const pt_pace *pace)
{
    double difference = pace->fast.value - pace->slow.value, least = 0.3 * pace->noise.value;
    if (pace->n_steps < PT_PACE_TREND_LEAST) return PT_TREND_UNKNOWN;
    if (pt_fabs(difference) <= least) return PT_TREND_FLAT;
    return difference < 0 ? PT_TREND_FALLING : PT_TREND_RISING;
}
