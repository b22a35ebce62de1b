/* posttrain train --resume where something in the run's folder is damaged, of a newer version, or not what it should be.
 * SPDX-License-Identifier: MIT */
#include <sys/stat.h>

#include "io/checkpoint.h"
#include "resume.h"

TEST(words_of_a_manifest_do_not_reach_the_terminal_raw)
{
    make_run("constant");
    edit("checkpoints/step-00000010/manifest.json", "model-2.tinygpt", "\\u001b[31mred");
    result *r = RUN("train", "--resume", kept("run"));
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "step 10 cannot be used") && !strchr(r->error, '\x1b'));
}

TEST(links_that_lead_out_of_the_folder_are_refused)
{
    static const char *const names[] = {"log.jsonl",
                                        "report.html",
                                        "checkpoints",
                                        "checkpoints/step-00000005",
                                        "checkpoints/best.json",
                                        "checkpoints/step-00000010/model.tinygpt",
                                        "checkpoints/step-00000010/manifest.json",
                                        "events.out.tfevents.1000000000.host.1.0",
                                        "log.jsonl.torn"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        make_run("constant");
        if (!pt_fs_exists(in_run(names[i]))) put(in_run(names[i]), "", 0);
        CHECK(rename(in_run(names[i]), kept("outside")) == 0);
        CHECK(symlink(kept("outside"), in_run(names[i])) == 0);
        check_refused(RUN("train", "--resume", kept("run"), "--steps", "20"), 2, "is a link");
        CHECK(pt_fs_exists(kept("outside")));
        if (i < 2) check_refused(RUN("report", kept("run")), 2, "is a link");
    }
}

/* Another process's temporary file keeps a folder from being swept, not from being looked at. */
TEST(nothing_is_written_through_a_link)
{
    static const char *const names[] = {"model.tinygpt", "model-2.tinygpt", "manifest.json"};
    for (int i = 0; i < 3; i++) {
        make_run("constant");
        char path[128];
        snprintf(path, sizeof path, "checkpoints/step-00000010/%s", names[i]);
        CHECK_OK(pt_fs_remove(in_run(path), &err), err);
        CHECK(symlink(kept("outside"), in_run(path)) == 0);
        if (i < 2) put(in_run("checkpoints/step-00000010/.model.tinygpt.1.0.tmp"), "x", 1);
        if (i == 1) put(kept("outside"), "theirs", 6);
        check_refused(RUN("train", "--resume", kept("run"), "--steps", "20"), 2, "is a link");
        CHECK_INT(pt_fs_size(kept("outside")), i == 1 ? 6 : -1);
    }
    fresh_folder();
    CHECK_OK(pt_fs_make_folder(kept("run"), &err), err);
    put(kept("outside"), "", 0);
    CHECK(symlink(kept("outside"), in_run("log.jsonl")) == 0);
    check_refused(RUN("train", RUN_OPTIONS, "--steps", "3", "--out", kept("run"), "--quiet"), 2,
                  "is a link");
    CHECK_INT(pt_fs_size(kept("outside")), 0);
}

TEST(a_pipe_in_place_of_a_file_is_not_waited_for)
{
    make_run("constant");
    CHECK_OK(pt_fs_remove(in_run("run.json"), &err), err);
    CHECK(mkfifo(in_run("run.json"), 0600) == 0);
    check_refused(RUN("train", "--resume", kept("run")), 4, "no regular file");
    check_refused(RUN("inspect", in_run("run.json")), 4, "no regular file");
    check_refused(RUN("sample", in_run("run.json")), 4, "no regular file");
    for (int i = 0; i < 2; i++) {
        make_run("constant");
        put(in_run("log.jsonl"), "{\"half", 6);
        if (i == 0) CHECK_OK(pt_fs_remove(in_run("log.jsonl"), &err), err);
        CHECK(mkfifo(in_run(i == 0 ? "log.jsonl" : "log.jsonl.torn"), 0600) == 0);
        check_refused(RUN("train", "--resume", kept("run")), 4, "no regular file");
    }
}

TEST(a_checkpoint_that_cannot_be_read_is_not_damaged)
{
    make_run("constant");
    const char *manifest = in_run("checkpoints/step-00000010/manifest.json");
    CHECK(rename(manifest, kept("manifest")) == 0);
    CHECK(mkfifo(manifest, 0600) == 0);
    check_refused(RUN("train", "--resume", kept("run"), "--quiet"), 4, "step 10 cannot be read");
    CHECK(rename(kept("manifest"), manifest) == 0);
    CHECK_INT(RUN("train", "--resume", kept("run"), "--quiet")->code, 0);
}

