/* What a terminal of 80 columns shows: no line wraps, what is left out or cut does not mislead, a file gets all.
 * SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 /* pseudo-terminals */
#include <poll.h>
#include <sys/ioctl.h>

#include "base/fit_line.h"
#include "program.h"

#define COLUMNS 80

static char screen[1 << 17];

static int new_terminal(char *name, size_t cap)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY);
    CHECK(fd >= 0 && grantpt(fd) == 0 && unlockpt(fd) == 0);
    snprintf(name, cap, "%s", ptsname(fd));
    return fd;
}

static void on_terminal(const char *name, const char *const *words)
{
    struct winsize size = {.ws_row = 24, .ws_col = COLUMNS};
    int fd = open(name, O_RDWR | O_NOCTTY);
    ioctl(fd, TIOCSWINSZ, &size);
    dup2(fd, 0), dup2(fd, 1), dup2(fd, 2);
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    become_program(words);
}

/* Runs it there; everything it wrote is in `screen`. */
static int show(const char *const *words)
{
    char name[64];
    int fd = new_terminal(name, sizeof name), status = 0;
    int keep = open(name, O_RDWR | O_NOCTTY); /* else the first close hangs the terminal up */
    size_t n = 0;
    pid_t pid = fork();
    if (pid == 0) on_terminal(name, words);
    for (bool ended = false;;) {
        char bytes[4096];
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, 50) <= 0) {
            if (ended) break;
            ended = waitpid(pid, &status, WNOHANG) == pid;
            continue;
        }
        ssize_t some = read(fd, bytes, sizeof bytes);
        if (some <= 0) break;
        CHECK(n + (size_t)some < sizeof screen);
        memcpy(screen + n, bytes, (size_t)some);
        n += (size_t)some;
    }
    screen[n] = 0;
    close(keep), close(fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}
#define SHOW(...) show((const char *const[]){__VA_ARGS__, NULL})

/* A line, also one that is rewritten, has at most as many characters as the screen has columns. */
static void check_width(void)
{
    char line[4096];
    for (const char *at = screen; *at;) {
        size_t n = strcspn(at, "\r\n\033");
        CHECK(n < sizeof line);
        memcpy(line, at, n);
        line[n] = 0;
        if (pt_text_columns(line) > COLUMNS) printf("too wide: %s\n", line);
        CHECK(pt_text_columns(line) <= COLUMNS);
        at += n;
        if (pt_str_starts(at, "\033[K")) at += 3;
        else at += *at != 0;
    }
}

static const char *train(const char *name, const char *preset, const char *steps)
{
    const char *run = kept(name);
    CHECK_INT(RUN("train", "--preset", preset, "--corpus", text_file(), "--steps", steps, "--batch",
                  "2", "--out", run, "--quiet")
                  ->code,
              0);
    return run;
}

#define LONG_NAME "runs/a-name-that-is-as-long-as-those-that-people-give-who-try-many-things-first"

TEST(a_list_of_runs_fits_and_keeps_the_ends_of_names)
{
    fresh_folder();
    setenv("XDG_DATA_HOME", kept("data"), 1);
    train("runs/short", "tiny", "4");
    train(LONG_NAME, "tiny", "4");
    CHECK_INT(SHOW("runs", kept("runs")), 0);
    check_width();
    CHECK(strstr(screen, "many-things-first") && strstr(screen, "…"));
    CHECK(strstr(screen, "best val") && strstr(screen, "verdict") && !strstr(screen, "tok/s"));
    const result *r = RUN("runs", kept("runs"));
    CHECK(strstr(r->out, kept(LONG_NAME)) && strstr(r->out, "tok/s"));
}

