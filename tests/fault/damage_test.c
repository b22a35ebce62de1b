/* Checkpoints that are damaged, lack a part, or are of a newer program: refused by name with the reason, and the one
 * before is used. What killed processes leave is swept. Two processes never write into one run.
 * SPDX-License-Identifier: MIT */
#include <signal.h>

#include "fault.h"

static pt_error err;

/* A run that was stopped after step 5: its checkpoints are 4 and 5. */
static void make_broken(void)
{
    CHECK_OK(pt_fs_remove(fault_broken, &err), err);
    fault_stop_after = 5;
    CHECK_OK(fault_train(fault_broken, &err), err);
    fault_stop_after = 0;
}

static const char *path_of(const char *name)
{
    static char paths[4][1024];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", fault_broken, name);
    return path;
}

#define MODEL5 "checkpoints/step-00000005/model.tinygpt"
#define MANIFEST5 "checkpoints/step-00000005/manifest.json"

static void flip(const char *path, long offset)
{
    FILE *f = fopen(path, "r+b");
    CHECK(f);
    fseek(f, offset, offset < 0 ? SEEK_END : SEEK_SET);
    long at = ftell(f);
    int c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ 16, f);
    fclose(f);
}

static void replace_in_manifest(const char *old, const char *new)
{
    char text[4096], out[4096];
    snprintf(text, sizeof text, "%s", text_of(path_of(MANIFEST5)));
    char *at = strstr(text, old);
    CHECK(at);
    *at = 0;
    snprintf(out, sizeof out, "%s%s%s", text, new, at + strlen(old));
    CHECK_OK(pt_fs_remove(path_of(MANIFEST5), &err), err);
    put_text(path_of(MANIFEST5), out);
}

/* A whole model, and a manifest that tells the truth about it; but it is another step's. */
static void put_step_4_in_place_of_5(void)
{
    CHECK_OK(
        pt_fs_publish(path_of("checkpoints/step-00000004/model.tinygpt"), path_of(MODEL5), &err),
        err);
    CHECK_OK(
        pt_fs_publish(path_of("checkpoints/step-00000004/manifest.json"), path_of(MANIFEST5), &err),
        err);
    replace_in_manifest("\"step\": 4", "\"step\": 5");
}

static bool log_says(const char *words)
{
    pt_strbuf log = {0};
    fault_read(path_of("log.jsonl"), &log);
    pt_strbuf_putc(&log, 0);
    bool found = strstr(log.data, words) != NULL;
    pt_strbuf_deinit(&log);
    return found;
}

static void damage(int kind)
{
    switch (kind) {
    case 0: flip(path_of(MODEL5), 40); break; /* in the header */
    case 1: flip(path_of(MODEL5), 4000); break;
    case 2: flip(path_of(MODEL5), -1); break;
    case 3: CHECK(truncate(path_of(MODEL5), 5000) == 0); break;
    case 4: CHECK_OK(pt_fs_remove(path_of(MODEL5), &err), err); break;
    case 5: replace_in_manifest("\"version\": 1", "\"version\": 2"); break;
    case 6: replace_in_manifest("\"step\": 5", "\"step\": 6"); break;
    case 7: replace_in_manifest("model.tinygpt", "../../../model.tinygpt"); break;
    case 8: replace_in_manifest("\"crc32c\": \"", "\"crc32c\": \"X"); break;
    case 9: CHECK(truncate(path_of(MANIFEST5), 30) == 0); break;
    case 10: CHECK(truncate(path_of(MANIFEST5), 0) == 0); break;
    case 11: replace_in_manifest("posttrain-checkpoint", "something else"); break;
    default: put_step_4_in_place_of_5(); break;
    }
}

static const char *const reasons[] = {"model.tinygpt is damaged",
                                      "model.tinygpt is damaged",
                                      "model.tinygpt is damaged",
                                      "has 5000 bytes, the manifest says",
                                      "model.tinygpt is missing",
                                      "of a newer posttrain",
                                      "manifest.json is of step 6",
                                      "it must be model.tinygpt",
                                      "lacks step, bytes or crc32c",
                                      "manifest.json: ",
                                      "manifest.json: ",
                                      "it must be posttrain-checkpoint",
                                      "it is of step 4"};

TEST(what_cannot_be_used_is_named_and_the_one_before_is_used)
{
    fault_make_whole(&err);
    for (int kind = 0; kind < (int)(sizeof reasons / sizeof reasons[0]); kind++) {
        make_broken();
        damage(kind);
        CHECK_OK(fault_train(fault_broken, &err), err);
        if (!log_says(reasons[kind])) printf("%d: %s\n", kind, reasons[kind]);
        CHECK(log_says("\"type\":\"refused\",\"step\":5,\"why\":") && log_says(reasons[kind]));
        CHECK(log_says("\"type\":\"resumed\",\"step\":4,"));
        bool aside = strcmp(reasons[kind], "of a newer posttrain") != 0; /* else left for that */
        CHECK(pt_fs_is_folder(path_of("checkpoints/step-00000005.refused-1")) == aside);
        CHECK(pt_fs_is_folder(path_of("checkpoints/step-00000005")) != aside);
        fault_check_same(fault_broken, fault_whole);
        fault_check_loads(fault_broken);
    }
}

