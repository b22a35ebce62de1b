/* posttrain VERB …: finds the verb, runs it, prints what went wrong, and exits with its code.
 * SPDX-License-Identifier: MIT */
#include <signal.h>
#include <unistd.h>

#include "base/version.h"
#include "cli/cli.h"

static const pt_verb *const verbs[] = {
    &pt_verb_train,  &pt_verb_sample,  &pt_verb_eval,  &pt_verb_inspect, &pt_verb_convert,
    &pt_verb_logits, &pt_verb_devices, &pt_verb_bench, &pt_verb_data, &pt_verb_report, &pt_verb_runs,
};
#define N_VERBS ((int)(sizeof verbs / sizeof verbs[0]))

static pt_status print_overview(pt_error *err)
{
    pt_strbuf text = {0};
    pt_strbuf_puts(&text, "posttrain: small language models, from scratch, on your own machine\n\n"
                          "usage: posttrain VERB …\n\n");
    for (int i = 0; i < N_VERBS; i++)
        pt_strbuf_printf(&text, "  %-10s%s\n", verbs[i]->name, verbs[i]->summary);
    pt_strbuf_puts(&text,
                   "\nposttrain VERB --help tells about a verb; posttrain --version the "
                   "version.\n\nExit codes: 0 done; 2 bad input or usage; 3 memory; 4 files; 5 "
                   "damaged file;\n6 not supported; 7 not found; 8 exists already; 9 training "
                   "diverged;\n129, 130, 143 stopped by a signal, with everything saved.\n\n"
                   "Example:\n"
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
    bool help = strcmp(word, "help") == 0;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (help && argc == 2))
        return print_overview(err);
    char help_option[] = "--help", *help_words[] = {help_option};
    if (help) word = argv[2];
    if (strcmp(word, "--version") == 0) {
        static const char version[] = "posttrain " PT_VERSION "\n";
        return pt_print(version, sizeof version - 1, err);
    }
    for (int i = 0; i < N_VERBS; i++)
        if (strcmp(word, verbs[i]->name) == 0)
            return help ? verbs[i]->run(verbs[i], 1, help_words, err)
                        : verbs[i]->run(verbs[i], argc - 2, argv + 2, err);
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
    char line[sizeof err->message];
    memcpy(line, err->message, sizeof line);
    for (char *p = line; *p; p++)
        if ((unsigned char)*p < 32 || *p == 127) *p = '?';
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
