/* Statements, scopes, and the way in. SPDX-License-Identifier: MIT */
#include "base/safe_text.h"
#include "text/jinja/run.h"

/* ---- scopes ---- */

static pt_jinja_binding *find_binding(const pt_jinja_scope *scope, const char *name, size_t n)
{
    for (pt_jinja_binding *b = scope->first; b; b = b->next)
        if (b->n == n && memcmp(b->name, name, n) == 0) return b;
    return NULL;
}

const pt_jv *pt_jinja_lookup(pt_jinja_run *r, const char *name, size_t n)
{
    const pt_jinja_binding *b = NULL;
    for (const pt_jinja_scope *scope = r->scope; scope && !b; scope = scope->up)
        b = find_binding(scope, name, n);
    r->steps += r->n_values / 16; /* time grows with the names that were handed in */
    return b ? &b->value : NULL;
}

pt_status pt_jinja_bind(pt_jinja_run *r, const char *name, size_t n, const pt_jv *value)
{
    pt_jinja_binding *b = find_binding(r->scope, name, n);
    if (!b) {
        pt_status s = pt_jinja_take(r, &b, 1, sizeof *b);
        if (s) return s;
        b->name = name;
        b->n = n;
        b->next = r->scope->first;
        r->scope->first = b;
    }
    b->value = *value;
    return PT_OK;
}

pt_status pt_jinja_push_scope(pt_jinja_run *r, pt_jinja_scope *up)
{
    pt_jinja_scope *scope;
    pt_status s = pt_jinja_take(r, &scope, 1, sizeof *scope);
    if (s) return s;
    scope->up = up;
    r->scope = scope;
    return PT_OK;
}

/* ---- assignment ---- */

static pt_status set_attribute(pt_jinja_run *r, const pt_jinja_node *target, const pt_jv *value)
{
    pt_jv space, key = pt_jv_string(target->text, target->n);
    pt_status s = pt_jinja_evaluate(r, target->a, &space);
    if (s) return s;
    if (space.kind != PT_JV_NAMESPACE)
        return pt_jinja_refuse(r, "expected a namespace to set '%s' of, found %s",
                               pt_show(key.text, key.n).text, pt_jv_kind_name(&space));
    return pt_jv_dict_set(r, space.dict, &key, value);
}

static pt_status assign(pt_jinja_run *r, const pt_jinja_node *target, const pt_jv *value)
{
    pt_jv items;
    int64_t i = 0, n = 0;
    if (target->kind == PT_NODE_NAME) return pt_jinja_bind(r, target->text, target->n, value);
    if (target->kind == PT_NODE_ATTR) return set_attribute(r, target, value);
    pt_status s = pt_jv_items(r, value, &items);
    if (s) return s;
    for (const pt_jinja_node *name = target->list; name; name = name->next) n++;
    if (n != items.list->n)
        return pt_jinja_refuse(r, "expected %lld values for as many names, found %lld",
                               (long long)n, (long long)items.list->n);
    for (const pt_jinja_node *name = target->list; !s && name; name = name->next)
        s = pt_jinja_bind(r, name->text, name->n, &items.list->item[i++]);
    return s;
}

/* ---- output ---- */

static pt_status emit(pt_jinja_run *r, const char *bytes, size_t n)
{
    r->written += (int64_t)n;
    if (r->written > r->limit.max_output_bytes)
        return pt_jinja_refuse(r, "rendering writes more than %lld bytes",
                               (long long)r->limit.max_output_bytes);
    pt_status s = pt_jinja_charge(r, (int64_t)(n / 64));
    if (s) return s;
    pt_strbuf_append(r->out, bytes, n);
    return r->out->failed ? pt_fail(r->err, PT_NO_MEMORY, "no memory to render a template") : PT_OK;
}

static pt_status print(pt_jinja_run *r, const pt_jinja_node *node)
{
    pt_jv value, text;
    pt_status s = pt_jinja_evaluate(r, node->a, &value);
    if (!s) s = pt_jv_to_text(r, &value, &text);
    return s ? s : emit(r, text.text, text.n);
}

pt_status pt_jinja_capture(pt_jinja_run *r, const pt_jinja_node *list, pt_jv *out)
{
    pt_strbuf captured = {0}, *before = r->out;
    pt_jinja_text t = {.run = r};
    r->out = &captured;
    pt_status s = pt_jinja_run_body(r, list);
    r->out = before;
    if (!s) pt_jinja_put(&t, captured.data, captured.len);
    pt_strbuf_deinit(&captured);
    return pt_jinja_text_end(&t, s, out);
}

