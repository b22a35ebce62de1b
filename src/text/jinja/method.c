/* Methods of strings, dicts and loops. Only those that change nothing. SPDX-License-Identifier: MIT */
#include "base/safe_text.h"
#include "text/jinja/run.h"
#include "text/jinja/strings.h"

/* ---- strings: also behind filters ---- */

static bool in_set(const pt_jv *set, const char *text, size_t len)
{
    if (!set || set->kind != PT_JV_STRING) return pt_jinja_is_space(text, len);
    for (size_t i = 0, n; i < set->n; i += n) {
        n = pt_jinja_char(set->text + i, set->n - i);
        if (n == len && memcmp(set->text + i, text, n) == 0) return true;
    }
    return false;
}

pt_status pt_jinja_strip(pt_jinja_run *r, const pt_jv *text, pt_jinja_side side, const pt_jv *set,
                         pt_jv *out)
{
    size_t start = 0, end = text->n, looked = 0;
    if (set && set->kind != PT_JV_STRING && set->kind != PT_JV_NONE)
        return pt_jinja_refuse(r, "expected a string of characters to strip, found %s",
                               pt_jv_kind_name(set));
    while (side & PT_JINJA_LEFT && start < end) {
        size_t len = pt_jinja_char(text->text + start, end - start);
        if (!in_set(set, text->text + start, len)) break;
        start += len;
    }
    while (side & PT_JINJA_RIGHT && end > start) {
        size_t at = end - 1;
        while (at > start && end - at < 4 && ((unsigned char)text->text[at] & 0xc0) == 0x80) at--;
        if (pt_jinja_char(text->text + at, end - at) != end - at) at = end - 1;
        if (!in_set(set, text->text + at, end - at)) break;
        end = at;
    }
    looked = (text->n - (end - start)) * (set && set->kind == PT_JV_STRING ? set->n + 1 : 1);
    *out = pt_jv_string(text->text + start, end - start);
    return pt_jinja_charge(r, (int64_t)(looked / 64));
}

pt_status pt_jinja_change_case(pt_jinja_run *r, const pt_jv *text, pt_jinja_case to, pt_jv *out)
{
    char *copy;
    bool begins = true;
    pt_status s = pt_jinja_take(r, &copy, (int64_t)text->n + 1, 1);
    for (size_t i = 0; !s && i < text->n; i++) {
        char c = text->text[i];
        bool letter = (c | 32) >= 'a' && (c | 32) <= 'z' && !(c & 0x80);
        bool up = to == PT_JINJA_UPPER || (to > PT_JINJA_LOWER && begins);
        copy[i] = !letter ? c : (char)(up ? c & ~32 : c | 32);
        begins = to == PT_JINJA_TITLE && !letter && !(c & 0x80);
    }
    *out = pt_jv_string(copy, text->n);
    return s;
}

pt_status pt_jinja_replace(pt_jinja_run *r, const pt_jv *text, const pt_jinja_args *args,
                           pt_jv *out)
{
    pt_jv old = {.kind = PT_JV_NONE}, new = {.kind = PT_JV_NONE};
    int64_t count = -1;
    pt_status s = pt_jinja_text_argument(r, args, 0, "old", &old);
    if (!s) s = pt_jinja_text_argument(r, args, 1, "new", &new);
    if (!s) s = pt_jinja_int_argument(r, args, 2, "count", &count);
    if (s) return s;
    if (old.kind == PT_JV_NONE || new.kind == PT_JV_NONE)
        return pt_jinja_refuse(r, "replace needs the old and the new text");
    pt_jinja_text t = {.run = r};
    size_t done = 0, at;
    while (!s && count != 0) {
        s = pt_jinja_find(r, text, done, &old, &at);
        if (!s) s = pt_jinja_charge(r, 1);
        if (s || (at == text->n && old.n)) break;
        pt_jinja_put(&t, text->text + done, at - done);
        pt_jinja_put(&t, new.text, new.n);
        done = at + old.n;
        if (count > 0) count--;
        if (old.n) continue;
        if (at == text->n) break;
        done +=
            pt_jinja_char(text->text + at, text->n - at); /* nothing stands before each character */
        pt_jinja_put(&t, text->text + at, done - at);
    }
    if (!s) pt_jinja_put(&t, text->text + done, text->n - done);
    return pt_jinja_text_end(&t, s, out);
}

