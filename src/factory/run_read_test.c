/* Reading runs back: good logs, torn ones, hostile ones, resumed ones. SPDX-License-Identifier: MIT */
#include "factory/run_read.h"

#include "base/test_folder.h"

static pt_run run;

static void read_log(const char *log)
{
    pt_error err = {0};
    pt_run_deinit(&run);
    /* an exact copy, so that the address sanitizer sees a read beyond it */
    size_t n = strlen(log);
    char *exact = malloc(n ? n : 1);
    CHECK(exact != NULL);
    memcpy(exact, log, n);
    pt_status s = pt_run_read(&run, NULL, 0, exact, (int64_t)n, &err);
    free(exact);
    CHECK_OK(s, err);
}

TEST(a_whole_run)
{
    pt_error err = {0};
    static const char json[] =
        "{\"started\":\"2026-01-02T03:04:05.678Z\",\"program\":{\"planned_bytes\":5000},"
        "\"model\":{\"params\":99,\"vocab\":256},"
        "\"train\":{\"steps\":7,\"batch\":2,\"accum\":3,\"ctx\":10}}";
    static const char log[] =
        "{\"type\":\"meta\",\"preset\":\"small\",\"params\":1,\"total_steps\":1,\"t\":10}\n"
        "{\"type\":\"val\",\"step\":0,\"val_loss\":5.5,\"t\":11}\n"
        "{\"type\":\"step\",\"step\":1,\"loss\":5,\"lr\":0.1,\"grad_norm\":2,\"seconds\":0.5,\"t\":"
        "12}\n"
        "{\"type\":\"step\",\"step\":2,\"loss\":4,\"lr\":0.2,\"grad_norm\":null,\"seconds\":0.25,"
        "\"t\":13}\n"
        "{\"type\":\"sample\",\"step\":2,\"text\":\"a\\u0000b\",\"t\":14}\n"
        "{\"type\":\"save\",\"step\":2,\"t\":15}\n"
        "{\"type\":\"from the future\",\"x\":1,\"t\":16}\n"
        "{\"type\":\"end\",\"step\":2,\"how\":\"stopped\",\"peak_rss_bytes\":4000,\"t\":17.5}\n";
    CHECK_OK(pt_run_read(&run, json, sizeof json - 1, log, sizeof log - 1, &err), err);
    CHECK(run.json != NULL);
    CHECK_INT(run.total_steps, 7); /* run.json goes before the meta line */
    CHECK_INT(run.params, 99);
    CHECK_INT(run.vocab, 256);
    CHECK_INT(run.tokens_per_step, 60);
    CHECK_STR(run.preset, "small");
    CHECK_STR(run.started, "2026-01-02T03:04:05.678Z");
    CHECK_INT(run.planned_bytes, 5000);
    CHECK_INT(run.peak_bytes, 4000);
    CHECK_INT(run.lines, 8);
    CHECK_INT(run.bad_lines, 0);
    CHECK(!run.torn);
    CHECK_INT(run.n_steps, 2);
    CHECK_CLOSE(run.steps[1].loss, 4, 0);
    CHECK_CLOSE(run.steps[1].lr, 0.2, 0);
    CHECK(pt_is_nan(run.steps[1].grad_norm));
    CHECK_INT(run.n_vals, 1);
    CHECK_INT(run.n_samples, 1);
    CHECK_INT(run.samples[0].n, 3);
    CHECK(memcmp(run.samples[0].bytes, "a\0b", 3) == 0);
    CHECK_INT(run.n_events, 2);
    CHECK_CLOSE(run.first_t, 10, 0);
    CHECK_CLOSE(run.last_t, 17.5, 0);
    CHECK_STR(pt_run_state(&run), "stopped");
    CHECK_CLOSE(pt_run_train_loss(&run), 4.5, 1e-12);
}

