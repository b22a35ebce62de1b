/* The parser: statements and blocks. Recursive descent, one token of lookahead.
 * SPDX-License-Identifier: MIT */
#include "base/safe_text.h"
#include "text/jinja/syntax.h"

/* ---- tokens ---- */

pt_status pt_jinja_advance(pt_jinja_parser *p) { return pt_jinja_next_token(&p->lexer, &p->token); }

bool pt_jinja_at(const pt_jinja_parser *p, pt_jinja_token_kind kind, const char *text)
{
    return p->token.kind == kind &&
           (!text || (strlen(text) == p->token.n && memcmp(text, p->token.text, p->token.n) == 0));
}

pt_status pt_jinja_accept(pt_jinja_parser *p, pt_jinja_token_kind kind, const char *text, bool *yes)
{
    *yes = pt_jinja_at(p, kind, text);
    return *yes ? pt_jinja_advance(p) : PT_OK;
}

pt_status pt_jinja_expected(pt_jinja_parser *p, const char *wanted)
{
    const pt_jinja_token *t = &p->token;
    if (t->kind == PT_TOK_END)
        return pt_fail(p->err, PT_BAD_INPUT, "template, line %d: expected %s, found the end",
                       t->line, wanted);
    if (t->kind == PT_TOK_TEXT)
        return pt_fail(p->err, PT_BAD_INPUT, "template, line %d: expected %s, found text", t->line,
                       wanted);
    return pt_fail(p->err, PT_BAD_INPUT, "template, line %d: expected %s, found '%s'", t->line,
                   wanted, pt_show(t->text, t->n).text);
}

pt_status pt_jinja_expect(pt_jinja_parser *p, pt_jinja_token_kind kind, const char *text)
{
    if (pt_jinja_at(p, kind, text)) return pt_jinja_advance(p);
    if (kind == PT_TOK_BLOCK_END) return pt_jinja_expected(p, "'%}'");
    if (kind == PT_TOK_PRINT_END) return pt_jinja_expected(p, "'}}'");
    char wanted[32];
    pt_format(wanted, sizeof wanted, "'%s'", text ? text : "a name");
    return pt_jinja_expected(p, text ? wanted : "a name");
}

pt_status pt_jinja_new_node(pt_jinja_parser *p, pt_jinja_node_kind kind, pt_jinja_node **out)
{
    *out = pt_arena_alloc(p->arena, sizeof **out);
    if (!*out) return pt_fail(p->err, PT_NO_MEMORY, "no memory for a template");
    (*out)->kind = kind;
    (*out)->line = p->token.line;
    (*out)->text = p->token.text;
    (*out)->n = p->token.n;
    return PT_OK;
}

/* ---- blocks ---- */

/* Words that may end a body, as "|else|endif|"; where one is found the token is that name. */
static pt_status parse_body(pt_jinja_parser *p, const char *ends, const pt_jinja_node **out);

static bool is_one_of(const pt_jinja_token *t, const char *words)
{
    while (*words) {
        const char *bar = strchr(words, '|');
        size_t n = bar ? (size_t)(bar - words) : strlen(words);
        if (n == t->n && memcmp(words, t->text, n) == 0) return true;
        words += bar ? n + 1 : n;
    }
    return false;
}

static pt_status end_tag(pt_jinja_parser *p) { return pt_jinja_expect(p, PT_TOK_BLOCK_END, NULL); }

/* The word at which the parser stands, and the end of its tag. */
static pt_status finish(pt_jinja_parser *p)
{
    pt_status s = pt_jinja_advance(p);
    return s ? s : end_tag(p);
}

/* `%}` body `{% word %}`. */
static pt_status parse_whole_body(pt_jinja_parser *p, const char *word, const pt_jinja_node **out)
{
    pt_status s = end_tag(p);
    if (!s) s = parse_body(p, word, out);
    return s ? s : finish(p);
}

static pt_status parse_if(pt_jinja_parser *p, pt_jinja_node *node)
{
    for (;;) {
        pt_status s = node->a ? PT_OK : pt_jinja_parse_tuple(p, &node->a);
        if (!s) s = end_tag(p);
        if (!s) s = parse_body(p, "elif|else|endif", &node->list);
        if (s) return s;
        if (pt_jinja_at(p, PT_TOK_NAME, "endif")) return finish(p);
        bool last = pt_jinja_at(p, PT_TOK_NAME, "else");
        pt_jinja_node *branch;
        s = pt_jinja_new_node(p, PT_NODE_IF, &branch);
        if (!s) s = pt_jinja_advance(p);
        if (s) return s;
        node->more = branch;
        if (last) return parse_whole_body(p, "endif", &branch->list);
        node = branch;
    }
}

