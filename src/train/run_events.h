/* TensorBoard's event file of a run, written while it trains, beside log.jsonl:
 * RUN/events.out.tfevents.<unix seconds>.<host>.<pid>.0 (docs/FORMATS.md). Each sitting of a run has one of its
 * own; TensorBoard reads all of a folder as one run. Not part of the WASM build (it opens files).
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_RUN_EVENTS_H
#define PT_TRAIN_RUN_EVENTS_H

#include "train/trainer.h"

#define PT_RUN_EVENTS_PREFIX "events.out.tfevents." /* of the files' names */

typedef struct pt_run_events pt_run_events;

/* resumed: TensorBoard is told to forget what an earlier sitting wrote of steps after `step`, those done, which may be
 * 0 (it was killed before its first checkpoint). tokens_per_step: batch * accum * ctx. */
pt_status pt_run_events_open(pt_run_events **out, const char *run, bool resumed, int64_t step,
                             int64_t tokens_per_step, pt_error *err);
/* To be called from the trainer's events. With NULL instead of events they do nothing. */
pt_status pt_run_events_step(pt_run_events *events, const pt_step_report *report, pt_error *err);
pt_status pt_run_events_evaluated(pt_run_events *events, int64_t step, double val_loss,
                                  pt_error *err);
pt_status pt_run_events_sampled(pt_run_events *events, int64_t step, const char *bytes, int64_t n,
                                pt_error *err);
/* The run goes on from `step`, a checkpoint: what came after is forgotten. */
pt_status pt_run_events_went_back(pt_run_events *events, int64_t step, pt_error *err);
void pt_run_events_close(pt_run_events *events); /* NULL is fine */

#endif
