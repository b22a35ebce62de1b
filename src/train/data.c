/* Training data. SPDX-License-Identifier: MIT */
#include "train/data.h"

#include "base/mem.h"
#include "text/bytes.h"

int64_t pt_windows_count(const pt_windows *w) { return pt_max_i64(0, w->n - w->T); }

int64_t pt_windows_start(const pt_windows *w, int64_t g)
{
    if (w->starts) return w->starts[g % w->n_starts];
    int64_t count = pt_windows_count(w);
    if (count < 1) return 0;
    return pt_rng_permute(w->seed, (uint32_t)w->stream, (uint32_t)(g / count), count, g % count);
}

void pt_windows_fill(const pt_windows *w, int64_t g, int64_t B, int32_t *ids, int32_t *targets)
{
    for (int64_t b = 0; b < B; b++) {
        const uint8_t *from = w->bytes + pt_windows_start(w, g + b);
        pt_bytes_encode(from, w->T, ids + b * w->T);
        pt_bytes_encode(from + 1, w->T, targets + b * w->T);
    }
}

pt_status pt_data_split(const pt_windows *whole, pt_windows *train, pt_windows *validate,
                        pt_error *err)
{
    int64_t n = whole->n, T = whole->T, held_out = pt_div_up(n, 10);
    if (n < T + 1)
        return pt_fail(
            err, PT_BAD_INPUT,
            "the corpus has %lld byte%s, a context of %lld needs at least %lld: give more "
            "text or a smaller --ctx",
            (long long)n, n == 1 ? "" : "s", (long long)T, (long long)T + 1);
    if (held_out < T + 1 || n - held_out < T + 1) held_out = 0;
    *train = *validate = *whole;
    train->n = n - held_out;
    train->stream = PT_STREAM_BATCH;
    validate->bytes = whole->bytes + train->n;
    validate->n = held_out;
    validate->stream = PT_STREAM_VALIDATE;
    return PT_OK;
}
