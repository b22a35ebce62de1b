/* Signals that ask a run to end. SPDX-License-Identifier: MIT */
#include "cli/stopping.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

static volatile sig_atomic_t interrupts, interrupt_signal;
static volatile sig_atomic_t line_may_be_open; /* stderr is a terminal: a new line comes first */

#define STOPPING                                                             \
    "\nstopping: the step under way is dropped, then everything is saved;\n" \
    "once more stops at once and loses what is not saved\n"
#define STOPPED                                                         \
    "\nstopped at once; --resume goes on from the newest checkpoint,\n" \
    "or from the start where there is none\n"

/* The first signal asks for a clean end; the second one ends at once. It is answered here, as the loop may be
 * minutes away from looking: who hears nothing asks again, and loses what the first would have saved. */
static void on_signal(int number)
{
    int was = errno;
    bool first = ++interrupts == 1;
    const char *words = first ? STOPPING : STOPPED;
    size_t length = first ? sizeof STOPPING - 1 : sizeof STOPPED - 1, skip = !line_may_be_open;
    interrupt_signal = number;
    ssize_t written = write(STDERR_FILENO, words + skip, length - skip);
    (void)written; /* nobody may be reading */
    if (!first) _exit(128 + number);
    errno = was;
}

void pt_stopping_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    line_may_be_open = isatty(STDERR_FILENO) != 0;
    for (int i = 0; i < 3; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* nobody reading the progress is no reason to lose a run */
    signal(SIGXFSZ, SIG_IGN); /* a file too large for ulimit -f is an error of the write */
}

pt_status pt_stopping(void)
{
    return !interrupts                   ? PT_OK
           : interrupt_signal == SIGTERM ? PT_TERMINATED
           : interrupt_signal == SIGHUP  ? PT_HUNG_UP
                                         : PT_INTERRUPTED;
}
