/* The program itself, killed at moments that nobody chose, and going on with --resume: in the end its log and its model are
 * those of a run that nothing happened to. make test kills a few times, make fault fifty times in one run.
 * SPDX-License-Identifier: MIT */
#include <sys/resource.h>

#include "fault.h"

#include "../program.h"

static uint32_t next_random(void)
{
    static uint32_t state = 12345;
    state = state * 1664525U + 1013904223U;
    return state >> 8;
}

/* Words after `train`; the same for beginning and for going on, so that it does not matter when the first kill comes. */
static pid_t start_train(const char *folder, const char *steps)
{
    return start((const char *const[]){"train",
                                       "--resume",
                                       folder,
                                       "--corpus",
                                       kept("text.txt"),
                                       "--preset",
                                       "tiny",
                                       "--steps",
                                       steps,
                                       "--batch",
                                       "4",
                                       "--accum",
                                       "2",
                                       "--lr",
                                       "3e-3",
                                       "--schedule",
                                       "cosine",
                                       "--warmup",
                                       "5",
                                       "--dropout",
                                       "0.1",
                                       "--eval-every",
                                       "20",
                                       "--eval-batches",
                                       "2",
                                       "--sample-every",
                                       "30",
                                       "--sample-tokens",
                                       "10",
                                       "--save-every",
                                       "5",
                                       "--threads",
                                       "2",
                                       NULL});
}

static void pause_us(long us) { nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL); }

static int64_t log_size(const char *folder)
{
    char path[600];
    snprintf(path, sizeof path, "%s/log.jsonl", folder);
    int64_t size = pt_fs_size(path);
    return size < 0 ? 0 : size;
}

static void note_unfinished(void *ctx, const char *name, bool folder)
{
    char path[1200];
    const char **both = ctx;
    snprintf(path, sizeof path, "%s/%s/manifest.json", both[0], name);
    if (folder && pt_str_starts(name, "step-") && !pt_fs_exists(path)) both[1] = "yes";
}

static bool is_saving(const char *folder)
{
    char path[600];
    const char *both[2] = {path, NULL};
    snprintf(path, sizeof path, "%s/checkpoints", folder);
    if (pt_fs_is_folder(path)) pt_fs_list(path, note_unfinished, both, NULL);
    return both[1] != NULL;
}

static bool has_ended(pid_t pid, int *status) { return waitpid(pid, status, WNOHANG) == pid; }

/* Kills the process once the log has grown by `bytes` and a little later, or where `saving` in the next save it is
 * caught at. False when it ended first. */
static bool kill_after(pid_t pid, const char *folder, int64_t bytes, bool saving)
{
    int status = 0;
    int64_t enough = log_size(folder) + bytes;
    while (log_size(folder) < enough || (saving && !is_saving(folder))) {
        if (has_ended(pid, &status)) {
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
            return false;
        }
        if (!saving) pause_us(100);
    }
    if (!saving) pause_us(next_random() % 3000);
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, &status, 0) == pid);
    return !WIFEXITED(status);
}

TEST(killed_at_any_moment_it_becomes_the_same_run)
{
    char whole[512], broken[512];
    int wanted = fault_long() ? 50 : 12, killed = 0, in_saves = 0;
    const char *steps = fault_long() ? "600" : "120";
    fresh_folder();
    text_file();
    snprintf(whole, sizeof whole, "%s", in_folder("whole"));
    snprintf(broken, sizeof broken, "%s", in_folder("broken"));
    CHECK_INT(wait_for(start_train(whole, steps))->code, 0);
    int64_t per_kill = log_size(whole) / wanted; /* spread over the run */
    for (int i = 0; i < 4 * wanted && killed < wanted; i++) {
        bool saving = i % 3 == 1;
        pid_t pid = start_train(broken, steps);
        int64_t bytes = i == 0 ? 0 : per_kill / 2 + next_random() % (uint32_t)per_kill;
        if (!kill_after(pid, broken, bytes, saving)) break;
        killed++;
        in_saves += is_saving(broken);
        fault_check_loads(broken);
    }
    printf("killed %d times, %d of them within a save\n", killed, in_saves);
    CHECK(killed >= wanted / 2);
    result *r = wait_for(start_train(broken, steps));
    if (r->code) printf("%s", r->error);
    CHECK_INT(r->code, 0);
    fault_check_same(broken, whole);
    fault_check_tidy(broken, 3);
}

/* ulimit -f: as a disk that is full. The run ends with a sentence, and goes on when there is room. */
TEST(a_file_that_may_not_grow_ends_the_run_and_loses_nothing)
{
    static const rlim_t room[] = {200, 5000, 400000, 845000};
    char whole[512], broken[512];
    fresh_folder();
    text_file();
    snprintf(whole, sizeof whole, "%s", in_folder("whole"));
    snprintf(broken, sizeof broken, "%s", in_folder("broken"));
    CHECK_INT(wait_for(start_train(whole, "20"))->code, 0);
    for (int i = 0; i < 4; i++) {
        struct rlimit old;
        getrlimit(RLIMIT_FSIZE, &old);
        struct rlimit less = {room[i], old.rlim_max};
        setrlimit(RLIMIT_FSIZE, &less);
        pid_t pid = start_train(broken, "20");
        setrlimit(RLIMIT_FSIZE, &old);
        check_refused(wait_for(pid), 4, "cannot ");
        if (log_size(broken)) fault_check_loads(broken);
    }
    CHECK_INT(wait_for(start_train(broken, "20"))->code, 0);
    fault_check_same(broken, whole);
    fault_check_tidy(broken, 3);
}

static void wait_for_a_step(const char *folder)
{
    for (int i = 0; i < 100000 && log_size(folder) < 400; i++) pause_us(200);
    CHECK(log_size(folder) >= 400);
}

TEST(a_second_program_on_the_run_is_refused)
{
    fresh_folder();
    text_file();
    const char *run = kept("run");
    pid_t pid = start_train(run, "1000000");
    wait_for_a_step(run);
    check_refused(wait_for(start_train(run, "1000000")), 8, "another process");
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, NULL, 0) == pid);
}

PT_PROGRAM_TEST_MAIN
