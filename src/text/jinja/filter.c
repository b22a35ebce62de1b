/* Filters of single values; those of lists are in filter_list.c. SPDX-License-Identifier: MIT */
#include "base/decimal.h"
#include "base/maths.h"
#include "base/safe_text.h"
#include "text/jinja/run.h"
#include "text/jinja/strings.h"

/* ---- text ---- */

static pt_status trim(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv text;
    pt_status s = pt_jv_to_text(r, in, &text);
    return s ? s
             : pt_jinja_strip(r, &text, PT_JINJA_BOTH, pt_jinja_argument(args, 0, "chars"), out);
}

static pt_status change_case(pt_jinja_run *r, const pt_jv *in, pt_jinja_case to, pt_jv *out)
{
    pt_jv text;
    pt_status s = pt_jv_to_text(r, in, &text);
    return s ? s : pt_jinja_change_case(r, &text, to, out);
}

static pt_status upper(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    (void)args;
    return change_case(r, in, PT_JINJA_UPPER, out);
}

static pt_status lower(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    (void)args;
    return change_case(r, in, PT_JINJA_LOWER, out);
}

static pt_status capitalize(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    (void)args;
    return change_case(r, in, PT_JINJA_CAPITALIZE, out);
}

/* A word begins the text or stands behind white space, '-' or an opening bracket (unlike the method title). */
static pt_status title(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv text;
    char *copy = NULL;
    (void)args;
    pt_status s = pt_jv_to_text(r, in, &text);
    if (!s) s = pt_jinja_take(r, &copy, (int64_t)text.n + 1, 1);
    for (size_t i = 0; !s && i < text.n; i++) {
        char c = text.text[i], before = i ? text.text[i - 1] : ' ';
        bool letter = (c | 32) >= 'a' && (c | 32) <= 'z' && !(c & 0x80);
        bool begins = before && strchr("-({[< \t\n\r\f\v", before);
        copy[i] = !letter ? c : begins ? (char)(c & ~32) : (char)(c | 32);
    }
    *out = pt_jv_string(copy, s ? 0 : text.n);
    return s;
}

static pt_status replace(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv text;
    pt_status s = pt_jv_to_text(r, in, &text);
    return s ? s : pt_jinja_replace(r, &text, args, out);
}

static pt_status string(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    (void)args;
    return pt_jv_to_text(r, in, out);
}

/* What stands before every line: `width` blanks, or a text. */
static pt_status indent_unit(pt_jinja_run *r, const pt_jinja_args *args, pt_jv *out)
{
    int64_t width = 4;
    const pt_jv *given = pt_jinja_argument(args, 0, "width");
    if (given && given->kind == PT_JV_STRING) {
        *out = *given;
        return PT_OK;
    }
    pt_jv blank = pt_jv_string(" ", 1), times;
    pt_status s = pt_jinja_int_argument(r, args, 0, "width", &width);
    times = pt_jv_int(width);
    return s ? s : pt_jinja_binary(r, PT_JINJA_MUL, &blank, &times, out);
}

static pt_status indent(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv text, unit;
    bool first = pt_jinja_flag_argument(args, 1, "first", false);
    bool blank = pt_jinja_flag_argument(args, 2, "blank", false);
    pt_status s = pt_jv_to_text(r, in, &text);
    if (!s) s = indent_unit(r, args, &unit);
    pt_jinja_text t = {.run = r};
    for (size_t at = 0; !s && at <= text.n;) {
        const char *line = text.text + at;
        const char *end = at < text.n ? memchr(line, '\n', text.n - at) : NULL;
        size_t n = end ? (size_t)(end - line) : text.n - at;
        s = pt_jinja_charge(r, 1);
        if (at ? n || blank : first) pt_jinja_put(&t, unit.text, unit.n);
        pt_jinja_put(&t, line, n + (end ? 1 : 0));
        at += n + 1;
    }
    return pt_jinja_text_end(&t, s, out);
}

