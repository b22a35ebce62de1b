/* Rendering: values, the state of one run, and what its files offer each other. Inside text/jinja only.
 *
 * Everything made while rendering lies in the run's arena. Lists and dicts do not change once they are built, so values never
 * form circles; only a namespace changes, and it is printed and compared as a whole.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TEXT_JINJA_RUN_H
#define PT_TEXT_JINJA_RUN_H

#include "text/jinja/syntax.h"

typedef enum pt_jv_kind {
    PT_JV_UNDEFINED, /* text: the name that was looked for */
    PT_JV_NONE,
    PT_JV_BOOL, /* integer */
    PT_JV_INT,
    PT_JV_FLOAT,  /* text: the digits of a JSON number that no int64 holds, or NULL */
    PT_JV_STRING, /* text, n */
    PT_JV_LIST,   /* integer: 1 for a tuple, which is only shown differently */
    PT_JV_DICT,
    PT_JV_NAMESPACE, /* dict */
    PT_JV_MACRO,
    PT_JV_FUNCTION, /* integer: index into the table of functions */
    PT_JV_LOOP
} pt_jv_kind;

typedef struct pt_jv {
    pt_jv_kind kind;
    int64_t integer;
    double number;
    const char *text;
    size_t n;
    union {
        struct pt_jv_list *list;
        struct pt_jv_dict *dict;
        const struct pt_jv_macro *macro;
        struct pt_jv_loop *loop;
    };
} pt_jv;

typedef struct pt_jv_list {
    int64_t n, cap;
    pt_jv *item;
} pt_jv_list;

typedef struct pt_jv_dict { /* in the order of insertion */
    int64_t n, cap;
    pt_jv *key, *value;
} pt_jv_dict;

typedef struct pt_jv_loop {
    const pt_jv_list *items;
    int64_t index;
    pt_jv changed; /* the arguments of the last loop.changed(), as a list */
} pt_jv_loop;

typedef struct pt_jinja_binding {
    const char *name;
    size_t n;
    pt_jv value;
    struct pt_jinja_binding *next;
} pt_jinja_binding;

typedef struct pt_jinja_scope {
    pt_jinja_binding *first;
    struct pt_jinja_scope *up;
} pt_jinja_scope;

typedef struct pt_jv_macro {
    const pt_jinja_node *node;
    pt_jinja_scope *scope; /* where it was defined */
} pt_jv_macro;

typedef struct pt_jinja_run {
    pt_arena *arena;
    pt_strbuf *out;
    int64_t written; /* bytes, captured ones included */
    pt_jinja_options limit;
    int64_t steps, n_values;
    int depth, line;
    pt_jinja_scope *scope;
    enum { PT_JINJA_GO, PT_JINJA_STOP_LOOP, PT_JINJA_NEXT_ITEM } jump;
    pt_error *err;
} pt_jinja_run;

#define PT_JINJA_MAX_ARGUMENTS 16

/* The arguments of a call, a filter or a test. Names are NULL for positional ones, which come first. */
typedef struct pt_jinja_args {
    int n, n_positional;
    const char *name[PT_JINJA_MAX_ARGUMENTS];
    size_t name_len[PT_JINJA_MAX_ARGUMENTS];
    pt_jv value[PT_JINJA_MAX_ARGUMENTS];
} pt_jinja_args;

/* BAD_INPUT, with the line the run is at. */
#define pt_jinja_refuse(r, ...) pt_jinja_refuse_at((r), __FILE__, __LINE__, __VA_ARGS__)
pt_status pt_jinja_refuse_at(pt_jinja_run *r, const char *file, int line, const char *fmt, ...)
    PT_PRINTF(4, 5);

/* ---- run.c: limits ---- */
pt_status pt_jinja_charge(pt_jinja_run *r, int64_t steps);
pt_status pt_jinja_take(pt_jinja_run *r, void *out_pointer, int64_t n, size_t element_bytes);
pt_status pt_jinja_enter(pt_jinja_run *r); /* one level deeper; leave is r->depth-- */

