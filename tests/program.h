/* For tests of whole runs through the command line: starts the program that was built beside the tests. Hosted only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TESTS_PROGRAM_H
#define PT_TESTS_PROGRAM_H

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/json.h"
#include "base/test_folder.h"

static const char *program = "build/posttrain";
static const char *program_input = "/dev/null"; /* a file, its standard input */
static const char *program_output;              /* the same; NULL: what the test is shown */

typedef struct result {
    int code; /* exit code; 1000 + signal when it died of one */
    char out[1 << 18], error[8192];
    size_t n_out;
} result;

static inline size_t read_whole(const char *path, char *to, size_t cap)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(to, 1, cap - 1, f) : 0;
    if (f) fclose(f);
    to[n] = 0;
    return n;
}

/* In a child: never returns. */
static inline void become_program(const char *const *words)
{
    const char *argv[40] = {program};
    for (int i = 0; words[i]; i++) argv[i + 1] = words[i];
    union {
        const char **in;
        char **out;
    } cast = {argv};
    execv(program, cast.out);
    _exit(127);
}

static inline pid_t start(const char *const *words)
{
    pid_t pid = fork();
    if (pid) return pid;
    int in = open(program_input, O_RDONLY);
    const char *to = program_output ? program_output : in_folder("stdout");
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    int error = open(in_folder("stderr"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(in, 0), dup2(out, 1), dup2(error, 2);
    become_program(words);
    return -1;
}

static result program_result; /* of the newest that has ended */

static inline result *wait_for(pid_t pid)
{
    result *r = &program_result;
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    r->code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    r->n_out = read_whole(in_folder("stdout"), r->out, sizeof r->out);
    read_whole(in_folder("stderr"), r->error, sizeof r->error);
    return r;
}

#define RUN(...) wait_for(start((const char *const[]){__VA_ARGS__, NULL}))

/* The program ends with this code and one line "posttrain: … words …" on stderr, which says nothing else. */
static inline void check_refused(const result *r, int code, const char *words)
{
    if (r->code != code || !strstr(r->error, words)) printf("exit %d: %s", r->code, r->error);
    CHECK_INT(r->code, code);
    CHECK(strstr(r->error, words) != NULL);
    const char *last = strstr(r->error, "posttrain: ");
    CHECK(last != NULL);
    CHECK(strchr(last, '\n') == last + strlen(last) - 1);
}

static inline void put(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(bytes, 1, n, f) == n);
    fclose(f);
}

/* A small corpus, in the test's folder. */
static inline const char *text_file(void)
{
    static char path[512];
    static char text[6001];
    for (int i = 0; i < 6000; i++) text[i] = "call me a whale of a tale, said he. "[i % 36];
    snprintf(path, sizeof path, "%s", in_folder("text.txt"));
    put(path, text, 6000);
    return path;
}

static inline const char *kept(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s", in_folder(name));
    return path;
}

/* For PT_TEST_MAIN: build/tests/x_test stands beside build/posttrain. */
static inline int program_test_main(int argc, char **argv)
{
    static char path[1024];
    const char *slash = strrchr(argv[0], '/');
    snprintf(path, sizeof path, "%.*s/../posttrain", slash ? (int)(slash - argv[0]) : 1,
             slash ? argv[0] : ".");
    program = path;
    return pt_test_run(argc, argv);
}
#define PT_PROGRAM_TEST_MAIN \
    int main(int argc, char **argv) { return program_test_main(argc, argv); }

#endif
