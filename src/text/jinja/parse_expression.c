/* The parser: expressions. SPDX-License-Identifier: MIT */
#include "base/decimal.h"
#include "base/safe_text.h"
#include "text/jinja/strings.h"
#include "text/jinja/syntax.h"

static bool at_sign(const pt_jinja_parser *p, const char *sign)
{
    return pt_jinja_at(p, PT_TOK_SIGN, sign);
}

static bool at_word(const pt_jinja_parser *p, const char *word)
{
    return pt_jinja_at(p, PT_TOK_NAME, word);
}

static pt_status accept_sign(pt_jinja_parser *p, const char *sign, bool *yes)
{
    return pt_jinja_accept(p, PT_TOK_SIGN, sign, yes);
}

static pt_status deeper(pt_jinja_parser *p)
{
    if (++p->depth <= PT_JINJA_MAX_DEPTH) return PT_OK;
    return pt_fail(p->err, PT_BAD_INPUT, "template, line %d: nested more than %d levels deep",
                   p->token.line, PT_JINJA_MAX_DEPTH);
}

/* ---- literals ---- */

static int hex_value(int c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \xHH, \uHHHH, \UHHHHHHHH at text[0 … n), n >= 2; returns the bytes used, 0 if it is none. */
static size_t decode_code(const char *text, size_t n, char out[4], size_t *out_len)
{
    size_t digits = text[1] == 'x' ? 2 : text[1] == 'u' ? 4 : text[1] == 'U' ? 8 : 0;
    uint32_t code = 0;
    if (!digits || n < digits + 2) return 0;
    for (size_t i = 0; i < digits; i++) {
        int value = hex_value((unsigned char)text[2 + i]);
        if (value < 0) return 0;
        code = code << 4 | (uint32_t)value;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
    *out_len = pt_jinja_encode(out, code);
    return digits + 2;
}

/* Decodes the escapes of n bytes into out (room for n); an unknown one stays as it is. */
static size_t decode_string(char *out, const char *text, size_t n)
{
    static const char names[] = "\\'\"nrtabfv0", bytes[] = "\\'\"\n\r\t\a\b\f\v";
    size_t len = 0;
    for (size_t i = 0; i < n;) {
        char code[4];
        size_t code_len, used = 1;
        if (text[i] != '\\' || i + 1 >= n) {
            out[len++] = text[i++];
            continue;
        }
        const char *name = text[i + 1] ? strchr(names, text[i + 1]) : NULL;
        if (name) {
            out[len++] = bytes[name - names];
            used = 2;
        } else if (text[i + 1] == '\n') used = 2;
        else if ((used = decode_code(text + i, n - i, code, &code_len)) > 0) {
            memcpy(out + len, code, code_len);
            len += code_len;
        } else {
            out[len++] = '\\';
            used = 1;
        }
        i += used;
    }
    return len;
}

static pt_status parse_string(pt_jinja_parser *p, pt_jinja_node *node)
{
    pt_strbuf text = {0};
    pt_status s = PT_OK;
    while (!s && p->token.kind == PT_TOK_STRING) { /* neighbours are one string */
        pt_strbuf_append(&text, p->token.text, p->token.n);
        if (!text.failed)
            text.len -= p->token.n -
                        decode_string(text.data + text.len - p->token.n, p->token.text, p->token.n);
        s = pt_jinja_advance(p);
    }
    node->kind = PT_NODE_STRING;
    node->text =
        s || text.failed ? NULL : pt_arena_copy(p->arena, text.data ? text.data : "", text.len);
    node->n = text.len;
    pt_strbuf_deinit(&text);
    if (!s && !node->text) s = pt_fail(p->err, PT_NO_MEMORY, "no memory for a template");
    return s;
}

static pt_status parse_integer(pt_jinja_parser *p, pt_jinja_node *node)
{
    node->kind = PT_NODE_INT;
    for (size_t i = 0; i < p->token.n; i++) {
        if (p->token.text[i] == '_') continue;
        int digit = p->token.text[i] - '0';
        if (node->integer > (INT64_MAX - digit) / 10)
            return pt_jinja_expected(p, "an integer of at most 64 bits");
        node->integer = node->integer * 10 + digit;
    }
    return pt_jinja_advance(p);
}

static pt_status parse_float(pt_jinja_parser *p, pt_jinja_node *node)
{
    node->kind = PT_NODE_FLOAT;
    if (pt_decimal_to_double(p->token.text, p->token.n, &node->number) != p->token.n)
        return pt_jinja_expected(p, "a number");
    return pt_jinja_advance(p);
}

static pt_status parse_name(pt_jinja_parser *p, pt_jinja_node *node)
{
    static const struct {
        const char *word;
        pt_jinja_node_kind kind;
        int64_t value;
    } words[] = {{"true", PT_NODE_BOOL, 1},  {"True", PT_NODE_BOOL, 1}, {"false", PT_NODE_BOOL, 0},
                 {"False", PT_NODE_BOOL, 0}, {"none", PT_NODE_NONE, 0}, {"None", PT_NODE_NONE, 0}};
    static const char *const reserved[] = {"and", "or", "not", "in", "is", "if", "else"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (at_word(p, reserved[i])) return pt_jinja_expected(p, "an expression");
    node->kind = PT_NODE_NAME;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!at_word(p, words[i].word)) continue;
        node->kind = words[i].kind;
        node->integer = words[i].value;
    }
    return pt_jinja_advance(p);
}

/* Items up to the closing bracket, which is taken too; a dict has key: value. */
static pt_status parse_items(pt_jinja_parser *p, const char *close, pt_jinja_node *list)
{
    const pt_jinja_node *item;
    pt_jinja_node **tail = NULL;
    bool dict = list->kind == PT_NODE_DICT, comma = true, key = true;
    while (!key || !at_sign(p, close)) {
        if (!comma) return pt_jinja_expected(p, dict ? "',' or '}'" : "',' or a closing bracket");
        pt_jinja_node *copy;
        pt_status s = pt_jinja_parse_expression(p, &item);
        if (!s) s = pt_jinja_new_node(p, item->kind, &copy);
        if (s) return s;
        *copy = *item; /* a node may be in one list only */
        copy->next = NULL;
        if (tail) *tail = copy;
        else list->list = copy;
        tail = &copy->next;
        s = dict && key ? pt_jinja_expect(p, PT_TOK_SIGN, ":") : accept_sign(p, ",", &comma);
        if (s) return s;
        if (dict) key = !key;
        if (dict && !key) comma = true;
    }
    return pt_jinja_advance(p);
}

/* (a) is a; (a,) and (a, b) and () are lists. */
static pt_status parse_parentheses(pt_jinja_parser *p, const pt_jinja_node **out)
{
    pt_jinja_node *list;
    pt_status s = pt_jinja_new_node(p, PT_NODE_LIST, &list);
    if (s) return s;
    list->integer = 1;
    s = pt_jinja_advance(p);
    *out = list;
    if (!s && !at_sign(p, ")")) s = pt_jinja_parse_tuple(p, out);
    return s ? s : pt_jinja_expect(p, PT_TOK_SIGN, ")");
}

static pt_status parse_primary(pt_jinja_parser *p, const pt_jinja_node **out)
{
    pt_jinja_node *node;
    if (at_sign(p, "(")) return parse_parentheses(p, out);
    pt_status s = pt_jinja_new_node(p, PT_NODE_LIST, &node);
    if (s) return s;
    *out = node;
    switch (p->token.kind) {
    case PT_TOK_STRING: return parse_string(p, node);
    case PT_TOK_INT: return parse_integer(p, node);
    case PT_TOK_FLOAT: return parse_float(p, node);
    case PT_TOK_NAME: return parse_name(p, node);
    default: break;
    }
    bool dict = at_sign(p, "{");
    if (!dict && !at_sign(p, "[")) return pt_jinja_expected(p, "an expression");
    if (dict) node->kind = PT_NODE_DICT;
    s = pt_jinja_advance(p);
    return s ? s : parse_items(p, dict ? "}" : "]", node);
}

/* ---- what follows a value ---- */

static pt_status parse_argument(pt_jinja_parser *p, pt_jinja_node **out)
{
    pt_jinja_parser before = *p;
    const pt_jinja_node *value;
    bool named = false;
    pt_status s = pt_jinja_new_node(p, PT_NODE_KEYWORD, out);
    if (at_sign(p, "*") || at_sign(p, "**")) return pt_jinja_expected(p, "an argument");
    if (!s && p->token.kind == PT_TOK_NAME) {
        s = pt_jinja_advance(p);
        named = !s && at_sign(p, "=");
        if (s) return s;
        if (named) s = pt_jinja_advance(p);
        else *p = before;
    }
    if (!s) s = pt_jinja_parse_expression(p, &value);
    if (s) return s;
    if (named) (*out)->a = value;
    else **out = *value;
    (*out)->next = NULL;
    return PT_OK;
}

/* (a, b, name=c), at the opening one. */
static pt_status parse_arguments(pt_jinja_parser *p, const pt_jinja_node **out)
{
    pt_jinja_node *node, **tail = NULL;
    bool comma = true;
    pt_status s = pt_jinja_advance(p);
    while (!s && !at_sign(p, ")")) {
        if (!comma) return pt_jinja_expected(p, "',' or ')'");
        s = parse_argument(p, &node);
        if (s) return s;
        if (tail) *tail = node;
        else *out = node;
        tail = &node->next;
        s = accept_sign(p, ",", &comma);
    }
    return s ? s : pt_jinja_advance(p);
}

/* One part of [b:c:d]: may be missing. */
static pt_status parse_slice_part(pt_jinja_parser *p, const pt_jinja_node **out, bool *colon)
{
    pt_status s = PT_OK;
    if (!at_sign(p, ":") && !at_sign(p, "]")) s = pt_jinja_parse_expression(p, out);
    return s ? s : accept_sign(p, ":", colon);
}

static pt_status parse_subscript(pt_jinja_parser *p, pt_jinja_node *node)
{
    bool colon = false, more = false, none = false;
    pt_status s = pt_jinja_advance(p);
    if (!s && at_sign(p, "]")) return pt_jinja_expected(p, "an index");
    if (!s) s = parse_slice_part(p, &node->b, &colon);
    node->kind = PT_NODE_ITEM;
    if (!s && colon) {
        node->kind = PT_NODE_SLICE;
        s = parse_slice_part(p, &node->c, &more);
        if (!s && more) s = parse_slice_part(p, &node->list, &none);
    }
    return s ? s : pt_jinja_expect(p, PT_TOK_SIGN, "]");
}

static pt_status parse_attribute(pt_jinja_parser *p, pt_jinja_node *node)
{
    pt_status s = pt_jinja_advance(p);
    if (s) return s;
    node->text = p->token.text;
    node->n = p->token.n;
    node->kind = PT_NODE_ATTR;
    if (p->token.kind == PT_TOK_INT) { /* x.0 is x[0] */
        pt_jinja_node *index;
        s = pt_jinja_new_node(p, PT_NODE_INT, &index);
        node->kind = PT_NODE_ITEM;
        node->b = index;
        return s ? s : parse_integer(p, index);
    }
    return pt_jinja_expect(p, PT_TOK_NAME, NULL);
}

/* .name, [index], (arguments) */
static pt_status parse_postfix(pt_jinja_parser *p, const pt_jinja_node **value)
{
    while (at_sign(p, ".") || at_sign(p, "[") || at_sign(p, "(")) {
        pt_jinja_node *node;
        pt_status s = pt_jinja_new_node(p, PT_NODE_CALL, &node);
        if (s) return s;
        node->a = *value;
        if (at_sign(p, ".")) s = parse_attribute(p, node);
        else s = at_sign(p, "[") ? parse_subscript(p, node) : parse_arguments(p, &node->list);
        if (s) return s;
        *value = node;
    }
    return PT_OK;
}

pt_status pt_jinja_parse_filter(pt_jinja_parser *p, const pt_jinja_node **value)
{
    pt_jinja_node *node;
    pt_status s = pt_jinja_new_node(p, PT_NODE_FILTER, &node);
    if (!s) s = pt_jinja_expect(p, PT_TOK_NAME, NULL);
    if (s) return s;
    node->a = *value;
    *value = node;
    return at_sign(p, "(") ? parse_arguments(p, &node->list) : PT_OK;
}

pt_status pt_jinja_parse_filters(pt_jinja_parser *p, const pt_jinja_node **value)
{
    pt_status s = PT_OK;
    while (!s && at_sign(p, "|")) {
        s = pt_jinja_advance(p);
        if (!s) s = pt_jinja_parse_filter(p, value);
    }
    return s;
}

static pt_status parse_unary(pt_jinja_parser *p, const pt_jinja_node **out, bool filtered);

static bool at_test_argument(const pt_jinja_parser *p)
{
    static const char *const words[] = {"and", "or", "not", "in", "is", "if", "else", "recursive"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (at_word(p, words[i])) return false;
    switch (p->token.kind) {
    case PT_TOK_NAME:
    case PT_TOK_STRING:
    case PT_TOK_INT:
    case PT_TOK_FLOAT: return true;
    default: return at_sign(p, "[") || at_sign(p, "{");
    }
}

/* `is [not] name [argument]`, at `is`. */
static pt_status parse_test(pt_jinja_parser *p, const pt_jinja_node **value)
{
    bool negated = false;
    pt_jinja_node *node, *turned;
    pt_status s = pt_jinja_advance(p);
    if (!s) s = pt_jinja_accept(p, PT_TOK_NAME, "not", &negated);
    if (!s) s = pt_jinja_new_node(p, PT_NODE_TEST, &node);
    if (!s) s = pt_jinja_expect(p, PT_TOK_NAME, NULL);
    if (s) return s;
    node->a = *value;
    *value = node;
    if (at_sign(p, "(")) s = parse_arguments(p, &node->list);
    else if (at_test_argument(p)) {
        const pt_jinja_node *argument;
        pt_jinja_node *copy;
        s = parse_primary(p, &argument);
        if (!s) s = parse_postfix(p, &argument);
        if (!s) s = pt_jinja_new_node(p, argument->kind, &copy);
        if (s) return s;
        *copy = *argument;
        copy->next = NULL;
        node->list = copy;
    }
    if (s || !negated) return s;
    s = pt_jinja_new_node(p, PT_NODE_NOT, &turned);
    if (s) return s;
    turned->a = node;
    *value = turned;
    return PT_OK;
}

static pt_status parse_unary(pt_jinja_parser *p, const pt_jinja_node **out, bool filtered)
{
    pt_jinja_node *node;
    bool minus = at_sign(p, "-");
    pt_status s = PT_OK;
    if (minus || at_sign(p, "+")) {
        s = deeper(p);
        if (!s) s = pt_jinja_new_node(p, minus ? PT_NODE_NEGATE : PT_NODE_PLUS, &node);
        if (!s) s = pt_jinja_advance(p);
        if (!s) s = parse_unary(p, &node->a, false);
        if (s) return s;
        p->depth--;
        *out = node;
    } else s = parse_primary(p, out);
    if (!s) s = parse_postfix(p, out);
    while (!s && filtered) {
        if (at_sign(p, "|")) s = pt_jinja_parse_filters(p, out);
        else if (at_word(p, "is")) s = parse_test(p, out);
        else if (at_sign(p, "(")) s = parse_postfix(p, out);
        else break;
    }
    return s;
}

/* ---- operators, the weakest first: + -, ~, * / // %, ** ---- */

static const struct binary {
    const char *sign;
    pt_jinja_op op;
    int level;
} binaries[] = {
    {"+", PT_JINJA_ADD, 0}, {"-", PT_JINJA_SUB, 0},  {"~", PT_JINJA_CONCAT, 1},
    {"*", PT_JINJA_MUL, 2}, {"/", PT_JINJA_DIV, 2},  {"//", PT_JINJA_FLOOR_DIV, 2},
    {"%", PT_JINJA_MOD, 2}, {"**", PT_JINJA_POW, 3},
};

static const struct binary *find_binary(const pt_jinja_parser *p, int level)
{
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        if (binaries[i].level == level && at_sign(p, binaries[i].sign)) return &binaries[i];
    return NULL;
}

static pt_status parse_binary(pt_jinja_parser *p, const pt_jinja_node **out, int level)
{
    if (level > 3) return parse_unary(p, out, true);
    pt_status s = parse_binary(p, out, level + 1);
    for (const struct binary *b; !s && (b = find_binary(p, level));) {
        pt_jinja_node *node;
        s = pt_jinja_new_node(p, PT_NODE_BINARY, &node);
        if (!s) s = pt_jinja_advance(p);
        if (s) return s;
        node->op = b->op;
        node->a = *out;
        s = parse_binary(p, &node->b, level + 1);
        *out = node;
    }
    return s;
}

/* *found: a comparison stands here, and the parser is behind it. */
static pt_status accept_comparison(pt_jinja_parser *p, pt_jinja_op *op, bool *found)
{
    static const struct {
        const char *sign;
        pt_jinja_op op;
    } signs[] = {{"==", PT_JINJA_EQ}, {"!=", PT_JINJA_NE}, {"<", PT_JINJA_LT},
                 {"<=", PT_JINJA_LE}, {">", PT_JINJA_GT},  {">=", PT_JINJA_GE}};
    pt_status s = pt_jinja_accept(p, PT_TOK_NAME, "in", found);
    *op = PT_JINJA_IN;
    if (s || *found) return s;
    if (at_word(p, "not")) {
        pt_jinja_parser before = *p;
        *op = PT_JINJA_NOT_IN;
        s = pt_jinja_advance(p);
        if (!s) s = pt_jinja_accept(p, PT_TOK_NAME, "in", found);
        if (!s && !*found) *p = before;
        return s;
    }
    for (size_t i = 0; i < sizeof signs / sizeof *signs && !*found && !s; i++) {
        s = accept_sign(p, signs[i].sign, found);
        *op = signs[i].op;
    }
    return s;
}

static pt_status parse_compare(pt_jinja_parser *p, const pt_jinja_node **out)
{
    pt_jinja_node *compare = NULL, *node, **tail = NULL;
    pt_jinja_op op;
    bool found;
    pt_status s = parse_binary(p, out, 0);
    while (!s) {
        s = accept_comparison(p, &op, &found);
        if (s || !found) return s;
        if (!compare) {
            s = pt_jinja_new_node(p, PT_NODE_COMPARE, &compare);
            if (s) return s;
            compare->a = *out;
            *out = compare;
        }
        s = pt_jinja_new_node(p, PT_NODE_COMPARAND, &node);
        if (!s) s = parse_binary(p, &node->a, 0);
        if (s) return s;
        node->op = op;
        if (tail) *tail = node;
        else compare->list = node;
        tail = &node->next;
    }
    return s;
}

static pt_status parse_not(pt_jinja_parser *p, const pt_jinja_node **out)
{
    if (!at_word(p, "not")) return parse_compare(p, out);
    pt_jinja_node *node;
    pt_status s = deeper(p);
    if (!s) s = pt_jinja_new_node(p, PT_NODE_NOT, &node);
    if (!s) s = pt_jinja_advance(p);
    if (!s) s = parse_not(p, &node->a);
    if (s) return s;
    p->depth--;
    *out = node;
    return PT_OK;
}

/* a and b and …; a or b or … */
static pt_status parse_logic(pt_jinja_parser *p, const pt_jinja_node **out, bool or)
{
    pt_status s = or ? parse_logic(p, out, false) : parse_not(p, out);
    while (!s && at_word(p, or ? "or" : "and")) {
        pt_jinja_node *node;
        s = pt_jinja_new_node(p, or ? PT_NODE_OR : PT_NODE_AND, &node);
        if (!s) s = pt_jinja_advance(p);
        if (s) return s;
        node->a = *out;
        s = or ? parse_logic(p, &node->b, false) : parse_not(p, &node->b);
        *out = node;
    }
    return s;
}

pt_status pt_jinja_parse_or(pt_jinja_parser *p, const pt_jinja_node **out)
{
    return parse_logic(p, out, true);
}

pt_status pt_jinja_parse_expression(pt_jinja_parser *p, const pt_jinja_node **out)
{
    bool otherwise;
    pt_status s = deeper(p);
    if (!s) s = pt_jinja_parse_or(p, out);
    while (!s && at_word(p, "if")) {
        pt_jinja_node *node;
        s = pt_jinja_new_node(p, PT_NODE_CHOICE, &node);
        if (!s) s = pt_jinja_advance(p);
        if (!s) s = pt_jinja_parse_or(p, &node->b);
        if (!s) s = pt_jinja_accept(p, PT_TOK_NAME, "else", &otherwise);
        if (!s && otherwise) s = pt_jinja_parse_expression(p, &node->c);
        if (s) return s;
        node->a = *out;
        *out = node;
    }
    if (!s) p->depth--;
    return s;
}

pt_status pt_jinja_parse_tuple(pt_jinja_parser *p, const pt_jinja_node **out)
{
    bool comma;
    pt_status s = pt_jinja_parse_expression(p, out);
    if (!s) s = accept_sign(p, ",", &comma);
    if (s || !comma) return s;
    pt_jinja_node *list, *copy, **tail = NULL;
    s = pt_jinja_new_node(p, PT_NODE_LIST, &list);
    if (s) return s;
    list->integer = 1;
    const pt_jinja_node *item = *out;
    while (!s) {
        s = pt_jinja_new_node(p, item->kind, &copy);
        if (s) return s;
        *copy = *item;
        copy->next = NULL;
        if (tail) *tail = copy;
        else list->list = copy;
        tail = &copy->next;
        if (!comma || at_sign(p, ")") || p->token.kind == PT_TOK_PRINT_END ||
            p->token.kind == PT_TOK_BLOCK_END)
            break;
        s = pt_jinja_parse_expression(p, &item);
        if (!s) s = accept_sign(p, ",", &comma);
    }
    *out = list;
    return s;
}
