/* Operators and slices, as Python defines them. SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "text/jinja/run.h"
#include "text/jinja/strings.h"

static const char *const signs[] = {"+",  "-",  "*", "/",  "//", "%",  "**", "~",
                                    "==", "!=", "<", "<=", ">",  ">=", "in", "not in"};

static pt_status refuse_operands(pt_jinja_run *r, pt_jinja_op op, const pt_jv *a, const pt_jv *b)
{
    if (a->kind == PT_JV_UNDEFINED) b = a;
    if (b->kind == PT_JV_UNDEFINED)
        return pt_jinja_refuse(r, "'%.*s' is undefined, and %s needs a value",
                               (int)pt_min_i64((int64_t)b->n, 60), b->n ? b->text : "", signs[op]);
    return pt_jinja_refuse(r, "%s cannot be applied to %s and %s", signs[op], pt_jv_kind_name(a),
                           pt_jv_kind_name(b));
}

/* ---- numbers ---- */

static pt_status overflow(pt_jinja_run *r)
{
    return pt_jinja_refuse(r, "expected a result of at most 64 bits, found a larger integer");
}

/* False when |a*b| is 2^63 or more. (__builtin_mul_overflow would call into a library that WebAssembly lacks.) */
static bool multiply(int64_t a, int64_t b, int64_t *out)
{
    int64_t product;
    if (a == INT64_MIN || b == INT64_MIN) {
        *out = a == 0 || b == 0 ? 0 : a == 1 || b == 1 ? INT64_MIN : -1;
        return *out != -1;
    }
    if (!pt_mul_i64(a < 0 ? -a : a, b < 0 ? -b : b, &product)) return false;
    *out = (a < 0) != (b < 0) ? -product : product;
    return true;
}

