/* Values: making, comparing, looking inside. SPDX-License-Identifier: MIT */
#include "text/jinja/run.h"
#include "text/jinja/strings.h"

pt_jv pt_jv_bool(bool value) { return (pt_jv){.kind = PT_JV_BOOL, .integer = value}; }
pt_jv pt_jv_int(int64_t value) { return (pt_jv){.kind = PT_JV_INT, .integer = value}; }
pt_jv pt_jv_float(double value) { return (pt_jv){.kind = PT_JV_FLOAT, .number = value}; }
pt_jv pt_jv_string(const char *text, size_t n)
{
    return (pt_jv){.kind = PT_JV_STRING, .text = n ? text : "", .n = n};
}
pt_jv pt_jv_undefined(const char *name, size_t n)
{
    return (pt_jv){.kind = PT_JV_UNDEFINED, .text = name, .n = n};
}

bool pt_jv_is(const pt_jv *v, const char *text)
{
    return v->kind == PT_JV_STRING && v->n == strlen(text) && memcmp(v->text, text, v->n) == 0;
}

const char *pt_jv_kind_name(const pt_jv *v)
{
    static const char *const names[] = {
        "an undefined value", "none",   "a boolean", "an integer",  "a float",
        "a string",           "a list", "a dict",    "a namespace", "a macro",
        "a function",         "a loop"};
    return names[v->kind];
}

bool pt_jv_true(const pt_jv *v)
{
    switch (v->kind) {
    case PT_JV_UNDEFINED:
    case PT_JV_NONE: return false;
    case PT_JV_BOOL:
    case PT_JV_INT: return v->integer != 0;
    case PT_JV_FLOAT: return v->number != 0;
    case PT_JV_STRING: return v->n > 0;
    case PT_JV_LIST: return v->list->n > 0;
    case PT_JV_DICT: return v->dict->n > 0;
    default: return true;
    }
}

bool pt_jv_is_number(const pt_jv *v)
{
    return v->kind == PT_JV_BOOL || v->kind == PT_JV_INT || v->kind == PT_JV_FLOAT;
}

double pt_jv_number(const pt_jv *v)
{
    return v->kind == PT_JV_FLOAT ? v->number : (double)v->integer;
}

/* ---- lists and dicts ---- */

pt_status pt_jv_list_new(pt_jinja_run *r, int64_t cap, pt_jv *out)
{
    *out = (pt_jv){.kind = PT_JV_LIST};
    pt_status s = pt_jinja_take(r, &out->list, 1, sizeof *out->list);
    if (!s && cap) s = pt_jinja_take(r, &out->list->item, cap, sizeof *out->list->item);
    if (!s) out->list->cap = cap;
    return s;
}

pt_status pt_jv_list_add(pt_jinja_run *r, pt_jv_list *list, const pt_jv *item)
{
    if (list->n == list->cap) {
        pt_jv *more;
        int64_t cap = list->cap ? 2 * list->cap : 4;
        pt_status s = pt_jinja_take(r, &more, cap, sizeof *more);
        if (s) return s;
        if (list->n) memcpy(more, list->item, (size_t)list->n * sizeof *more);
        list->item = more;
        list->cap = cap;
    }
    list->item[list->n++] = *item;
    return PT_OK;
}

pt_status pt_jv_dict_new(pt_jinja_run *r, int64_t cap, pt_jv *out)
{
    *out = (pt_jv){.kind = PT_JV_DICT};
    pt_status s = pt_jinja_take(r, &out->dict, 1, sizeof *out->dict);
    if (!s && cap) s = pt_jinja_take(r, &out->dict->key, 2 * cap, sizeof *out->dict->key);
    if (s) return s;
    out->dict->value = cap ? out->dict->key + cap : NULL;
    out->dict->cap = cap;
    return PT_OK;
}