static pt_status strip_both(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args,
                            pt_jv *out)
{
    return pt_jinja_strip(r, self, PT_JINJA_BOTH, pt_jinja_argument(args, 0, NULL), out);
}

static pt_status strip_left(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args,
                            pt_jv *out)
{
    return pt_jinja_strip(r, self, PT_JINJA_LEFT, pt_jinja_argument(args, 0, NULL), out);
}

static pt_status strip_right(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args,
                             pt_jv *out)
{
    return pt_jinja_strip(r, self, PT_JINJA_RIGHT, pt_jinja_argument(args, 0, NULL), out);
}

static pt_status upper(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    (void)args;
    return pt_jinja_change_case(r, self, PT_JINJA_UPPER, out);
}

static pt_status lower(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    (void)args;
    return pt_jinja_change_case(r, self, PT_JINJA_LOWER, out);
}

static pt_status title(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    (void)args;
    return pt_jinja_change_case(r, self, PT_JINJA_TITLE, out);
}

static pt_status capitalize(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args,
                            pt_jv *out)
{
    (void)args;
    return pt_jinja_change_case(r, self, PT_JINJA_CAPITALIZE, out);
}

/* ---- beginnings and ends ---- */

static pt_status has_affix(pt_jinja_run *r, const pt_jv *self, const pt_jv *affix, bool end,
                           bool *out)
{
    if (affix->kind != PT_JV_STRING)
        return pt_jinja_refuse(r, "expected a string to compare with, found %s",
                               pt_jv_kind_name(affix));
    *out = affix->n <= self->n &&
           memcmp(self->text + (end ? self->n - affix->n : 0), affix->text, affix->n) == 0;
    return pt_jinja_charge(r, (int64_t)(affix->n / 64));
}

static pt_status any_affix(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, bool end,
                           pt_jv *out)
{
    const pt_jv *affix = pt_jinja_argument(args, 0, NULL);
    bool yes = false;
    pt_status s = PT_OK;
    if (!affix) return pt_jinja_refuse(r, "%s needs a string", end ? "endswith" : "startswith");
    if (affix->kind != PT_JV_LIST) s = has_affix(r, self, affix, end, &yes);
    for (int64_t i = 0; affix->kind == PT_JV_LIST && !s && !yes && i < affix->list->n; i++)
        s = has_affix(r, self, &affix->list->item[i], end, &yes);
    *out = pt_jv_bool(yes);
    return s;
}

static pt_status startswith(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args,
                            pt_jv *out)
{
    return any_affix(r, self, args, false, out);
}

static pt_status endswith(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    return any_affix(r, self, args, true, out);
}

/* ---- splitting ---- */

static pt_status add_piece(pt_jinja_run *r, pt_jv *list, const pt_jv *self, size_t start,
                           size_t end)
{
    pt_jv piece = pt_jv_string(self->text + start, end - start);
    pt_status s = pt_jinja_charge(r, 1);
    return s ? s : pt_jv_list_add(r, list->list, &piece);
}

static pt_status split_at_space(pt_jinja_run *r, const pt_jv *self, int64_t most, pt_jv *out)
{
    pt_status s = PT_OK;
    size_t at = pt_jinja_lstrip(self->text, self->n);
    while (!s && at < self->n) {
        size_t end = at;
        while (end < self->n) {
            size_t len = pt_jinja_char(self->text + end, self->n - end);
            if (pt_jinja_is_space(self->text + end, len)) break;
            end += len;
        }
        if (most == 0) end = self->n;
        s = add_piece(r, out, self, at, end);
        at = most-- == 0 ? self->n : end + pt_jinja_lstrip(self->text + end, self->n - end);
    }
    return s;
}

static pt_status split(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    const pt_jv *given = pt_jinja_argument(args, 0, "sep");
    pt_jv by = {.kind = PT_JV_NONE};
    int64_t most = -1;
    pt_status s = pt_jv_list_new(r, 0, out);
    if (!s) s = pt_jinja_int_argument(r, args, 1, "maxsplit", &most);
    if (!s && given && given->kind != PT_JV_NONE)
        s = pt_jinja_text_argument(r, args, 0, "sep", &by);
    if (s) return s;
    if (by.kind == PT_JV_NONE) return split_at_space(r, self, most, out);
    if (!by.n) return pt_jinja_refuse(r, "split: an empty separator");
    size_t done = 0, at;
    while (!s && most-- != 0) {
        s = pt_jinja_find(r, self, done, &by, &at);
        if (s || at == self->n) break;
        s = add_piece(r, out, self, done, at);
        done = at + by.n;
    }
    return s ? s : add_piece(r, out, self, done, self->n);
}

