/* The live line of a training run. SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include "base/clock.h"
#include "base/platform.h"
#include "cli/cli.h"

#define SAMPLE_INDENT "    "

pt_progress pt_progress_begin(const pt_train_options *o, bool quiet)
{
    bool terminal = pt_stderr_is_terminal();
    return (pt_progress){.quiet = quiet,
                         .terminal = terminal,
                         .color = terminal && !pt_platform_env("NO_COLOR"),
                         .steps = o->steps,
                         .prompt = o->sample_prompt ? o->sample_prompt : "",
                         .started = pt_clock_seconds()};
}

void pt_progress_end(pt_progress *p)
{
    if (p->line_open) pt_say("\n");
    p->line_open = false;
}

/* Something is to be said: an open line gives way. */
static void clear_line(pt_progress *p)
{
    if (p->line_open) pt_say("\r\033[K");
    p->line_open = false;
}

void pt_progress_step(pt_progress *p, const pt_step_report *r, double tokens_per_second)
{
    p->trend = p->trend > 0 ? p->trend + 0.05 * (r->loss - p->trend) : r->loss;
    double now = pt_clock_seconds(), every = p->terminal ? 0.2 : 10.0;
    bool last = r->step == p->steps;
    if (p->quiet || (now - p->shown < every && !last && r->step != p->first + 1)) return;
    p->shown = now;
    char left[32] = "?", memory[32], rate[32] = "?";
    double per_step =
        (now - p->started) / (double)(r->step - p->first); /* with what came between the steps */
    if (tokens_per_second > 0) {
        pt_duration((double)(p->steps - r->step) * per_step, left, sizeof left);
        pt_grouped((int64_t)tokens_per_second, rate);
    }
    char line[160];
    pt_format(line, sizeof line, "step %lld/%lld  loss %.4f  trend %.4f  %s tok/s  ETA %s  mem %s",
              (long long)r->step, (long long)p->steps, r->loss, p->trend, rate, left,
              pt_megabytes(pt_peak_rss(), memory));
    if (p->terminal) pt_say("\r%.*s\033[K", pt_stderr_columns() - 1, line);
    else pt_say("%s\n", line);
    p->line_open = p->terminal;
}

void pt_progress_spiked(pt_progress *p, const pt_spike_report *r)
{
    static const char *const done[] = {
        [PT_SPIKE_OFF] = "",
        [PT_SPIKE_WARN] = "noted; --on-spike says what else to do",
        [PT_SPIKE_SKIP] = "this step is left out",
        [PT_SPIKE_STOP] = "the run ends",
        [PT_SPIKE_ROLLBACK] = "back to the newest checkpoint, with half the learning rate",
    };
    if (p->quiet) return;
    clear_line(p);
    if (r->bad) pt_say("step %lld  not finite: %s; ", (long long)r->step, r->bad);
    else pt_say("step %lld  loss spike: %.4f, above %.4f; ", (long long)r->step, r->loss, r->limit);
    pt_say("%s\n", done[r->did]);
}

void pt_progress_evaluated(pt_progress *p, int64_t step, double val_loss)
{
    if (p->quiet) return;
    clear_line(p);
    pt_say("%sstep %lld  validation loss %.4f nats per byte%s\n", p->color ? "\033[1m" : "",
           (long long)step, val_loss, p->color ? "\033[0m" : "");
}

void pt_progress_sampled(pt_progress *p, int64_t step, const char *bytes, int64_t n)
{
    if (p->quiet) return;
    pt_strbuf text = {0};
    const char *bold = p->color ? "\033[1m" : "", *plain = p->color ? "\033[0m" : "";
    clear_line(p);
    pt_strbuf_printf(&text, "step %lld  sample:\n" SAMPLE_INDENT "%s", (long long)step, bold);
    if (strcmp(p->prompt, "\n") != 0)
        pt_put_safely(&text, p->prompt, strlen(p->prompt), SAMPLE_INDENT);
    pt_strbuf_puts(&text, plain);
    pt_put_safely(&text, bytes, (size_t)n, SAMPLE_INDENT);
    pt_strbuf_putc(&text, '\n');
    pt_say_strbuf(&text);
    pt_strbuf_deinit(&text);
}

void pt_progress_saved(pt_progress *p, int64_t step)
{
    if (p->quiet) return;
    clear_line(p);
    pt_say("step %lld  saved\n", (long long)step);
}