static pt_status find_entry(pt_jinja_run *r, const pt_jv_dict *dict, const pt_jv *key, int64_t *at)
{
    pt_status s = pt_jinja_charge(r, dict->n / 16);
    for (*at = 0; !s && *at < dict->n; ++*at) {
        const pt_jv *have = &dict->key[*at];
        bool same = false;
        if (have->kind == PT_JV_STRING && key->kind == PT_JV_STRING)
            same = have->n == key->n && memcmp(have->text, key->text, key->n) == 0;
        else s = pt_jv_equal(r, have, key, &same);
        if (same) return s;
    }
    return s;
}

pt_status pt_jv_dict_find(pt_jinja_run *r, const pt_jv_dict *dict, const pt_jv *key,
                          const pt_jv **out)
{
    int64_t at;
    pt_status s = find_entry(r, dict, key, &at);
    *out = !s && at < dict->n ? &dict->value[at] : NULL;
    return s;
}

static pt_status dict_add(pt_jinja_run *r, pt_jv_dict *dict, const pt_jv *key, const pt_jv *value)
{
    if (dict->n == dict->cap) {
        pt_jv more;
        pt_status s = pt_jv_dict_new(r, dict->cap ? 2 * dict->cap : 4, &more);
        if (s) return s;
        if (dict->n) {
            memcpy(more.dict->key, dict->key, (size_t)dict->n * sizeof *dict->key);
            memcpy(more.dict->value, dict->value, (size_t)dict->n * sizeof *dict->value);
        }
        more.dict->n = dict->n;
        *dict = *more.dict;
    }
    dict->key[dict->n] = *key;
    dict->value[dict->n++] = *value;
    return PT_OK;
}

pt_status pt_jv_dict_set(pt_jinja_run *r, pt_jv_dict *dict, const pt_jv *key, const pt_jv *value)
{
    int64_t at;
    if (key->kind == PT_JV_LIST || key->kind == PT_JV_DICT)
        return pt_jinja_refuse(r, "%s cannot be the key of a dict", pt_jv_kind_name(key));
    pt_status s = find_entry(r, dict, key, &at);
    if (s) return s;
    if (at == dict->n) return dict_add(r, dict, key, value);
    dict->value[at] = *value;
    return PT_OK;
}

/* ---- from JSON ---- */

static pt_jv number_from_json(const pt_json *json)
{
    int64_t integer;
    bool whole = !memchr(json->text, '.', json->text_len) &&
                 !memchr(json->text, 'e', json->text_len) &&
                 !memchr(json->text, 'E', json->text_len);
    if (whole && pt_json_to_i64(json, &integer)) return pt_jv_int(integer);
    pt_jv out = pt_jv_float(json->number);
    if (whole) {
        out.text = json->text;
        out.n = json->text_len;
    }
    return out;
}

static pt_status container_from_json(pt_jinja_run *r, const pt_json *json, pt_jv *out)
{
    bool object = json->type == PT_JSON_OBJECT;
    pt_status s = object ? pt_jv_dict_new(r, json->n_children, out)
                         : pt_jv_list_new(r, json->n_children, out);
    for (const pt_json *child = json->child; !s && child; child = child->next) {
        pt_jv value;
        s = pt_jv_from_json(r, child, &value);
        if (s) return s;
        pt_jv key = object ? pt_jv_string(child->key, child->key_len) : value;
        s = object ? dict_add(r, out->dict, &key, &value) : pt_jv_list_add(r, out->list, &value);
    }
    return s;
}

pt_status pt_jv_from_json(pt_jinja_run *r, const pt_json *json, pt_jv *out)
{
    *out = (pt_jv){.kind = PT_JV_NONE};
    switch (json->type) {
    case PT_JSON_NULL: return PT_OK;
    case PT_JSON_BOOL: *out = pt_jv_bool(json->boolean); return PT_OK;
    case PT_JSON_NUMBER: *out = number_from_json(json); return PT_OK;
    case PT_JSON_STRING: *out = pt_jv_string(json->text, json->text_len); return PT_OK;
    default: return container_from_json(r, json, out);
    }
}

/* ---- comparing ---- */

