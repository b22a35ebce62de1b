/* What the files of the report share. SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_REPORT_INTERNAL_H
#define PT_FACTORY_REPORT_INTERNAL_H

#include "factory/report.h"
#include "factory/run_config.h"

typedef struct pt_report_page {
    pt_strbuf *out;
    const pt_run *run;
    const char *name;
    const char *unit; /* of losses: "nats per byte" */
    pt_arena arena;
    pt_config_entry *config;
    int64_t n_config;
    double *x, *smooth, *column; /* [n_steps]: steps, the smoothed loss, scratch */
} pt_report_page;

extern const char *const pt_report_style[]; /* pieces, NULL at the end */

pt_status pt_report_charts(pt_report_page *page, pt_error *err); /* report_charts.c */
void pt_report_samples(pt_report_page *page);                    /* report_tables.c */
void pt_report_events(pt_report_page *page);
void pt_report_config(pt_report_page *page);

#endif
