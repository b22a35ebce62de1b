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

/* Steps from..to with the loss `loss`, evaluated and sampled every 100. */
static void add_stretch(pt_strbuf *log, int from, int to, double loss)
{
    for (int i = from; i <= to; i++) {
        pt_strbuf_printf(
            log,
            "{\"type\":\"step\",\"step\":%d,\"loss\":%g,\"seconds\":%g,\"spike\":%s,\"t\":1}\n", i,
            loss, loss, i % 70 == 0 ? "true" : "false");
        if (i % 100) continue;
        pt_strbuf_printf(log, "{\"type\":\"val\",\"step\":%d,\"val_loss\":%g}\n", i, loss);
        pt_strbuf_printf(log, "{\"type\":\"sample\",\"step\":%d,\"text\":\"%g\"}\n", i, loss);
    }
}

static int64_t count_spikes(void)
{
    int64_t n = 0;
    for (int64_t i = 0; i < run.n_steps; i++) n += run.steps[i].spike;
    return n;
}

static void read_strbuf(pt_strbuf *log)
{
    CHECK(!log->failed);
    read_log(log->data);
    pt_strbuf_deinit(log);
}

/* Killed at 1198, gone on from 1000, stopped at 1078: it said "unfinished", step 1198. */
TEST(steps_that_a_resume_abandoned_do_not_count)
{
    pt_strbuf log = {0};
    pt_strbuf_puts(&log, "{\"type\":\"meta\",\"batch\":1,\"accum\":1,\"ctx\":10}\n");
    add_stretch(&log, 1, 1000, 2);
    add_stretch(&log, 1001, 1198, 1);
    pt_strbuf_puts(&log, "{\"type\":\"meta\"}\n"
                         "{\"type\":\"resumed\",\"step\":1000,\"checkpoint\":true}\n");
    add_stretch(&log, 1001, 1078, 2);
    pt_strbuf_puts(&log, "{\"type\":\"save\",\"step\":1078}\n"
                         "{\"type\":\"end\",\"step\":1078,\"status\":\"INTERRUPTED\",\"how\":"
                         "\"stopped\"}\n");
    read_strbuf(&log);
    CHECK_STR(pt_run_state(&run), "stopped");
    CHECK_INT(pt_run_last_step(&run), 1078);
    CHECK_INT(run.n_steps, 1078);
    CHECK_INT(count_spikes(), 1078 / 70);
    CHECK_INT(run.n_vals, 10);
    CHECK_INT(run.n_samples, 10);
    CHECK_CLOSE(pt_run_train_loss(&run), 2, 0);
    CHECK_CLOSE(pt_run_speed(&run), 5, 1e-12);
    CHECK_CLOSE(run.vals[pt_run_best_val(&run)].loss, 2, 0);
    CHECK_INT(run.n_events, 3);
    CHECK_INT(run.events[0].to, 1000);
}

TEST(a_save_stands_before_a_spike_of_a_later_step)
{
    read_log("{\"type\":\"save\",\"step\":5}\n{\"type\":\"spike\",\"step\":9}\n"
             "{\"type\":\"spike\",\"step\":11}\n{\"type\":\"spike\",\"step\":12}\n"
             "{\"type\":\"save\",\"step\":10}\n{\"type\":\"rollback\",\"step\":13,\"to\":10}\n"
             "{\"type\":\"save\",\"step\":12}\n");
    const int64_t want[] = {5, 9, 10, 11, 12, 13, 12};
    CHECK_INT(run.n_events, 7);
    for (int i = 0; i < 7; i++) CHECK_INT(run.events[i].step, want[i]);
}

TEST(a_step_saved_before_and_after_its_evaluation_is_one_event)
{
    read_log("{\"type\":\"save\",\"step\":5,\"t\":1}\n{\"type\":\"save\",\"step\":10,\"t\":2}\n"
             "{\"type\":\"val\",\"step\":10,\"val_loss\":2}\n"
             "{\"type\":\"save\",\"step\":10,\"t\":3}\n"
             "{\"type\":\"end\",\"step\":10,\"how\":\"finished\"}\n"
             "{\"type\":\"save\",\"step\":10,\"t\":4}\n");
    CHECK_INT(run.n_events, 4);
    CHECK_INT(run.events[0].step, 5);
    CHECK(run.events[1].kind == PT_RUN_SAVED && run.events[1].step == 10);
    CHECK_CLOSE(run.events[1].t, 3, 0); /* the file that is there */
    CHECK(run.events[2].kind == PT_RUN_ENDED && run.events[3].kind == PT_RUN_SAVED);
}

TEST(time_is_that_of_the_sittings)
{
    read_log("{\"type\":\"meta\",\"t\":100}\n{\"type\":\"step\",\"step\":1,\"t\":103}\n"
             "{\"type\":\"refused\",\"step\":9,\"t\":89999}\n"
             "{\"type\":\"meta\",\"t\":90000}\n{\"type\":\"resumed\",\"step\":1,\"t\":90001}\n"
             "{\"type\":\"step\",\"step\":2,\"t\":90006}\n"
             "{\"type\":\"step\",\"step\":3,\"t\":89000}\n" /* the clock was set back */
             "{\"type\":\"step\",\"step\":4,\"t\":89002}\n");
    CHECK_CLOSE(run.seconds, 3 + 5 + 2, 0);
    read_log("{\"type\":\"step\",\"step\":1}\n");
    CHECK(pt_is_nan(run.seconds));
}