static pt_status equal_dicts(pt_jinja_run *r, const pt_jv_dict *a, const pt_jv_dict *b, bool *out)
{
    pt_status s = PT_OK;
    *out = a->n == b->n;
    for (int64_t i = 0; !s && *out && i < a->n; i++) {
        const pt_jv *other;
        s = pt_jv_dict_find(r, b, &a->key[i], &other);
        if (!s && other) s = pt_jv_equal(r, &a->value[i], other, out);
        else *out = false;
    }
    return s;
}

static pt_status equal_lists(pt_jinja_run *r, const pt_jv_list *a, const pt_jv_list *b, bool *out)
{
    pt_status s = PT_OK;
    *out = a->n == b->n;
    for (int64_t i = 0; !s && *out && i < a->n; i++)
        s = pt_jv_equal(r, &a->item[i], &b->item[i], out);
    return s;
}

static bool equal_numbers(const pt_jv *a, const pt_jv *b)
{
    if (a->kind != PT_JV_FLOAT && b->kind != PT_JV_FLOAT) return a->integer == b->integer;
    return pt_jv_number(a) == pt_jv_number(b);
}

pt_status pt_jv_equal(pt_jinja_run *r, const pt_jv *a, const pt_jv *b, bool *out)
{
    *out = false;
    pt_status s = pt_jinja_charge(r, 1);
    if (s) return s;
    if (pt_jv_is_number(a) && pt_jv_is_number(b)) {
        *out = equal_numbers(a, b);
        return PT_OK;
    }
    if (a->kind != b->kind) return PT_OK;
    switch (a->kind) {
    case PT_JV_STRING:
        *out = a->n == b->n && memcmp(a->text, b->text, a->n) == 0;
        return pt_jinja_charge(r, (int64_t)(a->n / 64));
    case PT_JV_LIST:
    case PT_JV_DICT:
        s = pt_jinja_enter(r);
        if (s) return s;
        s = a->kind == PT_JV_LIST ? equal_lists(r, a->list, b->list, out)
                                  : equal_dicts(r, a->dict, b->dict, out);
        r->depth--;
        return s;
    case PT_JV_NAMESPACE: *out = a->dict == b->dict; return PT_OK;
    case PT_JV_MACRO: *out = a->macro == b->macro; return PT_OK;
    case PT_JV_LOOP: *out = a->loop == b->loop; return PT_OK;
    case PT_JV_FUNCTION: *out = a->integer == b->integer; return PT_OK;
    default: *out = true; return PT_OK;
    }
}

static pt_status compare_lists(pt_jinja_run *r, const pt_jv_list *a, const pt_jv_list *b, int *out)
{
    for (int64_t i = 0; i < a->n && i < b->n; i++) {
        bool same;
        pt_status s = pt_jv_equal(r, &a->item[i], &b->item[i], &same);
        if (s) return s;
        if (!same) return pt_jv_compare(r, &a->item[i], &b->item[i], out);
    }
    *out = a->n < b->n ? -1 : a->n > b->n;
    return PT_OK;
}

pt_status pt_jv_compare(pt_jinja_run *r, const pt_jv *a, const pt_jv *b, int *out)
{
    pt_status s = pt_jinja_charge(r, 1);
    *out = 0;
    if (s) return s;
    if (pt_jv_is_number(a) && pt_jv_is_number(b)) {
        double x = pt_jv_number(a), y = pt_jv_number(b);
        *out = x < y ? -1 : x > y;
        if (a->kind != PT_JV_FLOAT && b->kind != PT_JV_FLOAT)
            *out = a->integer < b->integer ? -1 : a->integer > b->integer;
        return PT_OK;
    }
    if (a->kind == PT_JV_STRING &&
        b->kind == PT_JV_STRING) { /* bytes of UTF-8 sort like code points */
        size_t n = a->n < b->n ? a->n : b->n;
        *out = n ? memcmp(a->text, b->text, n) : 0;
        if (!*out) *out = a->n < b->n ? -1 : a->n > b->n;
        return pt_jinja_charge(r, (int64_t)(n / 64));
    }
    if (a->kind == PT_JV_LIST && b->kind == PT_JV_LIST) {
        s = pt_jinja_enter(r);
        if (!s) s = compare_lists(r, a->list, b->list, out);
        r->depth--;
        return s;
    }
    return pt_jinja_refuse(
        r, "expected two numbers, two strings or two lists to put in order, found %s and %s",
        pt_jv_kind_name(a), pt_jv_kind_name(b));
}

