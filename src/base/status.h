/* Statuses and errors: how every fallible function of the program reports.
 *
 * A function that can fail returns pt_status and takes `pt_error *err` last. err may be NULL.
 * The status decides what happens; the message explains it to a person: it names the thing, the
 * value found, the value wanted and, where there is one, the next step.
 * SPDX-License-Identifier: MIT */
#ifndef PT_BASE_STATUS_H
#define PT_BASE_STATUS_H

#include <stddef.h>
#include <stdint.h>

/* One list gives the enum, the names, the process exit codes, the HTTP statuses and the words. */
#define PT_STATUS_LIST(X) /* name, exit code, http status, words */ \
    X(OK, 0, 200, "ok")                                             \
    X(GATE, 1, 409, "a gate said no")                               \
    X(BAD_INPUT, 2, 400, "invalid input")                           \
    X(NO_MEMORY, 3, 503, "not enough memory")                       \
    X(IO, 4, 500, "file input or output failed")                    \
    X(CORRUPT, 5, 422, "file is damaged")                           \
    X(UNSUPPORTED, 6, 501, "not supported here")                    \
    X(NOT_FOUND, 7, 404, "not found")                               \
    X(EXISTS, 8, 409, "exists already")                             \
    X(DIVERGED, 9, 500, "training diverged")                        \
    X(LOST, 11, 503, "the device was lost")                         \
    X(HUNG_UP, 129, 503, "the terminal went away")                  \
    X(INTERRUPTED, 130, 503, "interrupted")                         \
    X(TERMINATED, 143, 503, "terminated")                           \
    X(PENDING, 10, 202, "still working")                            \
    X(INTERNAL, 70, 500, "internal error")

typedef enum pt_status {
#define PT_STATUS_ENUM(name, exit_code, http, words) PT_##name,
    PT_STATUS_LIST(PT_STATUS_ENUM)
#undef PT_STATUS_ENUM
        PT_STATUS_COUNT
} pt_status;

/* Filled by pt_fail. `file` and `line` are where it was raised (for developers); `offset` is a byte
 * position in the input where that means something, else -1. Caller-owned, copyable. */
typedef struct pt_error {
    pt_status status;
    const char *file;
    int line;
    int64_t offset;
    char message[240];
} pt_error;

#if defined(__GNUC__)
#define PT_PRINTF(fmt_index, first_arg) __attribute__((format(printf, fmt_index, first_arg)))
#else
#define PT_PRINTF(fmt_index, first_arg)
#endif

/* The value is `status`, after storing it with the formatted message in *err (when err is not NULL).
 * The first failure wins: an err that already holds a failure is left as it is. Formats: see
 * base/format.h. `status` is evaluated twice, so that analysers see that the value is not PT_OK. */
#define pt_fail(err, status, ...) pt_fail_offset(err, status, -1, __VA_ARGS__)
/* The same, with the byte offset at which the input went wrong. */
#define pt_fail_offset(err, status, offset, ...) \
    (pt_fail_at((err), (status), (offset), __FILE__, __LINE__, __VA_ARGS__), (status))

void pt_fail_at(pt_error *err, pt_status status, int64_t offset, const char *file, int line,
                const char *fmt, ...) PT_PRINTF(6, 7);

/* Puts "context: " before the message of *err; for callers that know more ("loading adapter").
 * Does nothing when err is NULL or holds no failure. */
void pt_error_prefix(pt_error *err, const char *fmt, ...) PT_PRINTF(2, 3);

/* Constant, never NULL. An out-of-range status reads as INTERNAL. */
const char *pt_status_name(pt_status status);  /* "BAD_INPUT" */
const char *pt_status_words(pt_status status); /* "invalid input" */
int pt_status_exit_code(pt_status status);
int pt_status_http(pt_status status);

#endif
