/* Manual pages and shell completions, from the same tables as the help pages.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_MANUAL_H
#define PT_CLI_MANUAL_H

#include "cli/cli.h"

/* posttrain-VERB(1) in man(7) up to its examples; pt_manual_end makes it whole. */
void pt_manual_of_verb(const pt_verb *verb, const pt_command_line *line, pt_strbuf *out);
/* The sections that every page ends with; `name` is the page's own, NULL for posttrain(1). */
void pt_manual_end(const char *name, pt_strbuf *out);
/* posttrain(1), up to the same point. */
void pt_manual_of_program(pt_strbuf *out);

/* Exit codes, from the list of statuses: line i as "4" or "129, 130, 143", and what it means. False behind the last. */
bool pt_exit_codes(int i, char codes[32], const char **words);

/* The part of one verb in the completion script that line->help names. */
void pt_completion_of_verb(const pt_command_line *line, pt_strbuf *out);
/* What comes before the verbs' parts, and after them. */
void pt_completion_begin(pt_help_form shell, pt_strbuf *out);
void pt_completion_end(pt_help_form shell, pt_strbuf *out);

#endif