/* ---- looking inside ---- */

pt_status pt_jinja_find(pt_jinja_run *r, const pt_jv *text, size_t from, const pt_jv *what,
                        size_t *at)
{
    int64_t compared = 0;
    const char *end = text->text + text->n, *here = text->text + from;
    *at = text->n;
    if (!what->n) {
        *at = from;
        return PT_OK;
    }
    while ((size_t)(end - here) >= what->n) {
        const char *next = memchr(here, what->text[0], (size_t)(end - here) - what->n + 1);
        if (!next) break;
        compared += (int64_t)what->n;
        if (memcmp(next, what->text, what->n) == 0) {
            *at = (size_t)(next - text->text);
            break;
        }
        here = next + 1;
        if (compared > r->limit.max_steps * 64) break; /* charging that will fail */
    }
    return pt_jinja_charge(r, compared / 64 + (int64_t)((*at - from) / 64));
}

pt_status pt_jv_contains(pt_jinja_run *r, const pt_jv *in, const pt_jv *v, bool *out)
{
    pt_status s = PT_OK;
    size_t at;
    const pt_jv *found;
    *out = false;
    switch (in->kind) {
    case PT_JV_UNDEFINED: return PT_OK;
    case PT_JV_STRING:
        if (v->kind != PT_JV_STRING)
            return pt_jinja_refuse(r, "expected a string to look for in a string, found %s",
                                   pt_jv_kind_name(v));
        s = pt_jinja_find(r, in, 0, v, &at);
        *out = at < in->n || !v->n;
        return s;
    case PT_JV_LIST:
        for (int64_t i = 0; !s && !*out && i < in->list->n; i++)
            s = pt_jv_equal(r, &in->list->item[i], v, out);
        return s;
    case PT_JV_DICT:
        s = pt_jv_dict_find(r, in->dict, v, &found);
        *out = found != NULL;
        return s;
    default:
        return pt_jinja_refuse(r, "expected a string, a list or a dict to look into, found %s",
                               pt_jv_kind_name(in));
    }
}

pt_status pt_jv_items(pt_jinja_run *r, const pt_jv *v, pt_jv *out)
{
    if (v->kind == PT_JV_LIST) {
        *out = *v;
        return PT_OK;
    }
    if (v->kind != PT_JV_UNDEFINED && v->kind != PT_JV_DICT && v->kind != PT_JV_STRING)
        return pt_jinja_refuse(r, "expected a list, a dict or a string to go over, found %s",
                               pt_jv_kind_name(v));
    pt_status s = pt_jv_list_new(r, v->kind == PT_JV_DICT ? v->dict->n : 0, out);
    for (int64_t i = 0; !s && v->kind == PT_JV_DICT && i < v->dict->n; i++)
        s = pt_jv_list_add(r, out->list, &v->dict->key[i]);
    for (size_t i = 0, len; !s && v->kind == PT_JV_STRING && i < v->n; i += len) {
        len = pt_jinja_char(v->text + i, v->n - i);
        pt_jv one = pt_jv_string(v->text + i, len);
        s = pt_jv_list_add(r, out->list, &one);
    }
    return s;
}

pt_status pt_jv_length(pt_jinja_run *r, const pt_jv *v, int64_t *out)
{
    *out = 0;
    switch (v->kind) {
    case PT_JV_UNDEFINED: return PT_OK;
    case PT_JV_STRING:
        *out = pt_jinja_chars(v->text, v->n);
        return pt_jinja_charge(r, (int64_t)(v->n / 64));
    case PT_JV_LIST: *out = v->list->n; return PT_OK;
    case PT_JV_DICT: *out = v->dict->n; return PT_OK;
    default:
        return pt_jinja_refuse(r, "expected a string, a list or a dict that has a length, found %s",
                               pt_jv_kind_name(v));
    }
}
