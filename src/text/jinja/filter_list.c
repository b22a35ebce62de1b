/* Filters of lists and dicts. SPDX-License-Identifier: MIT */
#include "text/jinja/run.h"
#include "text/jinja/strings.h"

static pt_status to_list(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    (void)args;
    return pt_jv_items(r, in, out);
}

static pt_status first(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv items;
    (void)args;
    pt_status s = pt_jv_items(r, in, &items);
    *out = pt_jv_undefined("the first item of nothing", 25);
    if (!s && items.list->n) *out = items.list->item[0];
    return s;
}

static pt_status last(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv items;
    (void)args;
    pt_status s = pt_jv_items(r, in, &items);
    *out = pt_jv_undefined("the last item of nothing", 24);
    if (!s && items.list->n) *out = items.list->item[items.list->n - 1];
    return s;
}

static pt_status reverse(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv part[3] = {{.kind = PT_JV_NONE}, {.kind = PT_JV_NONE}, pt_jv_int(-1)}, items = *in;
    (void)args;
    pt_status s = in->kind == PT_JV_STRING ? PT_OK : pt_jv_items(r, in, &items);
    return s ? s : pt_jinja_slice(r, &items, part, out);
}

static pt_status join(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv items = {0}, between = pt_jv_string("", 0), value;
    const pt_jv *attribute = pt_jinja_argument(args, 1, "attribute"),
                *d = pt_jinja_argument(args, 0, "d");
    pt_jinja_text t = {.run = r};
    pt_status s = pt_jv_items(r, in, &items);
    if (!s && d) s = pt_jv_to_text(r, d, &between);
    for (int64_t i = 0; !s && i < items.list->n; i++) {
        value = items.list->item[i];
        if (attribute) s = pt_jinja_get_path(r, &items.list->item[i], attribute, &value);
        if (i) pt_jinja_put(&t, between.text, between.n);
        if (!s) s = pt_jv_print(&t, &value);
        if (!s) s = pt_jinja_charge(r, 1);
    }
    return pt_jinja_text_end(&t, s, out);
}

/* [key, value] of every entry. */
static pt_status items_of(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv pair;
    (void)args;
    if (in->kind != PT_JV_DICT && in->kind != PT_JV_UNDEFINED)
        return pt_jinja_refuse(r, "expected a dict to take the items of, found %s",
                               pt_jv_kind_name(in));
    int64_t n = in->kind == PT_JV_DICT ? in->dict->n : 0;
    pt_status s = pt_jv_list_new(r, n, out);
    for (int64_t i = 0; !s && i < n; i++) {
        s = pt_jv_list_new(r, 2, &pair);
        pair.integer = 1;
        if (!s) s = pt_jv_list_add(r, pair.list, &in->dict->key[i]);
        if (!s) s = pt_jv_list_add(r, pair.list, &in->dict->value[i]);
        if (!s) s = pt_jv_list_add(r, out->list, &pair);
    }
    return s;
}

/* ---- map, select, reject ---- */

/* The arguments from number `from` on, as those of a filter or a test. */
static pt_jinja_args rest_of(const pt_jinja_args *args, int from)
{
    pt_jinja_args out = {0};
    for (int i = from; i < args->n; i++) {
        out.name[out.n] = args->name[i];
        out.name_len[out.n] = args->name_len[i];
        out.value[out.n++] = args->value[i];
    }
    out.n_positional = args->n_positional > from ? args->n_positional - from : 0;
    return out;
}

static pt_status map_attribute(pt_jinja_run *r, const pt_jv *item, const pt_jinja_args *args,
                               pt_jv *out)
{
    const pt_jv *otherwise = pt_jinja_argument(args, -1, "default");
    pt_status s = pt_jinja_check_arguments(r, args, "map", 0, "|attribute|default|");
    if (!s) s = pt_jinja_get_path(r, item, pt_jinja_argument(args, -1, "attribute"), out);
    if (!s && otherwise && out->kind == PT_JV_UNDEFINED) *out = *otherwise;
    return s;
}

static pt_status map(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv items, value;
    bool attribute = pt_jinja_argument(args, -1, "attribute") != NULL;
    if (!attribute && (!args->n_positional || args->value[0].kind != PT_JV_STRING))
        return pt_jinja_refuse(r, "map needs attribute= or the name of a filter");
    pt_jinja_args rest = rest_of(args, 1);
    pt_status s = pt_jv_items(r, in, &items);
    if (!s) s = pt_jv_list_new(r, items.list->n, out);
    for (int64_t i = 0; !s && i < items.list->n; i++) {
        const pt_jv *item = &items.list->item[i];
        s = pt_jinja_enter(r); /* a filter may itself be map */
        if (!s) s = pt_jinja_charge(r, 1);
        if (!s)
            s = attribute ? map_attribute(r, item, args, &value)
                          : pt_jinja_filter(r, &args->value[0], item, &rest, &value);
        r->depth--;
        if (!s) s = pt_jv_list_add(r, out->list, &value);
    }
    return s;
}

