/* The verdict's rules and the computed curves, on made-up runs. SPDX-License-Identifier: MIT */
#include "factory/verdict.h"

#include "base/test.h"
#include "factory/curve.h"
#include "train/pace.h"

#define MOST 4000

static pt_run_step steps[MOST];
static pt_run_val vals[64];
static pt_run run;

/* Roughly normal, of standard deviation 1. */
static double noise(uint64_t i)
{
    double sum = 0;
    for (uint64_t k = 0; k < 12; k++) {
        uint64_t x = (i * 12 + k + 1) * 0x9e3779b97f4a7c15u;
        x ^= x >> 31;
        x *= 0xbf58476d1ce4e5b9u;
        x ^= x >> 29;
        sum += (double)(x >> 11) / 9007199254740992.0;
    }
    return sum - 6;
}

static void new_run(int64_t n)
{
    run = (pt_run){.steps = steps, .n_steps = n, .vals = vals, .how = "finished", .status = "OK"};
    for (int64_t i = 0; i < n; i++) steps[i] = (pt_run_step){.step = i + 1, .loss = 2};
}

static pt_verdict judge(pt_verdict_kind want)
{
    pt_verdict v = pt_verdict_of(&run);
    if (v.kind != want) printf("%s: %s\n", pt_verdict_name(v.kind), v.because);
    CHECK_STR(pt_verdict_name(v.kind), pt_verdict_name(want));
    CHECK(strlen(v.because) > 20 && v.because[strlen(v.because) - 1] == '.');
    CHECK(strlen(pt_verdict_words(v.kind)) > 5 && strlen(pt_verdict_advice(v.kind, false)) > 5);
    return v;
}

static void fall(double to, double speed, double sd)
{
    for (int64_t i = 0; i < run.n_steps; i++)
        steps[i].loss = to + (5.5 - to) * pt_exp(-speed * (double)i / (double)run.n_steps) +
                        sd * noise((uint64_t)i);
}

TEST(too_short)
{
    for (int n = 0; n < PT_VERDICT_MIN_STEPS; n += 7) {
        new_run(n);
        fall(1, 5, 0.1);
        judge(PT_VERDICT_TOO_SHORT);
    }
    new_run(PT_VERDICT_MIN_STEPS);
    fall(1, 5, 0.01);
    judge(PT_VERDICT_FALLING);
}

TEST(still_falling)
{
    new_run(1000);
    fall(1, 4, 0.05);
    CHECK(strstr(judge(PT_VERDICT_FALLING).because, "100 steps") != NULL);
}

TEST(plateau)
{
    new_run(1000);
    fall(2, 30, 0.05);
    judge(PT_VERDICT_PLATEAU);
    new_run(1000); /* all the same, without noise */
    judge(PT_VERDICT_PLATEAU);
    new_run(4000); /* a fall too small to matter, though it stands out of the noise */
    for (int i = 0; i < 4000; i++) steps[i].loss = 2 - 0.003 * i / 4000;
    judge(PT_VERDICT_PLATEAU);
}

TEST(the_sentence_agrees_with_its_numbers)
{
    new_run(1000);
    for (int i = 0; i < 1000; i++) steps[i].loss = 2 + 0.1 * noise((uint64_t)i);
    for (int i = 900; i < 1000; i++) steps[i].loss -= 0.012; /* more than chance, less than twice */
    CHECK(strstr(judge(PT_VERDICT_PLATEAU).because, "this is no more than twice that.") != NULL);
    new_run(4000);
    for (int i = 0; i < 4000; i++) steps[i].loss = 2 - 0.003 * i / 4000;
    CHECK(strstr(judge(PT_VERDICT_PLATEAU).because, "but less than 0.2 %") != NULL);
    new_run(1000);
    fall(2, 30, 0);
    for (int i = 900; i < 1000; i++) steps[i].loss += 0.1;
    CHECK(strstr(judge(PT_VERDICT_RISING).because, "rose by 0.1000") != NULL);
    CHECK(strstr(judge(PT_VERDICT_RISING).because, "; this is more than twice that.") != NULL);
    new_run(1000);
    for (int i = 0; i < 1000; i++) steps[i].loss = 0.012 + 1e-5 * noise((uint64_t)i);
    for (int i = 900; i < 1000; i++) steps[i].loss -= 2e-4;
    pt_verdict v = judge(PT_VERDICT_FALLING);
    CHECK(strstr(v.because, "fell by 0.00020, from 0.01200 to 0.01180 (means of 100 steps"));
    CHECK(strstr(v.because, "differ by about 0.0000014; this is more"));
    CHECK(strstr(pt_verdict_advice(PT_VERDICT_FALLING, true), "the schedule ended") != NULL);
    CHECK(!strstr(pt_verdict_advice(PT_VERDICT_FALLING, false), "ended the fall"));
}

