/* Values of repeated blocks. SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "bench/measure.h"

pt_status pt_bench_add_sample(pt_bench_samples *s, double value, pt_error *err)
{
    if (s->n == s->capacity) {
        int64_t capacity = pt_max_i64(64, 2 * s->capacity);
        double *grown = pt_realloc(s->value, (size_t)s->capacity * sizeof *grown,
                                   (size_t)capacity * sizeof *grown);
        if (!grown) return pt_fail(err, PT_NO_MEMORY, "no memory for samples");
        s->value = grown;
        s->capacity = capacity;
    }
    s->value[s->n++] = value;
    return PT_OK;
}

/* Linear between the two nearest ranks. */
static double quantile(const double *sorted, int64_t n, double q)
{
    double at = q * (double)(n - 1);
    int64_t below = (int64_t)at;
    int64_t above = pt_min_i64(below + 1, n - 1);
    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

static void sort(double *value, int64_t n)
{
    for (int64_t gap = n / 2; gap > 0; gap /= 2)
        for (int64_t i = gap; i < n; i++) {
            double v = value[i];
            int64_t j = i;
            for (; j >= gap && value[j - gap] > v; j -= gap) value[j] = value[j - gap];
            value[j] = v;
        }
}

void pt_bench_settle(pt_bench_samples *s)
{
    s->median = s->p10 = s->p90 = s->least = s->most = PT_NAN;
    double *sorted = s->n ? pt_alloc((size_t)s->n * sizeof *sorted) : NULL;
    if (!sorted) return;
    memcpy(sorted, s->value, (size_t)s->n * sizeof *sorted);
    sort(sorted, s->n);
    s->median = quantile(sorted, s->n, 0.5);
    s->p10 = quantile(sorted, s->n, 0.1);
    s->p90 = quantile(sorted, s->n, 0.9);
    s->least = sorted[0];
    s->most = sorted[s->n - 1];
    pt_free(sorted);
}
