/* posttrain train --resume, end to end: what goes on, what may be changed on the way, and what is refused. That the bits
 * are the same is tested in tests/fault/.
 * SPDX-License-Identifier: MIT */
#include <sys/stat.h>

#include "io/checkpoint.h"
#include "resume.h"
#include "train/run_folder.h"

TEST(a_constant_run_is_extended_and_is_the_longer_run)
{
    make_run("constant");
    result *r = RUN("train", "--resume", kept("run"), "--steps", "20");
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "going on after step 10"));
    CHECK(strstr(r->error, "parameters ("));
    const char *saved =
        strstr(r->error, "step 20  saved\n"); /* twice, which is nobody's business */
    CHECK(saved && !strstr(saved + 1, "step 20  saved\n"));
    CHECK(log_says("\"type\":\"resumed\",\"step\":10,\"checkpoint\":true"));
    CHECK(log_says("\"total_steps\":20"));
    r = RUN("train", "--resume", kept("run"), "--json"); /* run.json was told */
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "at step 20: no step is left to do; --steps N trains on\n"));
    CHECK(!strstr(r->error, "parameters (")); /* it begins nothing */
    CHECK(strstr(r->out, "\"step\":20,"));
    CHECK_INT(RUN("train", RUN_OPTIONS, "--steps", "20", "--out", kept("whole"), "--quiet")->code,
              0);
    CHECK(weights_hash(in_run("model.tinygpt")) == weights_hash(kept("whole/model.tinygpt")));
}

/* Before its decay begins nobody can tell where a wsd run was to end. */
TEST(a_wsd_run_is_extended_until_its_decay_begins)
{
    fresh_folder();
    const char *run = kept("run"), *whole = kept("whole");
    const char *const begin[] = {"train",        RUN_OPTIONS, "--steps", "1000000",
                                 "--schedule",   "wsd",       "--out",   run,
                                 "--save-every", "5",         "--quiet", NULL};
    pid_t pid = start(begin);
    for (int i = 0; i < 4000 && !pt_fs_exists(in_folder("run/checkpoints/step-00000005")); i++)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    kill(pid, SIGTERM);
    CHECK_INT(wait_for(pid)->code, 143);
    int64_t done = 0;
    CHECK_OK(pt_run_folder_newest(run, &done, &err), err);
    char shorter[24], longer[24];
    snprintf(shorter, sizeof shorter, "%d", (int)(done + done / 8) + 5); /* a tenth is the decay */
    snprintf(longer, sizeof longer, "%d", (int)done + 1000);
    result *r = RUN("train", "--resume", run, "--steps", shorter, "--quiet");
    if (r->code) printf("%s", r->error);
    CHECK_INT(r->code, 0);
    CHECK_INT(RUN("train", RUN_OPTIONS, "--steps", shorter, "--schedule", "wsd", "--out", whole,
                  "--quiet")
                  ->code,
              0);
    CHECK(weights_hash(in_run("model.tinygpt")) == weights_hash(kept("whole/model.tinygpt")));
    check_refused(RUN("train", "--resume", run, "--steps", longer), 2,
                  "under --schedule wsd that changes the rate of every step after step ");
}

/* From another working folder the path that was recorded means nothing. */
TEST(nothing_is_left_to_go_on_with_where_only_the_result_cannot_be_printed)
{
    if (!pt_fs_exists("/dev/full")) SKIP("no /dev/full");
    fresh_folder();
    const char *text = text_file();
    program_output = "/dev/full";
    result *r = RUN("train", "--preset", "tiny", "--corpus", text, "--steps", "2", "--out",
                    kept("run"), "--json");
    program_output = NULL;
    CHECK_INT(r->code, 4);
    CHECK(strstr(r->error, "posttrain: cannot ") && !strstr(r->error, "go on with"));
}

