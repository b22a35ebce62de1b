/* Chat templates: a bounded, sandboxed part of Jinja, as the templates that travel with models use it.
 *
 * A template is an untrusted program. It sees the values it is given and nothing else: no files, no attributes beyond data,
 * no clock but the one passed in; its steps, memory, output and nesting are limited. Semantics are those of Jinja 3.1 with
 * trim_blocks, lstrip_blocks and loop controls on and tojson writing plain JSON, which is how model hubs render templates.
 *
 * Statements: if, for (else, filter, break, continue), set (also of a namespace's attribute, of several names, and as a
 * block), macro, filter, raw, generation (its body is rendered as it stands). Refused with an error that names it: call,
 * include, import, extends, block, recursive loops, changing a list or a dict in place, and any filter, test or method that
 * is not in the tables of filter.c, test.c and method.c.
 * Known differences: upper, lower, title and capitalize change ASCII letters only; integers are 64 bits wide.
 * Source: the Jinja 3.1 template designer documentation.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TEXT_JINJA_JINJA_H
#define PT_TEXT_JINJA_JINJA_H

#include "base/json.h"

/* A compiled template: immutable, may be rendered by several threads at once. Owns a copy of its source. */
typedef struct pt_jinja pt_jinja;

/* The local time that strftime_now shows. */
typedef struct pt_jinja_time {
    int year, month, day; /* 2025, 1 … 12, 1 … 31 */
    int hour, minute, second;
} pt_jinja_time;

/* Zero-initialised = the defaults. */
typedef struct pt_jinja_options {
    int64_t max_output_bytes; /* 16 MiB */
    int64_t max_memory_bytes; /* 64 MiB: everything that rendering makes, freed when it ends */
    int64_t max_steps; /* 5 million: about one for each operation and for each 64 bytes moved */
    const pt_jinja_time *now; /* NULL: strftime_now is not defined */
} pt_jinja_options;

#define PT_JINJA_MAX_SOURCE (1 << 20) /* bytes of a template */
#define PT_JINJA_MAX_DEPTH 128        /* expressions, blocks and macro calls inside each other */

/* Reads n bytes of source. *out is NULL on failure; release it with pt_jinja_free. Messages begin with the line.
 * Errors: BAD_INPUT, NO_MEMORY. */
pt_status pt_jinja_compile(pt_jinja **out, const char *source, size_t n, pt_error *err);
void pt_jinja_free(pt_jinja *template);

/* Appends the text to *out. The members of `values` (an object, or NULL for none) are the template's variables. Options may
 * be NULL. On failure what was written so far stays in *out.
 * Errors: BAD_INPUT (the template refused the values with raise_exception, does something that has no meaning, or passed a
 * limit), NO_MEMORY. */
pt_status pt_jinja_render(const pt_jinja *template, pt_strbuf *out, const pt_json *values,
                          const pt_jinja_options *options, pt_error *err);

#endif
