/* Seeing runs through the command line: report, runs, TensorBoard's files. SPDX-License-Identifier: MIT */
#include "program.h"

static char first[512], second[512];

static void note_events(void *ctx, const char *name, bool folder)
{
    (void)folder;
    *(int *)ctx += strncmp(name, "events.out.tfevents.", 20) == 0;
}

static int event_files(const char *run)
{
    int n = 0;
    pt_error err = {0};
    CHECK_OK(pt_fs_list(run, note_events, &n, &err), err);
    return n;
}

static result *train(const char *out, const char *lr, const char *extra)
{
    return RUN("train", "--preset", "tiny", "--corpus", text_file(), "--steps", "8", "--batch", "2",
               "--eval-every", "4", "--lr", lr, "--out", out, extra);
}

static void two_runs(void)
{
    if (first[0]) return;
    fresh_folder();
    snprintf(first, sizeof first, "%s", in_folder("runs/first"));
    snprintf(second, sizeof second, "%s", in_folder("runs/second"));
    setenv("XDG_DATA_HOME", in_folder("data"), 1);
    CHECK_INT(train(first, "1e-3", NULL)->code, 0);
    CHECK_INT(train(second, "2e-3", "--no-tensorboard")->code, 0);
}

TEST(training_leaves_a_report_and_events)
{
    two_runs();
    char path[600];
    snprintf(path, sizeof path, "%s/report.html", first);
    CHECK(pt_fs_size(path) > 5000);
    CHECK_INT(event_files(first), 1);
    CHECK_INT(event_files(second), 0);
}

TEST(a_resumed_run_has_a_second_event_file)
{
    two_runs();
    CHECK_INT(RUN("train", "--resume", first, "--steps", "10")->code, 0);
    CHECK_INT(event_files(first), 2);
    CHECK_INT(RUN("train", "--resume", first, "--steps", "12", "--no-tensorboard")->code, 0);
    CHECK_INT(event_files(first), 2);
    first[0] = '\0'; /* the other tests want it as it was */
}

TEST(report_writes_where_it_is_told)
{
    two_runs();
    result *r = RUN("report", first, "--out", in_folder("page.html"));
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->out, "page.html\n") != NULL);
    CHECK(pt_fs_size(in_folder("page.html")) > 5000);
    check_refused(RUN("report", first, "--out", in_folder("page.html")), 8,
                  "page.html exists already: give --force");
    CHECK_INT(RUN("report", first, "--out", in_folder("page.html"), "--force")->code, 0);
    CHECK_INT(RUN("report", second)->code, 0);
    char own[600];
    snprintf(own, sizeof own, "%s/report.html", second);
    CHECK_INT(RUN("report", second, "--out", own)->code, 0);
    check_refused(RUN("report"), 2, "which run?");
    check_refused(RUN("report", in_folder("data")), 7, "holds no run");
    check_refused(RUN("report", first, "--out", in_folder("no/such/page.html")), 7, "page.html");
}

/* Whose loss is no mistake of a name that --force is meant for. */
TEST(nothing_replaces_what_a_run_lives_by)
{
    static const char *const names[] = {"run.json", "log.jsonl", "model.tinygpt",
                                        "checkpoints/best.json",
                                        "checkpoints/step-00000008/manifest.json"};
    char path[700], model[600];
    two_runs();
    snprintf(model, sizeof model, "%s/model.tinygpt", second);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", first, names[i]);
        int64_t size = pt_fs_size(path);
        CHECK(size > 0);
        check_refused(RUN("report", first, "--out", path, "--force"), 2, "is a run's own file");
        check_refused(RUN("report", second, "--out", path, "--force"), 2, "is a run's own file");
        if (strstr(path, ".tinygpt"))
            check_refused(RUN("convert", model, path, "--force"), 2, "is a run's own file");
        check_refused(RUN("report", first, "--out", path), 8, "exists already");
        CHECK_INT(pt_fs_size(path), size);
    }
    snprintf(path, sizeof path, "%s/other.html", first);
    CHECK_INT(RUN("report", first, "--out", path)->code, 0);
    CHECK_INT(RUN("report", first, "--out", path, "--force")->code, 0);
    snprintf(path, sizeof path, "%s/report.html", first);
    CHECK_INT(RUN("report", second, "--out", path, "--force")->code, 0);
}

