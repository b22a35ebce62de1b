/* The live line of a training run. SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include "base/clock.h"
#include "base/fit_line.h"
#include "base/platform.h"
#include "cli/cli.h"

#define SAMPLE_INDENT "    "

pt_progress pt_progress_begin(const pt_train_options *o, bool quiet)
{
    pt_live_line line = pt_live_line_begin();
    pt_pace pace;
    pt_pace_begin(&pace, pt_clock_seconds());
    return (pt_progress){.quiet = quiet,
                         .color = line.terminal && !pt_platform_env("NO_COLOR"),
                         .line = line,
                         .steps = o->steps,
                         .saved_step = -1,
                         .prompt = o->sample_prompt ? o->sample_prompt : "",
                         .pace = pace};
}

void pt_progress_end(pt_progress *p) { pt_live_line_keep(&p->line); }

/* On a terminal as much as fits; in a file everything, in words. What is not known yet is left out. */
static void step_line(const pt_progress *p, const pt_step_report *r, double tokens_per_second,
                      char *out, size_t cap)
{
    static const char *const arrows[] = {"", " →", " ↓", " ↑"}, *const words[] = {"", " flat",
                                                                                  " falling",
                                                                                  " rising"};
    char step[48], loss[48], trend[48], rate[48] = "", left[48] = "", range[48] = "", memory[48];
    char number[32];
    bool t = p->line.terminal;
    pt_pace_left rest = pt_pace_rest(&p->pace, p->steps - r->step);
    pt_format(step, sizeof step, "%s%lld/%lld", t ? "" : "step ", (long long)r->step,
              (long long)p->steps);
    pt_format(loss, sizeof loss, "loss %.4f", r->loss);
    pt_format(trend, sizeof trend, "trend %.4f", p->pace.fast.value);
    if (tokens_per_second > 0)
        pt_format(rate, sizeof rate, "%s tok/s", pt_rate(tokens_per_second, number));
    double above = rest.high - rest.seconds, below = rest.seconds - rest.low;
    if (rest.known) pt_format(left, sizeof left, "ETA %s", pt_duration(rest.seconds, number));
    pt_duration(above > below ? above : below, number);
    if (rest.known && strcmp(number, "0s") != 0)
        pt_format(range, sizeof range, "%s%s", t ? "±" : " give or take ", number);
    pt_format(memory, sizeof memory, "%s%s", t ? "" : "mem ", pt_megabytes(pt_peak_rss(), number));
    pt_pace_trend direction = pt_pace_direction(&p->pace);
    const pt_line_part parts[] = {
        {step, 0, false},  {loss, 1, false},
        {trend, 3, false}, {t ? arrows[direction] : words[direction], 3, true},
        {rate, 4, false},  {left, 2, false},
        {range, 5, true},  {memory, 6, false}};
    pt_fit_line(out, cap, parts, sizeof parts / sizeof parts[0], pt_live_line_columns(&p->line));
}

void pt_progress_step(pt_progress *p, const pt_step_report *r, double tokens_per_second)
{
    double now = pt_clock_seconds();
    pt_pace_step(&p->pace, now, r->seconds, r->loss);
    bool due = pt_live_line_is_due(&p->line, now) || r->step == p->steps;
    if (p->quiet || !due) return;
    char line[400];
    step_line(p, r, tokens_per_second, line, sizeof line);
    pt_live_line_show(&p->line, line);
}

void pt_progress_spiked(pt_progress *p, const pt_spike_report *r)
{
    static const char *const done[] = {
        [PT_SPIKE_OFF] = "",
        [PT_SPIKE_WARN] = "noted; --on-spike skip|stop|rollback would act",
        [PT_SPIKE_SKIP] = "this step is left out",
        [PT_SPIKE_STOP] = "the run ends",
        [PT_SPIKE_ROLLBACK] = "the run goes back, with half the learning rate",
    };
    p->saved_step = -1; /* after a rollback a step is saved anew */
    if (p->quiet) return;
    pt_live_line_clear(&p->line);
    if (r->bad) pt_say("step %lld  not finite: %s; ", (long long)r->step, r->bad);
    else pt_say("step %lld  loss spike: %.4g, above %.4g; ", (long long)r->step, r->loss, r->limit);
    pt_say("%s\n", done[r->did]);
}

void pt_progress_went_back(pt_progress *p, int64_t step, double lr_scale)
{
    if (p->quiet) return;
    pt_live_line_clear(&p->line);
    pt_say("back at step %lld; the learning rate is now %g times the schedule's\n", (long long)step,
           lr_scale);
}

void pt_progress_evaluated(pt_progress *p, int64_t step, double val_loss)
{
    if (p->quiet) return;
    pt_live_line_clear(&p->line);
    pt_say("%sstep %lld  validation loss %.4f nats per byte%s\n", p->color ? "\033[1m" : "",
           (long long)step, val_loss, p->color ? "\033[0m" : "");
}

void pt_progress_sampled(pt_progress *p, int64_t step, const char *bytes, int64_t n)
{
    if (p->quiet) return;
    pt_strbuf text = {0};
    const char *bold = p->color ? "\033[1m" : "", *plain = p->color ? "\033[0m" : "";
    pt_live_line_clear(&p->line);
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
    if (p->quiet || p->saved_step == step) return;
    p->saved_step = step;
    pt_live_line_clear(&p->line);
    pt_say("step %lld  saved\n", (long long)step);
}