/* Text being made. Adding past the memory limit fails, and then everything that follows. */
typedef struct pt_jinja_text {
    pt_jinja_run *run;
    pt_strbuf buf;
    pt_status status;
} pt_jinja_text;
void pt_jinja_put(pt_jinja_text *t, const char *bytes, size_t n);
void pt_jinja_puts(pt_jinja_text *t, const char *bytes);
/* The text as a value; frees the buffer. `s`: a failure on the way, returned. */
pt_status pt_jinja_text_end(pt_jinja_text *t, pt_status s, pt_jv *out);

/* ---- value.c ---- */
pt_jv pt_jv_bool(bool value);
pt_jv pt_jv_int(int64_t value);
pt_jv pt_jv_float(double value);
pt_jv pt_jv_string(const char *text, size_t n);
pt_jv pt_jv_undefined(const char *name, size_t n);
bool pt_jv_is(const pt_jv *v, const char *text); /* this string */
const char *pt_jv_kind_name(const pt_jv *v);     /* "a string" */
bool pt_jv_true(const pt_jv *v);
bool pt_jv_is_number(const pt_jv *v); /* a bool is one */
double pt_jv_number(const pt_jv *v);
pt_status pt_jv_list_new(pt_jinja_run *r, int64_t cap, pt_jv *out);
pt_status pt_jv_list_add(pt_jinja_run *r, pt_jv_list *list, const pt_jv *item);
pt_status pt_jv_dict_new(pt_jinja_run *r, int64_t cap, pt_jv *out);
pt_status pt_jv_dict_set(pt_jinja_run *r, pt_jv_dict *dict, const pt_jv *key, const pt_jv *value);
pt_status pt_jv_dict_find(pt_jinja_run *r, const pt_jv_dict *dict, const pt_jv *key,
                          const pt_jv **out);
pt_status pt_jv_from_json(pt_jinja_run *r, const pt_json *json, pt_jv *out);
pt_status pt_jv_equal(pt_jinja_run *r, const pt_jv *a, const pt_jv *b, bool *out);
/* *out < 0, 0, > 0; refuses what has no order. */
pt_status pt_jv_compare(pt_jinja_run *r, const pt_jv *a, const pt_jv *b, int *out);
pt_status pt_jv_contains(pt_jinja_run *r, const pt_jv *in, const pt_jv *v, bool *out);
/* What a for goes over: items, keys, characters, nothing of an undefined value. */
pt_status pt_jv_items(pt_jinja_run *r, const pt_jv *v, pt_jv *out);
pt_status pt_jv_length(pt_jinja_run *r, const pt_jv *v, int64_t *out);
/* Where `what` is in `text`: *at, or n when it is not there. */
pt_status pt_jinja_find(pt_jinja_run *r, const pt_jv *text, size_t from, const pt_jv *what,
                        size_t *at);

/* ---- print.c ---- */
pt_status pt_jv_print(pt_jinja_text *t, const pt_jv *v); /* as {{ }} shows it */
pt_status pt_jv_to_text(pt_jinja_run *r, const pt_jv *v, pt_jv *out);
typedef struct pt_jinja_json_style {
    const char *comma, *colon;
    int64_t indent; /* < 0: on one line */
    bool sort_keys, ascii;
} pt_jinja_json_style;
pt_status pt_jv_print_json(pt_jinja_text *t, const pt_jv *v, const pt_jinja_json_style *style,
                           int level);

/* ---- evaluate.c ---- */
pt_status pt_jinja_evaluate(pt_jinja_run *r, const pt_jinja_node *node, pt_jv *out);
pt_status pt_jinja_get(pt_jinja_run *r, const pt_jv *from, const pt_jv *key, pt_jv *out);
pt_status pt_jinja_arguments(pt_jinja_run *r, const pt_jinja_node *list, pt_jinja_args *out);
/* "a.b.0" of a value, as attribute= of filters has it. */
pt_status pt_jinja_get_path(pt_jinja_run *r, const pt_jv *from, const pt_jv *path, pt_jv *out);