static pt_status rsplit(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    pt_jinja_args once = *args;
    int64_t most = -1;
    pt_jv all, by = {.kind = PT_JV_NONE};
    once.n = once.n_positional = args->n_positional > 1 ? 1 : args->n_positional;
    pt_status s = pt_jinja_int_argument(r, args, 1, "maxsplit", &most);
    if (!s) s = pt_jinja_text_argument(r, args, 0, "sep", &by);
    if (!s && by.kind == PT_JV_NONE)
        return pt_jinja_refuse(r, "rsplit is supported with a separator only");
    if (!s) s = split(r, self, &once, &all);
    if (s || most < 0 || most >= all.list->n) {
        *out = all;
        return s;
    }
    size_t end = self->n;
    for (int64_t i = all.list->n - most; i < all.list->n; i++) end -= all.list->item[i].n + by.n;
    s = pt_jv_list_new(r, most + 1, out);
    if (!s) s = add_piece(r, out, self, 0, end);
    for (int64_t i = all.list->n - most; !s && i < all.list->n; i++)
        s = pt_jv_list_add(r, out->list, &all.list->item[i]);
    return s;
}

static pt_status splitlines(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args,
                            pt_jv *out)
{
    bool keep = pt_jinja_flag_argument(args, 0, "keepends", false);
    pt_status s = pt_jv_list_new(r, 0, out);
    for (size_t at = 0; !s && at < self->n;) {
        size_t end = at;
        while (end < self->n && self->text[end] != '\n' && self->text[end] != '\r') end++;
        size_t next = end + (end < self->n);
        if (next < self->n && self->text[end] == '\r' && self->text[next] == '\n') next++;
        s = add_piece(r, out, self, at, keep ? next : end);
        at = next;
    }
    return s;
}

/* ---- searching ---- */

static pt_status find(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv what = {.kind = PT_JV_NONE};
    size_t at;
    pt_status s = pt_jinja_text_argument(r, args, 0, "sub", &what);
    if (!s && what.kind == PT_JV_NONE) return pt_jinja_refuse(r, "find needs a string");
    if (!s) s = pt_jinja_find(r, self, 0, &what, &at);
    *out = pt_jv_int(s || (at == self->n && what.n) ? -1 : pt_jinja_chars(self->text, at));
    return s;
}

static pt_status count(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv what = {.kind = PT_JV_NONE};
    int64_t n = 0;
    pt_status s = pt_jinja_text_argument(r, args, 0, "sub", &what);
    if (!s && !what.n) return pt_jinja_refuse(r, "count needs a string that is not empty");
    for (size_t done = 0, at; !s; n++, done = at + what.n) {
        s = pt_jinja_find(r, self, done, &what, &at);
        if (s || at == self->n) break;
        s = pt_jinja_charge(r, 1);
    }
    *out = pt_jv_int(n);
    return s;
}

static pt_status isdigit_method(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args,
                                pt_jv *out)
{
    (void)args;
    bool yes = self->n > 0;
    for (size_t i = 0; i < self->n; i++) yes &= self->text[i] >= '0' && self->text[i] <= '9';
    *out = pt_jv_bool(yes);
    return pt_jinja_charge(r, (int64_t)(self->n / 64));
}

static pt_status join(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv items = {0};
    const pt_jv *from = pt_jinja_argument(args, 0, NULL);
    if (!from) return pt_jinja_refuse(r, "join needs a list");
    pt_jinja_text t = {.run = r};
    pt_status s = pt_jv_items(r, from, &items);
    for (int64_t i = 0; !s && i < items.list->n; i++) {
        const pt_jv *item = &items.list->item[i];
        if (item->kind != PT_JV_STRING)
            s = pt_jinja_refuse(r, "expected strings to join, found %s", pt_jv_kind_name(item));
        if (i) pt_jinja_put(&t, self->text, self->n);
        if (!s) pt_jinja_put(&t, item->text, item->n);
    }
    return pt_jinja_text_end(&t, s, out);
}

/* ---- dicts and loops ---- */

static pt_status keys(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    (void)args;
    return pt_jv_items(r, self, out);
}

static pt_status values(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    (void)args;
    pt_status s = pt_jv_list_new(r, self->dict->n, out);
    for (int64_t i = 0; !s && i < self->dict->n; i++)
        s = pt_jv_list_add(r, out->list, &self->dict->value[i]);
    return s;
}

