/* Going on with a run: what its run.json says, and what may differ now.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_RESUME_H
#define PT_CLI_RESUME_H

#include "cli/train_options.h"

/* Takes from the run.json in a->resume what was not given, and sets a->out and a->previous. A folder without a
 * run.json is one where the run is to begin, if --corpus is given. BAD_INPUT when an option is given that contradicts
 * the run and is none of those that may change, naming both values. */
pt_status pt_resume_arguments(pt_train_arguments *arguments, pt_error *err);
/* That what the run recorded as its corpus can be opened from here; a run that does not go on is fine. NOT_FOUND or BAD_INPUT,
 * which say what to do. */
pt_status pt_resume_check_paths(const pt_train_arguments *arguments, pt_error *err);
/* That the open corpus is what the run learns from. BAD_INPUT naming the path, and both sizes or checksums. */
pt_status pt_resume_check_corpus(const pt_train_arguments *arguments, pt_error *err);
/* That --steps does not end the run before the step that it has `done`, nor changes the rate of a step up to that. */
pt_status pt_resume_check_steps(const pt_train_arguments *arguments, int64_t done, pt_error *err);

#endif
