/* The line of a long job. SPDX-License-Identifier: MIT */
#include <signal.h>

#include "base/clock.h"
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
                         .terminal = pt_stderr_is_terminal(),
                         .started = pt_clock_seconds(),
                         .first = -1};
}

pt_status pt_job_line_show(void *ctx, int64_t bytes, pt_error *err)
{
    pt_job_line *l = ctx;
    double now = pt_clock_seconds(), every = l->terminal ? 0.2 : 10.0;
    if (caught) {
        pt_status s = caught == SIGTERM  ? PT_TERMINATED
                      : caught == SIGHUP ? PT_HUNG_UP
                                         : PT_INTERRUPTED;
        return pt_fail(err, s, "%s was stopped by a signal", l->what);
    }
    if (l->first < 0) {
        l->first = bytes;
        l->shown = now;
    }
    if (l->quiet || now - l->shown < every) return PT_OK;
    l->shown = now;
    char line[160], done[32], all[32] = "?", rate[32], left[32] = "?";
    double per_second = (double)(bytes - l->first) / (now - l->started);
    if (l->total > 0) pt_megabytes(l->total, all);
    if (l->total > 0 && per_second > 0) pt_duration((double)(l->total - bytes) / per_second, left);
    pt_format(line, sizeof line, "%s  %s of %s  %s/s  ETA %s", l->what, pt_megabytes(bytes, done),
              all, pt_megabytes((int64_t)per_second, rate), left);
    if (l->terminal) pt_say("\r%.*s\033[K", pt_stderr_columns() - 1, line);
    else pt_say("%s\n", line);
    l->open = l->terminal;
    return PT_OK;
}

void pt_job_line_end(pt_job_line *l)
{
    if (l->open) pt_say("\r\033[K");
    l->open = false;
    for (int i = 0; i < N_SIGNALS; i++) sigaction(numbers[i], &before[i], NULL);
}
