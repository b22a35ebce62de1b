/* posttrain help: the overview, a verb's help, manual pages and completions. SPDX-License-Identifier: MIT */
#include "cli/manual.h"

const char pt_overview_examples[] =
    "  posttrain train --preset small --corpus book.txt --out runs/first\n"
    "  posttrain sample runs/first/model.tinygpt --prompt 'The '\n";

pt_status pt_print_overview(pt_error *err)
{
    pt_strbuf text = {0};
    pt_strbuf_puts(&text, "posttrain: small language models, from scratch, on your own machine\n\n"
                          "usage: posttrain VERB …\n\n");
    for (const pt_verb *const *v = pt_verbs; *v; v++)
        pt_strbuf_printf(&text, "  %-10s%s\n", (*v)->name, (*v)->summary);
    pt_strbuf_puts(&text,
                   "\nposttrain VERB --help tells about a verb; posttrain --version the "
                   "version.\n\nExit codes: 0 done; 2 bad input or usage; 3 memory; 4 files; 5 "
                   "damaged file;\n6 not supported; 7 not found; 8 exists already; 9 training "
                   "diverged;\n129, 130, 143 stopped by a signal, with everything saved.\n\n"
                   "Example:\n");
    pt_strbuf_puts(&text, pt_overview_examples);
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

static pt_status run_form(const pt_verb *verb, const char *form, pt_error *err)
{
    char word[16], *words[] = {word};
    pt_format(word, sizeof word, "%s", form);
    return verb->run(verb, 1, words, err);
}

static const pt_verb *find_verb(const char *name)
{
    for (const pt_verb *const *v = pt_verbs; *v; v++)
        if (strcmp((*v)->name, name) == 0) return *v;
    return NULL;
}

static pt_status print_manual(const pt_verb *verb, pt_error *err)
{
    pt_strbuf text = {0};
    if (!verb) pt_manual_of_program(&text);
    pt_status s = verb ? run_form(verb, "--help=man", err) : PT_OK;
    pt_manual_end(verb ? verb->name : NULL, &text);
    if (s == PT_OK) s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

static pt_status print_completion(const char *shell, pt_error *err)
{
    static const struct {
        const char *shell, *word;
        pt_help_form form;
    } forms[] = {{"bash", "--help=bash", PT_HELP_BASH},
                 {"zsh", "--help=zsh", PT_HELP_ZSH},
                 {"fish", "--help=fish", PT_HELP_FISH}};
    size_t i = 0;
    while (strcmp(shell, forms[i].shell) != 0) i++; /* the option takes no other word */
    pt_strbuf text = {0};
    pt_completion_begin(forms[i].form, &text);
    pt_status s = pt_print_strbuf(&text, err);
    for (const pt_verb *const *v = pt_verbs; *v && s == PT_OK; v++)
        s = run_form(*v, forms[i].word, err);
    pt_strbuf_clear(&text);
    pt_completion_end(forms[i].form, &text);
    if (s == PT_OK) s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

typedef struct help_options {
    bool manual, names;
    const char *shell;
} help_options;

static pt_status print_names(pt_error *err)
{
    pt_strbuf text = {0};
    for (const pt_verb *const *v = pt_verbs; *v; v++) pt_strbuf_printf(&text, "%s\n", (*v)->name);
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

static pt_status answer(const pt_command_line *line, const help_options *o, pt_error *err)
{
    if (o->shell) return print_completion(o->shell, err);
    if (o->names) return print_names(err);
    const pt_verb *about = line->n_positional ? find_verb(line->positional[0]) : NULL;
    if (o->manual) return print_manual(about, err);
    return about ? run_form(about, "--help", err) : pt_print_overview(err);
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    help_options o = {0};
    bool done = false;
    pt_strbuf names = {0};
    for (const pt_verb *const *v = pt_verbs; *v; v++)
        pt_strbuf_printf(&names, "%s%s", v == pt_verbs ? "" : "|", (*v)->name);
    if (names.failed) return pt_fail(err, PT_NO_MEMORY, "no memory for the names of the verbs");
    pt_option options[] = {
        {"man", PT_OPTION_SWITCH, &o.manual, NULL, "the manual page, as man(7)", NULL, false},
        {"completion", PT_OPTION_TEXT, &o.shell, "bash|zsh|fish", "the completion of a shell", NULL,
         false},
        {"names", PT_OPTION_SWITCH, &o.names, NULL, "the names of the verbs alone", NULL, false},
    };
    pt_command_line line = {.options = options,
                            .n_options = sizeof options / sizeof options[0],
                            .most_positional = 1,
                            .first = names.data};
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s == PT_OK && !done) s = answer(&line, &o, err);
    pt_strbuf_deinit(&names);
    return s;
}

const pt_verb pt_verb_help = {
    .name = "help",
    .summary = "tell about a verb; print manual pages and completions",
    .usage = "posttrain help [VERB] [options]",
    .details = "Without a verb it prints the overview. make install puts the manual pages and the\n"
               "completions where they belong.\n\n"
               "Examples:\n"
               "  posttrain help train\n"
               "  posttrain help --man train > posttrain-train.1\n"
               "  eval \"$(posttrain help --completion bash)\"\n",
    .run = run,
};