/* Items for which the test is `wanted`; by_attribute: the first argument names what is tested. */
static pt_status pick(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args,
                      bool by_attribute, bool wanted, pt_jv *out)
{
    pt_jv items, value;
    int at = by_attribute ? 1 : 0;
    if (args->n_positional < at)
        return pt_jinja_refuse(r, "selectattr and rejectattr need an attribute");
    const pt_jv *test = args->n_positional > at ? &args->value[at] : NULL;
    pt_jinja_args rest = rest_of(args, at + 1);
    if (test && test->kind != PT_JV_STRING)
        return pt_jinja_refuse(r, "expected the name of a test, found %s", pt_jv_kind_name(test));
    pt_status s = pt_jv_items(r, in, &items);
    if (!s) s = pt_jv_list_new(r, 0, out);
    for (int64_t i = 0; !s && i < items.list->n; i++) {
        const pt_jv *item = &items.list->item[i];
        bool yes = false;
        value = *item;
        s = pt_jinja_charge(r, 1);
        if (!s && by_attribute) s = pt_jinja_get_path(r, item, &args->value[0], &value);
        if (!s && test) s = pt_jinja_test(r, test, &value, &rest, &yes);
        else yes = pt_jv_true(&value);
        if (!s && yes == wanted) s = pt_jv_list_add(r, out->list, item);
    }
    return s;
}

static pt_status select_items(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args,
                              pt_jv *out)
{
    return pick(r, in, args, false, true, out);
}

static pt_status reject(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    return pick(r, in, args, false, false, out);
}

static pt_status selectattr(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    return pick(r, in, args, true, true, out);
}

static pt_status rejectattr(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    return pick(r, in, args, true, false, out);
}

/* ---- order ---- */

/* What an item is compared by: its attribute, in lower case unless case_sensitive. */
static pt_status sort_key(pt_jinja_run *r, const pt_jv *item, const pt_jv *attribute, bool exact,
                          pt_jv *out)
{
    pt_status s = PT_OK;
    *out = *item;
    if (attribute && attribute->kind != PT_JV_NONE) s = pt_jinja_get_path(r, item, attribute, out);
    if (s || exact || out->kind != PT_JV_STRING) return s;
    pt_jv text = *out;
    return pt_jinja_change_case(r, &text, PT_JINJA_LOWER, out);
}

static pt_status sort_keys(pt_jinja_run *r, const pt_jv *items, const pt_jv *attribute, bool exact,
                           pt_jv *out)
{
    pt_jv key;
    pt_status s = pt_jv_list_new(r, items->list->n, out);
    for (int64_t i = 0; !s && i < items->list->n; i++) {
        s = sort_key(r, &items->list->item[i], attribute, exact, &key);
        if (!s) s = pt_jv_list_add(r, out->list, &key);
    }
    return s;
}

typedef struct sorting {
    pt_jinja_run *run;
    const pt_jv *key;
    bool reverse;
} sorting;

/* One pass of a merge sort over places: two runs of `width` become one. */
static pt_status merge(const sorting *sort, const int64_t *from, int64_t *to, int64_t width,
                       int64_t n)
{
    for (int64_t low = 0; low < n; low += 2 * width) {
        int64_t i = low, mid = pt_min_i64(low + width, n), j = mid,
                high = pt_min_i64(low + 2 * width, n);
        for (int64_t k = low; k < high; k++) {
            int order = i < mid ? -1 : 1;
            if (i < mid && j < high) {
                pt_status s =
                    pt_jv_compare(sort->run, &sort->key[from[i]], &sort->key[from[j]], &order);
                if (s) return s;
                if (sort->reverse) order = -order;
            }
            to[k] = order <= 0 ? from[i++] : from[j++];
        }
    }
    return PT_OK;
}

