/* Command-line options: one table per verb drives parsing, --config files, the help page, the manual page and
 * the shells' completions.
 *
 * Precedence: flag > --config file > preset > default. A verb fills its struct with defaults, then calls
 * pt_options_parse; options left unset there may still be set by a preset.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_OPTIONS_H
#define PT_CLI_OPTIONS_H

#include "base/json.h"

typedef enum pt_option_kind {
    PT_OPTION_SWITCH, /* bool *: no value */
    PT_OPTION_TEXT, /* const char **; where it is numbers, "W,W", in a config file also an array of them */
    PT_OPTION_LIST, /* pt_word_list *: may be given several times; in a config file an array of texts */
    PT_OPTION_COUNT,  /* int64_t *: a whole number; 4k and 2m are understood */
    PT_OPTION_SEED,   /* uint64_t *: 0 … 2^64-1 */
    PT_OPTION_REAL,   /* double * */
    PT_OPTION_HEADING /* a line of the help page */
} pt_option_kind;

#define PT_WORDS_MAX 256

typedef struct pt_word_list {
    const char *word[PT_WORDS_MAX];
    int n;
} pt_word_list;

typedef struct pt_option {
    const char *name; /* without the dashes: "eval-every" */
    pt_option_kind kind;
    void *target;
    /* The value in the help: a name ("N"; FILE, DIR, PRESET and ISA also say what a shell completes), or, of a text,
     * the words it must be: "constant|cosine". */
    const char *value;
    const char *help;
    const char *fallback; /* the default, for the help; NULL: a number states its target's value */
    bool set;             /* given by flag or config file */
} pt_option;

/* What --help asks for. The last four are for posttrain help, which makes pages and completions. */
typedef enum pt_help_form {
    PT_HELP_NONE,
    PT_HELP_SHORT, /* --help, -h */
    PT_HELP_ALL,   /* --help-all */
    PT_HELP_MAN,   /* --help=man, … */
    PT_HELP_BASH,
    PT_HELP_ZSH,
    PT_HELP_FISH
} pt_help_form;

typedef struct pt_command_line {
    const char *verb;
    pt_option *options;
    int n_options;
    const char *positional[PT_WORDS_MAX]; /* what was given */
    int n_positional;
    int most_positional; /* how many the verb takes at most */
    const char
        *first; /* what the first must be, "gemm|ops", or its name in the help, DIR; NULL: a file */
    const char *folders_or; /* its words are folders, or the first is this one; NULL: not so */
    bool below;             /* its words are those of a verb: "data get" */
    const char *
        missing; /* said when no word was given: "which run? give its folder"; NULL: none is needed */
    pt_help_form help; /* asked for: print it and stop */
} pt_command_line;

/* Options that many verbs have. */
#define PT_JSON_OPTION(target)                                                           \
    {                                                                                    \
        "json", PT_OPTION_SWITCH, target, NULL, "one JSON object on stdout", NULL, false \
    }
#define PT_QUIET_OPTION(target)                                                              \
    {                                                                                        \
        "quiet", PT_OPTION_SWITCH, target, NULL, "nothing on stderr but errors", NULL, false \
    }

/* Parses argv[0 … argc-1] (the words after the verb). "--name value" and "--name=value"; "--" ends
 * options. BAD_INPUT names the word and, for an unknown option, the nearest one. */
pt_status pt_options_parse(pt_command_line *line, int argc, char **argv, pt_error *err);
/* Sets what is still unset from an object whose keys are option names with _ for -; in a run.json that is its
 * `arguments`. An unknown key is an error. Texts are borrowed from `json` or from the arena: both must outlive the options. */
pt_status pt_options_config(pt_command_line *line, const pt_json *json, const char *path,
                            pt_arena *arena, pt_error *err);
/* Every option's value as it stands, as an object that pt_options_config reads; but not those in `except` (ends in
 * NULL), nor texts that are NULL. BAD_INPUT names a text that is not UTF-8, which no record can hold. */
pt_status pt_options_record(const pt_command_line *line, const char *const *except, pt_arena *arena,
                            const pt_json **out, pt_error *err);
/* The member for an option in such an object, or NULL. */
const pt_json *pt_option_recorded(const pt_json *record, const char *name);
bool pt_option_is_set(const pt_command_line *line, const char *name);
/* The option lines of a help page: with PT_HELP_ALL all of them, else those before the first heading. */
void pt_options_help(const pt_command_line *line, pt_strbuf *out);
/* Text wrapped at words to the width of a help page; lines after the first begin at column `indent`, where the first one
 * is. */
void pt_put_wrapped(pt_strbuf *out, size_t indent, const char *text);
/* Paragraphs filled to that width; lines that begin with a blank, and empty ones, stand as they are. */
void pt_put_prose(pt_strbuf *out, const char *text);
/* What an option is when it isn't given, "" when there is nothing to state. To be called before anything is
 * parsed: a number's target holds its default. */
const char *pt_option_default(const pt_option *option, char out[64]);

/* One of the words of a list "constant|cosine"; else BAD_INPUT that begins with `what` ("--schedule"). */
pt_status pt_words_check(const char *what, const char *words, const char *value, pt_error *err);
/* The nearest of n words for "did you mean", or NULL when nothing is near. */
const char *pt_nearest(const char *word, const char *const *words, int n);

#endif
