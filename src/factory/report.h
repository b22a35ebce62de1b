/* A run's report: one page of HTML, without scripts and without requests, that shows its curves, what it wrote,
 * how it was made, and what to think of it (verdict.h).
 *
 * Each curve has its numbers in a table beside it. The page follows the reader's light or dark scheme, prints,
 * and needs 320 pixels of width.
 * SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_REPORT_H
#define PT_FACTORY_REPORT_H

#include "factory/run_read.h"

/* Appends the page. `name` is the run's, for the title. Errors: NO_MEMORY. */
pt_status pt_report_write(pt_strbuf *out, const pt_run *run, const char *name, pt_error *err);
/* Reads the folder and writes the page whole or not at all to `path`, or to report.html in the folder when that is
 * NULL (report_file.c; not part of the WASM build). An existing report is replaced. */
pt_status pt_report_put(const char *folder, const char *path, pt_error *err);

/* The report of a run that goes on. Zero-initialised is a fresh one. */
typedef struct pt_report_live {
    double due; /* seconds of the monotonic clock */
} pt_report_live;
/* Writes report.html, unless that would cost more than 2 % of the time: after one that took t seconds, the next comes
 * 50 t later at the earliest. A report that cannot be written now is no reason to stop: nothing is said. */
void pt_report_refresh(pt_report_live *live, const char *folder);

#endif