/* `items` in the order of `keys`, stable. */
static pt_status sort_by(pt_jinja_run *r, const pt_jv *items, const pt_jv *keys, bool reverse_order,
                         pt_jv *out)
{
    int64_t n = items->list->n, *from, *to = NULL;
    sorting sort = {r, keys->list->item, reverse_order};
    pt_status s = pt_jinja_take(r, &from, n + 1, sizeof *from);
    if (!s) s = pt_jinja_take(r, &to, n + 1, sizeof *to);
    for (int64_t i = 0; !s && i < n; i++) from[i] = i;
    for (int64_t width = 1; !s && width < n; width *= 2) {
        s = merge(&sort, from, to, width, n);
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (!s) s = pt_jv_list_new(r, n, out);
    for (int64_t i = 0; !s && i < n; i++)
        s = pt_jv_list_add(r, out->list, &items->list->item[from[i]]);
    return s;
}

static pt_status sort_list(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv items, keys;
    bool reverse_order = pt_jinja_flag_argument(args, 0, "reverse", false);
    bool exact = pt_jinja_flag_argument(args, 1, "case_sensitive", false);
    pt_status s = pt_jv_items(r, in, &items);
    if (!s) s = sort_keys(r, &items, pt_jinja_argument(args, 2, "attribute"), exact, &keys);
    return s ? s : sort_by(r, &items, &keys, reverse_order, out);
}

static pt_status dictsort(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv items, keys, by = pt_jv_string("key", 3), place = pt_jv_int(0);
    bool exact = pt_jinja_flag_argument(args, 0, "case_sensitive", false);
    bool reverse_order = pt_jinja_flag_argument(args, 2, "reverse", false);
    pt_status s = pt_jinja_text_argument(r, args, 1, "by", &by);
    if (pt_jv_is(&by, "value")) place = pt_jv_int(1);
    if (!s) s = items_of(r, in, args, &items);
    if (!s) s = sort_keys(r, &items, &place, exact, &keys);
    return s ? s : sort_by(r, &items, &keys, reverse_order, out);
}

static pt_status unique(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv items, keys, seen;
    bool exact = pt_jinja_flag_argument(args, 0, "case_sensitive", false);
    pt_status s = pt_jv_items(r, in, &items);
    if (!s) s = sort_keys(r, &items, pt_jinja_argument(args, 1, "attribute"), exact, &keys);
    if (!s) s = pt_jv_list_new(r, 0, &seen);
    if (!s) s = pt_jv_list_new(r, 0, out);
    for (int64_t i = 0; !s && i < items.list->n; i++) {
        bool known;
        s = pt_jv_contains(r, &seen, &keys.list->item[i], &known);
        if (s || known) continue;
        s = pt_jv_list_add(r, seen.list, &keys.list->item[i]);
        if (!s) s = pt_jv_list_add(r, out->list, &items.list->item[i]);
    }
    return s;
}

static pt_status sum(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv items, value, total;
    const pt_jv *attribute = pt_jinja_argument(args, 0, "attribute"),
                *start = pt_jinja_argument(args, 1, "start");
    total = start ? *start : pt_jv_int(0);
    pt_status s = pt_jv_items(r, in, &items);
    for (int64_t i = 0; !s && i < items.list->n; i++) {
        s = sort_key(r, &items.list->item[i], attribute, true, &value);
        if (!s) s = pt_jinja_binary(r, PT_JINJA_ADD, &total, &value, out);
        total = *out;
    }
    *out = total;
    return s;
}

/* The least (sign 1) or the greatest (-1). */
static pt_status extreme(pt_jinja_run *r, const pt_jv *in, int sign, pt_jv *out)
{
    pt_jv items;
    int order;
    pt_status s = pt_jv_items(r, in, &items);
    *out = pt_jv_undefined("the extreme of nothing", 22);
    for (int64_t i = 0; !s && i < items.list->n; i++) {
        order = -sign;
        if (i) s = pt_jv_compare(r, &items.list->item[i], out, &order);
        if (order * sign < 0) *out = items.list->item[i];
    }
    return s;
}

static pt_status least(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    (void)args;
    return extreme(r, in, 1, out);
}

static pt_status greatest(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args, pt_jv *out)
{
    (void)args;
    return extreme(r, in, -1, out);
}

static const pt_jinja_filter_entry filters[] = {
    {"list", to_list, 0, ""},
    {"first", first, 0, ""},
    {"last", last, 0, ""},
    {"reverse", reverse, 0, ""},
    {"join", join, 2, "|d|attribute|"},
    {"items", items_of, 0, ""},
    {"map", map, 0, NULL},
    {"select", select_items, 0, NULL},
    {"reject", reject, 0, NULL},
    {"selectattr", selectattr, 0, NULL},
    {"rejectattr", rejectattr, 0, NULL},
    {"sort", sort_list, 3, "|reverse|case_sensitive|attribute|"},
    {"dictsort", dictsort, 3, "|case_sensitive|by|reverse|"},
    {"unique", unique, 2, "|case_sensitive|attribute|"},
    {"sum", sum, 2, "|attribute|start|"},
    {"min", least, 0, ""},
    {"max", greatest, 0, ""},
};

const pt_jinja_filter_entry *pt_jinja_find_list_filter(const pt_jv *name)
{
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (pt_jv_is(name, filters[i].name)) return &filters[i];
    return NULL;
}
