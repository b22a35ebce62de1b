/* How long a training run will take, from a short probe of it. SPDX-License-Identifier: MIT */
#ifndef PT_BENCH_ESTIMATE_H
#define PT_BENCH_ESTIMATE_H

#include "train/trainer.h"

typedef struct pt_bench_estimate {
    bool known; /* false: the smallest probe is already too much for the time or the memory */
    double seconds, low, high; /* of all steps left; evaluations in it, samples and saves not */
    double step_seconds;
    int64_t steps; /* that were measured; of this shape: */
    int64_t rows, layers, tokens;
    bool whole; /* of the run's own shape: nothing was scaled */
} pt_bench_estimate;

typedef struct pt_bench_estimate_desc {
    const pt_trainer_desc *run; /* what the trainer was made of; its events are not called */
    const pt_trainer *trainer;  /* planned; nothing of it is used but its facts */
    int64_t available;          /* bytes that the probe may take; 0 = any */
    int64_t done;               /* steps of the run that are done already */
} pt_bench_estimate_desc;

/* Runs a few steps of a trainer of its own with the run's options: of the run's shape when that takes about a second, else
 * with fewer windows, then fewer layers, then shorter windows. What a micro-batch takes is then scaled by its operations
 * (pt_bench_step_flop), the rest of a step by the number of parameters. The probe takes about
 * 2 seconds. low and high follow from the fastest and slowest step, wider where it was scaled. */
pt_status pt_bench_estimate_run(pt_device *device, pt_pool *pool,
                                const pt_bench_estimate_desc *desc, pt_bench_estimate *out,
                                pt_error *err);

#endif
