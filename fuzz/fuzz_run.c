/* Fuzzing the reader of runs and the report: input is run.json, a zero byte, and the log. Whatever it is, the run is
 * in order, and its page is UTF-8 in which nothing of it became markup.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/maths.h"
#include "factory/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "fuzz_run: %s\n", what);
    abort();
}

static void check_run(const pt_run *run)
{
    require(run->bad_lines >= 0 && run->bad_lines <= run->lines, "bad lines");
    for (int64_t i = 0; i < run->n_steps; i++)
        require(run->steps[i].step >= (i ? run->steps[i - 1].step + 1 : 0), "steps in order");
    for (int64_t i = 0; i < run->n_vals; i++)
        require(run->vals[i].step >= (i ? run->vals[i - 1].step + 1 : 0), "evaluations in order");
    for (int64_t i = 0; i < run->n_samples; i++)
        require(run->samples[i].n >= 0 && run->samples[i].bytes != NULL, "samples");
    int64_t best = pt_run_best_val(run), last = pt_run_last_val(run);
    require((best < 0) == (last < 0) && last < run->n_vals, "best and newest evaluation");
    require(best < 0 || run->vals[best].loss <= run->vals[last].loss, "best evaluation");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pt_error err = {0};
    pt_run run;
    pt_strbuf page = {0};
    const char *json = (const char *)data;
    const char *zero = size ? memchr(data, 0, size) : NULL, *log = zero ? zero + 1 : json;
    size_t n_json = zero ? (size_t)(zero - json) : 0, n_log = size - (size_t)(log - json);
    require(pt_run_read(&run, zero ? json : NULL, (int64_t)n_json, log, (int64_t)n_log, &err) ==
                PT_OK,
            "read");
    check_run(&run);
    require(pt_report_write(&page, &run, "run", &err) == PT_OK, "report");
    require(pt_utf8_valid(page.data, page.len), "the page is not UTF-8");
    require(strlen(page.data) == page.len, "a zero byte in the page");
    require(!strstr(page.data, "<script") && !strstr(page.data, "<img"), "markup from a run");
    pt_strbuf_deinit(&page);
    pt_run_deinit(&run);
    return 0;
}
