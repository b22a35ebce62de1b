/* kill -9 before any call that changes a file, on a run and on the runs that go on with it: what is there loads, and
 * the finished run is the one that nothing happened to, bit for bit. The invariants I1 to I6 of io/checkpoint.c are
 * what makes it so.
 * SPDX-License-Identifier: MIT */
#include <signal.h>

#include "base/fs_calls.h"
#include "fault.h"

static pt_error err;

/* One process on the run, killed before its nth call; writes take at most `piece` bytes at a time (0: any number).
 * False when it came to its end first. */
static bool train_and_die(int64_t nth, int64_t piece)
{
    fflush(stdout);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        pt_error none = {0};
        pt_fs_limit_writes(piece);
        pt_fs_die_after(nth);
        pt_status s = fault_train(fault_broken, &none);
        if (s) fprintf(stderr, "%s\n", none.message);
        _exit(s ? 1 : 0);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return true;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return false;
}

static void finish_and_compare(void)
{
    CHECK(!train_and_die(0, 0));
    fault_check_same(fault_broken, fault_whole);
    fault_check_loads(fault_broken);
    fault_check_tidy(fault_broken, KEEP);
    CHECK_OK(pt_fs_remove(fault_broken, &err), err);
}

TEST(killed_once_before_any_call)
{
    int64_t nth = 1, stride = fault_long() ? 1 : 7, killed = 0;
    fault_make_whole(&err);
    for (; train_and_die(nth, 0); nth += stride, killed++) {
        fault_check_loads(fault_broken);
        finish_and_compare();
    }
    CHECK(nth > 150 && killed > 150 / stride);
}

/* Then dying in the middle of a record or of a checkpoint is possible too. */
TEST(killed_once_in_the_middle_of_a_write)
{
    int64_t nth = 1, stride = fault_long() ? 5 : 61, killed = 0;
    fault_make_whole(&err);
    for (; train_and_die(nth, nth % 2 ? 48 : 1000); nth += stride, killed++) {
        fault_check_loads(fault_broken);
        finish_and_compare();
    }
    CHECK(killed > 3);
}

TEST(a_mix_with_shards_killed_once_before_any_call)
{
    int64_t nth = 1, stride = fault_long() ? 1 : 23, killed = 0;
    fault_run = FAULT_MIX;
    fault_make_whole(&err);
    for (; train_and_die(nth, 0); nth += stride, killed++) {
        fault_check_loads(fault_broken);
        finish_and_compare();
    }
    fault_run = FAULT_PLAIN;
    CHECK(killed > 150 / stride);
}

static int rollbacks_of(const char *folder)
{
    char path[600];
    pt_strbuf log = {0};
    int n = 0;
    snprintf(path, sizeof path, "%s/log.jsonl", folder);
    fault_read(path, &log);
    pt_strbuf_putc(&log, 0);
    for (const char *at = log.data; (at = strstr(at, "\"type\":\"rollback\"")); at++) n++;
    pt_strbuf_deinit(&log);
    return n;
}

/* Also within a rollback, before and after the checkpoints that know of it; and within a record of the event file. */
TEST(a_run_that_rolls_back_killed_once_before_any_call)
{
    int64_t nth = 1, stride = fault_long() ? 3 : 53, killed = 0;
    fault_run = FAULT_ROLLBACK;
    fault_make_whole(&err);
    CHECK_INT(rollbacks_of(fault_whole), 2); /* for two steps; what spikes again is left out */
    for (; train_and_die(nth, nth % 2 ? 0 : 100); nth += stride, killed++) {
        fault_check_loads(fault_broken);
        CHECK(!train_and_die(0, 0));
        fault_events events = fault_count_events(fault_broken);
        CHECK(events.files >= 1 && events.files <= 2 && events.whole >= events.files - 1);
        CHECK(rollbacks_of(fault_broken) >= 1);
        finish_and_compare(); /* once more: nothing is left to do */
    }
    fault_run = FAULT_PLAIN;
    CHECK(killed > 300 / stride);
}

/* Every process of the run is killed, each a little later than the one before, so that it gets on. */
TEST(killed_again_and_again)
{
    int64_t rounds = fault_long() ? 30 : 3;
    fault_make_whole(&err);
    for (int64_t round = 0; round < rounds; round++) {
        int64_t nth = 1 + round % 20, killed = 0; /* a run makes some 60 calls */
        for (; train_and_die(nth, round % 3 ? 0 : 500); killed++) {
            fault_check_loads(fault_broken);
            nth += 1 + (nth * 7 + round) % 13;
        }
        CHECK(killed > 3);
        finish_and_compare();
    }
}

PT_TEST_MAIN
