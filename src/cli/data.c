/* posttrain data: training data, before it is trained on. SPDX-License-Identifier: MIT */
#include "cli/data.h"

static const pt_verb *const verbs[] = {&pt_verb_data_get, &pt_verb_data_preview,
                                       &pt_verb_data_shard, &pt_verb_data_verify, NULL};

static void list_verbs(pt_strbuf *out)
{
    pt_strbuf_putc(out, '\n');
    for (const pt_verb *const *v = verbs; *v; v++)
        pt_strbuf_printf(out, "  %-14s%s\n", (*v)->name, (*v)->summary);
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    bool done = false;
    for (const pt_verb *const *v = verbs; *v; v++)
        if (argc > 0 && strcmp(argv[0], strchr((*v)->name, ' ') + 1) == 0)
            return (*v)->run(*v, argc - 1, argv + 1, err);
    pt_command_line line = {.most_positional = 1, .first = "get|preview|shard|verify"};
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    return pt_fail(err, PT_BAD_INPUT, "what about the data? posttrain data --help lists it");
}

const pt_verb pt_verb_data = {
    .name = "data",
    .summary = "get, preview, shard and verify training data",
    .usage = "posttrain data WHAT …",
    .list = list_verbs,
    .details = "posttrain data WHAT --help tells more.\n\n"
               "Example:\n  posttrain data get shakespeare\n"
               "  posttrain data preview shakespeare.txt\n",
    .subs = verbs,
    .run = run,
};