TEST(a_text_that_is_not_here_is_said_and_may_be_given)
{
    char home[512], absolute[1600];
    fresh_folder();
    const char *text = text_file(), *from_root = program;
    CHECK(getcwd(home, sizeof home));
    if (program[0] != '/') snprintf(absolute, sizeof absolute, "%s/%s", home, program);
    else snprintf(absolute, sizeof absolute, "%s", program);
    program = absolute;
    CHECK(chdir(test_root) == 0);
    CHECK_INT(RUN("train", "--corpus", "text.txt", "--preset", "tiny", "--steps", "2", "--batch",
                  "2", "--out", kept("run"), "--quiet")
                  ->code,
              0);
    CHECK(chdir(home) == 0);
    result *r = RUN("train", "--resume", kept("run"), "--steps", "3");
    check_refused(r, 7, "the run's text text.txt is not here: go on in /");
    CHECK(strstr(r->error, test_root) && strstr(r->error, ", where it was named, or"));
    CHECK(strstr(r->error, "--corpus"));
    CHECK_INT(RUN("train", "--resume", kept("run"), "--steps", "3", "--corpus", text)->code, 0);
    CHECK_INT(RUN("train", "--resume", kept("run"), "--steps", "4")->code, 0); /* it is known now */
    program = from_root;
}

/* Standard input cannot be read a second time. */
TEST(a_text_from_standard_input_is_asked_for_again)
{
    fresh_folder();
    const char *text = text_file(), *run = kept("run");
    program_input = text;
    CHECK_INT(RUN("train", "--corpus", "-", "--preset", "tiny", "--steps", "2", "--batch", "2",
                  "--out", run, "--quiet")
                  ->code,
              0);
    program_input = "/dev/null";
    result *r = RUN("train", "--resume", kept("run"), "--steps", "3", "--quiet");
    check_refused(r, 2, "standard input, which is empty now: pipe it in again");
    program_input = text;
    CHECK_INT(RUN("train", "--resume", run, "--steps", "3", "--quiet")->code, 0);
    program_input = "/dev/null";
    CHECK_INT(RUN("train", "--resume", kept("run"), "--steps", "4", "--corpus", text_file())->code,
              0);
}

/* Every few milliseconds, or never: the same curve. Whether it happens may change when the run goes on. */
TEST(saving_by_time_changes_no_bit)
{
    fresh_folder();
    result *r = RUN("train", "--corpus", text_file(), "--preset", "tiny", "--batch", "4", "--steps",
                    "30", "--keep", "0", "--save-minutes", "0.00005", "--out", kept("run"));
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "  saved\n") < strstr(r->error, "step 30  saved\n"));
    CHECK(!strstr(r->error, "nothing is saved before the end"));
    int64_t before = -1;
    CHECK_OK(pt_checkpoint_before(kept("run"), 30, &before, &err), err);
    CHECK(before > 0);
    r = RUN("train", "--corpus", text_file(), "--preset", "tiny", "--batch", "4", "--steps", "20",
            "--save-minutes", "0", "--out", kept("never"));
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "nothing is saved before the end"));
    CHECK_OK(pt_checkpoint_before(kept("never"), 20, &before, &err), err);
    CHECK_INT(before, -1);
    r = RUN("train", "--resume", kept("never"), "--steps", "30", "--save-minutes", "0.00005",
            "--quiet");
    CHECK_INT(r->code, 0);
    CHECK(weights_hash(in_run("model.tinygpt")) == weights_hash(kept("never/model.tinygpt")));
    check_refused(RUN("train", "--resume", kept("run"), "--save-minutes", "-1"), 2,
                  "--save-minutes is -1, it must be 0 (off)");
}

/* A save that takes longer than the time between two is followed by steps all the same. */
TEST(saving_all_the_time_stops_no_run)
{
    fresh_folder();
    result *r = RUN("train", "--corpus", text_file(), "--preset", "tiny", "--batch", "4", "--steps",
                    "12", "--save-minutes", "1e-9", "--out", kept("run"));
    CHECK_INT(r->code, 0);
    int saves = 0;
    for (const char *at = r->error; (at = strstr(at, "  saved\n")); at++) saves++;
    CHECK(saves > 2 && saves <= 12);
}

TEST(a_run_folder_that_is_moved_is_not_made_anew)
{
    fresh_folder();
    pid_t pid = start((const char *const[]){"train", RUN_OPTIONS, "--steps", "100000", "--out",
                                            kept("run"), NULL});
    wait_for_words("\"type\":\"save\",\"step\":5");
    CHECK(rename(kept("run"), kept("moved")) == 0);
    result *r = wait_for(pid);
    CHECK(r->code == 7 || r->code == 4); /* before a save, or in the midst of one */
    CHECK(!pt_fs_exists(kept("run")));
    r = RUN("train", "--resume", kept("moved"), "--steps", "100000", "--dry-run");
    CHECK_INT(r->code, 0);
}

