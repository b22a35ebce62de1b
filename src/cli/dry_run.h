/* train --dry-run, and the refusal of what does not fit into memory. SPDX-License-Identifier: MIT */
#ifndef PT_CLI_DRY_RUN_H
#define PT_CLI_DRY_RUN_H

#include "train/trainer.h"

typedef struct pt_dry_run {
    pt_device *device;
    const pt_trainer_desc *desc;
    const pt_trainer *trainer; /* planned, nothing allocated */
    bool begun;                /* the run goes on: most of its options cannot be changed */
    int64_t done;              /* steps, of such a one */
    int64_t keep;              /* checkpoints, beside the best; 0: all */
    double save_minutes;       /* between two savings by time; 0 = off */
    bool json, force_memory;
} pt_dry_run;

/* A plan and its time depend on no text: where none is given, random bytes do, enough to train on and to validate.
 * *out is the caller's (pt_free). */
pt_status pt_dry_run_text(const pt_model_config *config, uint8_t **out, int64_t *n, pt_error *err);

/* The plan by part, whether it fits, the disk it fills, how long the steps left will take, on stdout. NO_MEMORY when it does not fit. */
pt_status pt_dry_run_print(const pt_dry_run *run, pt_error *err);
/* NO_MEMORY, naming what would fit, when there is no room for the plan and force_memory is not set. */
pt_status pt_check_memory(const pt_dry_run *run, pt_error *err);
/* NO_MEMORY, naming what would fit, for a device that gives no more than `gives` bytes (pt_device_room), which the plan exceeds. */
pt_status pt_refuse_for_device(const pt_dry_run *run, int64_t gives, pt_error *err);

#endif