TEST(bad_lines_are_counted_and_skipped)
{
    read_log("{\"type\":\"step\",\"step\":1,\"loss\":3}\n"
             "\n"
             "not json\n"
             "{\"type\":\"step\",\"loss\":3}\n" /* which step? */
             "{\"type\":\"step\",\"step\":-4,\"loss\":3}\n"
             "{\"type\":\"step\",\"step\":1.5,\"loss\":3}\n"
             "{\"type\":\"step\",\"step\":99999999999999999999,\"loss\":3}\n"
             "{\"type\":7}\n"
             "{\"step\":3}\n"
             "[1,2]\n"
             "\"text\"\n"
             "{\"type\":\"step\",\"step\":2,\"loss\":\"three\"}\n"
             "{\"type\":\"step\",\"step\":3,\"loss\":1e999}\n"
             "\xff\xfe\n");
    CHECK_INT(run.n_steps, 3);
    CHECK_INT(run.lines, 13);
    CHECK_INT(run.bad_lines, 10);
    CHECK(pt_is_nan(run.steps[1].loss) && pt_is_nan(run.steps[2].loss));
    CHECK(!run.torn);
}

TEST(a_torn_last_line)
{
    static const char line[] =
        "{\"type\":\"step\",\"step\":1,\"loss\":3}\n{\"type\":\"step\",\"step\":2,"
        "\"loss\":2}\n";
    char cut[sizeof line];
    size_t first = strchr(line, '\n') - line + 1, n = sizeof line - 1;
    for (size_t i = 0; i <= n; i++) {
        memcpy(cut, line, i);
        cut[i] = '\0';
        read_log(cut);
        CHECK_INT(run.bad_lines, 0);
        CHECK_INT(run.n_steps, (i >= first - 1) + (i >= n - 1));
        bool whole = i == 0 || i == first - 1 || i == first || i >= n - 1;
        CHECK(run.torn == !whole);
    }
}

TEST(steps_done_again_count_once)
{
    read_log(
        "{\"type\":\"step\",\"step\":1,\"loss\":10}\n{\"type\":\"step\",\"step\":2,\"loss\":20}\n"
        "{\"type\":\"step\",\"step\":3,\"loss\":30}\n{\"type\":\"val\",\"step\":3,\"val_loss\":1}\n"
        "{\"type\":\"end\",\"step\":3,\"how\":\"stopped\"}\n"
        "{\"type\":\"meta\"}\n{\"type\":\"resumed\",\"step\":1}\n"
        "{\"type\":\"step\",\"step\":2,\"loss\":21}\n{\"type\":\"step\",\"step\":3,\"loss\":31}\n"
        "{\"type\":\"val\",\"step\":3,\"val_loss\":2}\n{\"type\":\"step\",\"step\":4,\"loss\":41}"
        "\n");
    CHECK_INT(run.n_steps, 4);
    CHECK_INT(run.n_vals, 1);
    static const double want[] = {10, 21, 31, 41};
    for (int i = 0; i < 4; i++) {
        CHECK_INT(run.steps[i].step, i + 1);
        CHECK_CLOSE(run.steps[i].loss, want[i], 0);
    }
    CHECK_CLOSE(run.vals[0].loss, 2, 0);
    CHECK_INT(run.events[1].kind, PT_RUN_RESUMED);
    CHECK_STR(pt_run_state(&run), "unfinished"); /* it went on after that end */
}

TEST(steps_in_any_order_are_sorted)
{
    static char log[200000];
    size_t at = 0;
    for (int i = 0; i < 3000; i++)
        at += (size_t)snprintf(log + at, sizeof log - at,
                               "{\"type\":\"step\",\"step\":%d,\"loss\":%d}\n", i * 7919 % 1009, i);
    read_log(log);
    CHECK_INT(run.n_steps, 1009);
    for (int64_t i = 0; i < run.n_steps; i++) {
        CHECK_INT(run.steps[i].step, i);
        int last = 0;
        for (int k = 0; k < 3000; k++)
            if (k * 7919 % 1009 == i) last = k;
        CHECK_CLOSE(run.steps[i].loss, last, 0);
    }
}

