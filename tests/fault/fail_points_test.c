/* Every call that can fail, failing: a write, an fsync, a rename, a link, an allocation. The run ends with a sentence, what
 * it saved is whole, and the run that goes on becomes the one that nothing happened to.
 * SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/resource.h>

#include "fault.h"

static pt_error err;

static void check_goes_on(void)
{
    fault_check_loads(fault_broken);
    memset(&err, 0, sizeof err);
    CHECK_OK(fault_train(fault_broken, &err), err);
    fault_check_same(fault_broken, fault_whole);
    fault_check_tidy(fault_broken, KEEP);
    CHECK_OK(pt_fs_remove(fault_broken, &err), err);
}

TEST(any_call_fails_once)
{
    int64_t nth = 1, stride = fault_long() ? 1 : 5, failed = 0;
    fault_make_whole(&err);
    for (pt_status s = PT_IO; s; nth += stride) {
        memset(&err, 0, sizeof err);
        pt_fs_fail_after(nth);
        s = fault_train(fault_broken, &err);
        pt_fs_fail_after(0);
        if (s && s != PT_IO) printf("call %lld: %s\n", (long long)nth, err.message);
        CHECK(s == PT_OK || (s == PT_IO && err.message[0]));
        failed += s != PT_OK;
        check_goes_on();
    }
    CHECK(nth > 100 && failed > 100 / stride);
}

TEST(any_call_of_going_on_fails_once)
{
    int64_t stride = fault_long() ? 1 : 9, failed = 0;
    fault_make_whole(&err);
    for (int64_t nth = 1; nth < 100; nth += stride) {
        memset(&err, 0, sizeof err);
        pt_fs_fail_after(70); /* somewhere in the middle */
        CHECK_INT(fault_train(fault_broken, &err), PT_IO);
        memset(&err, 0, sizeof err);
        pt_fs_fail_after(nth);
        pt_status s = fault_train(fault_broken, &err);
        pt_fs_fail_after(0);
        CHECK(s == PT_OK || (s == PT_IO && err.message[0]));
        failed += s != PT_OK;
        check_goes_on();
    }
    CHECK(failed > 50 / stride);
}

TEST(any_allocation_fails_once)
{
    int64_t stride = fault_long() ? 1 : 11, failed = 0;
    fault_make_whole(&err);
    pt_status s = PT_NO_MEMORY;
    for (int64_t nth = 1, quiet = 0; quiet < 2; nth += stride) {
        memset(&err, 0, sizeof err);
        pt_alloc_fail_after(nth);
        s = fault_train(fault_broken, &err);
        pt_alloc_fail_after(0);
        if (s && s != PT_NO_MEMORY) printf("allocation %lld: %s\n", (long long)nth, err.message);
        CHECK(s == PT_OK || (s == PT_NO_MEMORY && err.message[0]));
        failed += s != PT_OK;
        quiet = s ? 0 : quiet + 1;
        check_goes_on();
    }
    CHECK(failed > 40 / stride);
}

/* No file may grow beyond `bytes`, as on a disk that is full; and then there is room again. */
static pt_status train_with_room_for(rlim_t bytes)
{
    fflush(stdout);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        pt_error none = {0};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes});
        pt_status s = fault_train(fault_broken, &none);
        _exit(s && !none.message[0] ? 99 : (int)s);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return (pt_status)WEXITSTATUS(status);
}

TEST(a_full_disk)
{
    static const rlim_t room[] = {0, 100, 900, 2000, 10000, 60000};
    int failed = 0;
    fault_make_whole(&err);
    for (int i = 0; i < 6; i++) {
        pt_status s = train_with_room_for(room[i]);
        CHECK(s == PT_OK || s == PT_IO);
        failed += s == PT_IO;
        if (pt_fs_exists(fault_broken)) check_goes_on();
    }
    CHECK(failed >= 4);
}

PT_TEST_MAIN