TEST(what_contradicts_the_run_is_refused_with_both_values)
{
    make_run("cosine");
    const char *run = kept("run");
    check_refused(RUN("train", "--resume", run, "--lr", "1e-3"), 2,
                  "--lr is '0.001', the run's is '0.002'");
    check_refused(RUN("train", "--resume", run, "--batch", "8"), 2,
                  "--batch is '8', the run's is '4'");
    check_refused(RUN("train", "--resume", run, "--preset", "small"), 2,
                  "--preset is 'small', the run's is 'tiny'");
    check_refused(RUN("train", "--resume", run, "--seed", "18446744073709551615"), 2,
                  "'18446744073709551615', the run's is '42'");
    check_refused(RUN("train", "--resume", run, "--dtype", "bf16"), 2,
                  "'bf16', the run's is 'f32'");
    check_refused(RUN("train", "--resume", run, "--steps", "20"), 2,
                  "--steps is 20, the run's is 10: under --schedule cosine");
    check_refused(RUN("train", "--resume", run, "--out", kept("other")), 2, "give one of them");
    check_refused(RUN("train", "--resume", run, "--device", "ref"), 2, "the run's is 'cpu'");
    check_refused(RUN("train", "--resume", run, "--keep", "-1"), 2, "--keep is -1");
    check_refused(RUN("train", "--resume", run, "--separator", ""), 2,
                  "--separator is '', the run's is '\\n\\n'");
    check_refused(RUN("train", "--out", run, RUN_OPTIONS), 8, "--resume");
    CHECK(!log_says("resumed"));
    /* the same values, however written, contradict nothing; nor does how it is computed and kept */
    result *r = RUN("train", "--resume", run, "--lr", "0.002", "--batch", "4", "--threads", "1",
                    "--keep", "1", "--save-every", "7", "--sample-every", "5", "--out", run,
                    "--separator", "\\n\\x0a");
    CHECK_INT(r->code, 0);
    /* whose choice is whose */
    r = RUN("train", "--resume", run, "--batch", "4", "--recipe");
    CHECK(r->code == 0 && strstr(r->out, "\nlr             0.002        of the run\n"));
    CHECK(strstr(r->out, "\nbatch          4            you gave it\n"));
    CHECK(strstr(r->out, "layers         2            of the run\n") == r->out);
    r = RUN("train", "--resume", run, "--recipe", "--json");
    CHECK(strstr(r->out, "\"name\":\"batch\",\"value\":4,\"from\":\"run\",\"why\":\"of the run\""));
}

/* run.json is a file that anyone may have written to. */
TEST(options_of_a_run_that_are_no_scalars_are_shown_as_json)
{
    static const char *const values[] = {"null", "[1,2]", "{\"a\":null}", "true"};
    static const char *const shown[] = {"'null'", "'[1,2]'", "'{\"a\":null}'", "'on'"};
    char text[200], want[100];
    make_run("constant");
    for (int i = 0; i < 4; i++) {
        int n = snprintf(text, sizeof text,
                         "{\"format\":\"posttrain-run\",\"version\":1,\"arguments\":{\"lr\":%s}}",
                         values[i]);
        put(in_run("run.json"), text, (size_t)n);
        snprintf(want, sizeof want, "--lr is '0.001', the run's is %s: start", shown[i]);
        check_refused(RUN("train", "--resume", kept("run"), "--lr", "1e-3"), 2, want);
        check_refused(RUN("train", "--resume", kept("run")), 2, "which is nothing that --lr takes");
    }
    static const char odd[] = "{\"format\":\"posttrain-run\",\"version\":1,\"arguments\":"
                              "{\"schedule\":null,\"steps\":null}}";
    put(in_run("run.json"), odd, sizeof odd - 1);
    check_refused(RUN("train", "--resume", kept("run"), "--steps", "20"), 2,
                  "'schedule' is null, which is nothing that --schedule takes");
}

