/* The test runner: TEST(name) { CHECK(…); CHECK_CLOSE(got, want, tol); } and PT_TEST_MAIN.
 *
 * One program per test file. A failed check prints file, line and values and ends that test. The
 * program's last line is "N passed, N failed" and it exits 1 when a test failed. Arguments are substrings of
 * test names to run. Hosted only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_TEST_H
#define PT_BASE_TEST_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "base/status.h"

/* A sanitizer uses memory and time of its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PT_SANITIZED 1
#elif defined(__has_feature)
#define PT_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define PT_SANITIZED 0
#endif

typedef struct pt_test {
    const char *name;
    void (*fn)(void);
    struct pt_test *next;
} pt_test;

static pt_test *pt_test_first, **pt_test_last = &pt_test_first;
static jmp_buf pt_test_jump;
static int pt_test_skipped;

#define TEST(id)                                            \
    static void test_##id(void);                            \
    static pt_test entry_##id = {#id, test_##id, NULL};     \
    __attribute__((constructor)) static void add_##id(void) \
    {                                                       \
        *pt_test_last = &entry_##id;                        \
        pt_test_last = &entry_##id.next;                    \
    }                                                       \
    static void test_##id(void)

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            printf("%s:%d: CHECK failed: %s\n", __FILE__, __LINE__, #condition); \
            longjmp(pt_test_jump, 1);                                            \
        }                                                                        \
    } while (0)
#define CHECK_INT(got, want)                                                                \
    do {                                                                                    \
        long long got_ = (long long)(got), want_ = (long long)(want);                       \
        if (got_ != want_) {                                                                \
            printf("%s:%d: %s = %lld, want %lld\n", __FILE__, __LINE__, #got, got_, want_); \
            longjmp(pt_test_jump, 1);                                                       \
        }                                                                                   \
    } while (0)
#define CHECK_STR(got, want)                                                      \
    do {                                                                          \
        const char *got_ = (got), *want_ = (want);                                \
        if (!got_ || strcmp(got_, want_) != 0) {                                  \
            printf("%s:%d: %s = \"%s\", want \"%s\"\n", __FILE__, __LINE__, #got, \
                   got_ ? got_ : "(null)", want_);                                \
            longjmp(pt_test_jump, 1);                                             \
        }                                                                         \
    } while (0)
/* |got - want| <= tol; a NaN on either side fails. */
#define CHECK_CLOSE(got, want, tol)                                                             \
    do {                                                                                        \
        double got_ = (double)(got), want_ = (double)(want), tol_ = (double)(tol);              \
        if (!(pt_fabs(got_ - want_) <= tol_)) {                                                 \
            printf("%s:%d: %s = %.17g, want %.17g within %g (off by %g)\n", __FILE__, __LINE__, \
                   #got, got_, want_, tol_, got_ - want_);                                      \
            longjmp(pt_test_jump, 1);                                                           \
        }                                                                                       \
    } while (0)
/* The status is PT_OK; prints the error's message if not. */
#define CHECK_OK(call, err)                                                                    \
    do {                                                                                       \
        pt_status status_ = (call);                                                            \
        if (status_ != PT_OK) {                                                                \
            printf("%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, pt_status_name(status_), \
                   (err).message);                                                             \
            longjmp(pt_test_jump, 1);                                                          \
        }                                                                                      \
    } while (0)
/* Leaves the test, saying why it cannot run here. */
#define SKIP(why)                  \
    do {                           \
        printf("skip: %s\n", why); \
        pt_test_skipped++;         \
        return;                    \
    } while (0)

/* In a function of its own, so that no local of the caller lives across setjmp. */
static inline bool pt_test_call(void (*fn)(void))
{
    if (setjmp(pt_test_jump) != 0) return false;
    fn();
    return true;
}

static inline int pt_test_run(int argc, char **argv)
{
    int passed = 0, failed = 0;
    for (pt_test *t = pt_test_first; t; t = t->next) {
        int wanted = argc < 2;
        for (int i = 1; i < argc; i++) wanted |= strstr(t->name, argv[i]) != NULL;
        if (!wanted) continue;
        int skipped_before = pt_test_skipped;
        if (pt_test_call(t->fn)) {
            if (pt_test_skipped == skipped_before) passed++;
        } else {
            printf("FAIL %s\n", t->name);
            failed++;
        }
        fflush(stdout);
    }
    if (pt_test_skipped)
        printf("%d passed, %d failed, %d skipped\n", passed, failed, pt_test_skipped);
    else printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
#define PT_TEST_MAIN \
    int main(int argc, char **argv) { return pt_test_run(argc, argv); }

#endif
