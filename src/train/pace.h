/* How a run is getting on, from its steps alone: the trend of the loss, and how long the rest will take.
 *
 * The rest: every step left is taken to last as long as the recent ones did, and what came between the steps
 * (evaluations, samples, checkpoints) as much per step as it did so far. The range is no confidence interval: it
 * says how long the rest takes if all its steps are as quick as the quickest sixth of the recent 64, or as slow
 * as the slowest sixth. Step counts may begin anywhere, so a resumed run needs no care.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_PACE_H
#define PT_TRAIN_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PT_PACE_RECENT 64
#define PT_PACE_WARM_UP 3 /* the first steps tell nothing about the others */

/* A smoothed value that knows nothing of what comes after: the mean of all values so far, until there are `over` of them;
 * from then on each new one moves it by 1 / over of the way. Zeroed: none yet. */
typedef struct pt_average {
    double value;
    int64_t n;
} pt_average;
/* One that is not finite is passed over. The average, NaN while there is none. */
double pt_average_add(pt_average *average, double value, double over);

#define PT_PACE_TREND_STEPS 20 /* over which the trend of the progress line and of the report is */

typedef struct pt_pace {
    double recent[PT_PACE_RECENT]; /* seconds of the newest steps, a ring */
    int64_t n_steps;               /* seen */
    double mark, between;          /* seconds: end of the newest step; spent between steps */
    pt_average fast, slow,
        noise; /* of the loss over PT_PACE_TREND_STEPS and four times that; of |loss - fast| */
} pt_pace;

typedef struct pt_pace_left {
    bool known;
    double seconds, low, high;
} pt_pace_left;

/* At the beginning: now in seconds of any steady clock. */
void pt_pace_begin(pt_pace *pace, double now);
/* A step that ended now and took `seconds` itself. */
void pt_pace_step(pt_pace *pace, double now, double seconds, double loss);
pt_pace_left pt_pace_rest(const pt_pace *pace, int64_t steps_left);

#define PT_PACE_TREND_LEAST \
    40 /* steps: up to 20 the two averages are one, whatever the loss does */

typedef enum pt_pace_trend {
    PT_TREND_UNKNOWN,
    PT_TREND_FLAT,
    PT_TREND_FALLING,
    PT_TREND_RISING
} pt_pace_trend;
/* UNKNOWN before PT_PACE_TREND_LEAST steps were seen; FLAT when the two averages differ by less than 0.3 of the noise. */
pt_pace_trend pt_pace_direction(const pt_pace *pace);

#endif