TEST(a_run_json_that_was_changed_is_noticed)
{
    static const char *const edits[][3] = {
        {"\"lr\": 0.002", "\"lr\": 0.003", "its lr is 0.002, the run's is 0.003"},
        {"\"warmup\": 0", "\"warmup\": 2", "its warmup is 0, the run's is 2"},
        {"\"steps\": 10", "\"steps\": 12", "its steps is 10, the run's is 12"},
        {"\"dropout\": 0", "\"dropout\": 0.5", "its dropout is 0, the run's is 0.5"},
        {"\"batch\": 4,\n    \"accum\": 1", "\"batch\": 2,\n    \"accum\": 2",
         "its batch is 4, the run's is 2"},
        {"\"eval_batches\": 20", "\"eval_batches\": 7", "its evalBatches is 20, the run's is 7"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        make_run("cosine");
        edit("run.json", edits[i][0], edits[i][1]);
        result *r = RUN("train", "--resume", kept("run"), "--quiet");
        if (!strstr(r->error, edits[i][2])) printf("%s\n", r->error);
        CHECK_INT(r->code, 2);
        CHECK(strstr(r->error, edits[i][2]));
        CHECK(!log_says("resumed"));
    }
}

/* Before the first checkpoint nothing of the run is lost, so what run.json says now is what begins; aloud. */
TEST(a_run_json_that_was_changed_before_anything_was_saved_counts)
{
    make_run("cosine");
    CHECK_INT(RUN("train", RUN_OPTIONS, "--lr", "3e-3", "--steps", "10", "--schedule", "cosine",
                  "--out", kept("other"), "--quiet")
                  ->code,
              0);
    CHECK_OK(pt_fs_remove(in_run("checkpoints"), &err), err);
    CHECK_OK(pt_fs_remove(in_run("model.tinygpt"), &err), err);
    edit("run.json", "\"lr\": 0.002", "\"lr\": 0.003");
    result *r = RUN("train", "--resume", kept("run"));
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "there is no checkpoint yet: the run begins at the start, with the "
                           "settings that run.json holds now\n"));
    CHECK(weights_hash(in_run("model.tinygpt")) == weights_hash(kept("other/model.tinygpt")));
}

/* run.json would hold other bytes, and the run would go on with those. */
TEST(texts_that_run_json_cannot_hold_are_refused)
{
    fresh_folder();
    const char *run = kept("run"), *other = kept("t\xff.txt");
    put(other, "call me a whale of a tale\n", 26);
    check_refused(RUN("train", RUN_OPTIONS, "--out", run, "--separator", "\xff"), 2,
                  "--separator is not UTF-8, so run.json cannot record it: write its bytes as "
                  "\\xHH");
    check_refused(RUN("train", RUN_OPTIONS, "--out", run, "--prompt", "\xc3("), 2,
                  "--prompt is not UTF-8, so run.json cannot record it: give it in UTF-8");
    check_refused(RUN("train", RUN_OPTIONS, "--out", run, "--corpus", other), 2,
                  "--corpus is not UTF-8, so run.json cannot record it: rename it, or name a link");
    CHECK(!pt_fs_exists(run));
    make_run("constant");
    put(kept("t\xff.txt"), "call me a whale of a tale\n", 26);
    check_refused(RUN("train", "--resume", run, "--corpus", kept("t\xff.txt")), 2, "not UTF-8");
    CHECK_INT(RUN("train", "--resume", run, "--prompt", "\xc3\xa9", "--quiet")->code, 0);
}

/* Where a run lies is not recorded; its command is, for people, and says the same bytes. */
TEST(a_run_may_lie_at_any_path)
{
    static char text[1 << 14];
    fresh_folder();
    const char *run = kept("r\xff'n");
    CHECK_INT(RUN("train", RUN_OPTIONS, "--steps", "3", "--out", run, "--quiet")->code, 0);
    read_whole(kept("r\xff'n/run.json"), text, sizeof text);
    CHECK(strstr(text, "/r\\\\xff\\\\x27n' --quiet"));
    CHECK_INT(RUN("train", "--resume", run, "--steps", "5", "--quiet")->code, 0);
    CHECK(pt_fs_exists(kept("r\xff'n/checkpoints/step-00000005")));
}

TEST(a_run_json_does_not_say_where_to_write)
{
    static const char *const added[] = {"\"out\": \"/elsewhere\"", "\"force_memory\": true",
                                        "\"quiet\": true", "\"depth\": 3", "\"dry-run\": true"};
    for (size_t i = 0; i < sizeof added / sizeof added[0]; i++) {
        char text[100];
        make_run("constant");
        snprintf(text, sizeof text, "\"arguments\": {%s,", added[i]);
        edit("run.json", "\"arguments\": {", text);
        check_refused(RUN("train", "--resume", kept("run")), 2, "which no run records");
    }
}

