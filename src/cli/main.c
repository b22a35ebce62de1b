/* posttrain VERB …: finds the verb, runs it, prints what went wrong, and exits with its code.
 * SPDX-License-Identifier: MIT */
#include <signal.h>
#include <unistd.h>

#include "cli/cli.h"

const pt_verb *const pt_verbs[] = {
    &pt_verb_train,  &pt_verb_sample,  &pt_verb_eval,  &pt_verb_inspect, &pt_verb_convert,
    &pt_verb_logits, &pt_verb_devices, &pt_verb_bench, &pt_verb_data,    &pt_verb_report,
    &pt_verb_runs,   &pt_verb_help,    NULL,
};
#define N_VERBS ((int)(sizeof pt_verbs / sizeof pt_verbs[0]) - 1)

static pt_status unknown_verb(const char *word, pt_error *err)
{
    const char *names[N_VERBS];
    for (int i = 0; i < N_VERBS; i++) names[i] = pt_verbs[i]->name;
    const char *near = pt_nearest(word, names, N_VERBS);
    if (near) return pt_fail(err, PT_BAD_INPUT, "unknown verb '%s': did you mean %s?", word, near);
    return pt_fail(err, PT_BAD_INPUT, "unknown verb '%s': posttrain --help lists them", word);
}

static pt_status run(int argc, char **argv, pt_error *err)
{
    if (argc < 2) {
        pt_print_overview(err);
        return pt_fail(err, PT_BAD_INPUT, "a verb is missing");
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return pt_print_overview(err);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return pt_print_version(argc > 2 && strcmp(argv[2], "--json") == 0, err);
    for (int i = 0; i < N_VERBS; i++)
        if (strcmp(word, pt_verbs[i]->name) == 0)
            return pt_verbs[i]->run(pt_verbs[i], argc - 2, argv + 2, err);
    return unknown_verb(word, err);
}

/* A file that is mapped and shrinks under its reader. */
static void on_bus_error(int number)
{
    static const char words[] = "posttrain: a file shrank or failed while it was being read\n";
    (void)number;
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0) _exit(4);
    _exit(4);
}

/* The message on one line, whatever bytes the user's words and files put into it. */
static void print_error(const pt_error *err)
{
    char line[3 * sizeof err->message];
    pt_safe_line(line, sizeof line, err->message, strlen(err->message));
    pt_say("posttrain: %s\n", line);
}

int main(int argc, char **argv)
{
    pt_fs_keep_standard_descriptors();
    signal(SIGBUS, on_bus_error);
    signal(SIGXFSZ, SIG_IGN); /* a file grown too large is an error like a full disk */
    pt_error err = {0};
    pt_status s = run(argc, argv, &err);
    if (s != PT_OK && err.status == PT_OK) (void)pt_fail(&err, s, "%s", pt_status_words(s));
    if (s != PT_OK) print_error(&err);
    return pt_status_exit_code(s);
}