/* ---- JSON ---- */

static pt_status json_separators(pt_jinja_run *r, const pt_jv *given, pt_jinja_json_style *style)
{
    if (given->kind == PT_JV_NONE) return PT_OK;
    const pt_jv *item = given->kind == PT_JV_LIST && given->list->n == 2 ? given->list->item : NULL;
    if (!item || item[0].kind != PT_JV_STRING || item[1].kind != PT_JV_STRING)
        return pt_jinja_refuse(r, "expected two strings as separators of tojson");
    style->comma =
        pt_arena_copy(r->arena, item[0].text, (size_t)pt_min_i64((int64_t)item[0].n, 16));
    style->colon =
        pt_arena_copy(r->arena, item[1].text, (size_t)pt_min_i64((int64_t)item[1].n, 16));
    if (style->comma && style->colon) return PT_OK;
    return pt_fail(r->err, PT_NO_MEMORY, "no memory to render a template");
}

static pt_status tojson(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jinja_json_style style = {.colon = ": ", .indent = -1};
    const pt_jv *separators = pt_jinja_argument(args, 2, "separators");
    style.ascii = pt_jinja_flag_argument(args, 0, "ensure_ascii", false);
    style.sort_keys = pt_jinja_flag_argument(args, 3, "sort_keys", false);
    pt_status s = pt_jinja_int_argument(r, args, 1, "indent", &style.indent);
    if (!s && style.indent > 64) return pt_jinja_refuse(r, "tojson: indent is at most 64");
    style.comma = style.indent < 0 ? ", " : ",";
    if (!s && separators) s = json_separators(r, separators, &style);
    pt_jinja_text t = {.run = r};
    if (!s) s = pt_jv_print_json(&t, in, &style, 0);
    return pt_jinja_text_end(&t, s, out);
}

/* ---- numbers ---- */

/* The number that the whole text is, white space aside. */
static bool read_number(const pt_jv *text, double *out)
{
    size_t start = pt_jinja_lstrip(text->text, text->n), end = pt_jinja_rstrip(text->text, text->n);
    return end > start && pt_decimal_to_double(text->text + start, end - start, out) == end - start;
}

static bool fits_int(double x) { return x > -9.2e18 && x < 9.2e18; }

static pt_status to_int(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    const pt_jv *otherwise = pt_jinja_argument(args, 0, "default");
    double x = 0;
    bool ok = pt_jv_is_number(in);
    (void)r;
    if (in->kind == PT_JV_INT || in->kind == PT_JV_BOOL) {
        *out = pt_jv_int(in->integer);
        return PT_OK;
    }
    if (ok) x = in->number;
    else ok = in->kind == PT_JV_STRING && read_number(in, &x);
    if (ok && fits_int(x)) *out = pt_jv_int((int64_t)x);
    else *out = otherwise ? *otherwise : pt_jv_int(0);
    return PT_OK;
}

static pt_status to_float(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    const pt_jv *otherwise = pt_jinja_argument(args, 0, "default");
    double x = 0;
    (void)r;
    if (pt_jv_is_number(in)) *out = pt_jv_float(pt_jv_number(in));
    else if (in->kind == PT_JV_STRING && read_number(in, &x)) *out = pt_jv_float(x);
    else *out = otherwise ? *otherwise : pt_jv_float(0);
    return PT_OK;
}

static pt_status absolute(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    (void)args;
    if (!pt_jv_is_number(in))
        return pt_jinja_refuse(r, "expected a number to take the absolute value of, found %s",
                               pt_jv_kind_name(in));
    if (in->kind == PT_JV_FLOAT) *out = pt_jv_float(pt_fabs(in->number));
    else if (in->integer == INT64_MIN)
        return pt_jinja_refuse(r, "abs: the result needs more than 64 bits");
    else *out = pt_jv_int(in->integer < 0 ? -in->integer : in->integer);
    return PT_OK;
}

