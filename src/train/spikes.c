/* Loss spikes. SPDX-License-Identifier: MIT */
#include "train/spikes.h"

#include "base/maths.h"
#include "base/mem.h"

static const char *const names[] = {"off", "warn", "skip", "stop", "rollback"};

const char *pt_on_spike_name(pt_on_spike on) { return names[on]; }

bool pt_on_spike_from_name(const char *name, pt_on_spike *out)
{
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = (pt_on_spike)i;
        return true;
    }
    return false;
}

double pt_spikes_limit(const pt_spikes *s, int64_t step)
{
    int64_t known = s->n - s->waiting;
    bool silent = !s->kept_out && s->last && step - s->last <= PT_SPIKE_GAP;
    if (known < PT_SPIKE_WINDOW || silent) return 0;
    double sum = 0;
    for (int64_t i = known - PT_SPIKE_WINDOW; i < known; i++) sum += s->loss[i];
    return (double)(float)(PT_SPIKE_FACTOR * sum / PT_SPIKE_WINDOW);
}

static bool is_spike(double loss, double limit) { return limit > 0 && loss > limit; }

/* What waited is known from now on; `step` is the newest. */
static void let_in(pt_spikes *s, int64_t step)
{
    int64_t last = s->last;
    for (int64_t i = s->n - s->waiting; i < s->n; i++) {
        int64_t at = step - (s->n - 1 - i);
        double limit = pt_spikes_limit(s, at);
        if (!is_spike(s->loss[i], limit)) continue;
        last = at;
        if (s->kept_out) s->loss[i] = limit;
    }
    s->last = last;
    s->waiting = 0;
    int64_t extra = pt_max_i64(0, s->n - PT_SPIKE_WINDOW);
    memmove(s->loss, s->loss + extra, (size_t)(s->n - extra) * sizeof *s->loss);
    s->n -= extra;
}

bool pt_spikes_add(pt_spikes *s, int64_t step, double loss)
{
    bool spike = is_spike(loss, pt_spikes_limit(s, step));
    s->loss[s->n++] = loss;
    s->waiting++;
    if (step % s->every == 0) let_in(s, step);
    return spike;
}

void pt_spikes_write(const pt_spikes *s, pt_json_writer *w, const char *key)
{
    pt_json_begin_object(w, key);
    pt_json_begin_array(w, "losses");
    for (int64_t i = 0; i < s->n; i++) pt_json_double(w, NULL, s->loss[i]);
    pt_json_end_array(w);
    if (s->last) pt_json_i64(w, "last", s->last);
    pt_json_end_object(w);
}

void pt_spikes_read(pt_spikes *s, const pt_json *json, int64_t step)
{
    const pt_json *losses = pt_json_get(json, "losses");
    int64_t waiting = step % s->every, last = 0;
    *s = (pt_spikes){.every = s->every, .kept_out = s->kept_out};
    if (!losses || losses->type != PT_JSON_ARRAY || losses->n_children < waiting ||
        losses->n_children > PT_SPIKE_WINDOW + waiting)
        return;
    pt_json_get_i64(json, "last", &last);
    for (const pt_json *l = losses->child; l; l = l->next) {
        if (l->type != PT_JSON_NUMBER || !pt_is_finite(l->number)) {
            s->n = 0;
            return;
        }
        s->loss[s->n++] = l->number;
    }
    s->waiting = waiting;
    s->last = pt_max_i64(0, pt_min_i64(last, step));
}