TEST(what_a_run_cannot_be_told)
{
    make_run("constant");
    const char *run = kept("run");
    check_refused(RUN("train", "--resume", run, "--depth", "3"), 2, "--depth is for a new run");
    check_refused(RUN("train", "--resume", run, "--steps", "5"), 2,
                  "--steps is 5, and the run is at step 10 already");
    check_refused(RUN("train", "--resume", ""), 2, "--resume is empty");
    check_refused(RUN("train", "--resume", in_run("run.json")), 2, "is a file: give --resume");
    CHECK_INT(pt_fs_size(in_run("model.tinygpt")) > 0, 1);
}

TEST(a_large_run_json_is_read)
{
    static char members[3 << 20];
    make_run("constant");
    size_t n = read_whole(in_run("run.json"), members, sizeof members);
    while (members[n - 1] != '}') n--;
    n -= 1;
    static const char more[] = ", \"more\": \"", end[] = "\"}\n";
    memcpy(members + n, more, sizeof more - 1);
    n += sizeof more - 1;
    memset(members + n, 'x', 2 << 20);
    n += 2 << 20;
    memcpy(members + n, end, sizeof end - 1);
    n += sizeof end - 1;
    put(in_run("run.json"), members, n);
    CHECK_INT(RUN("train", "--resume", kept("run"), "--quiet")->code, 0);
    CHECK_INT(RUN("train", "--resume", kept("run"), "--quiet")->code, 0);
}

TEST(fewer_checkpoints_are_kept_from_the_start)
{
    make_run("constant");
    CHECK(pt_fs_exists(in_run("checkpoints/step-00000005")));
    CHECK_OK(pt_fs_remove(in_run("checkpoints/best.json"), &err), err);
    CHECK_INT(RUN("train", "--resume", kept("run"), "--keep", "1", "--quiet")->code, 0);
    CHECK(!pt_fs_exists(in_run("checkpoints/step-00000005")));
    CHECK(pt_fs_exists(in_run("checkpoints/step-00000010")));
}

static void count_events(void *ctx, const char *name, bool folder)
{
    *(int *)ctx += !folder && pt_str_starts(name, "events.out.");
}

/* --no-tensorboard is of one sitting, not of the run. */
TEST(event_files_left_out_once_come_again)
{
    make_run("constant");
    const char *run = kept("run");
    int n[3] = {0};
    CHECK_OK(pt_fs_list(run, count_events, &n[0], &err), err);
    CHECK_INT(RUN("train", "--resume", run, "--steps", "12", "--no-tensorboard", "--quiet")->code,
              0);
    CHECK_OK(pt_fs_list(run, count_events, &n[1], &err), err);
    CHECK_INT(RUN("train", "--resume", run, "--steps", "14", "--quiet")->code, 0);
    CHECK_OK(pt_fs_list(run, count_events, &n[2], &err), err);
    CHECK(n[0] == 1 && n[1] == 1 && n[2] == 2);
}

TEST(another_text_is_refused)
{
    make_run("constant");
    static char text[6001];
    memset(text, 'x', sizeof text);
    put(kept("same-size.txt"), text, 6000);
    put(kept("shorter.txt"), text, 5000);
    check_refused(RUN("train", "--resume", kept("run"), "--corpus", kept("same-size.txt")), 2,
                  "is not the run's text");
    check_refused(RUN("train", "--resume", kept("run"), "--corpus", kept("shorter.txt")), 2,
                  "has 5000 bytes, the run's text has 6000");
    CHECK(rename(kept("text.txt"), kept("moved.txt")) == 0);
    check_refused(RUN("train", "--resume", kept("run")), 7, "text.txt");
    CHECK_INT(RUN("train", "--resume", kept("run"), "--corpus", kept("moved.txt"), "--quiet")->code,
              0);
    CHECK_INT(RUN("train", "--resume", kept("run"), "--quiet")->code, 0); /* run.json was told */
}

TEST(a_dry_run_of_a_run_that_goes_on_tells_of_the_steps_left)
{
    make_run("constant");
    result *r = RUN("train", "--resume", kept("run"), "--steps", "25", "--dry-run");
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->out, "\n  15 steps after step 10 "));
    r = RUN("train", "--resume", kept("run"), "--dry-run", "--json");
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->out, "\"time\":{\"steps\":0,\"seconds\":0,"));
    CHECK(!log_says("resumed"));
}

