/* The charts of a report, each with its numbers in a table. SPDX-License-Identifier: MIT */
#include "factory/report_internal.h"

#include "base/human.h"
#include "base/maths.h"
#include "factory/chart.h"
#include "factory/curve.h"
#include "factory/html.h"

#define TABLE_ROWS 200
#define MAX_MARKS 80

typedef struct column {
    const char *name;
    const double *y;
    int digits; /* significant */
} column;

/* ---- tables ---- */

static void put_number(pt_strbuf *out, double value, int digits)
{
    if (pt_is_finite(value)) pt_strbuf_printf(out, "<td>%.*g</td>", digits, value);
    else pt_strbuf_puts(out, "<td>none</td>");
}

/* At most about TABLE_ROWS of the n rows, evenly spaced, the last one always. */
static void put_table(pt_strbuf *out, const char *caption, const double *x, int64_t n,
                      const column *columns, int n_columns)
{
    int64_t every = pt_div_up(pt_max_i64(n, 1), TABLE_ROWS);
    if (!n) return;
    pt_strbuf_printf(out, "<details><summary>%s as a table", caption);
    if (every > 1) pt_strbuf_printf(out, ", one step in %lld", (long long)every);
    pt_strbuf_printf(
        out,
        "</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n"
        "<table class=\"numbers\"><thead><tr><th scope=\"col\">step</th>",
        caption);
    for (int k = 0; k < n_columns; k++)
        pt_strbuf_printf(out, "<th scope=\"col\">%s</th>", columns[k].name);
    pt_strbuf_puts(out, "</tr></thead>\n<tbody>\n");
    for (int64_t i = 0; i < n; i++) {
        if (i % every != 0 && i != n - 1) continue;
        pt_strbuf_printf(out, "<tr><th scope=\"row\">%.0f</th>", x[i]);
        for (int k = 0; k < n_columns; k++) put_number(out, columns[k].y[i], columns[k].digits);
        pt_strbuf_puts(out, "</tr>\n");
    }
    pt_strbuf_puts(out, "</tbody></table></div></details>\n");
}

static void begin_figure(pt_report_page *p, const char *title, bool wide)
{
    pt_strbuf_printf(p->out, "<figure%s>\n<figcaption><h3>%s</h3></figcaption>\n",
                     wide ? " class=\"wide\"" : "", title);
}

/* ---- loss ---- */

static int64_t mark_spikes(const pt_run *run, pt_chart_mark marks[MAX_MARKS])
{
    int64_t n = 0;
    for (int64_t i = run->n_steps - 1; i >= 0 && n < MAX_MARKS / 2; i--)
        if (run->steps[i].spike)
            marks[n++] = (pt_chart_mark){(double)run->steps[i].step, "▲", "spike"};
    return n;
}

/* The newest spikes, how it ended, and where it went on, unless it later went back to that step or before it. */
static int64_t collect_marks(const pt_run *run, pt_chart_mark marks[MAX_MARKS])
{
    int64_t n = mark_spikes(run, marks), last = pt_run_last_step(run);
    const char *state = pt_run_state(run);
    if (*run->how && strcmp(state, "finished") != 0) {
        const char *sign = strcmp(state, "stopped") == 0 ? "■" : "✕";
        marks[n++] = (pt_chart_mark){(double)last, sign, state};
        last--; /* one mark for both */
    }
    for (int64_t i = run->n_events - 1; i >= 0 && n < MAX_MARKS; i--) {
        const pt_run_event *e = &run->events[i];
        if (e->to < 0 || e->to > last) continue;
        last = e->to - 1;
        bool resumed = e->kind == PT_RUN_RESUMED;
        marks[n++] = (pt_chart_mark){(double)e->to, resumed ? "↻" : "↶",
                                     resumed ? "resumed" : "rolled back"};
    }
    return n;
}

static void summarise_loss(const pt_report_page *p, char *out, size_t cap)
{
    char text[2][32];
    const pt_run *run = p->run;
    int64_t best = pt_run_best_val(run), n = run->n_steps;
    size_t at = pt_format(out, cap, "Training loss over %lld steps", (long long)n);
    if (n && at < cap)
        at += pt_format(out + at, cap - at, ", smoothed from %s to %s %s",
                        pt_significant(p->smooth[0], 3, 3, text[0]),
                        pt_significant(p->smooth[n - 1], 3, 3, text[1]), p->unit);
    if (best >= 0 && at < cap)
        pt_format(out + at, cap - at, ". Validation loss at %lld steps, lowest %s at step %lld",
                  (long long)run->n_vals, pt_significant(run->vals[best].loss, 3, 3, text[0]),
                  (long long)run->vals[best].step);
}