TEST(a_run_cut_short_is_no_plateau)
{
    new_run(120);
    for (int i = 0; i < 120; i++) steps[i].loss = 2 + 0.1 * noise((uint64_t)i);
    judge(PT_VERDICT_PLATEAU);
    run.total_steps = 1000;
    CHECK(strstr(judge(PT_VERDICT_TOO_SHORT).because, "Step 120 of 1000") != NULL);
    run.total_steps = 120;
    judge(PT_VERDICT_PLATEAU);
}

/* Noise alone must seldom look like a fall: 2 errors, one side: some 2 %. */
TEST(noise_is_seldom_taken_for_a_fall)
{
    int falls = 0, rises = 0;
    for (uint64_t k = 0; k < 300; k++) {
        new_run(200);
        for (uint64_t i = 0; i < 200; i++) steps[i].loss = 2 + 0.1 * noise(k * 200 + i);
        pt_verdict_kind kind = pt_verdict_of(&run).kind;
        falls += kind == PT_VERDICT_FALLING;
        rises += kind == PT_VERDICT_RISING;
        CHECK(kind == PT_VERDICT_FALLING || kind == PT_VERDICT_RISING ||
              kind == PT_VERDICT_PLATEAU);
    }
    CHECK(falls <= 20 && rises <= 20);
}

TEST(diverged)
{
    new_run(1000);
    fall(2, 20, 0.05);
    for (int i = 800; i < 1000; i++) steps[i].loss += (i - 800) * 0.02;
    judge(PT_VERDICT_DIVERGED);
    new_run(1000); /* it gives back less than half */
    fall(2, 20, 0.05);
    for (int i = 800; i < 1000; i++) steps[i].loss += (i - 800) * 0.003;
    judge(PT_VERDICT_RISING);
    new_run(20); /* also when it is short */
    steps[7].loss = PT_NAN;
    CHECK(strstr(judge(PT_VERDICT_DIVERGED).because, "step 8") != NULL);
    new_run(20);
    run.how = "step 21 went to infinity or NaN; first bad tensor: x";
    run.status = "DIVERGED";
    CHECK(strstr(judge(PT_VERDICT_DIVERGED).because, "bad tensor") != NULL);
}

/* It never learned anything that it could give back. */
TEST(worse_than_knowing_nothing)
{
    new_run(100);
    run.vocab = 256;
    for (int i = 0; i < 100; i++) steps[i].loss = 5.6 + 0.01 * noise((uint64_t)i);
    judge(PT_VERDICT_PLATEAU);
    for (int i = 0; i < 100; i++) steps[i].loss = 10 + noise((uint64_t)i);
    CHECK(strstr(judge(PT_VERDICT_DIVERGED).because, "ln 256 = 5.545") != NULL);
    run.vocab = 0; /* not known */
    judge(PT_VERDICT_PLATEAU);
}

static void add_val(int64_t step, double loss) { vals[run.n_vals++] = (pt_run_val){step, loss}; }

TEST(overfitting)
{
    static const double bad[] = {4, 2.5, 2.2, 2.23, 2.24}, brief[] = {4, 2.5, 2.2, 2.24, 2.21},
                        slight[] = {4, 2.5, 2.2, 2.205, 2.21};
    new_run(1000);
    fall(0.5, 3, 0.03);
    for (int i = 0; i < 5; i++) add_val(200 * (i + 1), bad[i]);
    pt_verdict v = judge(PT_VERDICT_OVERFITTING);
    CHECK(strstr(v.because, "step 600") && strstr(v.because, "2.2000") &&
          strstr(v.because, "1.8 %"));
    run.n_vals = 0; /* the last one is good again */
    for (int i = 0; i < 5; i++) add_val(200 * (i + 1), brief[i]);
    judge(PT_VERDICT_FALLING);
    run.n_vals = 0; /* below 1 % */
    for (int i = 0; i < 5; i++) add_val(200 * (i + 1), slight[i]);
    judge(PT_VERDICT_FALLING);
    run.n_vals = 0; /* the training loss did not fall meanwhile */
    for (int i = 0; i < 5; i++) add_val(200 * (i + 1), bad[i]);
    for (int i = 500; i < 1000; i++) steps[i].loss = 1.5;
    judge(PT_VERDICT_PLATEAU);
}

