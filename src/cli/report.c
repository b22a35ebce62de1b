/* posttrain report: a run as one page of HTML. SPDX-License-Identifier: MIT */
#include "factory/report.h"

#include "cli/cli.h"

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    const char *out = NULL;
    char own[PT_FS_PATH_MAX];
    bool done = false, force = false;
    pt_option options[] = {
        {"out", PT_OPTION_TEXT, &out, "FILE", "where to", "RUN/report.html", false},
        {"force", PT_OPTION_SWITCH, &force, NULL, "replace an existing file", NULL, false},
    };
    pt_command_line line = {.options = options,
                            .n_options = sizeof options / sizeof options[0],
                            .most_positional = 1,
                            .first = "DIR",
                            .missing = "which run? give its folder: posttrain report RUN"};
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    s = pt_fs_path(own, line.positional[0], "report.html", err);
    if (s) return s;
    if (out && strcmp(out, own) == 0) out = NULL; /* the run's own report may be replaced */
    if (out) s = pt_check_output(out, force, err);
    if (s == PT_OK) s = pt_report_put(line.positional[0], out, err);
    if (s) return s;
    pt_strbuf text = {0};
    pt_strbuf_printf(&text, "%s\n", out ? out : own);
    s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

const pt_verb pt_verb_report = {
    .name = "report",
    .summary = "show a run as one page: curves, samples, a verdict",
    .usage = "posttrain report RUN [--out FILE] [--force]",
    .details =
        "The page is one file that needs no script, no network and no server. Training writes it\n"
        "after each evaluation; this writes it anew, also for a run that goes on or was killed.\n"
        "Any other file is replaced only with --force.\n\n"
        "Example:\n  posttrain report runs/first\n",
    .run = run,
};
