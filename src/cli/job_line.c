/* The line of a long job. SPDX-License-Identifier: MIT */
#include <signal.h>

#include "base/clock.h"
#include "base/fit_line.h"
#include "cli/cli.h"
#include "cli/job_line.h"
#include "cli/progress.h"

#define N_SIGNALS 3
static const int numbers[N_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[N_SIGNALS]; /* the job */
static volatile sig_atomic_t caught;

static void on_signal(int number) { caught = number; }

pt_job_line pt_job_line_begin(const char *what, int64_t total, bool quiet)
{
    struct sigaction action = {.sa_handler = on_signal,
                               .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    sigemptyset(&action.sa_mask);
    caught = 0;
    for (int i = 0; i < N_SIGNALS; i++)
        if (sigaction(numbers[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    return (pt_job_line){.what = what,
                         .total = total,
                         .quiet = quiet,
                         .line = pt_live_line_begin(),
                         .started = pt_clock_seconds(),
                         .first = -1};
}

/* A total that is not known leaves out what would follow from it. */
static void show(pt_job_line *l, int64_t bytes, double now)
{
    char line[200], done[64], rate[48], left[48] = "", n[32], all[32];
    double per_second = (double)(bytes - l->first) / (now - l->started);
    pt_megabytes(bytes, n);
    if (l->total > 0) pt_format(done, sizeof done, "%s of %s", n, pt_megabytes(l->total, all));
    else pt_format(done, sizeof done, "%s", n);
    pt_format(rate, sizeof rate, "%s/s", pt_megabytes((int64_t)per_second, n));
    if (l->total > 0 && per_second > 0)
        pt_format(left, sizeof left, "ETA %s",
                  pt_duration((double)(l->total - bytes) / per_second, n));
    const pt_line_part parts[] = {
        {l->what, 0, false}, {done, 1, false}, {rate, 3, false}, {left, 2, false}};
    pt_fit_line(line, sizeof line, parts, 4, pt_live_line_columns(&l->line));
    pt_live_line_show(&l->line, line);
}

pt_status pt_job_line_show(void *ctx, int64_t bytes, pt_error *err)
{
    pt_job_line *l = ctx;
    double now = pt_clock_seconds();
    if (caught) {
        pt_status s = caught == SIGTERM  ? PT_TERMINATED
                      : caught == SIGHUP ? PT_HUNG_UP
                                         : PT_INTERRUPTED;
        return pt_fail(err, s, "%s was stopped by a signal", l->what);
    }
    bool first = l->first < 0; /* nothing to tell yet */
    if (first) l->first = bytes;
    if (!pt_live_line_is_due(&l->line, now) || first || l->quiet) return PT_OK;
    show(l, bytes, now);
    return PT_OK;
}

void pt_job_line_end(pt_job_line *l)
{
    pt_live_line_clear(&l->line);
    for (int i = 0; i < N_SIGNALS; i++) sigaction(numbers[i], &before[i], NULL);
}