/* name, or name, name, … */
static pt_status parse_names(pt_jinja_parser *p, const pt_jinja_node **out)
{
    pt_jinja_node *name, *list = NULL;
    pt_jinja_node **tail = NULL;
    const pt_jinja_node *first = NULL;
    bool open, comma = true;
    pt_status s = pt_jinja_accept(p, PT_TOK_SIGN, "(", &open);
    while (!s && comma && (!first || p->token.kind == PT_TOK_NAME)) {
        s = pt_jinja_new_node(p, PT_NODE_NAME, &name);
        if (!s) s = pt_jinja_expect(p, PT_TOK_NAME, NULL);
        if (s) return s;
        if (tail) *tail = name;
        else first = name;
        tail = &name->next;
        s = pt_jinja_accept(p, PT_TOK_SIGN, ",", &comma);
        if (!s && comma && !list) s = pt_jinja_new_node(p, PT_NODE_LIST, &list);
    }
    if (!s && open) s = pt_jinja_expect(p, PT_TOK_SIGN, ")");
    if (list) list->list = first;
    *out = list ? list : first;
    return s;
}

static pt_status parse_for(pt_jinja_parser *p, pt_jinja_node *node)
{
    bool filtered;
    pt_status s = parse_names(p, &node->a);
    if (!s) s = pt_jinja_expect(p, PT_TOK_NAME, "in");
    if (!s) s = pt_jinja_parse_or(p, &node->b);
    if (!s) s = pt_jinja_accept(p, PT_TOK_NAME, "if", &filtered);
    if (!s && filtered) s = pt_jinja_parse_expression(p, &node->c);
    if (!s && pt_jinja_at(p, PT_TOK_NAME, "recursive"))
        return pt_jinja_expected(p, "'%}' (recursive loops are not supported)");
    if (!s) s = end_tag(p);
    if (s) return s;
    p->loops++;
    s = parse_body(p, "else|endfor", &node->list);
    p->loops--;
    if (s) return s;
    if (!pt_jinja_at(p, PT_TOK_NAME, "else")) return finish(p);
    s = pt_jinja_advance(p);
    return s ? s : parse_whole_body(p, "endfor", &node->more);
}

static pt_status parse_set(pt_jinja_parser *p, pt_jinja_node *node)
{
    bool attribute = false, given = false;
    pt_status s = parse_names(p, &node->a);
    if (!s && node->a->kind == PT_NODE_NAME) s = pt_jinja_accept(p, PT_TOK_SIGN, ".", &attribute);
    if (!s && attribute) {
        pt_jinja_node *target;
        s = pt_jinja_new_node(p, PT_NODE_ATTR, &target);
        if (s) return s;
        target->a = node->a;
        node->a = target;
        s = pt_jinja_expect(p, PT_TOK_NAME, NULL);
    }
    if (!s) s = pt_jinja_accept(p, PT_TOK_SIGN, "=", &given);
    if (s) return s;
    if (given) {
        s = pt_jinja_parse_tuple(p, &node->b);
        return s ? s : end_tag(p);
    }
    node->kind = PT_NODE_SET_BLOCK;
    s = pt_jinja_parse_filters(p, &node->b);
    return s ? s : parse_whole_body(p, "endset", &node->list);
}

static pt_status parse_parameters(pt_jinja_parser *p, const pt_jinja_node **out)
{
    pt_jinja_node **tail = NULL;
    bool more = true, given;
    pt_status s = pt_jinja_expect(p, PT_TOK_SIGN, "(");
    while (!s && more && !pt_jinja_at(p, PT_TOK_SIGN, ")")) {
        pt_jinja_node *node;
        s = pt_jinja_new_node(p, PT_NODE_KEYWORD, &node);
        if (!s) s = pt_jinja_expect(p, PT_TOK_NAME, NULL);
        if (!s) s = pt_jinja_accept(p, PT_TOK_SIGN, "=", &given);
        if (!s && given) s = pt_jinja_parse_expression(p, &node->a);
        if (s) return s;
        if (tail) *tail = node;
        else *out = node;
        tail = &node->next;
        s = pt_jinja_accept(p, PT_TOK_SIGN, ",", &more);
    }
    return s ? s : pt_jinja_expect(p, PT_TOK_SIGN, ")");
}

static pt_status parse_macro(pt_jinja_parser *p, pt_jinja_node *node)
{
    int loops = p->loops;
    p->loops = 0;
    node->text = p->token.text;
    node->n = p->token.n;
    pt_status s = pt_jinja_expect(p, PT_TOK_NAME, NULL);
    if (!s) s = parse_parameters(p, &node->b);
    if (!s) s = parse_whole_body(p, "endmacro", &node->list);
    p->loops = loops;
    return s;
}

