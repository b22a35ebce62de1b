/* Expressions. SPDX-License-Identifier: MIT */
#include "base/safe_text.h"
#include "text/jinja/run.h"
#include "text/jinja/strings.h"

/* ---- looking up ---- */

static pt_status get_index(pt_jinja_run *r, const pt_jv *from, int64_t index, pt_jv *out)
{
    int64_t n;
    pt_status s = pt_jv_length(r, from, &n);
    if (s) return s;
    if (index < 0) index += n;
    *out = pt_jv_undefined("item", 4);
    if (index < 0 || index >= n) return PT_OK;
    if (from->kind == PT_JV_LIST) *out = from->list->item[index];
    else {
        size_t at = pt_jinja_char_at(from->text, from->n, index);
        *out = pt_jv_string(from->text + at, pt_jinja_char(from->text + at, from->n - at));
    }
    return PT_OK;
}

static pt_status get_loop(const pt_jv_loop *loop, const pt_jv *key, pt_jv *out)
{
    const pt_jv_list *items = loop->items;
    int64_t i = loop->index;
    *out = pt_jv_undefined(key->text, key->n);
    if (pt_jv_is(key, "index")) *out = pt_jv_int(i + 1);
    else if (pt_jv_is(key, "index0")) *out = pt_jv_int(i);
    else if (pt_jv_is(key, "revindex")) *out = pt_jv_int(items->n - i);
    else if (pt_jv_is(key, "revindex0")) *out = pt_jv_int(items->n - i - 1);
    else if (pt_jv_is(key, "first")) *out = pt_jv_bool(i == 0);
    else if (pt_jv_is(key, "last")) *out = pt_jv_bool(i == items->n - 1);
    else if (pt_jv_is(key, "length")) *out = pt_jv_int(items->n);
    else if (pt_jv_is(key, "depth")) *out = pt_jv_int(1);
    else if (pt_jv_is(key, "depth0")) *out = pt_jv_int(0);
    else if (pt_jv_is(key, "previtem") && i > 0) *out = items->item[i - 1];
    else if (pt_jv_is(key, "nextitem") && i + 1 < items->n) *out = items->item[i + 1];
    return PT_OK;
}

pt_status pt_jinja_get(pt_jinja_run *r, const pt_jv *from, const pt_jv *key, pt_jv *out)
{
    const pt_jv *found;
    if (from->kind == PT_JV_UNDEFINED)
        return pt_jinja_refuse(r, "'%s' is undefined, so it has no '%s'",
                               pt_show(from->text ? from->text : "", from->n).text,
                               key->kind == PT_JV_STRING ? pt_show(key->text, key->n).text
                                                         : "item");
    bool whole = key->kind == PT_JV_INT || key->kind == PT_JV_BOOL;
    if (whole && (from->kind == PT_JV_LIST || from->kind == PT_JV_STRING))
        return get_index(r, from, key->integer, out);
    if (from->kind == PT_JV_LOOP) return get_loop(from->loop, key, out);
    *out = pt_jv_undefined(key->kind == PT_JV_STRING ? key->text : "item",
                           key->kind == PT_JV_STRING ? key->n : 4);
    if (from->kind != PT_JV_DICT && from->kind != PT_JV_NAMESPACE) return PT_OK;
    pt_status s = pt_jv_dict_find(r, from->dict, key, &found);
    if (!s && found) *out = *found;
    return s;
}

pt_status pt_jinja_get_path(pt_jinja_run *r, const pt_jv *from, const pt_jv *path, pt_jv *out)
{
    *out = *from;
    if (path->kind == PT_JV_INT) return pt_jinja_get(r, from, path, out);
    if (path->kind != PT_JV_STRING)
        return pt_jinja_refuse(r, "expected the name of an attribute, found %s",
                               pt_jv_kind_name(path));
    for (size_t i = 0, end; i <= path->n; i = end + 1) {
        const char *dot = i < path->n ? memchr(path->text + i, '.', path->n - i) : NULL;
        end = dot ? (size_t)(dot - path->text) : path->n;
        pt_jv in = *out, key = pt_jv_string(path->text + i, end - i);
        bool digits = end > i && end - i < 10;
        int64_t index = 0;
        for (size_t k = i; k < end; k++) {
            digits &= path->text[k] >= '0' && path->text[k] <= '9';
            index = digits ? index * 10 + path->text[k] - '0' : 0;
        }
        if (digits) key = pt_jv_int(index);
        pt_status s = pt_jinja_get(r, &in, &key, out);
        if (s) return s;
    }
    return PT_OK;
}

/* ---- parts of expressions ---- */

