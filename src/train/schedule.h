/* Learning rate schedules.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_SCHEDULE_H
#define PT_TRAIN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pt_schedule_kind {
    PT_SCHEDULE_CONSTANT,
    PT_SCHEDULE_COSINE,
    PT_SCHEDULE_WSD
} pt_schedule_kind;

typedef enum pt_decay_shape { PT_DECAY_1_SQRT, PT_DECAY_LINEAR, PT_DECAY_COSINE } pt_decay_shape;

typedef struct pt_schedule {
    pt_schedule_kind kind;
    pt_decay_shape shape; /* wsd */
    double lr;            /* the highest */
    double min_lr;        /* cosine, wsd: the rate of the last step */
    int64_t warmup;       /* steps */
    int64_t decay;        /* wsd: steps of falling rate at the end, at least 1 */
    int64_t steps;        /* of the whole run */
} pt_schedule;

/* Rate of 1-based step s. The rate of every step after the last is that of the last.
 *   warm-up    s <= warmup: lr s / warmup, so that step `warmup` is the first at lr
 *   constant   lr
 *   cosine     half a cosine from lr at step `warmup` to min_lr at the last step
 *              (Loshchilov & Hutter 2016, arXiv:1608.03983, eq. 5)
 *   wsd        lr up to step steps - decay; then, with p = (s - (steps - decay)) / decay, which is 1 at
 *              the last step:  1-sqrt: lr - (lr - min_lr) sqrt(p);  linear: lr - (lr - min_lr) p;
 *              cosine: half a cosine  (warm-up, stable, decay: Hu et al. 2024, arXiv:2404.06395; the
 *              shape 1-sqrt: Hägele et al. 2024, arXiv:2405.18392) */
double pt_schedule_lr(const pt_schedule *schedule, int64_t step);

/* The last step up to which both give every step the same rate; INT64_MAX when no step differs. */
int64_t pt_schedule_same_until(const pt_schedule *a, const pt_schedule *b);

/* Steps of decay when none are given: a tenth of the run, at least 1. */
int64_t pt_schedule_default_decay(int64_t steps);

const char *pt_schedule_name(pt_schedule_kind kind); /* "constant", "cosine", "wsd" */
bool pt_schedule_from_name(const char *name, pt_schedule_kind *out);
const char *pt_decay_shape_name(pt_decay_shape shape); /* "1-sqrt", "linear", "cosine" */
bool pt_decay_shape_from_name(const char *name, pt_decay_shape *out);

#endif