TEST(a_refused_checkpoint_is_said_aloud)
{
    make_run("constant");
    static char bytes[1 << 20];
    /* the last step was saved twice, and the second file is the one that counts */
    const char *model = in_run("checkpoints/step-00000010/model-2.tinygpt");
    size_t n = read_whole(model, bytes, sizeof bytes);
    bytes[n / 2] ^= 4;
    CHECK_OK(pt_fs_remove(model, &err), err); /* it shares its bytes with run/model.tinygpt */
    put(model, bytes, n);
    result *r = RUN("train", "--resume", kept("run"), "--quiet");
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "checkpoint of step 10 cannot be used: model-2.tinygpt is damaged"));
    CHECK(log_says("\"type\":\"resumed\",\"step\":5,"));
    CHECK_INT(RUN("inspect", model)->code, 0);
}

/* Who goes back to an older version, and then forward again, finds what the newer one saved. */
TEST(a_newer_versions_checkpoint_is_left_for_it)
{
    make_run("constant");
    edit("checkpoints/step-00000010/manifest.json", "\"version\": 1", "\"version\": 2");
    for (int steps = 8; steps < 10; steps++) {
        result *r = RUN("train", "--resume", kept("run"), "--quiet", "--keep", "1", "--steps",
                        steps == 8 ? "8" : "9");
        CHECK_INT(r->code, 0);
        CHECK(strstr(r->error, "checkpoint of step 10 cannot be used: manifest.json: version is 2, "
                               "of a newer posttrain; this one reads up to 1 (it stays where it "
                               "is)"));
    }
    CHECK(log_says("\"type\":\"resumed\",\"step\":5,") && log_says("\"step\":8,\"checkpoint\""));
    CHECK(pt_fs_exists(in_run("checkpoints/step-00000009")));
    edit("checkpoints/step-00000010/manifest.json", "\"version\": 2", "\"version\": 1");
    result *r = RUN("train", "--resume", kept("run"), "--steps", "10");
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "at step 10: no step is left to do"));
    /* the same step saved again: it is set aside */
    edit("checkpoints/step-00000010/manifest.json", "\"version\": 1", "\"version\": 2");
    CHECK_INT(RUN("train", "--resume", kept("run"), "--steps", "10", "--quiet")->code, 0);
    CHECK(pt_fs_exists(in_run("checkpoints/step-00000010.refused-1/manifest.json")));
    CHECK(pt_fs_exists(in_run("checkpoints/step-00000010/manifest.json")));
}

TEST(a_run_without_its_checkpoints_goes_on_from_its_model)
{
    make_run("constant");
    CHECK_OK(pt_fs_remove(in_run("checkpoints"), &err), err);
    result *r = RUN("train", "--resume", kept("run"), "--steps", "15", "--dry-run");
    CHECK(strstr(r->out, "\n  5 steps after step 10 "));
    r = RUN("train", "--resume", kept("run"), "--steps", "15");
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "model.tinygpt is whole") && strstr(r->error, "going on after step 10"));
    CHECK_INT(RUN("train", RUN_OPTIONS, "--steps", "15", "--out", kept("long"), "--quiet")->code,
              0);
    CHECK(weights_hash(in_run("model.tinygpt")) == weights_hash(kept("long/model.tinygpt")));
}

TEST(a_model_that_cannot_be_used_is_not_written_over)
{
    make_run("constant");
    CHECK_OK(pt_fs_remove(in_run("checkpoints"), &err), err);
    put(in_run("model.tinygpt"), "TGPT", 4);
    for (int i = 0; i < 2; i++)
        check_refused(RUN("train", "--resume", kept("run"), "--quiet"), 5,
                      "cannot be gone on from");
    CHECK_INT(pt_fs_size(in_run("model.tinygpt")), 4);
}

static int64_t recorded_best(void)
{
    char text[1000];
    read_whole(in_run("checkpoints/best.json"), text, sizeof text);
    const char *step = strstr(text, "\"step\": ");
    return step ? strtol(step + 8, NULL, 10) : -1;
}

