/* Training data. SPDX-License-Identifier: MIT */
#include "train/data.h"

#include "base/maths.h"

/* ---- windows ---- */

int64_t pt_windows_count(const pt_windows *w) { return pt_max_i64(0, w->n - w->T); }

int64_t pt_windows_start(const pt_windows *w, int64_t g)
{
    if (w->starts) return w->starts[g % w->n_starts];
    int64_t count = pt_windows_count(w);
    if (count < 1) return 0;
    return pt_rng_permute(w->seed, (uint32_t)w->stream, (uint32_t)(g / count), count, g % count);
}

/* ---- mixing ---- */

int pt_mixture_source(const pt_mixture *m, int64_t g, int64_t *sample)
{
    int k = 0;
    *sample = g;
    if (m->n < 2) return 0;
    int64_t block = g / PT_MIX_BLOCK;
    int64_t place = pt_rng_permute(m->seed, (uint32_t)m->stream, (uint32_t)block, PT_MIX_BLOCK,
                                   g % PT_MIX_BLOCK);
    for (; place >= m->share[k]; k++) place -= m->share[k];
    *sample = block * m->share[k] + place;
    return k;
}

int64_t pt_mixture_count(const pt_mixture *m)
{
    int64_t count = 0;
    for (int k = 0; k < m->n; k++) count += pt_windows_count(&m->source[k]);
    return count;
}

pt_status pt_mixture_fill(const pt_mixture *m, int64_t g, int64_t B, int32_t *ids, int32_t *targets,
                          pt_error *err)
{
    for (int64_t b = 0; b < B; b++) {
        int64_t sample;
        const pt_windows *w = &m->source[pt_mixture_source(m, g + b, &sample)];
        int64_t start = w->first + pt_windows_start(w, sample);
        pt_status s =
            pt_tokens_window(&w->tokens, start, w->T, ids + b * w->T, targets + b * w->T, err);
        if (s) return s;
    }
    return PT_OK;
}

bool pt_weights_are_same(const double *a, const double *b, int n)
{
    double sum_a = 0, sum_b = 0;
    for (int k = 0; k < n; k++) sum_a += a[k], sum_b += b[k];
    for (int k = 0; k < n; k++) {
        double part = a[k] / sum_a, apart = pt_fabs(part - b[k] / sum_b);
        if (!(apart <= 1e-12 * part)) return false;
    }
    return true;
}

/* Shares in whole samples of a block, by largest remainders. */
static void set_shares(pt_mixture *m, const double weight[PT_SOURCES_MAX])
{
    if (m->n < 1) return;
    double sum = 0, rest[PT_SOURCES_MAX];
    int64_t left = PT_MIX_BLOCK;
    for (int k = 0; k < m->n; k++) sum += weight[k];
    for (int k = 0; k < m->n; k++) {
        double exact = PT_MIX_BLOCK * (weight[k] / sum);
        m->share[k] = (int64_t)exact;
        rest[k] = exact - (double)m->share[k];
        left -= m->share[k];
    }
    for (; left > 0; left--) {
        int most = 0;
        for (int k = 1; k < m->n; k++) most = rest[k] > rest[most] ? k : most;
        m->share[most]++;
        rest[most] -= 1;
    }
}

/* ---- the split ---- */

static pt_status check_weights(const pt_data *data, pt_error *err)
{
    for (int k = 0; k < data->n && data->weight; k++)
        if (!(data->weight[k] > 0 && data->weight[k] < 1e300))
            return pt_fail(err, PT_BAD_INPUT,
                           "weight %d of the mix is %g, it must be above 0 and below 1e300", k + 1,
                           data->weight[k]);
    return PT_OK;
}

static pt_status split_source(const pt_tokens *tokens, int k, pt_windows *train, pt_windows *held,
                              pt_error *err)
{
    int64_t n = tokens->n, T = train->T, held_out = pt_div_up(n, 10);
    if (n < T + 1) {
        pt_status s =
            pt_fail(err, PT_BAD_INPUT,
                    "the corpus has %lld byte%s, a context of %lld needs at least %lld: give more "
                    "text or a smaller --ctx",
                    (long long)n, n == 1 ? "" : "s", (long long)T, (long long)T + 1);
        if (k) pt_error_prefix(err, "source %d of the mix", k);
        return s;
    }
    if (held_out < T + 1 || n - held_out < T + 1) held_out = 0;
    train->tokens = *tokens;
    train->n = n - held_out;
    train->stream = PT_STREAM_BATCH;
    *held = *train;
    held->first = train->n;
    held->n = held_out;
    held->stream = PT_STREAM_VALIDATE;
    return PT_OK;
}

pt_status pt_data_split(const pt_data *data, int64_t T, uint64_t seed, pt_mixture *train,
                        pt_mixture *validate, pt_error *err)
{
    double weight[PT_SOURCES_MAX], held_weight[PT_SOURCES_MAX];
    *train = (pt_mixture){.seed = seed, .stream = PT_STREAM_MIX};
    *validate = (pt_mixture){.seed = seed, .stream = PT_STREAM_MIX_VALIDATE};
    if (data->n < 1 || data->n > PT_SOURCES_MAX)
        return pt_fail(err, PT_BAD_INPUT, "%d sources of a mix, there must be 1 to %d", data->n,
                       PT_SOURCES_MAX);
    pt_status s = check_weights(data, err);
    for (int k = 0; k < data->n && s == PT_OK; k++) {
        pt_windows own = {.T = T, .seed = seed}, held;
        s = split_source(&data->source[k], data->n > 1 ? k + 1 : 0, &own, &held, err);
        if (s && data->name) pt_error_prefix(err, "%s", data->name);
        if (s) return s;
        weight[train->n] = data->weight ? data->weight[k] : 1;
        train->source[train->n++] = own;
        if (!held.n) continue;
        held_weight[validate->n] = weight[k];
        validate->source[validate->n++] = held;
    }
    if (s) return s;
    set_shares(train, weight);
    set_shares(validate, held_weight);
    for (int k = 0; k < train->n; k++)
        if (train->share[k] == 0)
            return pt_fail(err, PT_BAD_INPUT,
                           "weight %d of the mix is %g: less than the thousandth of the whole "
                           "that a source must have",
                           k + 1, weight[k]);
    return PT_OK;
}