TEST(where_none_can_be_used_nothing_is_touched)
{
    fault_make_whole(&err);
    make_broken();
    flip(path_of(MODEL5), 3000);
    flip(path_of("checkpoints/step-00000004/model.tinygpt"), 3000);
    CHECK_OK(pt_fs_remove(path_of("checkpoints/step-00000002"), &err), err);
    for (int i = 0; i < 2; i++) {
        memset(&err, 0, sizeof err);
        CHECK_INT(fault_train(fault_broken, &err), PT_CORRUPT);
        CHECK(strstr(err.message, "step 5: model.tinygpt is damaged"));
        CHECK(pt_fs_exists(path_of(MODEL5)));
    }
}

TEST(a_torn_log_is_mended)
{
    fault_make_whole(&err);
    make_broken();
    FILE *f = fopen(path_of("log.jsonl"), "ab");
    CHECK(f);
    fputs("{\"type\":\"step\",\"st", f);
    fclose(f);
    CHECK_OK(fault_train(fault_broken, &err), err);
    CHECK(log_says("\"torn_bytes\":18,"));
    CHECK_STR(text_of(path_of("log.jsonl.torn")), "{\"type\":\"step\",\"st\n");
    fault_check_same(fault_broken, fault_whole);
}

/* ---- leftovers ---- */

/* The PID of a process that is no more. */
static int dead_pid(void)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
    return (int)pid;
}

TEST(leftovers_of_dead_processes_are_swept)
{
    static const char *const places[] = {"", "checkpoints/", "checkpoints/step-00000004/",
                                         "checkpoints/step-00000006/"};
    char name[200];
    fault_make_whole(&err);
    make_broken();
    CHECK_OK(pt_fs_make_folder(path_of("checkpoints/step-00000006"), &err), err);
    CHECK_OK(pt_fs_make_folder(path_of("checkpoints/step-00000008"), &err), err);
    put_text(path_of("checkpoints/step-00000006/model.tinygpt"), "half");
    int dead = dead_pid(), alive = (int)getppid();
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s.model.tinygpt.%d.%d.tmp", places[i], dead, i);
        put_text(path_of(name), "left behind");
    }
    snprintf(name, sizeof name, "checkpoints/step-00000008/.model.tinygpt.%d.0.tmp", alive);
    put_text(path_of(name), "being written");
    put_text(path_of(".notes.tmp"), "the user's");
    put_text(path_of(".a.b.c.tmp"), "the user's");
    int64_t swept = 0;
    CHECK_OK(pt_checkpoint_sweep(fault_broken, &swept, &err), err);
    CHECK_INT(swept, 4 + 1); /* and the folder of step 6 */
    CHECK(!pt_fs_exists(path_of("checkpoints/step-00000006")));
    CHECK(pt_fs_exists(path_of(name)));
    CHECK(pt_fs_exists(path_of(".notes.tmp")) && pt_fs_exists(path_of(".a.b.c.tmp")));
    CHECK(pt_fs_exists(path_of("checkpoints/step-00000004/model.tinygpt")));
    CHECK_OK(pt_fs_remove(path_of(name), &err), err);
    CHECK_OK(fault_train(fault_broken, &err), err);
    fault_check_same(fault_broken, fault_whole);
}

/* ---- two processes ---- */

TEST(a_second_process_is_refused_until_the_first_is_gone)
{
    int ready[2];
    pt_run_folder *run = NULL;
    pt_run_found found;
    fault_make_whole(&err);
    make_broken();
    CHECK(pipe(ready) == 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        bool open = pt_run_folder_open(&run, fault_broken, &found, NULL) == PT_OK;
        if (write(ready[1], open ? "y" : "n", 1) == 1) pause();
        _exit(0);
    }
    char answer = 0;
    CHECK(read(ready[0], &answer, 1) == 1 && answer == 'y');
    memset(&err, 0, sizeof err);
    CHECK_INT(fault_train(fault_broken, &err), PT_EXISTS);
    CHECK(strstr(err.message, "another process"));
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, NULL, 0) == pid);
    memset(&err, 0, sizeof err);
    CHECK_OK(fault_train(fault_broken, &err), err);
    fault_check_same(fault_broken, fault_whole);
    close(ready[0]);
    close(ready[1]);
}

