/* What the verbs share: output, errors, the device, and models from files.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_CLI_H
#define PT_CLI_CLI_H

#include "base/fs.h"
#include "base/human.h"
#include "base/safe_text.h"
#include "cli/options.h"
#include "io/tinygpt.h"
#include "model/model.h"

/* One verb: its file is cli/NAME.c. `run` gets the words after the verb and returns the status; the
 * message, if any, is printed by main. */
typedef struct pt_verb {
    const char *name;
    const char *summary;          /* one line */
    const char *usage;            /* "posttrain eval MODEL --corpus FILE" */
    void (*list)(pt_strbuf *out); /* writes a list after the options, or NULL */
    const char *details;          /* paragraphs and examples at the end, or NULL */
    const char *manual;           /* paragraphs for the manual page alone, or NULL */
    const char *files;            /* lines "NAME: what it holds" for the manual page, or NULL */
    const struct pt_verb *const
        *subs; /* the verbs below it, "data get" …; ends with NULL. Or NULL */
    pt_status (*run)(const struct pt_verb *verb, int argc, char **argv, pt_error *err);
} pt_verb;

extern const pt_verb pt_verb_train, pt_verb_sample, pt_verb_eval, pt_verb_inspect, pt_verb_convert,
    pt_verb_logits, pt_verb_devices, pt_verb_bench, pt_verb_data, pt_verb_report, pt_verb_runs,
    pt_verb_help;
extern const pt_verb *const pt_verbs[]; /* all of them, in the order of the help; ends with NULL */

/* Verb i of all, those below a verb behind it; NULL behind the last. */
const pt_verb *pt_verb_at(int i);
/* A verb's name as its manual page has it: "data-get". */
const char *pt_verb_page(const char *name, char out[64]);

/* ---- about the program ---- */

pt_status pt_print_overview(pt_error *err);
extern const char pt_overview_examples[];
/* What was built, how, and what it can use here: for --version. */
pt_status pt_print_version(bool json, pt_error *err);

/* ---- output ---- */

/* Bytes to stdout; IO when the reader is gone or the disk is full. */
pt_status pt_print(const char *bytes, size_t n, pt_error *err);
pt_status pt_print_strbuf(const pt_strbuf *text, pt_error *err);
/* A line for people to stderr. */
void pt_say(const char *fmt, ...) PT_PRINTF(1, 2);
void pt_say_strbuf(const pt_strbuf *text); /* of any length */
bool pt_stderr_is_terminal(void);          /* one that can rewrite a line */
int pt_stderr_columns(void);
bool pt_stdout_is_terminal(void);
bool pt_stdin_is_terminal(void);
int pt_stdout_columns(void); /* 0 when it is no terminal: lines of any length */

/* Parses; on --help prints the page and sets *done. BAD_INPUT with line->missing when a word is needed and not given. */
pt_status pt_verb_parse(const pt_verb *verb, pt_command_line *line, int argc, char **argv,
                        bool *done, pt_error *err);

/* ---- devices ---- */

/* The three options of every verb that computes. */
#define PT_DEVICE_OPTIONS(choice)                                                               \
    {"device",                                                                                  \
     PT_OPTION_TEXT,                                                                            \
     &(choice)->device,                                                                         \
     PT_DEVICE_NAMES,                                                                           \
     "what computes: see posttrain devices",                                                    \
     "cpu",                                                                                     \
     false},                                                                                    \
        {"threads", PT_OPTION_COUNT, &(choice)->threads, "N", "threads to use; 0 = all", "0",   \
         false},                                                                                \
    {                                                                                           \
        "isa", PT_OPTION_TEXT, &(choice)->isa, "ISA", "instruction set: see posttrain devices", \
            "the best", false                                                                   \
    }

/* Waits until the device is ready for its first op (pt_device_ready), and tells on a terminal how far it is. */
pt_status pt_get_ready(pt_device *device, bool quiet, pt_error *err);

/* ---- models from files ---- */

/* An open .tinygpt file. */
typedef struct pt_model_file {
    pt_file_view view;
    pt_tinygpt *file;
    const pt_tinygpt_info *info;
} pt_model_file;
/* Opens and verifies; messages begin with the path. */
pt_status pt_model_file_open(pt_model_file *out, const char *path, pt_error *err);
void pt_model_file_close(pt_model_file *file);

/* An existing file that a training run wrote into its folder and lives by; its report.html is none. */
bool pt_is_file_of_run(const char *path);
/* That a file may be written: EXISTS, naming --force, when it is there and force isn't given; BAD_INPUT when it is
 * a run's own, which nothing but its run replaces. */
pt_status pt_check_output(const char *path, bool force, pt_error *err);
/* Begins a file that a verb writes; an existing one is refused, naming --force. */
struct pt_atomic_file;
pt_status pt_open_output(struct pt_atomic_file **out, const char *path, bool force, pt_error *err);
/* The verb got its one model argument. */
pt_status pt_need_model(const pt_command_line *line, pt_error *err);

/* Whole-program peak memory in bytes, 0 if unknown. */
int64_t pt_peak_rss(void);

#endif
