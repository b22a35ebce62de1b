/* The detector of loss spikes, at its corners. SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "train/spikes.h"

static pt_error err;

/* Adds the losses of steps first … last, all the same; none may be a spike. */
static void add_flat(pt_spikes *s, int64_t first, int64_t last, double loss)
{
    for (int64_t step = first; step <= last; step++) CHECK(!pt_spikes_add(s, step, loss));
}

TEST(silent_until_the_window_is_full)
{
    pt_spikes s = {.every = 1};
    for (int64_t step = 1; step <= 50; step++) {
        CHECK(pt_spikes_limit(&s, step) == 0);
        CHECK(!pt_spikes_add(&s, step, step == 50 ? 100 : 2));
    }
    CHECK(pt_spikes_limit(&s, 51) == (double)(float)(3 * (49 * 2 + 100) / 50.0));
}

TEST(more_than_three_times_the_mean)
{
    pt_spikes s = {.every = 1};
    add_flat(&s, 1, 50, 2);
    CHECK(pt_spikes_limit(&s, 51) == 6);
    CHECK(!pt_spikes_add(&s, 51, 6)); /* as large is not more */
    CHECK_CLOSE(pt_spikes_limit(&s, 52), 3 * (49 * 2 + 6) / 50.0, 1e-6);
    CHECK(pt_spikes_add(&s, 52, 6.25));
}

/* The spike's loss replaces the oldest, and the next 25 steps are left alone. */
TEST(silent_for_25_steps_after_a_spike)
{
    pt_spikes s = {.every = 1};
    add_flat(&s, 1, 59, 1);
    CHECK(pt_spikes_add(&s, 60, 4));
    for (int64_t step = 61; step <= 85; step++) {
        CHECK(pt_spikes_limit(&s, step) == 0);
        CHECK(!pt_spikes_add(&s, step, 1));
    }
    CHECK_CLOSE(pt_spikes_limit(&s, 86), 3 * (49 * 1 + 4) / 50.0, 1e-6);
    CHECK(pt_spikes_add(&s, 86, 3.25));
}

/* What never reaches the weights is no reason to look away, and raises the mean by no more than its limit. */
TEST(what_is_kept_out_hides_no_other)
{
    pt_spikes s = {.every = 1, .kept_out = true};
    add_flat(&s, 1, 59, 1);
    CHECK(pt_spikes_add(&s, 60, 40));
    CHECK(pt_spikes_limit(&s, 61) == (double)(3 * 52 / 50.0f));
    CHECK(pt_spikes_add(&s, 61, 4));
    add_flat(&s, 62, 73, 1);
    CHECK(pt_spikes_add(&s, 74, 3.25));
}

/* Or a run that meets a harder text would leave out every step to its end. */
TEST(losses_that_stay_high_are_taken_at_last)
{
    pt_spikes s = {.every = 1, .kept_out = true};
    add_flat(&s, 1, 60, 1);
    int64_t left_out = 0;
    for (int64_t step = 61; step <= 200; step++) left_out += pt_spikes_add(&s, step, 10);
    CHECK(left_out > 20 && left_out < 50);
}

/* The definition, with every loss as it counts at hand: limits from the steps up to the last multiple of `every`. */
static double slow_limit(const double *loss, const bool *spike, int64_t step, int64_t every,
                         bool kept_out)
{
    int64_t known = (step - 1) / every * every;
    double sum = 0;
    for (int64_t i = pt_max_i64(1, step - 25); i <= known && !kept_out; i++)
        if (spike[i]) return 0;
    if (known < 50) return 0;
    for (int64_t i = known - 49; i <= known; i++) sum += loss[i];
    return (double)(float)(3 * sum / 50);
}

static void check_limits(int64_t every, bool kept_out)
{
    pt_spikes s = {.every = every, .kept_out = kept_out};
    static double loss[401];
    static bool spike[401];
    int64_t spikes = 0;
    for (int64_t step = 1; step <= 400; step++) {
        bool high = step % 37 == 0 || step == 75 || step == 76;
        loss[step] = 1 + 0.001 * (double)(step * 7 % 13) + (high ? 5 : 0);
        double limit = slow_limit(loss, spike, step, every, kept_out);
        CHECK(pt_spikes_limit(&s, step) == limit);
        spike[step] = limit > 0 && loss[step] > limit;
        CHECK(pt_spikes_add(&s, step, loss[step]) == spike[step]);
        if (spike[step] && kept_out) loss[step] = limit;
        spikes += spike[step];
    }
    CHECK(spikes >= (kept_out ? 8 : 5));
}

TEST(limits_are_as_old_as_the_last_read)
{
    for (int64_t every = 1; every <= PT_MAX_READ_EVERY; every++) {
        check_limits(every, false);
        check_limits(every, true);
    }
}

static double loss_of(int64_t step)
{
    return 1 + 1.0 / (double)(step + 3) + (step % 41 == 0 ? 7 : 0);
}

/* Written and read back after any step: the rest is as if nothing had happened, bit for bit. */
TEST(written_and_read_it_goes_on_as_before)
{
    for (int64_t k = 0; k < 6; k++) {
        for (int64_t cut = 0; cut <= 150; cut++) {
            pt_spikes whole = {.every = 1 + k / 2 * 3, .kept_out = k % 2}, part = whole;
            pt_strbuf text = {0};
            pt_arena arena = {0};
            const pt_json *json = NULL;
            for (int64_t step = 1; step <= cut; step++) pt_spikes_add(&whole, step, loss_of(step));
            pt_json_writer w = pt_json_writer_begin(&text, 0);
            pt_spikes_write(&whole, &w, NULL);
            CHECK_OK(pt_json_parse(text.data, text.len, &arena, &json, &err), err);
            pt_spikes_read(&part, json, cut);
            for (int64_t step = cut + 1; step <= 250; step++) {
                CHECK(pt_spikes_limit(&part, step) == pt_spikes_limit(&whole, step));
                CHECK(pt_spikes_add(&part, step, loss_of(step)) ==
                      pt_spikes_add(&whole, step, loss_of(step)));
            }
            pt_arena_deinit(&arena);
            pt_strbuf_deinit(&text);
        }
    }
}

TEST(anything_else_reads_as_a_run_that_has_just_begun)
{
    static const char *const odd[] = {"3",
                                      "{}",
                                      "{\"losses\":7}",
                                      "{\"losses\":[1,2,\"x\"]}",
                                      "{\"losses\":[1e999]}",
                                      "{\"losses\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
                                      "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
                                      "0,0,0,0,0,0,0,0,0,0,0]}"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        pt_arena arena = {0};
        const pt_json *json = NULL;
        pt_spikes s = {.every = 1, .kept_out = true, .n = 9, .last = 3};
        CHECK_OK(pt_json_parse(odd[i], strlen(odd[i]), &arena, &json, &err), err);
        pt_spikes_read(&s, json, 80);
        CHECK_INT(s.n, 0);
        CHECK_INT(s.last, 0);
        CHECK(s.every == 1 && s.kept_out);
        pt_arena_deinit(&arena);
    }
    pt_spikes s = {.every = 4, .n = 9};
    pt_spikes_read(&s, NULL, 3);
    CHECK_INT(s.n, 0);
}

TEST(names)
{
    pt_on_spike on = PT_SPIKE_OFF;
    CHECK(pt_on_spike_from_name("rollback", &on) && on == PT_SPIKE_ROLLBACK);
    CHECK_STR(pt_on_spike_name(PT_SPIKE_WARN), "warn");
    CHECK(!pt_on_spike_from_name("Warn", &on));
}

PT_TEST_MAIN