static pt_status int_power(pt_jinja_run *r, int64_t a, int64_t b, int64_t *out)
{
    pt_status s = PT_OK;
    *out = 1;
    if (a == 1 || a == -1 || a == 0) b = b ? 2 - b % 2 : 0; /* only the parity matters */
    for (; !s && b > 0; b--)
        if (!multiply(*out, a, out)) s = overflow(r);
    return s;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static pt_status int_binary(pt_jinja_run *r, pt_jinja_op op, int64_t a, int64_t b, pt_jv *out)
{
    int64_t result = 0;
    bool over = false;
    switch (op) {
    case PT_JINJA_ADD: over = __builtin_add_overflow(a, b, &result); break;
    case PT_JINJA_SUB: over = __builtin_sub_overflow(a, b, &result); break;
    case PT_JINJA_MUL: over = !multiply(a, b, &result); break;
    case PT_JINJA_POW:
        if (int_power(r, a, b, &result)) return PT_BAD_INPUT;
        break;
    default:
        if (b == -1) over = op == PT_JINJA_FLOOR_DIV && __builtin_sub_overflow(0, a, &result);
        else if (op == PT_JINJA_FLOOR_DIV) result = floor_div(a, b);
        else result = a - floor_div(a, b) * b;
    }
    *out = pt_jv_int(result);
    return over ? overflow(r) : PT_OK;
}

static pt_status number_binary(pt_jinja_run *r, pt_jinja_op op, const pt_jv *a, const pt_jv *b,
                               pt_jv *out)
{
    double x = pt_jv_number(a), y = pt_jv_number(b);
    bool divides = op == PT_JINJA_DIV || op == PT_JINJA_FLOOR_DIV || op == PT_JINJA_MOD;
    if (divides && y == 0) return pt_jinja_refuse(r, "division by zero");
    bool whole = a->kind != PT_JV_FLOAT && b->kind != PT_JV_FLOAT;
    if (whole && op != PT_JINJA_DIV && (op != PT_JINJA_POW || b->integer >= 0))
        return int_binary(r, op, a->integer, b->integer, out);
    switch (op) {
    case PT_JINJA_ADD: *out = pt_jv_float(x + y); return PT_OK;
    case PT_JINJA_SUB: *out = pt_jv_float(x - y); return PT_OK;
    case PT_JINJA_MUL: *out = pt_jv_float(x * y); return PT_OK;
    case PT_JINJA_DIV: *out = pt_jv_float(x / y); return PT_OK;
    case PT_JINJA_FLOOR_DIV: *out = pt_jv_float(pt_floor(x / y)); return PT_OK;
    case PT_JINJA_MOD: *out = pt_jv_float(x - pt_floor(x / y) * y); return PT_OK;
    default:
        if ((x == 0 && y < 0) || (x < 0 && y != pt_floor(y)))
            return pt_jinja_refuse(r, "** has no real result for these numbers");
        *out = pt_jv_float(pt_pow(x, y));
        return PT_OK;
    }
}

/* ---- text and lists ---- */

static pt_status repeat(pt_jinja_run *r, const pt_jv *v, int64_t times, pt_jv *out)
{
    pt_status s = PT_OK;
    int64_t n = v->kind == PT_JV_STRING ? (int64_t)v->n : v->list->n;
    if (n == 0) times = 0;
    if (v->kind == PT_JV_STRING) {
        pt_jinja_text t = {.run = r};
        for (int64_t i = 0; !s && i < times; i++) {
            pt_jinja_put(&t, v->text, v->n);
            s = t.status ? t.status : pt_jinja_charge(r, 1);
        }
        return pt_jinja_text_end(&t, s, out);
    }
    s = pt_jv_list_new(r, 0, out);
    for (int64_t i = 0; i < times; i++)
        for (int64_t k = 0; !s && k < n; k++) s = pt_jv_list_add(r, out->list, &v->list->item[k]);
    return s;
}

static pt_status join_lists(pt_jinja_run *r, const pt_jv_list *a, const pt_jv_list *b, pt_jv *out)
{
    pt_status s = pt_jv_list_new(r, a->n + b->n, out);
    for (int64_t i = 0; !s && i < a->n; i++) s = pt_jv_list_add(r, out->list, &a->item[i]);
    for (int64_t i = 0; !s && i < b->n; i++) s = pt_jv_list_add(r, out->list, &b->item[i]);
    return s;
}

static pt_status concat(pt_jinja_run *r, const pt_jv *a, const pt_jv *b, pt_jv *out)
{
    pt_jinja_text t = {.run = r};
    pt_status s = pt_jv_print(&t, a);
    if (!s) s = pt_jv_print(&t, b);
    return pt_jinja_text_end(&t, s, out);
}

static bool is_repeatable(const pt_jv *v)
{
    return v->kind == PT_JV_STRING || v->kind == PT_JV_LIST;
}
static bool is_whole(const pt_jv *v) { return v->kind == PT_JV_INT || v->kind == PT_JV_BOOL; }

pt_status pt_jinja_binary(pt_jinja_run *r, pt_jinja_op op, const pt_jv *a, const pt_jv *b,
                          pt_jv *out)
{
    if (op == PT_JINJA_CONCAT) return concat(r, a, b, out);
    if (pt_jv_is_number(a) && pt_jv_is_number(b)) return number_binary(r, op, a, b, out);
    if (op == PT_JINJA_ADD && a->kind == PT_JV_STRING && b->kind == PT_JV_STRING)
        return concat(r, a, b, out);
    if (op == PT_JINJA_ADD && a->kind == PT_JV_LIST && b->kind == PT_JV_LIST)
        return join_lists(r, a->list, b->list, out);
    if (op == PT_JINJA_MUL && is_repeatable(a) && is_whole(b)) return repeat(r, a, b->integer, out);
    if (op == PT_JINJA_MUL && is_repeatable(b) && is_whole(a)) return repeat(r, b, a->integer, out);
    return refuse_operands(r, op, a, b);
}

pt_status pt_jinja_relate(pt_jinja_run *r, pt_jinja_op op, const pt_jv *a, const pt_jv *b,
                          bool *out)
{
    int order = 0;
    pt_status s;
    switch (op) {
    case PT_JINJA_EQ:
    case PT_JINJA_NE:
        s = pt_jv_equal(r, a, b, out);
        *out = *out == (op == PT_JINJA_EQ);
        return s;
    case PT_JINJA_IN:
    case PT_JINJA_NOT_IN:
        s = pt_jv_contains(r, b, a, out);
        *out = *out == (op == PT_JINJA_IN);
        return s;
    default: break;
    }
    if (a->kind == PT_JV_UNDEFINED || b->kind == PT_JV_UNDEFINED)
        return refuse_operands(r, op, a, b);
    s = pt_jv_compare(r, a, b, &order);
    *out = op == PT_JINJA_LT   ? order < 0
           : op == PT_JINJA_LE ? order <= 0
           : op == PT_JINJA_GT ? order > 0
                               : order >= 0;
    return s;
}

/* ---- slices ---- */

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* One bound of a slice of n items, as Python reads it. */
static pt_status read_bound(pt_jinja_run *r, const pt_jv *v, int64_t n, int64_t otherwise,
                            int64_t *out)
{
    *out = otherwise;
    if (v->kind == PT_JV_NONE) return PT_OK;
    if (!is_whole(v))
        return pt_jinja_refuse(r, "expected integers in a slice, found %s", pt_jv_kind_name(v));
    *out = v->integer;
    if (*out < 0) *out = clamp(*out, -n - 1, -1) + n;
    return PT_OK;
}

pt_status pt_jinja_slice(pt_jinja_run *r, const pt_jv *from, const pt_jv part[3], pt_jv *out)
{
    pt_jv all, one;
    int64_t step = 1, start, stop;
    if (!is_repeatable(from))
        return pt_jinja_refuse(r, "expected a string or a list to slice, found %s",
                               pt_jv_kind_name(from));
    if (part[2].kind != PT_JV_NONE && (!is_whole(&part[2]) || part[2].integer == 0))
        return pt_jinja_refuse(r, "expected an integer other than 0 as step of a slice");
    pt_status s = pt_jv_items(r, from, &all);
    if (s) return s;
    int64_t n = all.list->n;
    if (part[2].kind != PT_JV_NONE) step = clamp(part[2].integer, -n - 1, n + 1);
    s = read_bound(r, &part[0], n, step > 0 ? 0 : n - 1, &start);
    if (!s) s = read_bound(r, &part[1], n, step > 0 ? n : -1, &stop);
    if (s) return s;
    start = step > 0 ? clamp(start, 0, n) : clamp(start, -1, n - 1);
    stop = step > 0 ? clamp(stop, 0, n) : clamp(stop, -1, n - 1);
    pt_jinja_text t = {.run = r};
    if (from->kind == PT_JV_LIST) s = pt_jv_list_new(r, 0, out);
    for (int64_t i = start; !s && (step > 0 ? i < stop : i > stop); i += step) {
        one = all.list->item[i];
        if (from->kind == PT_JV_LIST) s = pt_jv_list_add(r, out->list, &one);
        else pt_jinja_put(&t, one.text, one.n);
    }
    return from->kind == PT_JV_LIST ? s : pt_jinja_text_end(&t, s, out);
}
