/* One chart: an accessible SVG that is as wide as its place, and whose letters keep their size.
 *
 * Curves lie in an inner SVG that is stretched to the plot's rectangle, with strokes that do not stretch; labels
 * are placed in the outer one by percentages. A value beyond the scale is marked at its edge, and told below the chart. Series differ by stroke and marker as well as by colour.
 * SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_CHART_H
#define PT_FACTORY_CHART_H

#include "base/strings.h"

typedef enum pt_series_style {
    PT_SERIES_THIN,  /* a thin line: noisy values */
    PT_SERIES_THICK, /* a thick line */
    PT_SERIES_DOTS,  /* squares joined by a dashed line; each tells its value when pointed at */
    PT_SERIES_STYLES
} pt_series_style;

typedef struct pt_series {
    const char *name;
    pt_series_style style;
    const double *x, *y; /* [n], x rising; a y that is not finite leaves a gap */
    int64_t n;
} pt_series;

/* Something that happened at x: a dashed line from top to bottom with a sign above it. */
typedef struct pt_chart_mark {
    double x;
    const char *sign; /* one character */
    const char *name; /* for the legend and the tooltip */
} pt_chart_mark;

#define PT_CHART_SERIES 3

/* Texts are escaped. Borrowed. */
typedef struct pt_chart {
    const char *id;              /* unique in the page: letters */
    const char *title, *summary; /* of the SVG; `summary` says in words what there is to see */
    const char *unit;            /* of y */
    pt_series series[PT_CHART_SERIES];
    int n_series;
    bool clip;      /* a few wild values are drawn at the edge: for curves whose peaks say little */
    bool from_zero; /* y begins at 0 */
    double baseline; /* a dotted level; NaN: none */
    const char *baseline_name;
    const pt_chart_mark *marks;
    int64_t n_marks;
} pt_chart;

/* Legend and SVG. Writes a sentence instead when there is nothing finite to draw. */
pt_status pt_chart_write(pt_strbuf *out, const pt_chart *chart, pt_error *err);

#endif
