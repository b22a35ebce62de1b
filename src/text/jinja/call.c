/* Calls: arguments, the functions every template has, macros. SPDX-License-Identifier: MIT */
#include "base/safe_text.h"
#include "text/jinja/run.h"

/* ---- arguments ---- */

const pt_jv *pt_jinja_argument(const pt_jinja_args *args, int at, const char *name)
{
    if (at >= 0 && at < args->n_positional) return &args->value[at];
    for (int i = args->n_positional; name && i < args->n; i++)
        if (args->name_len[i] == strlen(name) &&
            memcmp(args->name[i], name, args->name_len[i]) == 0)
            return &args->value[i];
    return NULL;
}

pt_status pt_jinja_int_argument(pt_jinja_run *r, const pt_jinja_args *args, int at,
                                const char *name, int64_t *out)
{
    const pt_jv *v = pt_jinja_argument(args, at, name);
    if (!v || v->kind == PT_JV_NONE) return PT_OK;
    if (v->kind != PT_JV_INT && v->kind != PT_JV_BOOL)
        return pt_jinja_refuse(r, "expected an integer as argument '%s', found %s", name,
                               pt_jv_kind_name(v));
    *out = v->integer;
    return PT_OK;
}

pt_status pt_jinja_text_argument(pt_jinja_run *r, const pt_jinja_args *args, int at,
                                 const char *name, pt_jv *out)
{
    const pt_jv *v = pt_jinja_argument(args, at, name);
    if (!v) return PT_OK;
    if (v->kind != PT_JV_STRING)
        return pt_jinja_refuse(r, "expected a string as argument '%s', found %s", name,
                               pt_jv_kind_name(v));
    *out = *v;
    return PT_OK;
}

bool pt_jinja_flag_argument(const pt_jinja_args *args, int at, const char *name, bool otherwise)
{
    const pt_jv *v = pt_jinja_argument(args, at, name);
    return v ? pt_jv_true(v) : otherwise;
}

/* Whether "|a|b|" has this name. */
static bool has_name(const char *names, const char *name, size_t n)
{
    for (const char *at = names; (at = strchr(at, '|')) && at[1]; at++)
        if (strncmp(at + 1, name, n) == 0 && at[1 + n] == '|') return true;
    return false;
}

pt_status pt_jinja_check_arguments(pt_jinja_run *r, const pt_jinja_args *args, const char *what,
                                   int positional, const char *names)
{
    if (args->n_positional > positional)
        return pt_jinja_refuse(r, "%s takes at most %d arguments, found %d", what, positional,
                               args->n_positional);
    for (int i = args->n_positional; i < args->n; i++)
        if (!has_name(names, args->name[i], args->name_len[i]))
            return pt_jinja_refuse(r, "%s has no argument '%s'", what,
                                   pt_show(args->name[i], args->name_len[i]).text);
    return PT_OK;
}

/* ---- functions ---- */

static pt_status raise_exception(pt_jinja_run *r, const pt_jinja_args *args, pt_jv *out)
{
    char line[160];
    pt_jv text = pt_jv_string("", 0);
    const pt_jv *given = pt_jinja_argument(args, 0, "message");
    pt_status s = given ? pt_jv_to_text(r, given, &text) : PT_OK;
    *out = text;
    if (s) return s;
    pt_safe_line(line, sizeof line, text.text, text.n);
    return pt_jinja_refuse(r, "the template refused the conversation: %s", line);
}

static pt_status range(pt_jinja_run *r, const pt_jinja_args *args, pt_jv *out)
{
    int64_t start = 0, stop = 0, step = 1;
    bool one = args->n_positional == 1;
    if (!args->n_positional) return pt_jinja_refuse(r, "range takes 1 to 3 integers, found none");
    pt_status s = pt_jinja_int_argument(r, args, one ? 0 : 1, "stop", &stop);
    if (!s && !one) s = pt_jinja_int_argument(r, args, 0, "start", &start);
    if (!s) s = pt_jinja_int_argument(r, args, 2, "step", &step);
    if (!s && step == 0) return pt_jinja_refuse(r, "expected a step of range other than 0");
    if (!s) s = pt_jv_list_new(r, 0, out);
    while (!s && (step > 0 ? start < stop : start > stop)) {
        pt_jv value = pt_jv_int(start);
        s = pt_jinja_charge(r, 1);
        if (!s) s = pt_jv_list_add(r, out->list, &value);
        if (__builtin_add_overflow(start, step, &start)) break;
    }
    return s;
}

