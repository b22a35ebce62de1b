/* A run judged in words, by fixed rules, with the numbers they follow from.
 *
 * n is the number of steps. A window is W = max(10, n / 10) of them in a row; its error is the standard error of its
 * mean, sd / sqrt(W) (steps see different text, so their noise is taken as independent). m is the number of evaluations
 * that are finite; a window of those is w = max(1, m / 10), at most 32. The first rule that holds gives the verdict:
 *
 *   diverged     the log says so, or the loss of a step is not finite (unless the step was left out as a spike); or,
 *                from 50 steps on, the last window's mean has given back more than half of what was learned:
 *                last - best > (first - best) / 2, `best` being the lowest of the windows laid end to end, and both
 *                differences exceed 4 errors; or lies more than a tenth above ln V, the loss of a model that knows
 *                nothing, V being the vocabulary
 *   too short    n < 50
 *   overfitting  at least two evaluations after the best one, the last two of them at least 1 % above it, while
 *                the training loss fell: last window < the W steps up to the best evaluation
 *   falling      the last window lies below the one before it by more than 2 errors of the difference and by at
 *                least 0.2 % of it; or the evaluations do fall (they see the same text each time, so they are less
 *                noisy): m >= 4, their last window lies at least 0.2 % below the one before it, and among the last
 *                k = max(4, 2 w) the pairs that fall outnumber those that rise by more than twice what chance alone
 *                gives, sqrt(k (k - 1) (2 k + 5) / 18) (Mann 1945, Econometrica 13). Of 4, each has to fall
 *   rising       as falling by the training loss, the other way round
 *   too short    again, when nothing of that stands out, windows are shorter than 20 steps and the run has not come to
 *                its last step
 *   plateau      otherwise
 * SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_VERDICT_H
#define PT_FACTORY_VERDICT_H

#include "factory/run_read.h"

#define PT_VERDICT_MIN_STEPS 50
#define PT_VERDICT_MIN_WINDOW 10
#define PT_VERDICT_SURE_WINDOW 20
#define PT_VERDICT_MOST_VALS 32 /* evaluations in a window */

typedef enum pt_verdict_kind {
    PT_VERDICT_TOO_SHORT,
    PT_VERDICT_DIVERGED,
    PT_VERDICT_OVERFITTING,
    PT_VERDICT_FALLING,
    PT_VERDICT_PLATEAU,
    PT_VERDICT_RISING
} pt_verdict_kind;

typedef struct pt_verdict {
    pt_verdict_kind kind;
    char because[400]; /* a sentence with the numbers */
} pt_verdict;

pt_verdict pt_verdict_of(const pt_run *run);
const char *pt_verdict_name(pt_verdict_kind kind);  /* "overfitting" */
const char *pt_verdict_words(pt_verdict_kind kind); /* a headline */
/* A sentence: what helps. rate_falls: the run's schedule lowers the learning rate. */
const char *pt_verdict_advice(pt_verdict_kind kind, bool rate_falls);

#endif