/* The body's output through the filters, as a value; names set in it stay in it. */
static pt_status capture_filtered(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out)
{
    pt_jinja_scope *scope = r->scope;
    pt_status s = pt_jinja_push_scope(r, scope);
    if (!s) s = pt_jinja_capture(r, node->list, out);
    if (!s && node->b) {
        s = pt_jinja_bind(r, "", 0, out); /* no name of a template is empty */
        if (!s) s = pt_jinja_evaluate(r, node->b, out);
    }
    r->scope = scope;
    return s;
}

/* ---- loops ---- */

static pt_status keep_wanted(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *items)
{
    pt_jv kept, yes;
    pt_jinja_scope *scope = r->scope;
    pt_status s = pt_jv_list_new(r, 0, &kept);
    for (int64_t i = 0; !s && i < items->list->n; i++) {
        s = pt_jinja_push_scope(r, scope);
        if (!s) s = assign(r, node->a, &items->list->item[i]);
        if (!s) s = pt_jinja_evaluate(r, node->c, &yes);
        if (!s && pt_jv_true(&yes)) s = pt_jv_list_add(r, kept.list, &items->list->item[i]);
    }
    r->scope = scope;
    *items = kept;
    return s;
}

static pt_status run_loop(pt_jinja_run *r, const pt_jinja_node *node, const pt_jv *items)
{
    pt_jv loop = {.kind = PT_JV_LOOP};
    pt_jinja_scope *scope = r->scope;
    pt_status s = pt_jinja_take(r, &loop.loop, 1, sizeof *loop.loop);
    if (s) return s;
    loop.loop->items = items->list;
    for (int64_t i = 0; !s && i < items->list->n && r->jump != PT_JINJA_STOP_LOOP; i++) {
        r->jump = PT_JINJA_GO;
        loop.loop->index = i;
        s = pt_jinja_push_scope(r, scope);
        if (!s) s = pt_jinja_bind(r, "loop", 4, &loop);
        if (!s) s = assign(r, node->a, &items->list->item[i]);
        if (!s) s = pt_jinja_run_body(r, node->list);
    }
    r->jump = PT_JINJA_GO;
    r->scope = scope;
    return s;
}

static pt_status run_for(pt_jinja_run *r, const pt_jinja_node *node)
{
    pt_jv values, items;
    pt_jinja_scope *scope = r->scope;
    pt_status s = pt_jinja_evaluate(r, node->b, &values);
    if (!s) s = pt_jv_items(r, &values, &items);
    if (!s && node->c) s = keep_wanted(r, node, &items);
    if (s) return s;
    if (items.list->n) return run_loop(r, node, &items);
    s = pt_jinja_push_scope(r, scope);
    if (!s) s = pt_jinja_run_body(r, node->more);
    r->scope = scope;
    return s;
}

/* ---- the other statements ---- */

static pt_status run_if(pt_jinja_run *r, const pt_jinja_node *node)
{
    for (; node; node = node->more) {
        pt_jv yes = pt_jv_bool(true);
        pt_status s = node->a ? pt_jinja_evaluate(r, node->a, &yes) : PT_OK;
        if (s) return s;
        if (pt_jv_true(&yes)) return pt_jinja_run_body(r, node->list);
    }
    return PT_OK;
}

static pt_status run_set(pt_jinja_run *r, const pt_jinja_node *node)
{
    pt_jv value;
    pt_status s = node->kind == PT_NODE_SET ? pt_jinja_evaluate(r, node->b, &value)
                                            : capture_filtered(r, node, &value);
    r->line = node->line;
    return s ? s : assign(r, node->a, &value);
}

static pt_status run_filter_block(pt_jinja_run *r, const pt_jinja_node *node)
{
    pt_jv value, text;
    pt_status s = capture_filtered(r, node, &value);
    if (!s) s = pt_jv_to_text(r, &value, &text);
    return s ? s : emit(r, text.text, text.n);
}

static pt_status define_macro(pt_jinja_run *r, const pt_jinja_node *node)
{
    pt_jv_macro *macro;
    pt_status s = pt_jinja_take(r, &macro, 1, sizeof *macro);
    if (s) return s;
    macro->node = node;
    macro->scope = r->scope;
    pt_jv value = {.kind = PT_JV_MACRO, .macro = macro};
    return pt_jinja_bind(r, node->text, node->n, &value);
}

static pt_status run_generation(pt_jinja_run *r, const pt_jinja_node *node)
{
    pt_jinja_scope *scope = r->scope;
    pt_status s = pt_jinja_push_scope(r, scope);
    if (!s) s = pt_jinja_run_body(r, node->list);
    r->scope = scope;
    return s;
}

