/* A run's report. SPDX-License-Identifier: MIT */
#include "factory/report.h"

#include "base/human.h"
#include "base/maths.h"
#include "base/version.h"
#include "factory/html.h"
#include "factory/report_internal.h"
#include "factory/verdict.h"

/* ---- head ---- */

static void put_head(pt_report_page *p)
{
    pt_strbuf_puts(p->out,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "style-src 'unsafe-inline'; img-src data:\">\n"
                   "<link rel=\"icon\" href=\"data:,\">\n<title>");
    pt_html_text(p->out, p->name);
    pt_strbuf_puts(p->out, " · run report</title>\n<style>\n");
    for (int i = 0; pt_report_style[i]; i++) pt_strbuf_puts(p->out, pt_report_style[i]);
    pt_strbuf_puts(p->out, "</style>\n</head>\n<body>\n");
}

static void put_title(pt_report_page *p)
{
    const pt_run *run = p->run;
    char n[32], day[11];
    const char *state = pt_run_state(run);
    pt_strbuf_puts(p->out, "<header><h1>");
    pt_html_text(p->out, p->name);
    pt_strbuf_printf(p->out, "</h1>\n<p class=\"line\"><span class=\"state %s\">%s</span> ", state,
                     state);
    if (*run->preset) {
        pt_html_text(p->out, run->preset);
        pt_strbuf_puts(p->out, ", ");
    }
    if (run->params) pt_strbuf_printf(p->out, "%s parameters", pt_grouped(run->params, n));
    pt_strbuf_printf(p->out, ", step %s", pt_grouped(pt_run_last_step(run), n));
    if (run->total_steps) pt_strbuf_printf(p->out, " of %s", pt_grouped(run->total_steps, n));
    if (strlen(run->started) >= 10) {
        pt_format(day, sizeof day, "%.10s", run->started);
        pt_strbuf_puts(p->out, ", begun ");
        pt_html_text(p->out, day);
    }
    pt_strbuf_puts(p->out, "</p></header>\n<main>\n");
}

static void put_verdict(pt_report_page *p)
{
    pt_verdict v = pt_verdict_of(p->run);
    const char *schedule = pt_config_value(p->config, p->n_config, "train.schedule");
    bool rate_falls = schedule && strcmp(schedule, "constant") != 0;
    pt_strbuf_printf(
        p->out, "<section class=\"verdict %s\" aria-labelledby=\"verdict\"><h2 id=\"verdict\">",
        pt_verdict_name(v.kind));
    pt_html_text(p->out, pt_verdict_words(v.kind));
    pt_strbuf_puts(p->out, "</h2>\n<p>");
    pt_html_text(p->out, v.because);
    pt_strbuf_puts(p->out, "</p>\n<p>");
    pt_html_text(p->out, pt_verdict_advice(v.kind, rate_falls));
    pt_strbuf_puts(p->out, "</p></section>\n");
}

/* ---- figures ---- */

static void put_figure(pt_strbuf *out, const char *name, const char *value, const char *note)
{
    pt_strbuf_printf(out, "<div><dt>%s</dt><dd>", name);
    pt_html_text(out, value);
    if (*note) pt_strbuf_puts(out, " <small>");
    pt_html_text(out, note);
    pt_strbuf_printf(out, "%s</dd></div>\n", *note ? "</small>" : "");
}

static void put_losses(pt_report_page *p)
{
    const pt_run *run = p->run;
    char value[32], note[64], n[32];
    int64_t best = pt_run_best_val(run), last = pt_run_last_val(run);
    if (best >= 0) {
        pt_significant(run->vals[best].loss, 4, 4, value);
        pt_format(note, sizeof note, "%s at step %s", p->unit, pt_grouped(run->vals[best].step, n));
        put_figure(p->out, "best validation loss", value, note);
    }
    if (last >= 0 && last != best) {
        pt_significant(run->vals[last].loss, 4, 4, value);
        pt_format(note, sizeof note, "%s at step %s", p->unit, pt_grouped(run->vals[last].step, n));
        put_figure(p->out, "newest validation loss", value, note);
    }
    if (!run->n_steps) return;
    pt_significant(pt_run_train_loss(run), 4, 4, value);
    put_figure(p->out, "training loss", value, "mean of the last 10 steps");
}

static void put_figures(pt_report_page *p)
{
    const pt_run *run = p->run;
    char value[32], other[32], note[64];
    double speed = pt_run_speed(run), tokens = (double)run->n_steps * (double)run->tokens_per_step;
    pt_strbuf_puts(p->out, "<dl class=\"figures\">\n");
    put_losses(p);
    if (pt_is_finite(speed))
        put_figure(p->out, "speed", pt_rate(speed, value), "tokens per second");
    if (tokens > 0) put_figure(p->out, "seen", pt_rate(tokens, value), "tokens");
    if (run->seconds > 0)
        put_figure(p->out, "time", pt_duration(run->seconds, value), "of all sittings");
    if (run->peak_bytes || run->planned_bytes) {
        int64_t planned = run->planned_bytes;
        pt_format(note, sizeof note,
                  planned && run->peak_bytes ? "peak; planned %s"
                  : run->peak_bytes          ? "peak"
                                             : "planned",
                  pt_megabytes(planned, other));
        put_figure(p->out, "memory",
                   pt_megabytes(run->peak_bytes ? run->peak_bytes : planned, value), note);
    }
    pt_strbuf_puts(p->out, "</dl>\n");
}

/* ---- the whole ---- */

static pt_status prepare(pt_report_page *p, pt_error *err)
{
    const pt_run *run = p->run;
    size_t size = sizeof *p->x;
    p->x = pt_arena_array(&p->arena, run->n_steps + 1, size);
    p->smooth = pt_arena_array(&p->arena, run->n_steps + 1, size);
    p->column = pt_arena_array(&p->arena, run->n_steps + 1, size);
    if (!p->x || !p->smooth || !p->column)
        return pt_fail(err, PT_NO_MEMORY, "no memory for the report");
    for (int64_t i = 0; i < run->n_steps; i++) p->x[i] = (double)run->steps[i].step;
    pt_status s = pt_config_list(run->json, &p->arena, &p->config, &p->n_config, err);
    const char *tokenizer = pt_config_value(p->config, p->n_config, "corpus.tokenizer");
    p->unit = tokenizer && strcmp(tokenizer, "bytes") == 0 ? "nats per byte" : "nats per token";
    return s;
}

pt_status pt_report_write(pt_strbuf *out, const pt_run *run, const char *name, pt_error *err)
{
    pt_report_page page = {.out = out, .run = run, .name = name};
    pt_status s = prepare(&page, err);
    if (s == PT_OK) {
        put_head(&page);
        put_title(&page);
        put_verdict(&page);
        put_figures(&page);
        s = pt_report_charts(&page, err);
    }
    if (s == PT_OK) {
        pt_report_samples(&page);
        pt_report_events(&page);
        pt_report_config(&page);
        pt_strbuf_puts(out, "</main>\n<footer><p>Written by posttrain " PT_VERSION
                            " from run.json and log.jsonl.</p></footer>\n</body>\n</html>\n");
        if (out->failed) s = pt_fail(err, PT_NO_MEMORY, "no memory for the report");
    }
    pt_arena_deinit(&page.arena);
    return s;
}
