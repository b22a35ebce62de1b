/* posttrain report: a run as one page of HTML. SPDX-License-Identifier: MIT */
#include "factory/report.h"

#include "cli/cli.h"

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    const char *out = NULL;
    bool done = false;
    pt_option options[] = {
        {"out", PT_OPTION_TEXT, &out, "FILE", "where to", "RUN/report.html", false},
    };
    pt_command_line line = {.options = options,
                            .n_options = 1,
                            .most_positional = 1,
                            .missing = "which run? give its folder: posttrain report RUN"};
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    s = pt_report_put(line.positional[0], out, err);
    if (s) return s;
    pt_strbuf text = {0};
    pt_strbuf_printf(&text, "%s%s\n", out ? out : line.positional[0], out ? "" : "/report.html");
    s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

const pt_verb pt_verb_report = {
    .name = "report",
    .summary = "show a run as one page: curves, samples, a verdict",
    .usage = "posttrain report RUN [--out FILE]",
    .details =
        "The page is one file that needs no script, no network and no server. Training writes it\n"
        "after each evaluation; this writes it anew, also for a run that goes on or was killed.\n\n"
        "Example:\n  posttrain report runs/first\n",
    .run = run,
};
