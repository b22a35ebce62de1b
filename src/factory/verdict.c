/* A run judged. SPDX-License-Identifier: MIT */
#include "factory/verdict.h"

#include "base/human.h"
#include "base/maths.h"

typedef struct window {
    double mean, error; /* error: standard error of the mean */
} window;

/* Of W steps from index `from`; of those, a loss that is not finite does not count. */
static window window_at(const pt_run *run, int64_t from, int64_t W)
{
    double sum = 0, square = 0, n = 0;
    for (int64_t i = from; i < from + W; i++)
        if (pt_is_finite(run->steps[i].loss)) sum += run->steps[i].loss, n++;
    double mean = sum / n;
    for (int64_t i = from; i < from + W; i++)
        if (pt_is_finite(run->steps[i].loss))
            square += (run->steps[i].loss - mean) * (run->steps[i].loss - mean);
    return (window){mean, pt_sqrt(square / (n - 1) / n)};
}

static double both(window a, window b) { return pt_sqrt(a.error * a.error + b.error * b.error); }

static bool judge_not_finite(const pt_run *run, pt_verdict *v)
{
    const char *state = pt_run_state(run);
    for (int64_t i = 0; i < run->n_steps; i++) {
        if (pt_is_finite(run->steps[i].loss) || run->steps[i].spike) continue;
        pt_format(v->because, sizeof v->because, "The loss of step %lld is not a finite number.",
                  (long long)run->steps[i].step);
        return true;
    }
    if (strcmp(state, "diverged") != 0) return false;
    pt_format(v->because, sizeof v->because, "The run ended with: %s.", run->how);
    return true;
}

static const char *loss_text(double loss, char out[32]) { return pt_significant(loss, 4, 4, out); }

static bool judge_given_back(const pt_run *run, int64_t W, pt_verdict *v)
{
    window first = window_at(run, 0, W), last = window_at(run, run->n_steps - W, W), best = first;
    for (int64_t i = W; i + W <= run->n_steps; i += W) {
        window w = window_at(run, i, W);
        if (w.mean < best.mean) best = w;
    }
    double learned = first.mean - best.mean, lost = last.mean - best.mean;
    if (learned <= 4 * both(first, best) || lost <= 4 * both(last, best) || lost <= learned / 2)
        return false;
    char was[32], low[32], now[32];
    pt_format(v->because, sizeof v->because,
              "The training loss fell from %s to %s and rose to %s again (means of %lld "
              "steps): more than half "
              "of what was learned is gone.",
              loss_text(first.mean, was), loss_text(best.mean, low), loss_text(last.mean, now),
              (long long)W);
    return true;
}

static bool judge_worse_than_nothing(const pt_run *run, int64_t W, pt_verdict *v)
{
    double last = window_at(run, run->n_steps - W, W).mean, nothing = pt_log((double)run->vocab);
    if (run->vocab < 2 || !(last > 1.1 * nothing)) return false;
    pt_format(v->because, sizeof v->because,
              "The training loss is %.3f (mean of %lld steps), above that of a model that knows "
              "nothing, ln %lld = %.3f.",
              last, (long long)W, (long long)run->vocab, nothing);
    return true;
}

static bool judge_overfitting(const pt_run *run, int64_t W, pt_verdict *v)
{
    int64_t best = pt_run_best_val(run), n = run->n_vals, upto = 0;
    if (best < 0 || n - best < 3) return false;
    const pt_run_val *vals = run->vals;
    double limit = 1.01 * vals[best].loss;
    if (!(vals[n - 1].loss >= limit) || !(vals[n - 2].loss >= limit)) return false;
    while (upto < run->n_steps && run->steps[upto].step <= vals[best].step) upto++;
    if (upto < W) return false;
    double then = window_at(run, upto - W, W).mean, now = window_at(run, run->n_steps - W, W).mean;
    if (now >= then) return false;
    char text[4][32];
    pt_format(v->because, sizeof v->because,
              "The validation loss was best at step %lld (%s) and is %s at step %lld, %.1f %% "
              "above it, while the "
              "training loss fell from %s to %s (means of %lld steps).",
              (long long)vals[best].step, loss_text(vals[best].loss, text[0]),
              loss_text(vals[n - 1].loss, text[1]), (long long)vals[n - 1].step,
              100 * (vals[n - 1].loss / vals[best].loss - 1), loss_text(then, text[2]),
              loss_text(now, text[3]), (long long)W);
    return true;
}

/* PLATEAU, FALLING or RISING; the sentence says which rule it follows from. */
static pt_verdict_kind judge_trend(const pt_run *run, int64_t W, pt_verdict *v)
{
    int64_t n = run->n_steps;
    window before = window_at(run, n - 2 * W, W), last = window_at(run, n - W, W);
    double fall = before.mean - last.mean, move = pt_fabs(fall), error = both(before, last);
    bool beyond = move > 2 * error, matters = move >= 0.002 * before.mean;
    char moved[32], chance[32], then[32], now[32];
    pt_format(v->because, sizeof v->because,
              "The training loss %s by %s, from %s to %s (means of %lld steps, and of the %lld "
              "after them). Chance alone makes such means differ by about %s; this is %s.",
              fall >= 0 ? "fell" : "rose", pt_significant(move, 4, 2, moved),
              loss_text(before.mean, then), loss_text(last.mean, now), (long long)W, (long long)W,
              pt_significant(error, 4, 2, chance),
              !beyond    ? "no more than twice that"
              : !matters ? "more, but less than 0.2 % of the loss"
                         : "more than twice that");
    if (!beyond || !matters) return PT_VERDICT_PLATEAU;
    return fall > 0 ? PT_VERDICT_FALLING : PT_VERDICT_RISING;
}