/* ---- operators.c ---- */
pt_status pt_jinja_binary(pt_jinja_run *r, pt_jinja_op op, const pt_jv *a, const pt_jv *b,
                          pt_jv *out);
pt_status pt_jinja_relate(pt_jinja_run *r, pt_jinja_op op, const pt_jv *a, const pt_jv *b,
                          bool *out);
pt_status pt_jinja_slice(pt_jinja_run *r, const pt_jv *from, const pt_jv part[3], pt_jv *out);

/* ---- call.c ---- */
/* Argument number `at` or called `name`; NULL if it was not given. */
const pt_jv *pt_jinja_argument(const pt_jinja_args *args, int at, const char *name);
/* The same where a value of this kind is wanted; absent: *out stays as it is. */
pt_status pt_jinja_int_argument(pt_jinja_run *r, const pt_jinja_args *args, int at,
                                const char *name, int64_t *out);
pt_status pt_jinja_text_argument(pt_jinja_run *r, const pt_jinja_args *args, int at,
                                 const char *name, pt_jv *out);
bool pt_jinja_flag_argument(const pt_jinja_args *args, int at, const char *name, bool otherwise);
/* Refuses more than `positional` arguments, and names not in `names` ("|a|b|"). */
pt_status pt_jinja_check_arguments(pt_jinja_run *r, const pt_jinja_args *args, const char *what,
                                   int positional, const char *names);
bool pt_jinja_find_function(const char *name, size_t n, pt_jv *out);
pt_status pt_jinja_call(pt_jinja_run *r, const pt_jv *callee, const pt_jinja_args *args,
                        pt_jv *out);

/* ---- filter.c, filter_list.c, test.c, method.c ---- */
pt_status pt_jinja_filter(pt_jinja_run *r, const pt_jv *name, const pt_jv *in,
                          const pt_jinja_args *args, pt_jv *out);
typedef pt_status (*pt_jinja_filter_fn)(pt_jinja_run *r, const pt_jv *in, const pt_jinja_args *args,
                                        pt_jv *out);
typedef struct pt_jinja_filter_entry {
    const char *name;
    pt_jinja_filter_fn fn;
    int positional;
    const char *names;
} pt_jinja_filter_entry;
const pt_jinja_filter_entry *pt_jinja_find_list_filter(const pt_jv *name);
pt_status pt_jinja_test(pt_jinja_run *r, const pt_jv *name, const pt_jv *v,
                        const pt_jinja_args *args, bool *out);
pt_status pt_jinja_method(pt_jinja_run *r, const pt_jv *self, const pt_jv *name,
                          const pt_jinja_args *args, pt_jv *out);
typedef enum pt_jinja_case {
    PT_JINJA_UPPER,
    PT_JINJA_LOWER,
    PT_JINJA_TITLE,
    PT_JINJA_CAPITALIZE
} pt_jinja_case;
pt_status pt_jinja_change_case(pt_jinja_run *r, const pt_jv *text, pt_jinja_case to, pt_jv *out);
pt_status pt_jinja_replace(pt_jinja_run *r, const pt_jv *text, const pt_jinja_args *args,
                           pt_jv *out);
typedef enum pt_jinja_side {
    PT_JINJA_LEFT = 1,
    PT_JINJA_RIGHT = 2,
    PT_JINJA_BOTH = 3
} pt_jinja_side;
/* `set` NULL or none: white space. */
pt_status pt_jinja_strip(pt_jinja_run *r, const pt_jv *text, pt_jinja_side side, const pt_jv *set,
                         pt_jv *out);

/* ---- render.c ---- */
pt_status pt_jinja_run_body(pt_jinja_run *r, const pt_jinja_node *list);
/* The output of a body, as a value. */
pt_status pt_jinja_capture(pt_jinja_run *r, const pt_jinja_node *list, pt_jv *out);
pt_status pt_jinja_bind(pt_jinja_run *r, const char *name, size_t n, const pt_jv *value);
const pt_jv *pt_jinja_lookup(pt_jinja_run *r, const char *name, size_t n);
pt_status pt_jinja_push_scope(pt_jinja_run *r, pt_jinja_scope *up);

#endif
