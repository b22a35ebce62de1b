/* One chart as SVG. SPDX-License-Identifier: MIT */
#include "factory/chart.h"

#include "base/human.h"
#include "base/maths.h"
#include "factory/html.h"

#define SIDE 1000.0 /* of the inner SVG's square */
#define COLUMNS 500 /* of a curve: the lowest and the highest value of each are drawn */

typedef struct range {
    double low, high;
} range;

typedef struct drawing {
    pt_strbuf *out;
    const pt_chart *chart;
    range x, y;
} drawing;

/* ---- scales ---- */

static double at(range r, double value)
{
    double share = (value - r.low) / (r.high - r.low);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

static void widen(range *r, double value)
{
    if (!pt_is_finite(value)) return;
    if (!(value >= r->low)) r->low = value;
    if (!(value <= r->high)) r->high = value;
}

/* mean - reach * sd … mean + reach * sd of the values within a range. */
static range middle(const pt_chart *c, range within, double reach)
{
    double sum = 0, square = 0;
    int64_t n = 0;
    for (int k = 0; k < c->n_series; k++)
        for (int64_t i = 0; i < c->series[k].n; i++) {
            double y = c->series[k].y[i];
            if (y >= within.low && y <= within.high) sum += y, square += y * y, n++;
        }
    if (!n) return (range){PT_NAN, PT_NAN};
    double mean = sum / (double)n, variance = square / (double)n - mean * mean;
    double sd = pt_sqrt(variance > 0 ? variance : 0) + 1e-9 * pt_fabs(mean);
    return (range){mean - reach * sd, mean + reach * sd};
}

/* Of the values but the wild ones, which would flatten the rest: those more than 8 standard deviations from the mean;
 * with `clip` those more than 4 from it, again and again without them. */
static range y_range(const pt_chart *c)
{
    range within = {-1e150, 1e150}, r = {PT_NAN, PT_NAN};
    for (int round = 0; round < (c->clip ? 6 : 1); round++)
        within = middle(c, within, c->clip ? 4 : 8);
    for (int k = 0; k < c->n_series; k++)
        for (int64_t i = 0; i < c->series[k].n; i++) {
            double y = c->series[k].y[i];
            if (y >= within.low && y <= within.high) widen(&r, y);
        }
    if (pt_is_nan(r.low)) return r;
    widen(&r, c->baseline);
    if (c->from_zero) widen(&r, 0);
    return r;
}

static range x_range(const pt_chart *c)
{
    range r = {PT_NAN, PT_NAN};
    for (int k = 0; k < c->n_series; k++)
        if (c->series[k].n) {
            widen(&r, c->series[k].x[0]);
            widen(&r, c->series[k].x[c->series[k].n - 1]);
        }
    return r;
}

/* 1, 2 or 5 times a power of ten, so that about `wanted` of them span the range. */
static double tick_step(range r, int wanted)
{
    double rough = (r.high - r.low) / wanted, power = 1;
    while (power > rough) power /= 10;
    while (power * 10 <= rough) power *= 10;
    double share = rough / power;
    return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

/* Rounded outwards to whole ticks; what is too close to tell apart gets room on both sides. */
static range round_out(range r, double *step, int wanted)
{
    double span = r.high - r.low, size = pt_fabs(r.high) + pt_fabs(r.low);
    if (!(span > 1e-12 * size) || span < 1e-200) {
        double room = size > 1e-200 ? 0.1 * size : 1;
        r = (range){r.low - room, r.high + room};
    }
    *step = tick_step(r, wanted);
    r.low = pt_floor(r.low / *step + 1e-9) * *step;
    r.high = -pt_floor(-r.high / *step + 1e-9) * *step;
    return r;
}

/* A tick's number with as many decimals as the step between ticks needs. */
static void tick_text(double value, double step, char out[32])
{
    int decimals = 0;
    double size = pt_fabs(value);
    if (size < step / 2) pt_format(out, 32, "0");
    else if (size >= 1e6) pt_format(out, 32, "%.4gM", value / 1e6);
    else if (size >= 1e4) pt_format(out, 32, "%.4gk", value / 1e3);
    else if (step < 1e-5) pt_format(out, 32, "%.3g", value);
    else {
        double scaled = step;
        while (scaled < 0.999 && decimals < 6) scaled *= 10, decimals++;
        pt_format(out, 32, "%.*f", decimals, value);
    }
}

/* ---- curves, in the inner SVG ---- */

static void put_point(drawing *d, const char *command, double x, double y)
{
    pt_strbuf_printf(d->out, "%s%.1f %.1f", command, SIDE * at(d->x, x), SIDE * (1 - at(d->y, y)));
}

/* The values of one column in the order they come: its first extreme, then the other. */
static int64_t put_column(drawing *d, const pt_series *s, int64_t i, bool *open)
{
    int64_t low = i, high = i, end = i;
    int column = (int)(COLUMNS * at(d->x, s->x[i]));
    for (; end < s->n && (int)(COLUMNS * at(d->x, s->x[end])) == column; end++) {
        if (!pt_is_finite(s->y[end])) break;
        if (s->y[end] < s->y[low]) low = end;
        if (s->y[end] > s->y[high]) high = end;
    }
    if (end == i) { /* not finite: a gap */
        *open = false;
        return i + 1;
    }
    int64_t first = pt_min_i64(low, high), second = pt_max_i64(low, high);
    put_point(d, *open ? "L" : "M", s->x[first], s->y[first]);
    if (second != first) put_point(d, "L", s->x[second], s->y[second]);
    else if (!*open) pt_strbuf_puts(d->out, "h0"); /* a lone point is a dot */
    *open = true;
    return end;
}

static void put_curve(drawing *d, int k)
{
    const pt_series *s = &d->chart->series[k];
    static const char *const classes[PT_SERIES_STYLES] = {"thin", "thick", "joined"};
    bool open = false;
    char text[32];
    pt_strbuf_printf(d->out, "<path class=\"%s\" d=\"", classes[s->style]);
    for (int64_t i = 0; i < s->n;) i = put_column(d, s, i, &open);
    pt_strbuf_puts(d->out, "\"/>\n");
    if (s->style != PT_SERIES_DOTS) return;
    int64_t every = pt_div_up(pt_max_i64(s->n, 1), COLUMNS);
    for (int64_t i = 0; i < s->n; i += every) {
        if (!pt_is_finite(s->y[i])) continue;
        pt_strbuf_puts(d->out, "<path class=\"dot\" d=\"");
        put_point(d, "M", s->x[i], s->y[i]);
        pt_strbuf_puts(d->out, "h0\"><title>");
        pt_html_text(d->out, s->name);
        pt_strbuf_printf(d->out, " %s at step %.0f</title></path>\n",
                         pt_significant(s->y[i], 4, 4, text), s->x[i]);
    }
}

/* ---- what lies beyond the scale, and is drawn at its edge ---- */

#define EDGE_MARKS 50 /* at most so many marks of a series: of those nearer together the furthest */

/* How far outside, in y; 0: it is within. */
static double outside(const drawing *d, double y)
{
    if (!pt_is_finite(y)) return 0;
    return y > d->y.high ? y - d->y.high : y < d->y.low ? d->y.low - y : 0;
}

static void put_edge_mark(drawing *d, const pt_series *s, int64_t i)
{
    pt_strbuf_puts(d->out, "<path class=\"edge\" d=\"");
    put_point(d, "M", s->x[i], s->y[i]);
    pt_strbuf_puts(d->out, "h0\"><title>");
    pt_html_text(d->out, s->name);
    pt_strbuf_printf(d->out, " %.5g at step %.0f, beyond the scale</title></path>\n", s->y[i],
                     s->x[i]);
}

static void put_edge_marks(drawing *d, const pt_series *s)
{
    for (int64_t i = 0, furthest; i < s->n;) {
        int part = (int)(EDGE_MARKS * at(d->x, s->x[i]));
        for (furthest = i; i < s->n && (int)(EDGE_MARKS * at(d->x, s->x[i])) == part; i++)
            if (outside(d, s->y[i]) > outside(d, s->y[furthest])) furthest = i;
        if (outside(d, s->y[furthest]) > 0) put_edge_mark(d, s, furthest);
    }
}

/* The first series is the values themselves; others may be smoothed from it. */
static void put_beyond(drawing *d)
{
    int64_t n = 0, furthest = 0;
    const pt_series *s = d->chart->series;
    for (int64_t i = 0; i < s->n; i++) {
        double out = outside(d, s->y[i]);
        n += out > 0;
        if (out > outside(d, s->y[furthest])) furthest = i;
    }
    if (!n) return;
    pt_strbuf_printf(d->out,
                     "<p class=\"quiet beyond\">%lld value%s beyond the scale %s marked at ",
                     (long long)n, n == 1 ? "" : "s", n == 1 ? "is" : "are");
    pt_strbuf_printf(d->out, "its edge%s %.5g at step %.0f.</p>\n", n == 1 ? ":" : ", the furthest",
                     s->y[furthest], s->x[furthest]);
}

static void put_level(drawing *d)
{
    const pt_chart *c = d->chart;
    if (!pt_is_finite(c->baseline)) return;
    double y = 100 * (1 - at(d->y, c->baseline));
    pt_strbuf_printf(d->out,
                     "<line class=\"level\" x1=\"0\" x2=\"100%%\" y1=\"%.2f%%\" y2=\"%.2f%%\"/>\n",
                     y, y);
}

/* ---- axes and marks, in the outer SVG ---- */

static void put_axes(drawing *d, double x_step, double y_step)
{
    char text[32];
    int n = (int)((d->y.high - d->y.low) / y_step + 0.5);
    for (int i = 0; i <= n; i++) {
        double v = d->y.low + i * y_step;
        double y = 100 * (1 - at(d->y, v));
        tick_text(v, y_step, text);
        pt_strbuf_printf(d->out,
                         "<line class=\"grid\" x1=\"0\" x2=\"100%%\" y1=\"%.2f%%\" y2=\"%.2f%%\"/>"
                         "<text class=\"y\" x=\"-.6em\" y=\"%.2f%%\" dy=\".32em\">%s</text>\n",
                         y, y, y, text);
    }
    double first = -pt_floor(-d->x.low / x_step + 1e-9) * x_step;
    n = (int)((d->x.high - first) / x_step + 1e-6);
    for (int i = 0; i <= n; i++) {
        double v = first + i * x_step;
        tick_text(v, x_step, text);
        pt_strbuf_printf(d->out,
                         "<text class=\"x\" x=\"%.2f%%\" y=\"100%%\" dy=\"1.5em\">%s</text>\n",
                         100 * at(d->x, v), text);
    }
    pt_strbuf_puts(d->out, "<text class=\"unit\" x=\"-3.6em\" y=\"-1.7em\">");
    pt_html_text(d->out, d->chart->unit);
    pt_strbuf_puts(
        d->out, "</text><text class=\"unit end\" x=\"100%\" y=\"100%\" dy=\"2.9em\">step</text>\n");
}

static void put_marks(drawing *d)
{
    const pt_chart *c = d->chart;
    for (int64_t i = 0; i < c->n_marks; i++) {
        double x = 100 * at(d->x, c->marks[i].x);
        pt_strbuf_printf(
            d->out,
            "<g><title>%s at step %.0f</title><line class=\"mark\" x1=\"%.2f%%\" x2=\"%.2f%%\" "
            "y1=\"0\" y2=\"100%%\"/><text class=\"x sign\" x=\"%.2f%%\" y=\"0\" dy=\"-.35em\">%s"
            "</text></g>\n",
            c->marks[i].name, c->marks[i].x, x, x, x, c->marks[i].sign);
    }
}

/* ---- the legend ---- */

static void put_key(pt_strbuf *out, const char *inside, const char *name)
{
    pt_strbuf_printf(out, "<li><svg class=\"key\" aria-hidden=\"true\">%s</svg>", inside);
    pt_html_text(out, name);
    pt_strbuf_puts(out, "</li>\n");
}

static void put_legend(pt_strbuf *out, const pt_chart *c)
{
    static const char *const keys[PT_SERIES_STYLES] = {
        "<path class=\"thin\" d=\"M0 7l4-3 4 5 4-6 4 6 4-4 4 2\"/>",
        "<path class=\"thick\" d=\"M0 7h24\"/>",
        "<path class=\"joined\" d=\"M0 7h24\"/><path class=\"dot\" d=\"M12 7h0\"/>"};
    pt_strbuf_puts(out, "<ul class=\"legend\">\n");
    for (int k = 0; k < c->n_series; k++)
        if (c->series[k].n) put_key(out, keys[c->series[k].style], c->series[k].name);
    if (pt_is_finite(c->baseline))
        put_key(out, "<line class=\"level\" x1=\"0\" x2=\"24\" y1=\"7\" y2=\"7\"/>",
                c->baseline_name);
    for (int64_t i = 0; i < c->n_marks; i++) {
        bool new_name = true;
        for (int64_t k = 0; k < i; k++)
            new_name = new_name && strcmp(c->marks[i].name, c->marks[k].name) != 0;
        if (!new_name) continue;
        pt_strbuf_printf(out, "<li><span class=\"sign\" aria-hidden=\"true\">%s</span>%s</li>\n",
                         c->marks[i].sign, c->marks[i].name);
    }
    pt_strbuf_puts(out, "</ul>\n");
}

pt_status pt_chart_write(pt_strbuf *out, const pt_chart *chart, pt_error *err)
{
    drawing d = {.out = out, .chart = chart, .x = x_range(chart), .y = y_range(chart)};
    double x_step, y_step;
    if (pt_is_nan(d.y.low) || pt_is_nan(d.x.low)) {
        pt_strbuf_puts(out, "<p class=\"quiet\">No values yet.</p>\n");
        return out->failed ? pt_fail(err, PT_NO_MEMORY, "no memory for a chart") : PT_OK;
    }
    range shown = d.x;
    round_out(d.x, &x_step, 5);
    if (x_step < 1) x_step = 1;
    d.x = shown.high > shown.low ? shown : round_out(shown, &(double){0}, 5);
    d.y = round_out(d.y, &y_step, 5);
    if (chart->n_series > 1) put_legend(out, chart);
    pt_strbuf_printf(
        out,
        "<svg class=\"chart\" role=\"img\" aria-labelledby=\"%s-t %s-d\">\n<title id=\"%s-t\">",
        chart->id, chart->id, chart->id);
    pt_html_text(out, chart->title);
    pt_strbuf_printf(out, "</title><desc id=\"%s-d\">", chart->id);
    pt_html_text(out, chart->summary);
    pt_strbuf_puts(out, "</desc>\n");
    put_axes(&d, x_step, y_step);
    put_level(&d);
    put_marks(&d);
    pt_strbuf_puts(out,
                   "<svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" width=\"100%\" "
                   "height=\"100%\">\n");
    for (int k = 0; k < chart->n_series; k++) put_curve(&d, k);
    for (int k = 0; k < chart->n_series; k++)
        if (chart->series[k].style != PT_SERIES_THICK || chart->n_series == 1)
            put_edge_marks(&d, &chart->series[k]);
    pt_strbuf_puts(out, "</svg>\n</svg>\n");
    put_beyond(&d);
    return out->failed ? pt_fail(err, PT_NO_MEMORY, "no memory for a chart") : PT_OK;
}