static pt_status loss_chart(pt_report_page *p, pt_error *err)
{
    const pt_run *run = p->run;
    int64_t n = run->n_steps, n_vals = run->n_vals;
    double *vx = pt_arena_array(&p->arena, n_vals + 1, sizeof *vx);
    double *vy = pt_arena_array(&p->arena, n_vals + 1, sizeof *vy);
    if (!vx || !vy) return pt_fail(err, PT_NO_MEMORY, "no memory for a chart");
    for (int64_t i = 0; i < n; i++) p->column[i] = run->steps[i].loss;
    pt_smooth(p->column, n, p->smooth);
    for (int64_t i = 0; i < n_vals; i++) {
        vx[i] = (double)run->vals[i].step;
        vy[i] = run->vals[i].loss;
    }
    char summary[320], baseline[64];
    pt_chart_mark marks[MAX_MARKS];
    double ln_v = run->vocab > 1 ? pt_log((double)run->vocab) : PT_NAN;
    summarise_loss(p, summary, sizeof summary);
    pt_format(baseline, sizeof baseline, "knowing nothing: ln %lld = %.3f", (long long)run->vocab,
              ln_v);
    pt_chart chart = {
        .id = "loss",
        .title = "Loss",
        .summary = summary,
        .unit = p->unit,
        .series = {{"training, each step", PT_SERIES_THIN, p->x, p->column, n},
                   {"training, trend over about 20 steps", PT_SERIES_THICK, p->x, p->smooth, n},
                   {"validation", PT_SERIES_DOTS, vx, vy, n_vals}},
        .n_series = 3,
        .baseline = ln_v,
        .baseline_name = baseline,
        .marks = marks,
        .n_marks = collect_marks(run, marks)};
    begin_figure(p, "Loss", true);
    pt_status s = pt_chart_write(p->out, &chart, err);
    put_table(p->out, "Validation loss", vx, n_vals, &(column){"loss", vy, 6}, 1);
    put_table(p->out, "Training loss", p->x, n,
              (column[]){{"loss", p->column, 6}, {"smoothed", p->smooth, 6}}, 2);
    pt_strbuf_puts(p->out, "</figure>\n");
    return s;
}

/* ---- the other curves ---- */

typedef struct small_chart {
    const char *id, *title, *unit;
    bool noisy; /* a smoothed curve on top, wild values at the edge */
    bool
        per_value; /* tokens per step are divided by the value, after smoothing: so are rates averaged */
    double (*value)(const pt_run_step *step);
} small_chart;

static double lr_of(const pt_run_step *step) { return step->lr; }
static double norm_of(const pt_run_step *step) { return step->grad_norm; }
static double seconds_of(const pt_run_step *step) { return step->seconds; }

static void fill(const pt_report_page *p, const small_chart *c)
{
    int64_t n = p->run->n_steps, tokens = p->run->tokens_per_step;
    for (int64_t i = 0; i < n; i++) p->column[i] = c->value(&p->run->steps[i]);
    pt_smooth(p->column, n, p->smooth);
    for (int64_t i = 0; c->per_value && i < n; i++) {
        p->column[i] = p->column[i] > 0 && tokens ? (double)tokens / p->column[i] : PT_NAN;
        p->smooth[i] = p->smooth[i] > 0 && tokens ? (double)tokens / p->smooth[i] : PT_NAN;
    }
}

static void summarise(const pt_report_page *p, const small_chart *c, char *out, size_t cap)
{
    double low = PT_NAN, high = PT_NAN;
    for (int64_t i = 0; i < p->run->n_steps; i++) {
        double y = p->column[i];
        if (!pt_is_finite(y)) continue;
        if (!(y >= low)) low = y;
        if (!(y <= high)) high = y;
    }
    pt_format(out, cap, "%s over %lld steps, %s, between %.4g and %.4g", c->title,
              (long long)p->run->n_steps, c->unit, low, high);
}

static pt_status small(pt_report_page *p, const small_chart *c, pt_error *err)
{
    char summary[240];
    int64_t n = p->run->n_steps;
    fill(p, c);
    summarise(p, c, summary, sizeof summary);
    pt_chart chart = {
        .id = c->id,
        .title = c->title,
        .summary = summary,
        .unit = c->unit,
        .series = {{"each step", c->noisy ? PT_SERIES_THIN : PT_SERIES_THICK, p->x, p->column, n},
                   {"smoothed", PT_SERIES_THICK, p->x, p->smooth, n}},
        .n_series = c->noisy ? 2 : 1,
        .from_zero = true,
        .baseline = PT_NAN};
    begin_figure(p, c->title, false);
    pt_status s = pt_chart_write(p->out, &chart, err);
    put_table(p->out, c->title, p->x, n, &(column){c->unit, p->column, 6}, 1);
    pt_strbuf_puts(p->out, "</figure>\n");
    return s;
}

pt_status pt_report_charts(pt_report_page *page, pt_error *err)
{
    static const small_chart charts[] = {
        {"lr", "Learning rate", "AdamW's rate", false, false, lr_of},
        {"norm", "Gradient norm", "L2, before clipping", true, false, norm_of},
        {"speed", "Speed", "tokens per second", true, true, seconds_of}};
    pt_strbuf_puts(page->out, "<section aria-labelledby=\"curves\"><h2 id=\"curves\">Curves</h2>\n"
                              "<div class=\"charts\">\n");
    pt_status s = loss_chart(page, err);
    for (size_t i = 0; i < sizeof charts / sizeof *charts && s == PT_OK; i++)
        s = small(page, &charts[i], err);
    pt_strbuf_puts(page->out, "</div></section>\n");
    return s;
}
