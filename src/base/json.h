/* JSON (RFC 8259): a reader that keeps key order and bounds what it accepts, and a writer.
 *
 * The reader refuses: duplicate keys in an object, nesting deeper than 64, anything after the
 * value, a byte order mark, invalid UTF-8, lone surrogates, numbers outside the grammar. Numbers
 * keep their source text, so a 64-bit integer loses nothing. Strings may contain \u0000: they
 * carry a length.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_JSON_H
#define PT_BASE_JSON_H

#include "base/arena.h"
#include "base/strings.h"

typedef enum pt_json_type {
    PT_JSON_NULL,
    PT_JSON_BOOL,
    PT_JSON_NUMBER,
    PT_JSON_STRING,
    PT_JSON_ARRAY,
    PT_JSON_OBJECT
} pt_json_type;

#define PT_JSON_MAX_DEPTH 64

/* A value in an arena; borrowed pointers live as long as the arena. Children form a list. */
typedef struct pt_json {
    pt_json_type type;
    bool boolean;
    double number;    /* NUMBER: the nearest double; infinite when the text is beyond all doubles */
    const char *text; /* STRING: the decoded bytes; NUMBER: the source text; both NUL-terminated */
    size_t text_len;
    const char *key; /* of a member of an object, NUL-terminated; else NULL */
    size_t key_len;
    int64_t n_children;
    const struct pt_json *child; /* first child */
    const struct pt_json *next;  /* next sibling */
} pt_json;

/* Parses n bytes. *out is NULL on failure; err->offset is the byte where it went wrong, and the
 * message begins with its line and column. A duplicate key is found at the end of its object, so
 * an error later in the same object is reported first.
 * Errors: BAD_INPUT, NO_MEMORY. Memory is at most about 41 times n (an array of one-digit
 * numbers), usually below 10 times. Time is at most n log n. */
pt_status pt_json_parse(const char *text, size_t n, pt_arena *arena, const pt_json **out,
                        pt_error *err);

/* NULL-tolerant look-ups: the member of an object (NULL if absent or not an object). */
const pt_json *pt_json_get(const pt_json *object, const char *key);
/* false (and *out untouched) when absent or of another type, or not exactly an integer. */
bool pt_json_get_i64(const pt_json *object, const char *key, int64_t *out);
/* Also false when no double is as large. */
bool pt_json_get_double(const pt_json *object, const char *key, double *out);
bool pt_json_get_bool(const pt_json *object, const char *key, bool *out);
const char *pt_json_get_string(const pt_json *object, const char *key); /* NULL when absent */
/* 12, 12.0, 1200e-2 and 1e3 are integers, 1.5 and 9223372036854775808 are not int64 values. */
bool pt_json_to_i64(const pt_json *value, int64_t *out);

/* The writer: streams into a pt_strbuf, puts commas itself, and traps on calls that would not
 * give one JSON value (those are our bugs). More than PT_JSON_MAX_DEPTH levels set out->failed.
 * key is NULL inside arrays and at the top. indent 0 = one line. */
typedef struct pt_json_writer {
    pt_strbuf *out;
    int indent; /* spaces per level */
    int depth;
    bool first[PT_JSON_MAX_DEPTH + 1];     /* nothing written yet at this level */
    bool in_object[PT_JSON_MAX_DEPTH + 1]; /* else in an array, or at the top */
} pt_json_writer;

pt_json_writer pt_json_writer_begin(pt_strbuf *out, int indent);
void pt_json_begin_object(pt_json_writer *w, const char *key);
void pt_json_end_object(pt_json_writer *w);
void pt_json_begin_array(pt_json_writer *w, const char *key);
void pt_json_end_array(pt_json_writer *w);
/* Control characters, quotes and backslashes are escaped, all other characters kept. Bytes that
 * are not UTF-8 become U+FFFD, one per ill-formed piece (see pt_utf8_char), in keys too. NULL
 * text becomes null. */
void pt_json_string(pt_json_writer *w, const char *key, const char *text);
void pt_json_string_n(pt_json_writer *w, const char *key, const char *bytes, size_t n);
void pt_json_i64(pt_json_writer *w, const char *key, int64_t value);
/* Shortest text that reads back the same; inf and nan become null. */
void pt_json_double(pt_json_writer *w, const char *key, double value);
/* A fixed number of significant digits (1 … 17), for logs; inf and nan become null. */
void pt_json_digits(pt_json_writer *w, const char *key, double value, int significant);
void pt_json_bool(pt_json_writer *w, const char *key, bool value);
void pt_json_null(pt_json_writer *w, const char *key);
/* A parsed value, as it was read (numbers keep their text). NULL becomes null. */
void pt_json_value(pt_json_writer *w, const char *key, const pt_json *value);

#endif
