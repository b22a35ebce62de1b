/* posttrain help: the overview, a verb's help, manual pages and completions. SPDX-License-Identifier: MIT */
#include "cli/manual.h"

const char pt_overview_examples[] =
    "  posttrain train --preset small --corpus book.txt --out runs/first\n"
    "  posttrain sample runs/first/model.tinygpt --prompt 'The '\n";

pt_status pt_print_overview(pt_error *err)
{
    char codes[32];
    const char *words;
    pt_strbuf text = {0}, exits = {0};
    for (int i = 0; pt_exit_codes(i, codes, &words); i++)
        pt_strbuf_printf(&exits, "%s%s %s", i ? "; " : "Exit codes: ", codes, words);
    pt_strbuf_puts(&text, "posttrain: small language models, from scratch, on your own machine\n\n"
                          "usage: posttrain VERB …\n\n");
    for (const pt_verb *const *v = pt_verbs; *v; v++)
        pt_strbuf_printf(&text, "  %-10s%s\n", (*v)->name, (*v)->summary);
    pt_strbuf_puts(&text, "\nposttrain VERB --help tells about a verb; posttrain --version the "
                          "version.\n\n");
    pt_put_wrapped(&text, 0, exits.data ? exits.data : "");
    pt_strbuf_printf(&text, ".\n\nExample:\n%s", pt_overview_examples);
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&exits);
    pt_strbuf_deinit(&text);
    return s;
}

static pt_status run_form(const pt_verb *verb, const char *form, pt_error *err)
{
    char word[16], *words[] = {word};
    pt_format(word, sizeof word, "%s", form);
    return verb->run(verb, 1, words, err);
}

/* "data get" as two words, or as the name of the page; NULL without a word. */
static pt_status find_verb(const pt_command_line *line, const pt_verb **out, pt_error *err)
{
    char given[160], page[64];
    const char *const *word = line->positional;
    *out = NULL;
    if (!line->n_positional) return PT_OK;
    bool two = line->n_positional > 1;
    pt_format(given, sizeof given, "%s%s%s", word[0], two ? "-" : "", two ? word[1] : "");
    for (int i = 0; (*out = pt_verb_at(i)); i++)
        if (strcmp(pt_verb_page((*out)->name, page), given) == 0) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "there is no verb '%s %s': see posttrain help %s", word[0],
                   word[1], word[0]);
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
    const pt_verb *v;
    for (int k = 0; s == PT_OK && (v = pt_verb_at(k)); k++) s = run_form(v, forms[i].word, err);
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
    char page[64];
    const pt_verb *v;
    pt_strbuf text = {0};
    for (int i = 0; (v = pt_verb_at(i)); i++)
        pt_strbuf_printf(&text, "%s\n", pt_verb_page(v->name, page));
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

static pt_status answer(const pt_command_line *line, const help_options *o, pt_error *err)
{
    if (o->shell) return print_completion(o->shell, err);
    if (o->names) return print_names(err);
    const pt_verb *about = NULL;
    pt_status s = find_verb(line, &about, err);
    if (s) return s;
    if (o->manual) return print_manual(about, err);
    return about ? run_form(about, "--help", err) : pt_print_overview(err);
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    help_options o = {0};
    bool done = false;
    char page[64];
    const pt_verb *v;
    pt_strbuf names = {0};
    for (int i = 0; (v = pt_verb_at(i)); i++)
        pt_strbuf_printf(&names, "%s%s", i ? "|" : "", pt_verb_page(v->name, page));
    if (names.failed) return pt_fail(err, PT_NO_MEMORY, "no memory for the names of the verbs");
    pt_option options[] = {
        {"man", PT_OPTION_SWITCH, &o.manual, NULL, "the manual page, as man(7)", NULL, false},
        {"completion", PT_OPTION_TEXT, &o.shell, "bash|zsh|fish", "the completion of a shell", NULL,
         false},
        {"names", PT_OPTION_SWITCH, &o.names, NULL, "the names of the manual pages alone", NULL,
         false},
    };
    pt_command_line line = {.options = options,
                            .n_options = sizeof options / sizeof options[0],
                            .most_positional = 2,
                            .first = names.data,
                            .below = true};
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
               "  posttrain help data get\n"
               "  posttrain help --man train > posttrain-train.1\n"
               "  eval \"$(posttrain help --completion bash)\"\n",
    .run = run,
};
