/* train --dry-run, and the refusal of what does not fit into memory. SPDX-License-Identifier: MIT */
#ifndef PT_CLI_DRY_RUN_H
#define PT_CLI_DRY_RUN_H

#include "train/trainer.h"

typedef struct pt_dry_run {
    pt_device *device;
    const pt_trainer_desc *desc;
    const pt_trainer *trainer; /* planned, nothing allocated */
    int64_t done;              /* steps, of a run that goes on */
    bool json, force_memory;
} pt_dry_run;

/* The plan by part, whether it fits, how long the steps left will take, on stdout. NO_MEMORY when it does not fit. */
pt_status pt_dry_run_print(const pt_dry_run *run, pt_error *err);
/* NO_MEMORY, naming what would fit, when the plan is larger than what is available and force_memory is not set. */
pt_status pt_check_memory(const pt_dry_run *run, pt_error *err);

#endif