static pt_status make_dict(pt_jinja_run *r, const pt_jinja_args *args, pt_jv *out)
{
    const pt_jv *from = pt_jinja_argument(args, 0, NULL);
    pt_status s = pt_jv_dict_new(r, 0, out);
    if (!s && from && from->kind != PT_JV_DICT)
        return pt_jinja_refuse(r, "expected a dict to copy, found %s", pt_jv_kind_name(from));
    for (int64_t i = 0; !s && from && i < from->dict->n; i++)
        s = pt_jv_dict_set(r, out->dict, &from->dict->key[i], &from->dict->value[i]);
    for (int i = args->n_positional; !s && i < args->n; i++) {
        pt_jv key = pt_jv_string(args->name[i], args->name_len[i]);
        s = pt_jv_dict_set(r, out->dict, &key, &args->value[i]);
    }
    return s;
}

static pt_status make_namespace(pt_jinja_run *r, const pt_jinja_args *args, pt_jv *out)
{
    pt_status s = make_dict(r, args, out);
    out->kind = PT_JV_NAMESPACE;
    return s;
}

/* ---- strftime_now ---- */

static const char *const months[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};
static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                   "Thursday", "Friday", "Saturday"};

static bool leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

static int day_of_year(const pt_jinja_time *now)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    return before[now->month - 1] + now->day + (now->month > 2 && leap(now->year));
}

static int week_day(const pt_jinja_time *now) /* 0 = Sunday */
{
    int y = now->year - 1;
    return (y + y / 4 - y / 100 + y / 400 + day_of_year(now)) % 7;
}

static size_t put_two(char out[32], int value, bool plain)
{
    return pt_format(out, 32, "%0*d", plain ? 1 : 2, value);
}

/* One conversion of strftime into out[32]; 0 bytes for one that is not known. plain: no zero before. */
static size_t put_time(const pt_jinja_time *now, char c, bool plain, char out[32])
{
    switch (c) {
    case 'Y': return pt_format(out, 32, "%d", now->year);
    case 'y': return put_two(out, now->year % 100, plain);
    case 'm': return put_two(out, now->month, plain);
    case 'd': return put_two(out, now->day, plain);
    case 'e': return pt_format(out, 32, "%2d", now->day);
    case 'H': return put_two(out, now->hour, plain);
    case 'I': return put_two(out, now->hour % 12 ? now->hour % 12 : 12, plain);
    case 'M': return put_two(out, now->minute, plain);
    case 'S': return put_two(out, now->second, plain);
    case 'p': return pt_format(out, 32, "%s", now->hour < 12 ? "AM" : "PM");
    case 'B': return pt_format(out, 32, "%s", months[now->month - 1]);
    case 'b': return pt_format(out, 32, "%.3s", months[now->month - 1]);
    case 'A': return pt_format(out, 32, "%s", days[week_day(now)]);
    case 'a': return pt_format(out, 32, "%.3s", days[week_day(now)]);
    case 'j': return pt_format(out, 32, "%03d", day_of_year(now));
    case 'F': return pt_format(out, 32, "%d-%02d-%02d", now->year, now->month, now->day);
    case 'T': return pt_format(out, 32, "%02d:%02d:%02d", now->hour, now->minute, now->second);
    case '%': return pt_format(out, 32, "%%");
    default: return 0;
    }
}

static pt_status strftime_now(pt_jinja_run *r, const pt_jinja_args *args, pt_jv *out)
{
    const pt_jinja_time *now = r->limit.now;
    pt_jv format = pt_jv_string("", 0);
    if (!now) return pt_jinja_refuse(r, "strftime_now: no time was given to render with");
    if (now->month < 1 || now->month > 12 || now->year < 1 || now->year > 9999 || now->day < 1 ||
        now->day > 31)
        return pt_jinja_refuse(r, "strftime_now: the time given is no date");
    pt_status s = pt_jinja_text_argument(r, args, 0, "format", &format);
    pt_jinja_text t = {.run = r};
    for (size_t i = 0; !s && i < format.n; i++) {
        char piece[32];
        if (format.text[i] != '%') {
            pt_jinja_put(&t, format.text + i, 1);
            continue;
        }
        bool plain = i + 2 < format.n && format.text[i + 1] == '-';
        i += plain ? 2 : 1;
        size_t n = i < format.n ? put_time(now, format.text[i], plain, piece) : 0;
        if (!n)
            s = pt_jinja_refuse(r, "strftime_now does not know this conversion of '%s'",
                                pt_show(format.text, format.n).text);
        else pt_jinja_put(&t, piece, n);
    }
    return pt_jinja_text_end(&t, s, out);
}