TEST(states)
{
    static const struct {
        const char *how, *state;
    } cases[] = {{"finished", "finished"},
                 {"stopped", "stopped"},
                 {"step 9 went to infinity or NaN; first bad tensor: x", "diverged"},
                 {"the disk is full", "failed"},
                 {"", "unfinished"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char log[200];
        snprintf(log, sizeof log, "{\"type\":\"end\",\"step\":9,\"how\":\"%s\"}\n", cases[i].how);
        read_log(log);
        CHECK_STR(pt_run_state(&run), cases[i].state);
    }
}

TEST(nothing_at_all)
{
    read_log("");
    CHECK_INT(run.n_steps, 0);
    CHECK_INT(pt_run_best_val(&run), -1);
    CHECK_INT(pt_run_last_val(&run), -1);
    CHECK(pt_is_nan(pt_run_speed(&run)) && pt_is_nan(pt_run_train_loss(&run)));
    CHECK_STR(pt_run_state(&run), "unfinished");
    pt_error err = {0};
    pt_run_deinit(&run);
    CHECK_OK(pt_run_read(&run, "{\"train\":", 9, "", 0, &err), err); /* a damaged run.json */
    CHECK(run.json == NULL);
    pt_run_deinit(&run);
}

TEST(best_and_newest_evaluations)
{
    read_log("{\"type\":\"val\",\"step\":1,\"val_loss\":null}\n{\"type\":\"val\",\"step\":2,\"val_"
             "loss\":3}\n"
             "{\"type\":\"val\",\"step\":3,\"val_loss\":2}\n{\"type\":\"val\",\"step\":4,\"val_"
             "loss\":2.5}\n"
             "{\"type\":\"val\",\"step\":5,\"val_loss\":null}\n");
    CHECK_INT(pt_run_best_val(&run), 2);
    CHECK_INT(pt_run_last_val(&run), 3);
}

TEST(speed_leaves_out_the_warm_up)
{
    read_log("{\"type\":\"meta\",\"batch\":4,\"accum\":1,\"ctx\":25}\n"
             "{\"type\":\"step\",\"step\":1,\"loss\":1,\"seconds\":90}\n"
             "{\"type\":\"step\",\"step\":2,\"loss\":1,\"seconds\":9}\n"
             "{\"type\":\"step\",\"step\":3,\"loss\":1,\"seconds\":9}\n"
             "{\"type\":\"step\",\"step\":4,\"loss\":1,\"seconds\":1}\n"
             "{\"type\":\"step\",\"step\":5,\"loss\":1,\"seconds\":3}\n");
    CHECK_CLOSE(pt_run_speed(&run), 50, 1e-12);
}

TEST(memory_runs_out)
{
    static const char log[] =
        "{\"type\":\"step\",\"step\":2,\"loss\":1}\n{\"type\":\"step\",\"step\":1,"
        "\"loss\":1}\n{\"type\":\"sample\",\"step\":1,\"text\":\"x\"}\n";
    pt_run_deinit(&run);
    for (int nth = 1;; nth++) {
        pt_error err = {0};
        pt_alloc_fail_after(nth);
        pt_status s = pt_run_read(&run, "{}", 2, log, sizeof log - 1, &err);
        pt_alloc_fail_after(0);
        if (s == PT_OK) {
            CHECK(nth > 4);
            break;
        }
        CHECK_INT(s, PT_NO_MEMORY);
    }
    pt_run_deinit(&run);
}

TEST(folders)
{
    pt_error err = {0};
    fresh_folder();
    CHECK_INT(pt_run_open(&run, in_folder("none"), &err), PT_NOT_FOUND);
    CHECK(strstr(err.message, "none") && strstr(err.message, "run.json"));
    put_text(in_folder("log.jsonl"), "{\"type\":\"step\",\"step\":1,\"loss\":2}\n");
    err = (pt_error){0};
    CHECK_OK(pt_run_open(&run, in_folder(""), &err), err);
    CHECK_INT(run.n_steps, 1);
    pt_run_deinit(&run);
    pt_fs_remove(in_folder("log.jsonl"), NULL);
    put_text(in_folder("run.json"), "{\"train\":{\"steps\":5}}");
    CHECK_OK(pt_run_open(&run, in_folder(""), &err), err);
    CHECK_INT(run.total_steps, 5);
    pt_run_deinit(&run);
}

PT_TEST_MAIN