/* The newest finite evaluations, newest first: their number, at most `cap`. */
static int64_t newest_vals(const pt_run *run, pt_run_val *out, int64_t cap)
{
    int64_t n = 0;
    for (int64_t i = run->n_vals - 1; i >= 0 && n < cap; i--)
        if (pt_is_finite(run->vals[i].loss)) out[n++] = run->vals[i];
    return n;
}

static double mean_of(const pt_run_val *vals, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += vals[i].loss;
    return sum / (double)n;
}

static bool judge_val_falling(const pt_run *run, pt_verdict *v)
{
    pt_run_val newest[2 * PT_VERDICT_MOST_VALS];
    int64_t m = 0, falling = 0;
    for (int64_t i = 0; i < run->n_vals; i++) m += pt_is_finite(run->vals[i].loss);
    int64_t w = pt_min_i64(pt_max_i64(1, m / 10), PT_VERDICT_MOST_VALS);
    int64_t k = newest_vals(run, newest, pt_max_i64(4, 2 * w));
    if (k < 4) return false;
    for (int64_t i = 1; i < k; i++)
        for (int64_t later = 0; later < i; later++)
            falling +=
                (newest[i].loss > newest[later].loss) - (newest[i].loss < newest[later].loss);
    double chance = pt_sqrt((double)(k * (k - 1) * (2 * k + 5)) / 18);
    double before = mean_of(newest + w, w), last = mean_of(newest, w);
    if ((double)falling <= 2 * chance || before - last < 0.002 * before) return false;
    char from[32], to[32];
    pt_format(v->because, sizeof v->because,
              "The validation loss fell from %s at step %lld to %s at step %lld, over %lld "
              "evaluations; the training loss alone does not show it.",
              loss_text(newest[k - 1].loss, from), (long long)newest[k - 1].step,
              loss_text(newest[0].loss, to), (long long)newest[0].step, (long long)k);
    return true;
}

/* A plateau of short windows in a run that was to be longer says nothing about what it would have done. */
static void judge_cut_short(const pt_run *run, int64_t W, pt_verdict *v)
{
    if (W >= PT_VERDICT_SURE_WINDOW || run->total_steps <= pt_run_last_step(run)) return;
    v->kind = PT_VERDICT_TOO_SHORT;
    pt_format(v->because, sizeof v->because,
              "Step %lld of %lld, and no fall stands out between windows of %lld steps, which are "
              "too short to show a slow one.",
              (long long)pt_run_last_step(run), (long long)run->total_steps, (long long)W);
}

pt_verdict pt_verdict_of(const pt_run *run)
{
    pt_verdict v = {.kind = PT_VERDICT_DIVERGED};
    int64_t n = run->n_steps, W = pt_max_i64(PT_VERDICT_MIN_WINDOW, n / 10);
    if (judge_not_finite(run, &v)) return v;
    if (n < PT_VERDICT_MIN_STEPS) {
        v.kind = PT_VERDICT_TOO_SHORT;
        pt_format(v.because, sizeof v.because,
                  "%lld steps are fewer than the %d that a trend needs.", (long long)n,
                  PT_VERDICT_MIN_STEPS);
        return v;
    }
    if (judge_given_back(run, W, &v) || judge_worse_than_nothing(run, W, &v)) return v;
    v.kind = PT_VERDICT_OVERFITTING;
    if (judge_overfitting(run, W, &v)) return v;
    v.kind = judge_trend(run, W, &v);
    if (v.kind == PT_VERDICT_FALLING) return v;
    if (judge_val_falling(run, &v)) v.kind = PT_VERDICT_FALLING;
    else if (v.kind == PT_VERDICT_PLATEAU) judge_cut_short(run, W, &v);
    return v;
}

const char *pt_verdict_name(pt_verdict_kind kind)
{
    static const char *const names[] = {"too short", "diverged", "overfitting",
                                        "falling",   "plateau",  "rising"};
    return names[kind];
}

const char *pt_verdict_words(pt_verdict_kind kind)
{
    static const char *const words[] = {"Too short to say",
                                        "Diverged",
                                        "Overfitting: it learns the text by heart",
                                        "Still falling: more steps would lower the loss",
                                        "Plateau: no fall that stands out",
                                        "Rising: the training loss goes up again"};
    return words[kind];
}

const char *pt_verdict_advice(pt_verdict_kind kind, bool rate_falls)
{
    switch (kind) {
    case PT_VERDICT_TOO_SHORT: return "Train for more steps.";
    case PT_VERDICT_DIVERGED: return "A lower learning rate or a longer warm-up is the usual cure.";
    case PT_VERDICT_OVERFITTING:
        return "The checkpoint nearest the best evaluation is the better model. More text, a "
               "smaller model or dropout help.";
    case PT_VERDICT_FALLING:
        return rate_falls ? "Where the schedule ended the fall, a longer schedule is needed rather "
                            "than steps at its end."
                          : "Train for more steps; a schedule that lets the rate fall at the end "
                            "(cosine, wsd) ends lower.";
    case PT_VERDICT_RISING:
        return "If it goes on so, a lower learning rate is the usual cure; the checkpoint nearest "
               "the best evaluation may be the better model.";
    case PT_VERDICT_PLATEAU: break;
    }
    return rate_falls ? "A larger model, more text, or a schedule that ends later or lower may "
                        "gain more than further steps."
                      : "A larger model, more text, or a schedule that lets the rate fall (cosine, "
                        "wsd) may gain more than further steps.";
}