static pt_status run_statement(pt_jinja_run *r, const pt_jinja_node *node)
{
    switch (node->kind) {
    case PT_NODE_TEXT: return emit(r, node->text, node->n);
    case PT_NODE_PRINT: return print(r, node);
    case PT_NODE_IF: return run_if(r, node);
    case PT_NODE_FOR: return run_for(r, node);
    case PT_NODE_SET:
    case PT_NODE_SET_BLOCK: return run_set(r, node);
    case PT_NODE_FILTER_BLOCK: return run_filter_block(r, node);
    case PT_NODE_MACRO: return define_macro(r, node);
    case PT_NODE_GENERATION: return run_generation(r, node);
    case PT_NODE_BREAK: r->jump = PT_JINJA_STOP_LOOP; return PT_OK;
    case PT_NODE_CONTINUE: r->jump = PT_JINJA_NEXT_ITEM; return PT_OK;
    default: return pt_fail(r->err, PT_INTERNAL, "node %d is no statement", (int)node->kind);
    }
}

pt_status pt_jinja_run_body(pt_jinja_run *r, const pt_jinja_node *list)
{
    pt_status s = pt_jinja_enter(r);
    for (const pt_jinja_node *node = list; !s && node && r->jump == PT_JINJA_GO;
         node = node->next) {
        r->line = node->line;
        s = pt_jinja_charge(r, 1);
        if (!s) s = run_statement(r, node);
    }
    r->depth--;
    return s;
}

/* ---- the way in ---- */

static size_t copy_source(char *to, const char *source, size_t n)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        bool cr = source[i] == '\r';
        if (cr && i + 1 < n && source[i + 1] == '\n') i++;
        to[len++] = cr ? '\n' : source[i];
    }
    return len && to[len - 1] == '\n' ? len - 1
                                      : len; /* one newline at the end is not part of it */
}

static pt_status compile(pt_jinja *template, const char *source, size_t n, pt_error *err)
{
    char *copy = pt_arena_alloc(&template->arena, n + 1);
    if (!copy)
        return pt_fail(err, PT_NO_MEMORY, "no memory for a template of %lld bytes", (long long)n);
    pt_jinja_parser p = {.arena = &template->arena, .err = err};
    p.lexer = (pt_jinja_lexer){
        .text = copy, .line = 1, .inside = PT_TOK_TEXT, .line_starts = true, .err = err};
    p.lexer.n = copy_source(copy, source, n);
    return pt_jinja_parse(&p, &template->body);
}

pt_status pt_jinja_compile(pt_jinja **out, const char *source, size_t n, pt_error *err)
{
    *out = NULL;
    if (n > PT_JINJA_MAX_SOURCE)
        return pt_fail(err, PT_BAD_INPUT, "the template has %lld bytes, at most %d are accepted",
                       (long long)n, PT_JINJA_MAX_SOURCE);
    pt_jinja *template = pt_alloc(sizeof *template);
    if (!template) return pt_fail(err, PT_NO_MEMORY, "no memory for a template");
    pt_status s = compile(template, source, n, err);
    if (s) pt_jinja_free(template);
    else *out = template;
    return s;
}

void pt_jinja_free(pt_jinja *template)
{
    if (!template) return;
    pt_arena_deinit(&template->arena);
    pt_free(template);
}

static pt_status bind_values(pt_jinja_run *r, const pt_json *values)
{
    if (!values) return PT_OK;
    if (values->type != PT_JSON_OBJECT)
        return pt_fail(r->err, PT_BAD_INPUT, "expected a JSON object with a template's values");
    for (const pt_json *member = values->child; member; member = member->next) {
        pt_jv value;
        if (member->key_len == 0) continue; /* no template can name it */
        pt_jinja_binding *b;
        pt_status s = pt_jv_from_json(r, member, &value);
        if (!s) s = pt_jinja_take(r, &b, 1, sizeof *b);
        if (s) return s;
        *b = (pt_jinja_binding){member->key, member->key_len, value, r->scope->first};
        r->scope->first = b; /* a JSON object has no name twice */
    }
    r->n_values = values->n_children;
    return PT_OK;
}

pt_status pt_jinja_render(const pt_jinja *template, pt_strbuf *out, const pt_json *values,
                          const pt_jinja_options *options, pt_error *err)
{
    pt_arena arena = {0};
    pt_jinja_run r = {.arena = &arena, .out = out, .err = err, .line = 1};
    if (options) r.limit = *options;
    if (!r.limit.max_output_bytes) r.limit.max_output_bytes = 16 << 20;
    if (!r.limit.max_memory_bytes) r.limit.max_memory_bytes = 64 << 20;
    if (!r.limit.max_steps) r.limit.max_steps = 5000000;
    pt_status s = pt_jinja_push_scope(&r, NULL);
    if (!s) s = bind_values(&r, values);
    if (!s) s = pt_jinja_push_scope(&r, r.scope);
    if (!s) s = pt_jinja_run_body(&r, template->body);
    pt_arena_deinit(&arena);
    return s;
}
