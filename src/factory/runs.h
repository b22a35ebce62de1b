/* Many runs: found below folders, each summed up in a few figures. Not part of the WASM build (it opens files).
 * SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_RUNS_H
#define PT_FACTORY_RUNS_H

#include "factory/run_read.h"

#define PT_RUNS_DEPTH 3 /* levels below a folder that are searched */

/* What a list of runs shows of one. Plain values; NaN, 0 or "" when unknown. */
typedef struct pt_run_summary {
    char path[1024]; /* as found: the folder given, and the names below it */
    char preset[32], started[32], state[16], verdict[16];
    int64_t params, steps, total_steps, best_step, last_step; /* steps of the evaluations */
    double best_val, last_val, train_loss, speed, seconds; /* tokens per second; of all sittings */
} pt_run_summary;

/* Which bytes a summary was made from. */
typedef struct pt_run_stamp {
    int64_t json_ns, json_bytes, log_ns, log_bytes; /* -1 bytes: no such file */
} pt_run_stamp;

typedef struct pt_runs {
    pt_run_summary *items;
    int64_t n, cap;
    int64_t n_read; /* that had to be read, because the index did not know them */
} pt_runs;

/* Adds every run in `folder` (itself, or up to PT_RUNS_DEPTH levels below; not inside runs, nor in names that begin
 * with a dot). `index` is the path of the index, or NULL for none: it only saves time, and whatever is wrong with it
 * is no error. A run whose files cannot be read counts as none. Errors: NOT_FOUND (no such folder), NO_MEMORY. */
pt_status pt_runs_find(pt_runs *runs, const char *folder, const char *index, pt_error *err);
void pt_runs_deinit(pt_runs *runs);

pt_run_summary pt_run_sum_up(const pt_run *run, const char *path);

/* "unfinished" becomes "running" where a living process holds the log of the run at s->path. */
void pt_run_summary_look(pt_run_summary *s);

/* Sorts by "name", "started", "val" (best), "speed", "steps" or "params", the best or newest first, runs without the
 * figure last. BAD_INPUT for another key. */
pt_status pt_runs_sort(pt_runs *runs, const char *key, pt_error *err);

/* $XDG_DATA_HOME/posttrain/runs.db, or below $HOME/.local/share; false when there is no such place. */
bool pt_runs_index_path(char *out, size_t cap);

#endif