/* Two texts with one end would look alike if the begin were cut off. */
TEST(differences_of_runs_are_whole)
{
    fresh_folder();
    const char *a = train(LONG_NAME, "tiny", "4"), *b = train("runs/b", "tiny", "6");
    CHECK_INT(SHOW("runs", "compare", a, b), 0);
    check_width();
    CHECK(strstr(screen, "train.steps  ") && strstr(screen, "many-things-first"));
    put_text(kept("other.txt"), "another text, as long as is needed for a window of this model");
    CHECK_INT(RUN("train", "--preset", "tiny", "--corpus", kept("other.txt"), "--steps", "4",
                  "--batch", "2", "--out", kept("runs/c"), "--quiet")
                  ->code,
              0);
    CHECK_INT(SHOW("runs", "compare", a, kept("runs/c")), 0);
    check_width();
    const char *sums = strstr(screen, "\ncorpus.sha256\r\n  ");
    CHECK(sums && strspn(sums + 18, "0123456789abcdef") == 64);
}

TEST(training_and_what_is_around_it_fit)
{
    fresh_folder();
    const char *text = text_file(), *run = kept("run");
    CHECK_INT(SHOW("train", "--preset", "tiny", "--corpus", text, "--steps", "30", "--batch", "2",
                   "--eval-every", "10", "--threads", "1", "--out", run),
              0);
    check_width();
    CHECK(strstr(screen, "(") && strstr(screen, ", 1 thread)") && strstr(screen, "\r\033[K"));
    CHECK(strstr(screen, "30/30  loss ") && !strstr(screen, "?"));
    CHECK_INT(SHOW("train", "--preset", "tiny", "--corpus", text, "--dry-run"), 0);
    check_width();
    CHECK_INT(SHOW("train", "--preset", "gpt2-xl", "--dry-run", "--force-memory"), 0);
    check_width();
    CHECK_INT(SHOW("report", run), 0);
    check_width();
    CHECK_INT(SHOW("inspect", kept("run/model.tinygpt")), 0);
    check_width();
    CHECK_INT(SHOW("data", "preview", text, "--ctx", "64"), 0);
    check_width();
    CHECK_INT(SHOW("devices"), 0);
    check_width();
    CHECK_INT(SHOW("help"), 0);
    check_width();
}

/* A run from standard input that is gone on with by hand must not wait for somebody to type the text. */
TEST(a_text_is_not_waited_for_on_a_terminal)
{
    fresh_folder();
    const char *run = kept("run");
    program_input = text_file();
    CHECK_INT(RUN("train", "--corpus", "-", "--preset", "tiny", "--steps", "2", "--batch", "2",
                  "--out", run, "--quiet")
                  ->code,
              0);
    program_input = "/dev/null";
    CHECK_INT(SHOW("train", "--resume", run, "--steps", "3"), 2);
    CHECK(strstr(screen, "from standard input: pipe it in again, or give it with --corpus FILE"));
}

/* Each preset can be told from the others. */
TEST(the_list_of_presets_tells_them_apart)
{
    fresh_folder();
    const char *text = RUN("train", "--help")->out;
    const char *a = strstr(text, "\n  massive "), *b = strstr(text, "\n  mega ");
    CHECK(a && b);
    static char list[sizeof((result *)0)->out];
    memcpy(list, text, sizeof list);
    const char *tiny = strstr(list, "\n  tiny "), *plan;
    plan = strstr(RUN("train", "--preset", "tiny", "--dry-run")->out, "\n  total ");
    CHECK(tiny && plan); /* what a run of it takes */
    plan += 1 + strcspn(plan + 1, "0123456789");
    size_t digits = strcspn(plan, "\n");
    CHECK(memcmp(tiny + 1 + strcspn(tiny + 1, "\n") - digits, plan, digits) == 0);
    text = list, a = strstr(text, "\n  massive "), b = strstr(text, "\n  mega ");
    CHECK(strtol(strstr(a, "  25,039,872") + 12, NULL, 10) == 14);
    size_t n = strcspn(a + 1, "\n"), m = strcspn(b + 1, "\n");
    CHECK(n == m && n <= COLUMNS);
    CHECK(memcmp(a + 1 + n - 22, b + 1 + n - 22, 22) != 0); /* context and memory */
    CHECK(strstr(text, "\n  tiny "));
    CHECK(!strstr(strstr(text, "\n  tiny "), " -\n")); /* all have a figure of memory */
}

PT_PROGRAM_TEST_MAIN