static const struct function {
    const char *name;
    pt_status (*fn)(pt_jinja_run *r, const pt_jinja_args *args, pt_jv *out);
    int positional;
    const char *names; /* NULL: any */
} functions[] = {
    {"raise_exception", raise_exception, 1, "|message|"},
    {"range", range, 3, ""},
    {"namespace", make_namespace, 1, NULL},
    {"dict", make_dict, 1, NULL},
    {"strftime_now", strftime_now, 1, "|format|"},
};

bool pt_jinja_find_function(const char *name, size_t n, pt_jv *out)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strlen(functions[i].name) != n || memcmp(functions[i].name, name, n) != 0) continue;
        *out = (pt_jv){.kind = PT_JV_FUNCTION, .integer = (int64_t)i};
        return true;
    }
    return false;
}

/* ---- macros ---- */

static bool is_parameter(const pt_jinja_node *list, const char *name, size_t n)
{
    for (; list; list = list->next)
        if (list->n == n && memcmp(list->text, name, n) == 0) return true;
    return false;
}

static pt_status bind_parameters(pt_jinja_run *r, const pt_jinja_node *macro,
                                 const pt_jinja_args *args)
{
    int at = 0;
    for (const pt_jinja_node *p = macro->b; p; p = p->next, at++) {
        pt_jv value = pt_jv_undefined(p->text, p->n);
        const pt_jv *given = pt_jinja_argument(args, at, NULL);
        for (int i = args->n_positional; !given && i < args->n; i++)
            if (args->name_len[i] == p->n && memcmp(args->name[i], p->text, p->n) == 0)
                given = &args->value[i];
        pt_status s = PT_OK;
        if (given) value = *given;
        else if (p->a) s = pt_jinja_evaluate(r, p->a, &value);
        if (!s) s = pt_jinja_bind(r, p->text, p->n, &value);
        if (s) return s;
    }
    if (args->n_positional > at)
        return pt_jinja_refuse(r, "macro '%s' takes at most %d arguments, found %d",
                               pt_show(macro->text, macro->n).text, at, args->n_positional);
    for (int i = args->n_positional; i < args->n; i++)
        if (!is_parameter(macro->b, args->name[i], args->name_len[i]))
            return pt_jinja_refuse(r, "macro '%s' has no argument '%s'",
                                   pt_show(macro->text, macro->n).text,
                                   pt_show(args->name[i], args->name_len[i]).text);
    return PT_OK;
}

static pt_status call_macro(pt_jinja_run *r, const pt_jv_macro *macro, const pt_jinja_args *args,
                            pt_jv *out)
{
    pt_jinja_scope *scope = r->scope;
    pt_status s = pt_jinja_push_scope(r, macro->scope);
    if (!s) s = bind_parameters(r, macro->node, args);
    if (!s) s = pt_jinja_capture(r, macro->node->list, out);
    r->scope = scope;
    return s;
}

pt_status pt_jinja_call(pt_jinja_run *r, const pt_jv *callee, const pt_jinja_args *args, pt_jv *out)
{
    if (callee->kind == PT_JV_MACRO) return call_macro(r, callee->macro, args, out);
    if (callee->kind == PT_JV_UNDEFINED)
        return pt_jinja_refuse(r, "'%s' is undefined, so it cannot be called",
                               pt_show(callee->text ? callee->text : "", callee->n).text);
    if (callee->kind != PT_JV_FUNCTION)
        return pt_jinja_refuse(r, "expected a function or a macro to call, found %s",
                               pt_jv_kind_name(callee));
    const struct function *f = &functions[callee->integer];
    pt_status s =
        f->names ? pt_jinja_check_arguments(r, args, f->name, f->positional, f->names) : PT_OK;
    return s ? s : f->fn(r, args, out);
}