static pt_status evaluate_list(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    pt_jv value;
    pt_status s = pt_jv_list_new(r, 0, out);
    out->integer = node->integer;
    for (const pt_jinja_node *item = node->list; !s && item; item = item->next) {
        s = pt_jinja_evaluate(r, item, &value);
        if (!s) s = pt_jv_list_add(r, out->list, &value);
    }
    return s;
}

static pt_status evaluate_dict(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    pt_jv key, value;
    pt_status s = pt_jv_dict_new(r, 0, out);
    for (const pt_jinja_node *item = node->list; !s && item; item = item->next->next) {
        s = pt_jinja_evaluate(r, item, &key);
        if (!s) s = pt_jinja_evaluate(r, item->next, &value);
        if (!s) s = pt_jv_dict_set(r, out->dict, &key, &value);
    }
    return s;
}

static pt_status evaluate_slice(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    pt_jv from, part[3];
    const pt_jinja_node *nodes[3] = {node->b, node->c, node->list};
    pt_status s = pt_jinja_evaluate(r, node->a, &from);
    for (int i = 0; !s && i < 3; i++) {
        part[i] = (pt_jv){.kind = PT_JV_NONE};
        if (nodes[i]) s = pt_jinja_evaluate(r, nodes[i], &part[i]);
    }
    return s ? s : pt_jinja_slice(r, &from, part, out);
}

static pt_status evaluate_get(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    pt_jv from, key = pt_jv_string(node->text, node->n);
    pt_status s = pt_jinja_evaluate(r, node->a, &from);
    if (!s && node->kind == PT_NODE_ITEM) s = pt_jinja_evaluate(r, node->b, &key);
    return s ? s : pt_jinja_get(r, &from, &key, out);
}

pt_status pt_jinja_arguments(pt_jinja_run *r, const pt_jinja_node *list, pt_jinja_args *out)
{
    out->n = out->n_positional = 0;
    for (const pt_jinja_node *node = list; node; node = node->next) {
        bool named = node->kind == PT_NODE_KEYWORD;
        if (out->n == PT_JINJA_MAX_ARGUMENTS)
            return pt_jinja_refuse(r, "more than %d arguments", PT_JINJA_MAX_ARGUMENTS);
        if (!named && out->n > out->n_positional)
            return pt_jinja_refuse(r, "an argument without a name stands behind one with a name");
        pt_status s = pt_jinja_evaluate(r, named ? node->a : node, &out->value[out->n]);
        if (s) return s;
        out->name[out->n] = named ? node->text : NULL;
        out->name_len[out->n++] = named ? node->n : 0;
        if (!named) out->n_positional++;
    }
    return PT_OK;
}

/* Arguments take a kilobyte: they lie in the arena, not on the stack of nested expressions. */
static pt_status new_arguments(pt_jinja_run *r, const pt_jinja_node *list, pt_jinja_args **out)
{
    pt_status s = pt_jinja_take(r, out, 1, sizeof **out);
    return s ? s : pt_jinja_arguments(r, list, *out);
}

/* a.b(c): a method, unless a holds something under that name that can be called. */
static pt_status evaluate_method(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    pt_jv self, member = {.kind = PT_JV_UNDEFINED}, name = pt_jv_string(node->a->text, node->a->n);
    pt_jinja_args *args;
    pt_status s = pt_jinja_evaluate(r, node->a->a, &self);
    if (s) return s;
    if (self.kind == PT_JV_UNDEFINED) return pt_jinja_get(r, &self, &name, out);
    if (self.kind == PT_JV_DICT || self.kind == PT_JV_NAMESPACE)
        s = pt_jinja_get(r, &self, &name, &member);
    if (!s) s = new_arguments(r, node->list, &args);
    if (s) return s;
    r->line = node->line;
    if (member.kind == PT_JV_MACRO || member.kind == PT_JV_FUNCTION)
        return pt_jinja_call(r, &member, args, out);
    return pt_jinja_method(r, &self, &name, args, out);
}

static pt_status evaluate_call(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    pt_jv callee;
    pt_jinja_args *args;
    if (node->a->kind == PT_NODE_ATTR) return evaluate_method(r, node, out);
    pt_status s = pt_jinja_evaluate(r, node->a, &callee);
    if (!s) s = new_arguments(r, node->list, &args);
    r->line = node->line;
    return s ? s : pt_jinja_call(r, &callee, args, out);
}

static pt_status evaluate_applied(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    pt_jv in, name = pt_jv_string(node->text, node->n);
    pt_jinja_args *args;
    bool yes = false;
    pt_status s = PT_OK;
    if (node->a) s = pt_jinja_evaluate(r, node->a, &in);
    else in = *pt_jinja_lookup(r, "", 0); /* bound by the block */
    if (!s) s = new_arguments(r, node->list, &args);
    r->line = node->line;
    if (s) return s;
    if (node->kind == PT_NODE_FILTER) return pt_jinja_filter(r, &name, &in, args, out);
    s = pt_jinja_test(r, &name, &in, args, &yes);
    *out = pt_jv_bool(yes);
    return s;
}

