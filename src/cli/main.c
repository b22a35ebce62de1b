/* posttrain VERB …: finds the verb, runs it, prints what went wrong, and exits with its code.
 * SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdio.h>

#include "base/version.h"
#include "cli/cli.h"

static const pt_verb *const verbs[] = {
    &pt_verb_train,   &pt_verb_sample, &pt_verb_eval,    &pt_verb_inspect,
    &pt_verb_convert, &pt_verb_logits, &pt_verb_devices,
};
#define N_VERBS ((int)(sizeof verbs / sizeof verbs[0]))

static pt_status print_overview(pt_error *err)
{
    pt_strbuf text = {0};
    pt_strbuf_puts(&text, "posttrain: small language models, from scratch, on your own machine\n\n"
                          "usage: posttrain VERB …\n\n");
    for (int i = 0; i < N_VERBS; i++)
        pt_strbuf_printf(&text, "  %-10s%s\n", verbs[i]->name, verbs[i]->summary);
    pt_strbuf_puts(&text, "\nposttrain VERB --help tells about a verb; posttrain --version the "
                          "version.\n\nExample:\n"
                          "  posttrain train --preset small --corpus book.txt --out runs/first\n"
                          "  posttrain sample runs/first/model.tinygpt --prompt 'The '\n");
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

static pt_status unknown_verb(const char *word, pt_error *err)
{
    const char *names[N_VERBS];
    for (int i = 0; i < N_VERBS; i++) names[i] = verbs[i]->name;
    const char *near = pt_nearest(word, names, N_VERBS);
    if (near) return pt_fail(err, PT_BAD_INPUT, "unknown verb '%s': did you mean %s?", word, near);
    return pt_fail(err, PT_BAD_INPUT, "unknown verb '%s': posttrain --help lists them", word);
}

static pt_status run(int argc, char **argv, pt_error *err)
{
    if (argc < 2) {
        print_overview(err);
        return pt_fail(err, PT_BAD_INPUT, "a verb is missing");
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return print_overview(err);
    if (strcmp(word, "--version") == 0) {
        static const char version[] = "posttrain " PT_VERSION "\n";
        return pt_print(version, sizeof version - 1, err);
    }
    for (int i = 0; i < N_VERBS; i++)
        if (strcmp(word, verbs[i]->name) == 0)
            return verbs[i]->run(verbs[i], argc - 2, argv + 2, err);
    return unknown_verb(word, err);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    pt_error err = {0};
    pt_status s = run(argc, argv, &err);
    if (s != PT_OK && err.status == PT_OK) pt_fail(&err, s, "%s", pt_status_words(s));
    if (s != PT_OK) pt_say("posttrain: %s\n", err.message);
    return pt_status_exit_code(s);
}