/* As the command line begins a run: exit code 0 when it began, 1 when it was refused. */
static int begin_run(void)
{
    pt_run_folder *run = NULL;
    pt_trainer_desc desc = fault_desc();
    const pt_run_description d = {.command = "fault", .corpus_path = "whale"};
    if (pt_run_folder_check(fault_broken, NULL) || pt_run_folder_new(&run, fault_broken, NULL))
        return 1;
    if (pt_run_folder_begin(run, &d, &desc.config, &desc.options, 1, NULL) == PT_OK) {
        pt_run_folder_free(run);
        return 0;
    }
    pt_run_folder_discard(run);
    return 1;
}

static pid_t begin_stopping_at(int64_t nth)
{
    fflush(stdout);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid) return pid;
    pt_fs_stop_after(nth);
    _exit(begin_run());
}

/* One is held up before any call that changes something, while the other begins there and is gone again: whichever has
 * the run, the other one is refused and takes nothing of it away. */
TEST(of_two_processes_that_begin_at_once_one_begins_and_keeps_its_run)
{
    int stops = 0, refused = 0;
    fresh_folder();
    snprintf(fault_broken, sizeof fault_broken, "%s", in_folder("broken"));
    for (int64_t nth = 1;; nth++) {
        int first = 0, second = 0;
        pid_t pid = begin_stopping_at(nth), other;
        CHECK(waitpid(pid, &first, WUNTRACED) == pid);
        if (!WIFSTOPPED(first)) break;
        other = begin_stopping_at(0);
        CHECK(waitpid(other, &second, 0) == other && WIFEXITED(second));
        kill(pid, SIGCONT);
        CHECK(waitpid(pid, &first, 0) == pid && WIFEXITED(first));
        CHECK_INT(WEXITSTATUS(first) + WEXITSTATUS(second), 1);
        CHECK(pt_fs_size(path_of("run.json")) > 0 && pt_fs_size(path_of("log.jsonl")) > 0);
        CHECK_OK(pt_fs_remove(fault_broken, &err), err);
        refused += WEXITSTATUS(first);
        stops++;
    }
    CHECK(stops > 5 && refused > 0 && refused < stops);
}

/* ---- going back ---- */

/* The first step after a checkpoint goes bad: the harm may be in it, so the one before is used, where there is one. */
TEST(a_rollback_right_after_a_checkpoint_goes_one_further_back)
{
    static const int from[] = {36, 31, 21, 25}, to[] = {30, 20, 0, 20};
    static const bool is_left[] = {true, false, false, false}; /* is step 30 still there */
    fault_run = FAULT_ROLLBACK;
    for (int i = 0; i < 4; i++) {
        fresh_folder();
        snprintf(fault_broken, sizeof fault_broken, "%s", in_folder("broken"));
        memset(&err, 0, sizeof err);
        fault_stop_after = 35; /* before it: 30, 20, and 0, the best */
        CHECK_OK(fault_train(fault_broken, &err), err);
        fault_stop_after = 0;
        fault_parts p = {0};
        pt_trainer_desc desc = fault_desc();
        pt_cpu_options cpu = {.threads = 1, .isa = "base"};
        CHECK_OK(pt_device_cpu_new(&p.device, &cpu, &err), err);
        CHECK_OK(pt_trainer_new(&p.trainer, p.device, &desc, &err), err);
        CHECK_OK(fault_open(&p, fault_broken, &err), err);
        CHECK_INT(pt_trainer_step(p.trainer), 35);
        /* what led to it is undone, so a newer program is not to find it either */
        put_text(path_of("checkpoints/step-00000035/manifest.json"),
                 "{\"format\":\"posttrain-checkpoint\",\"version\":2}");
        CHECK_OK(pt_run_folder_roll_back(p.run, p.trainer, from[i], 0.5, &err), err);
        CHECK_INT(pt_trainer_step(p.trainer), to[i]);
        CHECK(pt_fs_exists(path_of("checkpoints/step-00000030")) == is_left[i]);
        CHECK(pt_fs_exists(path_of("checkpoints/step-00000030.refused-1")) != is_left[i]);
        CHECK(pt_fs_exists(path_of("checkpoints/step-00000035.refused-1")));
        pt_trainer_free(p.trainer);
        pt_run_events_close(p.events);
        pt_run_folder_free(p.run);
        pt_device_free(p.device);
        pt_arena_deinit(&p.arena);
    }
    fault_run = FAULT_PLAIN;
}

/* ---- stopping, and the best ---- */