static pt_status evaluate_compare(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    pt_jv left, right;
    bool yes = true;
    pt_status s = pt_jinja_evaluate(r, node->a, &left);
    for (const pt_jinja_node *c = node->list; !s && yes && c; c = c->next) {
        s = pt_jinja_evaluate(r, c->a, &right);
        r->line = c->line;
        if (!s) s = pt_jinja_relate(r, c->op, &left, &right, &yes);
        left = right;
    }
    *out = pt_jv_bool(yes);
    return s;
}

static pt_status evaluate_logic(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    pt_status s = pt_jinja_evaluate(r, node->a, out);
    if (s || pt_jv_true(out) == (node->kind == PT_NODE_OR)) return s;
    return pt_jinja_evaluate(r, node->b, out);
}

static pt_status evaluate_choice(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    pt_jv condition;
    pt_status s = pt_jinja_evaluate(r, node->b, &condition);
    if (s) return s;
    const pt_jinja_node *chosen = pt_jv_true(&condition) ? node->a : node->c;
    *out = pt_jv_undefined("the value of an if without else", 31);
    return chosen ? pt_jinja_evaluate(r, chosen, out) : PT_OK;
}

static pt_status evaluate_sign(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    pt_jv zero = pt_jv_int(0), v;
    pt_status s = pt_jinja_evaluate(r, node->a, &v);
    if (s) return s;
    if (node->kind == PT_NODE_NOT) {
        *out = pt_jv_bool(!pt_jv_true(&v));
        return PT_OK;
    }
    if (v.kind == PT_JV_FLOAT && node->kind == PT_NODE_NEGATE) {
        *out = pt_jv_float(-v.number);
        return PT_OK;
    }
    return pt_jinja_binary(r, node->kind == PT_NODE_NEGATE ? PT_JINJA_SUB : PT_JINJA_ADD, &zero, &v,
                           out);
}

static pt_status evaluate_binary(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    pt_jv a, b;
    pt_status s = pt_jinja_evaluate(r, node->a, &a);
    if (!s) s = pt_jinja_evaluate(r, node->b, &b);
    r->line = node->line;
    return s ? s : pt_jinja_binary(r, node->op, &a, &b, out);
}

static pt_status evaluate_name(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    const pt_jv *found = pt_jinja_lookup(r, node->text, node->n);
    if (found) *out = *found;
    else if (!pt_jinja_find_function(node->text, node->n, out))
        *out = pt_jv_undefined(node->text, node->n);
    return PT_OK;
}

static pt_status evaluate_node(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    switch (node->kind) {
    case PT_NODE_NONE: *out = (pt_jv){.kind = PT_JV_NONE}; return PT_OK;
    case PT_NODE_BOOL: *out = pt_jv_bool(node->integer != 0); return PT_OK;
    case PT_NODE_INT: *out = pt_jv_int(node->integer); return PT_OK;
    case PT_NODE_FLOAT: *out = pt_jv_float(node->number); return PT_OK;
    case PT_NODE_STRING: *out = pt_jv_string(node->text, node->n); return PT_OK;
    case PT_NODE_NAME: return evaluate_name(r, node, out);
    case PT_NODE_LIST: return evaluate_list(r, node, out);
    case PT_NODE_DICT: return evaluate_dict(r, node, out);
    case PT_NODE_ATTR:
    case PT_NODE_ITEM: return evaluate_get(r, node, out);
    case PT_NODE_SLICE: return evaluate_slice(r, node, out);
    case PT_NODE_CALL: return evaluate_call(r, node, out);
    case PT_NODE_FILTER:
    case PT_NODE_TEST: return evaluate_applied(r, node, out);
    case PT_NODE_NOT:
    case PT_NODE_NEGATE:
    case PT_NODE_PLUS: return evaluate_sign(r, node, out);
    case PT_NODE_AND:
    case PT_NODE_OR: return evaluate_logic(r, node, out);
    case PT_NODE_BINARY: return evaluate_binary(r, node, out);
    case PT_NODE_COMPARE: return evaluate_compare(r, node, out);
    case PT_NODE_CHOICE: return evaluate_choice(r, node, out);
    default: return pt_fail(r->err, PT_INTERNAL, "node %d is no expression", (int)node->kind);
    }
}

pt_status pt_jinja_evaluate(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    r->line = node->line;
    pt_status s = pt_jinja_charge(r, 1);
    if (!s) s = pt_jinja_enter(r);
    if (!s) s = evaluate_node(r, node, out);
    r->depth--;
    return s;
}
