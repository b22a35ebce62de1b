/* The live line of a training run on a terminal; plain lines elsewhere.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_PROGRESS_H
#define PT_CLI_PROGRESS_H

#include "cli/live_line.h"
#include "train/pace.h"
#include "train/trainer.h"

typedef struct pt_progress {
    bool quiet; /* --quiet: nothing */
    bool color;
    pt_live_line line;
    int64_t steps;
    int64_t saved_step; /* told last; the last step is saved again after its evaluation. -1: none */
    pt_pace pace;
    const char *prompt; /* of the samples */
} pt_progress;

pt_progress pt_progress_begin(const pt_train_options *options, bool quiet);
/* Shows the step when it is time to: on a terminal a few times a second, else every few seconds. */
void pt_progress_step(pt_progress *progress, const pt_step_report *report,
                      double tokens_per_second);
/* A spike, and what was done about it. */
void pt_progress_spiked(pt_progress *progress, const pt_spike_report *report);
/* After a rollback: where the run stands now. */
void pt_progress_went_back(pt_progress *progress, int64_t step, double lr_scale);
void pt_progress_evaluated(pt_progress *progress, int64_t step, double val_loss);
void pt_progress_sampled(pt_progress *progress, int64_t step, const char *bytes, int64_t n);
void pt_progress_saved(pt_progress *progress, int64_t step);
/* Ends an open line. */
void pt_progress_end(pt_progress *progress);

#endif