TEST(a_run_that_began_again_from_the_start)
{
    pt_strbuf log = {0};
    add_stretch(&log, 1, 150, 1);
    pt_strbuf_puts(&log, "{\"type\":\"resumed\",\"step\":0,\"checkpoint\":false}\n");
    read_strbuf(&log);
    CHECK_INT(run.n_steps + run.n_vals + run.n_samples, 0);
    CHECK_INT(pt_run_last_step(&run), 0);
    CHECK_STR(pt_run_state(&run), "unfinished");
}

TEST(steps_that_a_rollback_abandoned_do_not_count)
{
    pt_strbuf log = {0};
    add_stretch(&log, 1, 390, 2);
    add_stretch(&log, 391, 433, 9);
    pt_strbuf_puts(
        &log,
        "{\"type\":\"spike\",\"step\":433,\"loss\":9,\"limit\":6,\"did\":\"rollback\",\"t\":5}\n"
        "{\"type\":\"rollback\",\"step\":433,\"to\":390,\"lr_scale\":0.5}\n");
    add_stretch(&log, 391, 400, 2);
    pt_strbuf_puts(&log, "{\"type\":\"refused\",\"step\":400,\"why\":\"torn\"}\n");
    read_strbuf(&log);
    CHECK_INT(pt_run_last_step(&run), 400);
    CHECK_INT(run.n_steps, 400);
    CHECK_INT(count_spikes(), 400 / 70);
    CHECK_CLOSE(pt_run_train_loss(&run), 2, 0);
    CHECK_INT(run.n_events, 3);
    CHECK_INT(run.events[0].kind, PT_RUN_SPIKED); /* it did happen */
    CHECK_STR(run.events[0].text, "rollback");
    CHECK_CLOSE(run.events[0].limit, 6, 0);
    CHECK_INT(run.events[1].kind, PT_RUN_ROLLED_BACK);
    CHECK_INT(run.events[1].to, 390);
    CHECK_CLOSE(run.events[1].lr_scale, 0.5, 0);
    CHECK_STR(run.events[2].text, "torn");
}

/* The step of a spike that ends the run is told, but not taken. */
TEST(a_run_that_a_spike_stopped_diverged)
{
    pt_strbuf log = {0};
    add_stretch(&log, 1, 100, 2);
    add_stretch(&log, 101, 101, 50);
    pt_strbuf_puts(&log,
                   "{\"type\":\"spike\",\"step\":101,\"loss\":50,\"limit\":6,\"did\":\"stop\"}\n"
                   "{\"type\":\"end\",\"step\":100,\"status\":\"DIVERGED\",\"how\":\"step "
                   "101: a loss of 50 is a spike, above 6\"}\n");
    read_strbuf(&log);
    CHECK_STR(pt_run_state(&run), "diverged");
    CHECK_INT(pt_run_last_step(&run), 100);
    CHECK_CLOSE(pt_run_train_loss(&run), 2, 0);
}

/* Trying to go on with a run none of whose checkpoints can be used says nothing about how it ended. */
TEST(refused_checkpoints_do_not_make_a_run_unfinished)
{
    read_log("{\"type\":\"end\",\"step\":3,\"status\":\"OK\",\"how\":\"finished\"}\n"
             "{\"type\":\"refused\",\"step\":3,\"why\":\"x\"}\n");
    CHECK_STR(pt_run_state(&run), "finished");
}

/* What no program of ours writes: nothing may break. */
TEST(odd_places_to_stand_at)
{
    read_log("{\"type\":\"resumed\",\"step\":-1}\n{\"type\":\"rollback\",\"step\":3,\"to\":\"x\"}\n"
             "{\"type\":\"step\",\"step\":5,\"loss\":1,\"spike\":7}\n"
             "{\"type\":\"step\",\"step\":4,\"loss\":1}\n"
             "{\"type\":\"rollback\",\"step\":9,\"to\":9223372036854775807}\n"
             "{\"type\":\"resumed\",\"step\":9223372036854775807}\n"
             "{\"type\":\"end\",\"how\":7,\"status\":[]}\n");
    CHECK_INT(run.n_steps, 2);
    CHECK(!run.steps[0].spike && !run.steps[1].spike);
    CHECK_INT(run.bad_lines, 2);
    CHECK_STR(pt_run_state(&run), "unfinished");
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
        const char *status, *how, *state;
    } cases[] = {{"OK", "finished", "finished"},
                 {"INTERRUPTED", "stopped", "stopped"},
                 {"DIVERGED", "step 9 went to infinity or NaN; first bad tensor: x", "diverged"},
                 {"IO", "the disk is full of what went to infinity or NaN", "failed"},
                 {"", "the disk is full", "failed"},
                 {"", "", "unfinished"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char log[200];
        snprintf(log, sizeof log,
                 "{\"type\":\"end\",\"step\":9,\"status\":\"%s\",\"how\":\"%s\"}\n",
                 cases[i].status, cases[i].how);
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
