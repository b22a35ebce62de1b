/* The line of a long job on bytes: how much is done, how fast, how long it will take; and its end by a signal.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_JOB_LINE_H
#define PT_CLI_JOB_LINE_H

#include "base/status.h"
#include "cli/live_line.h"

typedef struct pt_job_line {
    const char *what; /* "sharding" */
    int64_t total;    /* bytes; below 1: unknown */
    bool quiet;

    pt_live_line line;
    double started;
    int64_t first; /* bytes that were done before */
} pt_job_line;

/* From now on Ctrl-C and its like end the job at its next piece; a second one ends the program at once. One job at a
 * time. */
pt_job_line pt_job_line_begin(const char *what, int64_t total, bool quiet);
/* To be called with the bytes done so far; ctx is the line. INTERRUPTED, TERMINATED or HUNG_UP after a signal. */
pt_status pt_job_line_show(void *ctx, int64_t bytes, pt_error *err);
/* Signals do what they did before. */
void pt_job_line_end(pt_job_line *line);

#endif