static pt_status items(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    pt_jinja_args none = {0};
    (void)args;
    return pt_jinja_filter(r, &(pt_jv){.kind = PT_JV_STRING, .text = "items", .n = 5}, self, &none,
                           out);
}

static pt_status get(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    const pt_jv *key = pt_jinja_argument(args, 0, NULL),
                *otherwise = pt_jinja_argument(args, 1, NULL);
    const pt_jv *found;
    if (!key) return pt_jinja_refuse(r, "get needs a key");
    pt_status s = pt_jv_dict_find(r, self->dict, key, &found);
    *out = found && !s ? *found : otherwise ? *otherwise : (pt_jv){.kind = PT_JV_NONE};
    return s;
}

static pt_status cycle(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    if (!args->n) return pt_jinja_refuse(r, "cycle needs a value");
    *out = args->value[self->loop->index % args->n];
    return PT_OK;
}

static pt_status changed(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out)
{
    pt_jv now;
    bool same = false;
    pt_status s = pt_jv_list_new(r, args->n, &now);
    for (int i = 0; !s && i < args->n; i++) s = pt_jv_list_add(r, now.list, &args->value[i]);
    if (!s) s = pt_jv_equal(r, &now, &self->loop->changed, &same);
    self->loop->changed = now;
    *out = pt_jv_bool(!same);
    return s;
}

/* ---- the table ---- */

static const struct method {
    pt_jv_kind of;
    const char *name;
    pt_status (*fn)(pt_jinja_run *r, const pt_jv *self, const pt_jinja_args *args, pt_jv *out);
    int positional;
    const char *names;
} methods[] = {
    {PT_JV_STRING, "strip", strip_both, 1, ""},
    {PT_JV_STRING, "lstrip", strip_left, 1, ""},
    {PT_JV_STRING, "rstrip", strip_right, 1, ""},
    {PT_JV_STRING, "upper", upper, 0, ""},
    {PT_JV_STRING, "lower", lower, 0, ""},
    {PT_JV_STRING, "title", title, 0, ""},
    {PT_JV_STRING, "capitalize", capitalize, 0, ""},
    {PT_JV_STRING, "replace", pt_jinja_replace, 3, "|count|"},
    {PT_JV_STRING, "startswith", startswith, 1, ""},
    {PT_JV_STRING, "endswith", endswith, 1, ""},
    {PT_JV_STRING, "split", split, 2, "|sep|maxsplit|"},
    {PT_JV_STRING, "rsplit", rsplit, 2, "|sep|maxsplit|"},
    {PT_JV_STRING, "splitlines", splitlines, 1, "|keepends|"},
    {PT_JV_STRING, "find", find, 1, ""},
    {PT_JV_STRING, "count", count, 1, ""},
    {PT_JV_STRING, "isdigit", isdigit_method, 0, ""},
    {PT_JV_STRING, "join", join, 1, ""},
    {PT_JV_DICT, "keys", keys, 0, ""},
    {PT_JV_DICT, "values", values, 0, ""},
    {PT_JV_DICT, "items", items, 0, ""},
    {PT_JV_DICT, "get", get, 2, ""},
    {PT_JV_LOOP, "cycle", cycle, PT_JINJA_MAX_ARGUMENTS, ""},
    {PT_JV_LOOP, "changed", changed, PT_JINJA_MAX_ARGUMENTS, ""},
};

pt_status pt_jinja_method(pt_jinja_run *r, const pt_jv *self, const pt_jv *name,
                          const pt_jinja_args *args, pt_jv *out)
{
    static const char *const changing[] = {"append", "extend",  "insert", "remove",
                                           "pop",    "update",  "clear",  "setdefault",
                                           "sort",   "reverse", "popitem"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct method *m = &methods[i];
        if (m->of != self->kind || !pt_jv_is(name, m->name)) continue;
        pt_status s = pt_jinja_check_arguments(r, args, m->name, m->positional, m->names);
        return s ? s : m->fn(r, self, args, out);
    }
    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++)
        if ((self->kind == PT_JV_LIST || self->kind == PT_JV_DICT) && pt_jv_is(name, changing[i]))
            return pt_jinja_refuse(r, "%s would change a value: templates may build new ones only",
                                   changing[i]);
    return pt_jinja_refuse(r, "expected the name of a method of %s, found '%s'",
                           pt_jv_kind_name(self), pt_show(name->text, name->n).text);
}
