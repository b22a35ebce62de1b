/* For tests of posttrain train --resume: a run, and what is in its folder.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TESTS_RESUME_H
#define PT_TESTS_RESUME_H

#include "program.h"

static pt_error err;

#define RUN_OPTIONS                                                                   \
    "--corpus", text_file(), "--preset", "tiny", "--batch", "4", "--eval-every", "5", \
        "--save-every", "5", "--lr", "2e-3"

static inline const char *in_run(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "run/%s", name);
    return kept(path);
}

/* A finished run of 10 steps. */
static inline void make_run(const char *schedule)
{
    fresh_folder();
    result *r = RUN("train", RUN_OPTIONS, "--steps", "10", "--schedule", schedule, "--out",
                    kept("run"), "--quiet");
    if (r->code) printf("%s", r->error);
    CHECK_INT(r->code, 0);
}

static inline bool log_says(const char *words)
{
    static char text[1 << 16];
    read_whole(in_run("log.jsonl"), text, sizeof text);
    return strstr(text, words) != NULL;
}

static inline int64_t weights_hash(const char *path)
{
    static char bytes[1 << 20];
    size_t n = read_whole(path, bytes, sizeof bytes);
    CHECK(n > 12 * 70464);
    uint64_t hash = 1469598103934665603U;
    for (size_t i = n - 12 * 70464; i < n; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211U;
    return (int64_t)hash;
}

static inline void wait_for_words(const char *words)
{
    char log[8192] = "";
    for (int i = 0; i < 4000 && !strstr(log, words); i++) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        read_whole(in_run("log.jsonl"), log, sizeof log);
    }
    CHECK(strstr(log, words) != NULL);
}

/* Writes `to` over the first `from` in a file of the run. */
static inline void edit(const char *name, const char *from, const char *to)
{
    static char text[1 << 14], out[1 << 14];
    read_whole(in_run(name), text, sizeof text);
    char *at = strstr(text, from);
    CHECK(at);
    *at = 0;
    int n = snprintf(out, sizeof out, "%s%s%s", text, to, at + strlen(from));
    CHECK_OK(pt_fs_remove(in_run(name), &err), err);
    put(in_run(name), out, (size_t)n);
}

#endif
