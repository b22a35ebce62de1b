/* Tokens and the syntax tree of a template. Inside text/jinja only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TEXT_JINJA_SYNTAX_H
#define PT_TEXT_JINJA_SYNTAX_H

#include "text/jinja/jinja.h"

typedef enum pt_jinja_token_kind {
    PT_TOK_END,
    PT_TOK_TEXT,
    PT_TOK_BLOCK_BEGIN, /* {% */
    PT_TOK_BLOCK_END,
    PT_TOK_PRINT_BEGIN, /* {{ */
    PT_TOK_PRINT_END,
    PT_TOK_NAME,
    PT_TOK_STRING, /* its text is what stands between the quotes */
    PT_TOK_INT,
    PT_TOK_FLOAT,
    PT_TOK_SIGN /* an operator or a bracket */
} pt_jinja_token_kind;

typedef struct pt_jinja_token {
    pt_jinja_token_kind kind;
    const char *text; /* in the template's source */
    size_t n;
    int line;
} pt_jinja_token;

/* A plain value: a copy of it remembers a place in the source. */
typedef struct pt_jinja_lexer {
    const char *text; /* line ends are \n */
    size_t n, at;
    int line;
    pt_jinja_token_kind inside; /* PT_TOK_TEXT, or the token that opened the tag */
    int brackets;               /* open ones in the tag */
    bool line_starts;           /* what was just left ended in a newline */
    pt_error *err;
} pt_jinja_lexer;

pt_status pt_jinja_next_token(pt_jinja_lexer *lexer, pt_jinja_token *out);

typedef enum pt_jinja_node_kind {
    /* expressions */
    PT_NODE_NONE,
    PT_NODE_BOOL,    /* integer */
    PT_NODE_INT,     /* integer */
    PT_NODE_FLOAT,   /* number */
    PT_NODE_STRING,  /* text */
    PT_NODE_NAME,    /* text */
    PT_NODE_LIST,    /* list: the items */
    PT_NODE_DICT,    /* list: key, value, key, value, … */
    PT_NODE_ATTR,    /* a.text */
    PT_NODE_ITEM,    /* a[b] */
    PT_NODE_SLICE,   /* a[b:c:list], each may be NULL */
    PT_NODE_CALL,    /* a(list) */
    PT_NODE_FILTER,  /* a | text(list); a is NULL: of the block's output */
    PT_NODE_TEST,    /* a is text(list) */
    PT_NODE_KEYWORD, /* text = a, in a call or in the parameters of a macro (a may be NULL there) */
    PT_NODE_NOT,
    PT_NODE_NEGATE,
    PT_NODE_PLUS,
    PT_NODE_AND,
    PT_NODE_OR,
    PT_NODE_BINARY,    /* a op b */
    PT_NODE_COMPARE,   /* a, then list of COMPARAND */
    PT_NODE_COMPARAND, /* op a */
    PT_NODE_CHOICE,    /* a if b else c; c may be NULL */
    /* statements */
    PT_NODE_TEXT,      /* text */
    PT_NODE_PRINT,     /* a */
    PT_NODE_IF,        /* a: condition (NULL: else), list: body, more: the next branch */
    PT_NODE_FOR,       /* a: target, b: values, c: condition or NULL, list: body, more: else body */
    PT_NODE_SET,       /* a: target, b: value */
    PT_NODE_SET_BLOCK, /* a: target, list: body, b: filters or NULL */
    PT_NODE_FILTER_BLOCK, /* list: body, b: filters */
    PT_NODE_MACRO,        /* text, b: parameters, list: body */
    PT_NODE_GENERATION,   /* list: body */
    PT_NODE_BREAK,
    PT_NODE_CONTINUE
} pt_jinja_node_kind;

typedef enum pt_jinja_op {
    PT_JINJA_ADD,
    PT_JINJA_SUB,
    PT_JINJA_MUL,
    PT_JINJA_DIV,
    PT_JINJA_FLOOR_DIV,
    PT_JINJA_MOD,
    PT_JINJA_POW,
    PT_JINJA_CONCAT,
    PT_JINJA_EQ,
    PT_JINJA_NE,
    PT_JINJA_LT,
    PT_JINJA_LE,
    PT_JINJA_GT,
    PT_JINJA_GE,
    PT_JINJA_IN,
    PT_JINJA_NOT_IN
} pt_jinja_op;

typedef struct pt_jinja_node {
    pt_jinja_node_kind kind;
    pt_jinja_op op;
    int line;
    int64_t integer;
    double number;
    const char *text;
    size_t n;
    const struct pt_jinja_node *a, *b, *c, *list, *more;
    struct pt_jinja_node *next; /* in a list */
} pt_jinja_node;

typedef struct pt_jinja_parser {
    pt_jinja_lexer lexer;
    pt_jinja_token token; /* the one to look at */
    pt_arena *arena;
    int depth, loops;
    int tag_line; /* where the last block tag began */
    pt_error *err;
} pt_jinja_parser;

pt_status pt_jinja_parse(pt_jinja_parser *p, const pt_jinja_node **out);

/* For the two files of the parser. */
pt_status pt_jinja_advance(pt_jinja_parser *p);
bool pt_jinja_at(const pt_jinja_parser *p, pt_jinja_token_kind kind, const char *text);
/* Moves on if this name or sign is next. */
pt_status pt_jinja_accept(pt_jinja_parser *p, pt_jinja_token_kind kind, const char *text,
                          bool *yes);
pt_status pt_jinja_expect(pt_jinja_parser *p, pt_jinja_token_kind kind, const char *text);
pt_status pt_jinja_expected(pt_jinja_parser *p, const char *wanted);
pt_status pt_jinja_new_node(pt_jinja_parser *p, pt_jinja_node_kind kind, pt_jinja_node **out);
pt_status pt_jinja_parse_expression(pt_jinja_parser *p, const pt_jinja_node **out);
/* Without `x if y`: what stands after `in` of a for. */
pt_status pt_jinja_parse_or(pt_jinja_parser *p, const pt_jinja_node **out);
/* One or more, with commas between: several make a list. */
pt_status pt_jinja_parse_tuple(pt_jinja_parser *p, const pt_jinja_node **out);
/* `| f | g(x)` behind `value`. */
pt_status pt_jinja_parse_filters(pt_jinja_parser *p, const pt_jinja_node **value);
/* The filter whose name is next, on `value`. */
pt_status pt_jinja_parse_filter(pt_jinja_parser *p, const pt_jinja_node **value);

struct pt_jinja {
    pt_arena arena;
    const pt_jinja_node *body;
};

#endif
