/* Learning rate schedules.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_SCHEDULE_H
#define PT_TRAIN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pt_schedule_kind { PT_SCHEDULE_CONSTANT, PT_SCHEDULE_COSINE } pt_schedule_kind;

typedef struct pt_schedule {
    pt_schedule_kind kind;
    double lr;      /* the highest */
    double min_lr;  /* cosine: where it ends */
    int64_t warmup; /* steps */
    int64_t steps;  /* of the whole run */
} pt_schedule;

/* Rate of 1-based step s. Warm-up: lr * s / warmup for s <= warmup. Constant: lr. Cosine: half a
 * cosine from lr after the warm-up to min_lr at the last step (Loshchilov & Hutter 2016, eq. 5). */
double pt_schedule_lr(const pt_schedule *schedule, int64_t step);

const char *pt_schedule_name(pt_schedule_kind kind); /* "constant", "cosine" */
bool pt_schedule_from_name(const char *name, pt_schedule_kind *out);

#endif