TEST(runs_are_listed_and_sorted)
{
    two_runs();
    pt_arena arena = {0};
    pt_error err = {0};
    for (int again = 0; again < 2; again++) { /* read, then remembered */
        const pt_json *json = NULL;
        result *r = RUN("runs", in_folder("runs"), "--sort", "name", "--json");
        CHECK_INT(r->code, 0);
        CHECK_OK(pt_json_parse(r->out, r->n_out, &arena, &json, &err), err);
        const pt_json *run = pt_json_get(json, "runs")->child;
        CHECK_STR(pt_json_get_string(run, "run_dir"), first);
        CHECK_STR(pt_json_get_string(run->next, "run_dir"), second);
        CHECK_STR(pt_json_get_string(run, "ended"), "finished");
        CHECK_INT(pt_json_get(json, "runs")->n_children, 2);
    }
    pt_arena_deinit(&arena);
    result *r = RUN("runs", in_folder("runs"));
    CHECK(strstr(r->out, "best val") && strstr(r->out, "8/8") && strstr(r->out, "too short"));
    r = RUN("runs", in_folder("data"), "--no-index");
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->out, "no runs") != NULL);
    check_refused(RUN("runs", in_folder("none")), 7, "is no folder");
    check_refused(RUN("runs", first, "--sort", "beauty"), 2, "speed");
}

TEST(a_diverged_run_says_so_everywhere)
{
    two_runs();
    char folder[512];
    snprintf(folder, sizeof folder, "%s", in_folder("bad"));
    check_refused(RUN("train", "--preset", "tiny", "--corpus", text_file(), "--steps", "8",
                      "--batch", "2", "--lr", "1000", "--clip", "0", "--out", folder),
                  9, "infinity or NaN");
    result *r = RUN("runs", folder);
    CHECK(strstr(r->out, "diverged  diverged\n") != NULL); /* how it ended, and the verdict */
    r = RUN("runs", folder, "--json");
    CHECK(strstr(r->out, "\"ended\":\"diverged\",\"verdict\":\"diverged\"") != NULL);
    CHECK_INT(RUN("report", folder)->code, 0);
    snprintf(folder + strlen(folder), sizeof folder - strlen(folder), "/report.html");
    static char page[1 << 17];
    CHECK(read_whole(folder, page, sizeof page) > 5000);
    CHECK(strstr(page, "state diverged") && strstr(page, "<h2 id=\"verdict\">Diverged<"));
    CHECK(strstr(page, "first bad tensor") != NULL);
}

TEST(two_runs_are_compared)
{
    two_runs();
    result *r = RUN("runs", "compare", first, second);
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->out, "train.lr") && strstr(r->out, "0.001") && strstr(r->out, "0.002"));
    CHECK(strstr(r->out, "change") && !strstr(r->out, "train.steps"));
    CHECK(strstr(r->out, "step   first  second   change\n"));
    char again[600];
    snprintf(again, sizeof again, "%s/", first);
    r = RUN("runs", "compare", second, again);
    CHECK(strstr(r->out, "step  second   first   change\n"));
    r = RUN("runs", "compare", first, second, "--json");
    CHECK(strstr(r->out, "\"val_losses\":[{\"step\":0,") != NULL);
    check_refused(RUN("runs", "compare", first), 2, "compare A B");
    put(in_folder("long.txt"), "a text of another length, with enough bytes for a window", 56);
    CHECK_INT(RUN("train", "--preset", "tiny", "--corpus", in_folder("long.txt"), "--steps", "8",
                  "--batch", "2", "--recompute", "block", "--out", in_folder("other"), "--quiet")
                  ->code,
              0);
    r = RUN("runs", "compare", first, in_folder("other"));
    CHECK(strstr(r->out, "\narguments.recompute  ") && strstr(r->out, "  none   ") &&
          strstr(r->out, "  block\n"));
    CHECK(strstr(r->out, "\ncorpus.path  ") && !strstr(r->out, "corpus.sources."));
    CHECK(strstr(r->out, "\ncorpus.sha256  ") && !strstr(r->out, ".sources.0.sha256"));
    CHECK(!strstr(r->out, "planned_bytes") && !strstr(r->out, "train.recompute"));
    check_refused(RUN("runs", "compare", first, in_folder("none")), 7, "holds no run");
}

PT_PROGRAM_TEST_MAIN