TEST(a_run_stopped_after_any_step_becomes_the_same)
{
    fault_make_whole(&err);
    for (int64_t step = 1; step <= STEPS; step++) {
        CHECK_OK(pt_fs_remove(fault_broken, &err), err);
        for (fault_stop_after = step; fault_stop_after < STEPS; fault_stop_after += 2)
            CHECK_OK(fault_train(fault_broken, &err), err);
        fault_stop_after = step == STEPS ? STEPS : 0; /* also before the last evaluation */
        for (int i = 0; i < 2; i++, fault_stop_after = 0)
            CHECK_OK(fault_train(fault_broken, &err), err);
        fault_check_same(fault_broken, fault_whole);
        fault_check_loads(fault_broken);
        fault_check_tidy(fault_broken, KEEP);
    }
}

/* After the last step it is saved, evaluated, lets the model write, and is saved again: some 600 polls. Asked to stop at any
 * of them it ends within those of one save, which is finished, and goes on to what it would have been. */
TEST(a_stop_after_the_last_step_ends_soon_and_loses_nothing)
{
    int64_t stops = 0, stride = fault_long() ? 1 : 17, most = 0;
    fault_run = FAULT_LONG_LOOKS;
    fault_make_whole(&err);
    for (fault_stop_polls = 0;; fault_stop_polls += stride, stops++) {
        CHECK_OK(pt_fs_remove(fault_broken, &err), err);
        fault_stop_after = STEPS;
        CHECK_OK(fault_train(fault_broken, &err), err);
        if (!fault_polls_then) break;
        most = pt_max_i64(most, fault_polls_then);
        CHECK(pt_fs_exists(path_of("checkpoints/step-00000009/manifest.json")));
        fault_stop_after = 0;
        CHECK_OK(fault_train(fault_broken, &err), err);
        fault_check_same(fault_broken, fault_whole);
        fault_check_loads(fault_broken);
    }
    fault_stop_after = fault_stop_polls = 0;
    fault_run = FAULT_PLAIN;
    printf("stopped at %lld polls, ended within %lld\n", (long long)stops, (long long)most);
    CHECK(stops > 500 / stride && most < 70);
}

TEST(the_best_checkpoint_is_never_pruned)
{
    int64_t best = -1;
    double loss = 0;
    pt_run_folder *run = NULL;
    fresh_folder();
    snprintf(fault_broken, sizeof fault_broken, "%s", in_folder("broken"));
    make_broken();
    pt_run_found found;
    CHECK_OK(pt_run_folder_open(&run, fault_broken, &found, &err), err);
    CHECK_OK(pt_checkpoint_mark_best(fault_broken, 4, 1.5, &err), err);
    for (int64_t step = 10; step < 15; step++) {
        pt_strbuf model = {0}; /* a good one, with the step in the body's first word */
        pt_sink sink;
        fault_read(path_of("checkpoints/step-00000005/model.tinygpt"), &model);
        pt_checkpoint *c = NULL;
        CHECK_OK(pt_checkpoint_begin(&c, fault_broken, step, &sink, &err), err);
        CHECK_OK(sink.write(sink.ctx, model.data, (int64_t)model.len, &err), err);
        CHECK_OK(pt_checkpoint_commit(c, &err), err);
        pt_strbuf_deinit(&model);
    }
    /* the newest is of step 5 inside, so it is not good, and nothing is deleted on its account */
    memset(&err, 0, sizeof err);
    CHECK_INT(pt_checkpoint_prune(fault_broken, 1, 0, &err), PT_CORRUPT);
    CHECK(strstr(err.message, "step 14"));
    for (int64_t step = 10; step < 15; step++)
        CHECK_OK(pt_checkpoint_set_aside(fault_broken, step, &err), err);
    CHECK(pt_checkpoint_best(fault_broken, &best, &loss, &err) == PT_OK && best == 4);
    CHECK_OK(pt_checkpoint_prune(fault_broken, 0, 0, &err), err);
    CHECK(pt_fs_exists(path_of("checkpoints/step-00000004")));
    CHECK_OK(pt_checkpoint_prune(fault_broken, 1, 0, &err), err);
    CHECK(pt_fs_exists(path_of("checkpoints/step-00000004/manifest.json")));
    CHECK(pt_fs_exists(path_of("checkpoints/step-00000005/manifest.json")));
    CHECK(!pt_fs_exists(path_of("checkpoints/step-00000002")));
    put_text(path_of("checkpoints/step-00000004/notes.txt"), "the user's");
    CHECK_OK(pt_checkpoint_mark_best(fault_broken, 5, 1.25, &err), err);
    CHECK_OK(pt_checkpoint_prune(fault_broken, 1, 0, &err), err);
    CHECK(!pt_fs_exists(path_of("checkpoints/step-00000004/manifest.json")));
    CHECK_STR(text_of(path_of("checkpoints/step-00000004/notes.txt")), "the user's");
    CHECK(pt_checkpoint_best(fault_broken, &best, &loss, &err) == PT_OK && best == 5);
    CHECK_CLOSE(loss, 1.25, 0);
    pt_run_folder_free(run);
}

PT_TEST_MAIN