/* best.json is what keeps the best checkpoint from being deleted. */
TEST(the_best_checkpoint_outlives_its_record)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"{\"format\": \"postt", "best.json: "},
        {"{\"format\": \"posttrain-best\", \"version\": 1}", "it lacks step or val_loss"},
        {"{\"format\": \"posttrain-best\", \"version\": 2}", "of a newer posttrain"},
    };
    for (int i = 0; i < 3; i++) {
        bool newer = i == 2;
        fresh_folder();
        /* a rate at which it gets worse, after a while */
        CHECK_INT(RUN("train", "--corpus", text_file(), "--preset", "tiny", "--batch", "2", "--lr",
                      "1", "--steps", "10", "--schedule", "constant", "--eval-every", "2",
                      "--save-every", "2", "--keep", "0", "--on-spike", "off", "--out", kept("run"),
                      "--quiet")
                      ->code,
                  0);
        int64_t best = recorded_best();
        CHECK(best > 0 && best < 10);
        char folder[64];
        snprintf(folder, sizeof folder, "checkpoints/step-%08lld", (long long)best);
        put(in_run("checkpoints/best.json"), cases[i].text, strlen(cases[i].text));
        result *r = RUN("train", "--resume", kept("run"), "--keep", "1", "--quiet");
        CHECK_INT(r->code, 0);
        CHECK(strstr(r->error, cases[i].words) && strstr(r->error, "is told from the headers"));
        CHECK(pt_fs_exists(in_run(folder)) && pt_fs_exists(in_run("checkpoints/step-00000010")));
        CHECK(best == 8 || !pt_fs_exists(in_run("checkpoints/step-00000008")));
        if (!newer) CHECK_INT(recorded_best(), best);
        CHECK_INT(RUN("train", "--resume", kept("run"), "--quiet", "--steps", "16")->code, 0);
        if (newer) CHECK_STR(text_of(in_run("checkpoints/best.json")), cases[i].text);
        else CHECK(!strstr(program_result.error, "is told from the headers"));
    }
}

/* It is all that is left of what was learned behind the newest checkpoint. */
TEST(a_model_that_no_checkpoint_holds_is_kept)
{
    static char bytes[1 << 20];
    make_run("constant");
    size_t n = read_whole(in_run("model.tinygpt"), bytes, sizeof bytes);
    for (int newer = 0; newer < 2; newer++) {
        const char *aside = in_run(newer ? "model.refused-2.tinygpt" : "model.refused-1.tinygpt");
        CHECK_OK(pt_fs_remove(in_run("checkpoints/step-00000010"), &err), err);
        CHECK_OK(pt_fs_remove(in_run("model.tinygpt"), &err), err);
        bytes[4] = newer ? 3 : bytes[4];
        put(in_run("model.tinygpt"), bytes, n);
        result *r = RUN("train", "--resume", kept("run"), "--quiet");
        CHECK_INT(r->code, 0);
        if (!newer) CHECK(strstr(r->error, "it is kept as model.refused-1.tinygpt\n"));
        else CHECK(strstr(r->error, "it is kept as model.refused-2.tinygpt\n"));
        pt_file_view view;
        CHECK_OK(pt_file_view_open(&view, aside, &err), err);
        CHECK(view.size == (int64_t)n && memcmp(view.data, bytes, n) == 0);
        pt_file_view_close(&view);
        CHECK(weights_hash(in_run("model.tinygpt")) ==
              weights_hash(aside)); /* the run is the same */
    }
    /* what a checkpoint holds needs no other name, be it of a newer version */
    CHECK_OK(pt_fs_remove(in_run("checkpoints/step-00000010"), &err), err);
    CHECK_OK(pt_fs_make_folder(in_run("checkpoints/step-00000010"), &err), err);
    put(in_run("checkpoints/step-00000010/model.tinygpt"), bytes, n);
    CHECK_OK(pt_fs_remove(in_run("model.tinygpt"), &err), err);
    put(in_run("model.tinygpt"), bytes, n);
    CHECK_INT(RUN("train", "--resume", kept("run"), "--quiet", "--steps", "9")->code, 0);
    CHECK(!strstr(program_result.error, "kept as"));
    CHECK(!pt_fs_exists(in_run("model.refused-3.tinygpt")));
}

TEST(whole_models_without_manifests_are_checkpoints_again)
{
    make_run("constant");
    CHECK_OK(pt_fs_remove(in_run("checkpoints/step-00000010/manifest.json"), &err), err);
    CHECK_OK(pt_fs_remove(in_run("checkpoints/step-00000005/manifest.json"), &err), err);
    CHECK_OK(pt_fs_remove(in_run("model.tinygpt"), &err), err);
    put(in_run("checkpoints/step-00000005/model.tinygpt"), "half", 4);
    result *r = RUN("train", "--resume", kept("run"));
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "at step 10: no step is left to do"));
    CHECK(pt_fs_exists(in_run("checkpoints/step-00000010/manifest.json")));
    CHECK(!pt_fs_exists(in_run("checkpoints/step-00000005")));
    CHECK(weights_hash(in_run("model.tinygpt")) != 0);
}

PT_PROGRAM_TEST_MAIN
