/* Probabilities from logits. SPDX-License-Identifier: MIT */
#include "infer/likely.h"

#include "base/maths.h"

typedef struct softmax {
    double largest, sum; /* p = exp(logit - largest) / sum; sum is 0 when no logit is finite */
} softmax;

static softmax softmax_of(const float *logits, int64_t n)
{
    softmax s = {0, 0};
    int64_t finite = 0;
    for (int64_t i = 0; i < n; i++) {
        double z = (double)logits[i];
        if (pt_is_finite(z) && (finite++ == 0 || z > s.largest)) s.largest = z;
    }
    for (int64_t i = 0; i < n && finite; i++)
        if (pt_is_finite((double)logits[i])) s.sum += pt_exp((double)logits[i] - s.largest);
    return s;
}

static double probability(const softmax *s, float logit)
{
    return pt_is_finite((double)logit) ? pt_exp((double)logit - s->largest) / s->sum : 0;
}

int64_t pt_likely_top(const float *logits, int64_t n, int64_t k, pt_likely *out)
{
    softmax s = softmax_of(logits, n);
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        double p = s.sum > 0 ? probability(&s, logits[i]) : 0;
        if (p <= 0 || (kept == k && (k == 0 || p <= out[k - 1].p))) continue;
        int64_t at = kept < k ? kept++ : k - 1;
        for (; at > 0 && out[at - 1].p < p; at--) out[at] = out[at - 1];
        out[at] = (pt_likely){(int32_t)i, p};
    }
    return kept;
}

double pt_likely_probability(const float *logits, int64_t n, int64_t id)
{
    if (id < 0 || id >= n) return 0;
    softmax s = softmax_of(logits, n);
    return s.sum > 0 ? probability(&s, logits[id]) : 0;
}