static pt_status round_number(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args,
                              pt_jv *out)
{
    pt_jv method = pt_jv_string("common", 6);
    int64_t precision = 0;
    pt_status s = pt_jinja_int_argument(r, args, 0, "precision", &precision);
    if (!s) s = pt_jinja_text_argument(r, args, 1, "method", &method);
    if (s) return s;
    if (!pt_jv_is_number(in) || precision < 0 || precision > 15)
        return pt_jinja_refuse(r, "expected a number and a precision of 0 to 15 to round, found %s",
                               pt_jv_kind_name(in));
    double x = pt_jv_number(in), scale = 1;
    char text[360];
    for (int64_t i = 0; i < precision; i++) scale *= 10;
    if (pt_jv_is(&method, "ceil")) x = -pt_floor(-(x * scale)) / scale;
    else if (pt_jv_is(&method, "floor")) x = pt_floor(x * scale) / scale;
    else if (pt_jv_is(&method, "common")) {
        size_t n = pt_format(text, sizeof text, "%.*f", (int)precision, x);
        pt_decimal_to_double(text, n < sizeof text ? n : 0, &x);
    } else return pt_jinja_refuse(r, "expected common, ceil or floor as method of round");
    *out = in->kind == PT_JV_FLOAT       ? pt_jv_float(x)
           : pt_jv_is(&method, "common") ? pt_jv_int(in->integer)
                                         : pt_jv_float(x);
    return PT_OK;
}

/* ---- any value ---- */

static pt_status default_value(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args,
                               pt_jv *out)
{
    const pt_jv *given = pt_jinja_argument(args, 0, "default_value");
    bool falsy = pt_jinja_flag_argument(args, 1, "boolean", false);
    (void)r;
    *out = *in;
    if (in->kind == PT_JV_UNDEFINED || (falsy && !pt_jv_true(in)))
        *out = given ? *given : pt_jv_string("", 0);
    return PT_OK;
}

static pt_status length(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    int64_t n;
    (void)args;
    pt_status s = pt_jv_length(r, in, &n);
    *out = pt_jv_int(n);
    return s;
}

static const pt_jinja_filter_entry filters[] = {
    {"trim", trim, 1, "|chars|"},
    {"upper", upper, 0, ""},
    {"lower", lower, 0, ""},
    {"title", title, 0, ""},
    {"capitalize", capitalize, 0, ""},
    {"replace", replace, 3, "|old|new|count|"},
    {"string", string, 0, ""},
    {"indent", indent, 3, "|width|first|blank|"},
    {"tojson", tojson, 4, "|ensure_ascii|indent|separators|sort_keys|"},
    {"int", to_int, 1, "|default|"},
    {"float", to_float, 1, "|default|"},
    {"abs", absolute, 0, ""},
    {"round", round_number, 2, "|precision|method|"},
    {"default", default_value, 2, "|default_value|boolean|"},
    {"d", default_value, 2, "|default_value|boolean|"},
    {"length", length, 0, ""},
    {"count", length, 0, ""},
    {"safe", string, 0, ""}, /* nothing is ever escaped */
};

pt_status pt_jinja_filter(pt_jinja_run *r, const pt_jv *name, const pt_jv *in,
                          const pt_jinja_args *args, pt_jv *out)
{
    const pt_jinja_filter_entry *f = pt_jinja_find_list_filter(name);
    for (size_t i = 0; !f && i < sizeof filters / sizeof *filters; i++)
        if (pt_jv_is(name, filters[i].name)) f = &filters[i];
    if (!f)
        return pt_jinja_refuse(r, "expected the name of a filter, found '%s'",
                               pt_show(name->text, name->n).text);
    pt_status s =
        f->names ? pt_jinja_check_arguments(r, args, f->name, f->positional, f->names) : PT_OK;
    return s ? s : f->fn(r, in, args, out);
}