static pt_status parse_filter_block(pt_jinja_parser *p, pt_jinja_node *node)
{
    pt_status s = pt_jinja_parse_filter(p, &node->b);
    if (!s) s = pt_jinja_parse_filters(p, &node->b);
    return s ? s : parse_whole_body(p, "endfilter", &node->list);
}

static pt_status parse_generation(pt_jinja_parser *p, pt_jinja_node *node)
{
    return parse_whole_body(p, "endgeneration", &node->list);
}

static pt_status parse_jump(pt_jinja_parser *p, pt_jinja_node *node)
{
    if (!p->loops)
        return pt_fail(p->err, PT_BAD_INPUT, "template, line %d: '%s' stands outside a loop",
                       node->line, node->kind == PT_NODE_BREAK ? "break" : "continue");
    return end_tag(p);
}

static const struct statement {
    const char *word;
    pt_jinja_node_kind kind;
    pt_status (*parse)(pt_jinja_parser *p, pt_jinja_node *node);
} statements[] = {
    {"if", PT_NODE_IF, parse_if},
    {"for", PT_NODE_FOR, parse_for},
    {"set", PT_NODE_SET, parse_set},
    {"macro", PT_NODE_MACRO, parse_macro},
    {"filter", PT_NODE_FILTER_BLOCK, parse_filter_block},
    {"generation", PT_NODE_GENERATION, parse_generation},
    {"break", PT_NODE_BREAK, parse_jump},
    {"continue", PT_NODE_CONTINUE, parse_jump},
};

static pt_status parse_statement(pt_jinja_parser *p, pt_jinja_node **out)
{
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        if (!pt_jinja_at(p, PT_TOK_NAME, statements[i].word)) continue;
        pt_status s = pt_jinja_new_node(p, statements[i].kind, out);
        if (!s) s = pt_jinja_advance(p);
        return s ? s : statements[i].parse(p, *out);
    }
    return pt_jinja_expected(p, "if, for, set, macro, filter, generation, break or continue");
}

static pt_status parse_print(pt_jinja_parser *p, pt_jinja_node **out)
{
    pt_status s = pt_jinja_new_node(p, PT_NODE_PRINT, out);
    if (!s) s = pt_jinja_advance(p);
    if (!s) s = pt_jinja_parse_tuple(p, &(*out)->a);
    return s ? s : pt_jinja_expect(p, PT_TOK_PRINT_END, NULL);
}

/* One piece of a body; *ended when it is a tag that ends the body. */
static pt_status parse_piece(pt_jinja_parser *p, const char *ends, pt_jinja_node **out, bool *ended)
{
    *out = NULL;
    switch (p->token.kind) {
    case PT_TOK_TEXT: {
        pt_status s = pt_jinja_new_node(p, PT_NODE_TEXT, out);
        return s ? s : pt_jinja_advance(p);
    }
    case PT_TOK_PRINT_BEGIN: return parse_print(p, out);
    case PT_TOK_BLOCK_BEGIN: p->tag_line = p->token.line; break;
    default: *ended = true; return PT_OK;
    }
    pt_status s = pt_jinja_advance(p);
    if (s) return s;
    if (p->token.kind == PT_TOK_NAME && is_one_of(&p->token, ends)) {
        *ended = true;
        return PT_OK;
    }
    if (*ends && p->token.n > 3 && memcmp(p->token.text, "end", 3) == 0) {
        char wanted[64];
        pt_format(wanted, sizeof wanted, "one of %s", ends);
        return pt_jinja_expected(p, wanted);
    }
    return parse_statement(p, out);
}

static pt_status parse_body(pt_jinja_parser *p, const char *ends, const pt_jinja_node **out)
{
    pt_jinja_node *node, **tail = NULL;
    int opened = p->tag_line;
    if (++p->depth > PT_JINJA_MAX_DEPTH)
        return pt_fail(p->err, PT_BAD_INPUT, "template, line %d: nested more than %d levels deep",
                       opened, PT_JINJA_MAX_DEPTH);
    *out = NULL;
    for (bool ended = false;;) {
        pt_status s = parse_piece(p, ends, &node, &ended);
        if (s) return s;
        if (ended) break;
        if (tail) *tail = node;
        else *out = node;
        tail = &node->next;
    }
    p->depth--;
    if (p->token.kind == PT_TOK_END && *ends)
        return pt_fail(p->err, PT_BAD_INPUT,
                       "template, line %d: the block opened here has no end: expected {%% %s %%}",
                       opened, ends);
    return PT_OK;
}

pt_status pt_jinja_parse(pt_jinja_parser *p, const pt_jinja_node **out)
{
    pt_status s = pt_jinja_advance(p);
    if (!s) s = parse_body(p, "", out);
    if (!s && p->token.kind != PT_TOK_END) s = pt_jinja_expected(p, "text or a tag");
    return s;
}
