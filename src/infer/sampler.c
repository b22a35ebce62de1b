/* The sampler. SPDX-License-Identifier: MIT */
#include "infer/sampler.h"

#include "base/maths.h"
#include "base/rng.h"

typedef struct pt_candidate {
    double p; /* relative probability: exp((logit - max) / temperature) */
    int32_t id;
} pt_candidate;

pt_status pt_sampler_options_check(const pt_sampler_options *o, pt_error *err)
{
    if (!(o->temperature >= 0 && o->temperature <= 1000))
        return pt_fail(err, PT_BAD_INPUT, "temperature is %g, it must be 0 to 1000",
                       o->temperature);
    if (o->top_k < 0)
        return pt_fail(err, PT_BAD_INPUT, "top-k is %lld, it must be at least 0 (0 = all)",
                       (long long)o->top_k);
    if (!(o->top_p >= 0 && o->top_p <= 1))
        return pt_fail(err, PT_BAD_INPUT, "top-p is %g, it must be 0 to 1", o->top_p);
    if (!(o->min_p >= 0 && o->min_p <= 1))
        return pt_fail(err, PT_BAD_INPUT, "min-p is %g, it must be 0 to 1", o->min_p);
    if (!(o->repetition_penalty >= 0 && o->repetition_penalty <= 1000))
        return pt_fail(err, PT_BAD_INPUT, "repetition penalty is %g, it must be 0 to 1000",
                       o->repetition_penalty);
    return PT_OK;
}

pt_status pt_sampler_init(pt_sampler *s, int64_t vocab, pt_error *err)
{
    s->vocab = vocab;
    s->candidates = pt_alloc((size_t)vocab * sizeof *s->candidates);
    s->seen = pt_alloc((size_t)vocab);
    if (s->candidates && s->seen) return PT_OK;
    pt_sampler_deinit(s);
    return pt_fail(err, PT_NO_MEMORY, "no memory to sample from %lld tokens", (long long)vocab);
}

void pt_sampler_deinit(pt_sampler *s)
{
    pt_free(s->candidates);
    pt_free(s->seen);
    *s = (pt_sampler){0};
}

static void penalise(pt_sampler *s, double penalty, float *logits, const pt_sampler_text *text)
{
    const int32_t *window = text->window;
    int64_t n = text->n;
    if (penalty == 0 || penalty == 1) return;
    for (int64_t i = 0; i < n; i++) {
        int32_t id = window[i];
        if (s->seen[id]) continue;
        s->seen[id] = 1;
        double logit = (double)logits[id];
        logits[id] = (float)(logit > 0 ? logit / penalty : logit * penalty);
    }
    for (int64_t i = 0; i < n; i++) s->seen[window[i]] = 0;
}

/* Index of the first largest finite logit, -1 if there is none. */
static int64_t first_max(const float *logits, int64_t n)
{
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++) {
        if (!pt_is_finite((double)logits[i])) continue;
        if (best < 0 || logits[i] > logits[best]) best = i;
    }
    return best;
}

/* More likely first; equal ones by index. */
static bool before(const pt_candidate *a, const pt_candidate *b)
{
    return a->p > b->p || (a->p == b->p && a->id < b->id);
}

static void sift_down(pt_candidate *heap, int64_t root, int64_t n)
{
    for (;;) {
        int64_t child = 2 * root + 1;
        if (child >= n) return;
        if (child + 1 < n && before(&heap[child], &heap[child + 1])) child++;
        if (!before(&heap[root], &heap[child])) return;
        pt_candidate t = heap[root];
        heap[root] = heap[child];
        heap[child] = t;
        root = child;
    }
}

/* Heapsort, most likely first. */
static void sort_candidates(pt_candidate *c, int64_t n)
{
    for (int64_t i = n / 2 - 1; i >= 0; i--) sift_down(c, i, n);
    for (int64_t end = n - 1; end > 0; end--) {
        pt_candidate t = c[0];
        c[0] = c[end];
        c[end] = t;
        sift_down(c, 0, end);
    }
}

/* How many of the sorted candidates the filters keep: at least one. */
static int64_t keep(const pt_sampler_options *o, const pt_candidate *c, int64_t n)
{
    if (o->top_k > 0) n = pt_min_i64(n, o->top_k);
    if (o->top_p > 0 && o->top_p < 1) {
        double total = 0, sum = 0;
        for (int64_t i = 0; i < n; i++) total += c[i].p;
        int64_t kept = 0;
        while (kept < n && sum < o->top_p * total) sum += c[kept++].p;
        n = kept;
    }
    while (n > 1 && c[n - 1].p < o->min_p * c[0].p) n--;
    return n;
}

static int32_t draw(const pt_candidate *c, int64_t n, double uniform)
{
    double total = 0;
    for (int64_t i = 0; i < n; i++) total += c[i].p;
    double left = uniform * total;
    for (int64_t i = 0; i < n; i++) {
        left -= c[i].p;
        if (left < 0) return c[i].id;
    }
    return c[n - 1].id;
}

static int64_t n_ids(const pt_sampler *s, const pt_sampler_options *o)
{
    return o->n_ids > 0 ? pt_min_i64(o->n_ids, s->vocab) : s->vocab;
}

static pt_status find_best(const pt_sampler *s, const pt_sampler_options *o, const float *logits,
                           int64_t *best, pt_error *err)
{
    *best = first_max(logits, n_ids(s, o));
    if (*best >= 0) return PT_OK;
    return pt_fail(err, PT_CORRUPT, "the model gives no finite logit: its weights are damaged");
}

/* Fills s->candidates with those that temperature and filters leave, most likely first. Returns how many. */
static int64_t choose(pt_sampler *s, const pt_sampler_options *o, const float *logits, int64_t best)
{
    int64_t n = n_ids(s, o), kept = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = ((double)logits[i] - (double)logits[best]) / o->temperature;
        if (pt_is_finite((double)logits[i]))
            s->candidates[kept++] = (pt_candidate){pt_exp(x), (int32_t)i};
    }
    sort_candidates(s->candidates, kept);
    return keep(o, s->candidates, kept);
}

pt_status pt_sampler_pick(pt_sampler *s, const pt_sampler_options *o, const pt_sampler_text *text,
                          float *logits, int32_t *out, pt_error *err)
{
    penalise(s, o->repetition_penalty, logits, text);
    int64_t best = 0;
    pt_status status = find_best(s, o, logits, &best, err);
    if (status) return status;
    *out = (int32_t)best;
    if (o->temperature <= 0) return PT_OK;
    int64_t kept = choose(s, o, logits, best);
    *out = draw(s->candidates, kept,
                pt_rng_uniform(o->seed, PT_STREAM_SAMPLE, 0, (uint64_t)text->position));
    return PT_OK;
}

pt_status pt_sampler_odds(pt_sampler *s, const pt_sampler_options *o, const float *logits,
                          pt_likely *out, int64_t *n, pt_error *err)
{
    int64_t best = 0;
    pt_status status = find_best(s, o, logits, &best, err);
    if (status) return status;
    *n = 1;
    out[0] = (pt_likely){(int32_t)best, 1};
    if (o->temperature <= 0) return PT_OK;
    *n = choose(s, o, logits, best);
    double total = 0;
    for (int64_t i = 0; i < *n; i++) total += s->candidates[i].p;
    for (int64_t i = 0; i < *n; i++)
        out[i] = (pt_likely){s->candidates[i].id, s->candidates[i].p / total};
    return PT_OK;
}