TEST(a_run_is_repeated_from_its_run_json)
{
    make_run("cosine");
    result *r = RUN("train", "--config", in_run("run.json"), "--out", kept("again"), "--quiet");
    if (r->code) printf("%s", r->error);
    CHECK_INT(r->code, 0);
    CHECK(weights_hash(in_run("model.tinygpt")) == weights_hash(kept("again/model.tinygpt")));
    r = RUN("train", "--config", in_run("run.json"), "--out", kept("other"), "--seed", "7",
            "--quiet");
    CHECK_INT(r->code, 0);
    CHECK(weights_hash(in_run("model.tinygpt")) != weights_hash(kept("other/model.tinygpt")));
}

TEST(folders_that_are_no_runs)
{
    make_run("constant");
    const char *json = in_run("run.json");
    check_refused(RUN("train", "--resume", kept("none")), 7, "holds no run");
    CHECK(!pt_fs_exists(kept("none")));
    put(json, "{", 1);
    check_refused(RUN("train", "--resume", kept("run")), 2, "run.json");
    put(json, "[]", 2);
    check_refused(RUN("train", "--resume", kept("run")), 2,
                  "run.json: format is 'missing', it must be posttrain-run");
    static const char newer[] = "{\"format\":\"posttrain-run\",\"version\":2}";
    put(json, newer, sizeof newer - 1);
    check_refused(RUN("train", "--resume", kept("run")), 6, "version is 2");
    static const char older[] = "{\"format\":\"posttrain-run\",\"version\":1}";
    put(json, older, sizeof older - 1);
    check_refused(RUN("train", "--resume", kept("run")), 6, "did not record");
    static const char strange[] =
        "{\"format\":\"posttrain-run\",\"version\":1,\"arguments\":{\"stpes\":3}}";
    put(json, strange, sizeof strange - 1);
    check_refused(RUN("train", "--resume", kept("run")), 2, "did you mean --steps");
    CHECK_OK(pt_fs_remove(json, &err), err);
    check_refused(RUN("train", "--resume", kept("run"), RUN_OPTIONS), 8, "not empty");
    /* a folder without a run is one to begin, when the rest is given */
    CHECK_INT(RUN("train", "--resume", kept("new"), RUN_OPTIONS, "--steps", "3", "--quiet")->code,
              0);
    CHECK(pt_fs_exists(kept("new/model.tinygpt")));
}

TEST(another_instruction_set_is_said_aloud)
{
    static char json[1 << 14];
    make_run("constant");
    read_whole(in_run("run.json"), json, sizeof json);
    if (strstr(json, "\"isa\": \"base\"")) SKIP("this machine has one instruction set");
    result *r = RUN("train", "--resume", kept("run"), "--isa", "base", "--steps", "12", "--quiet");
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "goes on with base") && strstr(r->error, "not bit for bit"));
    /* a run that began with the slower one keeps it, unasked */
    CHECK_INT(
        RUN("train", RUN_OPTIONS, "--steps", "5", "--isa", "base", "--out", kept("slow"), "--quiet")
            ->code,
        0);
    r = RUN("train", "--resume", kept("slow"), "--steps", "6");
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "cpu (base,") && !strstr(r->error, "not bit for bit"));
}

/* A step of 100000 micro-batches takes minutes: the first signal does not wait for it. */
TEST(a_signal_does_not_wait_for_a_long_step)
{
    fresh_folder();
    pid_t pid = start((const char *const[]){"train", RUN_OPTIONS, "--accum", "1000000", "--steps",
                                            "3", "--out", kept("run"), NULL});
    wait_for_words("\"type\":\"val\",\"step\":0");
    kill(pid, SIGTERM);
    time_t before = time(NULL);
    check_refused(wait_for(pid), 143, "saved");
    CHECK(time(NULL) - before < 20);
    CHECK(pt_fs_exists(in_run("checkpoints/step-00000000/manifest.json")));
    pid = start((const char *const[]){"train", "--resume", kept("run"), NULL});
    wait_for_words("\"type\":\"resumed\",\"step\":0,\"checkpoint\":true");
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    kill(pid, SIGINT);
    check_refused(wait_for(pid), 130, "saved");
}

PT_PROGRAM_TEST_MAIN