/* The training loss is too noisy to tell, the evaluations are not. */
TEST(a_slow_fall_that_only_the_evaluations_show)
{
    new_run(1000);
    for (int i = 0; i < 1000; i++) steps[i].loss = 2.2 - 0.0001 * i + 0.2 * noise((uint64_t)i);
    judge(PT_VERDICT_PLATEAU);
    for (int i = 0; i < 3; i++) add_val(250 * (i + 1), 2.2 - 0.025 * i);
    judge(PT_VERDICT_PLATEAU); /* three are too few */
    add_val(1000, 2.12);
    pt_verdict v = judge(PT_VERDICT_FALLING);
    CHECK(strstr(v.because, "2.2000 at step 250") && strstr(v.because, "2.1200 at step 1000"));
    CHECK(strstr(v.because, "4 evaluations"));
    vals[3].loss = 2.148; /* the last one fell by less than 0.2 % */
    judge(PT_VERDICT_PLATEAU);
    vals[3].loss = 2.12, vals[1].loss = 2.21; /* not all of the four fall */
    judge(PT_VERDICT_PLATEAU);
    vals[1].loss = PT_NAN; /* three are left */
    judge(PT_VERDICT_PLATEAU);
    run.n_vals = 0; /* it fell long ago */
    for (int i = 0; i < 40; i++) add_val(25 * (i + 1), i < 30 ? 3 - 0.03 * i : 2.1);
    judge(PT_VERDICT_PLATEAU);
    run.n_vals = 0; /* many, with noise: 8 of them count */
    for (int i = 0; i < 40; i++)
        add_val(25 * (i + 1), 2.5 - 0.005 * i + 0.002 * noise((uint64_t)i));
    CHECK(strstr(judge(PT_VERDICT_FALLING).because, "over 8 evaluations") != NULL);
}

TEST(noise_of_evaluations_is_seldom_taken_for_a_fall)
{
    static const int counts[] = {4, 10, 40, 63};
    for (int c = 0; c < 4; c++) {
        int falls = 0;
        for (uint64_t k = 0; k < 300; k++) {
            new_run(100);
            for (int i = 0; i < counts[c]; i++)
                add_val(i + 1, 2 + 0.02 * noise(k * 64 + (uint64_t)i));
            falls += pt_verdict_of(&run).kind == PT_VERDICT_FALLING;
        }
        CHECK(falls <= 20);
    }
}

TEST(a_spike_without_a_finite_loss_that_was_left_out)
{
    new_run(1000);
    fall(1, 4, 0.05);
    steps[950].loss = PT_INF;
    judge(PT_VERDICT_DIVERGED);
    steps[950].spike = true;
    judge(PT_VERDICT_FALLING);
    CHECK(pt_is_finite(pt_run_train_loss(&run)));
    steps[995] = steps[950];
    CHECK(pt_is_finite(pt_run_train_loss(&run)));
}

/* ---- computed curves ---- */

/* What the progress line would have said at each step, whatever comes after it. */
TEST(smoothing_is_the_trend_of_the_progress_line)
{
    static double y[1000], out[1000], early[1000];
    pt_pace pace;
    for (int i = 0; i < 1000; i++) y[i] = 3;
    pt_smooth(y, 1000, out);
    for (int i = 0; i < 1000; i++) CHECK_CLOSE(out[i], 3, 1e-12);
    for (int i = 0; i < 1000; i++) y[i] = 2 + 3.0 / (i + 1) + 0.1 * noise((uint64_t)i);
    pt_smooth(y, 500, early);
    y[500] = 90;
    pt_smooth(y, 1000, out);
    CHECK(memcmp(out, early, 500 * sizeof *out) == 0 && out[500] > 5);
    pt_pace_begin(&pace, 0);
    for (int i = 0; i < 1000; i++) {
        pt_pace_step(&pace, i, 1, y[i]);
        CHECK(out[i] == pace.fast.value);
    }
    CHECK_CLOSE(out[9], (y[0] + y[1] + y[2] + y[3] + y[4] + y[5] + y[6] + y[7] + y[8] + y[9]) / 10,
                1e-12);
    y[0] = y[1] = PT_NAN;
    y[500] = PT_INF;
    pt_smooth(y, 1000, out);
    CHECK(pt_is_nan(out[1]) && out[2] == y[2] && out[500] == out[499]);
    for (int i = 2; i < 1000; i++) CHECK(pt_is_finite(out[i]));
    pt_smooth(y, 0, out);
}

PT_TEST_MAIN
