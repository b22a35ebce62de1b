/* The corpora that verbs take: --corpus, --separator, --mix, and what is told about them.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_CORPUS_H
#define PT_CLI_CORPUS_H

#include "cli/options.h"
#include "train/corpus.h"

typedef struct pt_corpus_choice {
    pt_word_list paths;
    const char *separator; /* as typed; NULL: the default */
    const char *mix;       /* "0.7,0.3", or NULL: the paths are joined */
    bool quiet;            /* nothing on stderr */

    /* Filled when opened. */
    double weight[PT_SOURCES_MAX]; /* of a mix */
    char name[512];                /* for messages and records: the path, or "A and N more" */
    pt_corpus *corpus;
    pt_data data; /* borrows the corpus and this struct, which must not move */
} pt_corpus_choice;

#define PT_CORPUS_OPTION(choice, help)                                        \
    {                                                                         \
        "corpus", PT_OPTION_LIST, &(choice)->paths, "PATH", help, NULL, false \
    }
#define PT_SEPARATOR_OPTION(choice)                                                               \
    {                                                                                             \
        "separator", PT_OPTION_TEXT, &(choice)->separator, "S", "between documents, '' for none", \
            "\\n\\n", false                                                                       \
    }

/* The words of the command line are the paths. */
void pt_corpus_choice_take(pt_corpus_choice *choice, const pt_command_line *line);
/* Whether any path was given. */
pt_status pt_corpus_choice_check(const pt_corpus_choice *choice, pt_error *err);
/* Two --mix that draw alike: "7,3" is ".7,.3". */
bool pt_mix_is_same(const char *a, const char *b);
/* Two --separator of the same bytes; false when one cannot be read. */
bool pt_separator_is_same(const char *a, const char *b);
/* Opens what was named, and says what was left out. Errors: BAD_INPUT without a path, for a bad separator or mix;
 * those of pt_corpus_open. */
pt_status pt_corpus_choice_open(pt_corpus_choice *choice, pt_error *err);
void pt_corpus_choice_close(pt_corpus_choice *choice); /* a zeroed one is fine */
/* The separator that was asked for. */
pt_status pt_corpus_choice_separator(const pt_corpus_choice *choice, pt_separator *out,
                                     pt_error *err);
/* One line per source, and where what validates begins; say: to stderr. */
void pt_corpus_choice_tell(const pt_corpus_choice *choice, const pt_mixture *held_out,
                           pt_strbuf *text);
void pt_corpus_choice_say(const pt_corpus_choice *choice, const pt_mixture *held_out);

/* A source's path for people: - is standard input. */
const char *pt_corpus_path_words(const char *path);

/* Tells on stderr what was left out: the first few, and at the end how many more. */
typedef struct pt_skip_report {
    int64_t n;
    bool quiet;
} pt_skip_report;
void pt_skip_report_add(void *report, const char *path, const char *why);
void pt_skip_report_end(const pt_skip_report *report);

#endif
