/* Learning rate schedules. SPDX-License-Identifier: MIT */
#include "train/schedule.h"

#include "base/maths.h"
#include "base/mem.h"

static const char *const kinds[] = {"constant", "cosine", "wsd"};
static const char *const shapes[] = {"1-sqrt", "linear", "cosine"};

/* From high at progress 0 to low at 1. */
static double fall(pt_decay_shape shape, double high, double low, double progress)
{
    switch (shape) {
    case PT_DECAY_1_SQRT: return high - (high - low) * pt_sqrt(progress);
    case PT_DECAY_LINEAR: return high - (high - low) * progress;
    case PT_DECAY_COSINE: break;
    }
    return low + 0.5 * (high - low) * (1.0 + pt_cos(PT_PI * progress));
}

double pt_schedule_lr(const pt_schedule *s, int64_t step)
{
    bool wsd = s->kind == PT_SCHEDULE_WSD;
    int64_t start = wsd ? s->steps - s->decay : s->warmup; /* the last step at lr */
    if (step <= s->warmup) return s->lr * (double)step / (double)s->warmup;
    if (s->kind == PT_SCHEDULE_CONSTANT || step <= start) return s->lr;
    if (step >= s->steps) return s->min_lr;
    double progress = (double)(step - start) / (double)(s->steps - start);
    return fall(wsd ? s->shape : PT_DECAY_COSINE, s->lr, s->min_lr, progress);
}

/* The last step at the highest rate, 0 of none: what comes later depends on where the run ends. */
static int64_t stable_until(const pt_schedule *s)
{
    if (s->kind == PT_SCHEDULE_CONSTANT) return INT64_MAX;
    return s->kind == PT_SCHEDULE_WSD ? pt_max_i64(s->warmup, s->steps - s->decay) : s->warmup;
}

int64_t pt_schedule_same_until(const pt_schedule *a, const pt_schedule *b)
{
    bool end = a->steps == b->steps && a->min_lr == b->min_lr;
    bool wsd = a->kind != PT_SCHEDULE_WSD || (a->decay == b->decay && a->shape == b->shape);
    if (a->kind != b->kind || a->lr != b->lr || a->warmup != b->warmup) return 0;
    return end && wsd ? INT64_MAX : pt_min_i64(stable_until(a), stable_until(b));
}

int64_t pt_schedule_default_decay(int64_t steps) { return pt_max_i64(1, steps / 10); }

static bool find(const char *name, const char *const *names, int n, int *out)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = i;
        return true;
    }
    return false;
}

const char *pt_schedule_name(pt_schedule_kind kind) { return kinds[kind]; }
const char *pt_decay_shape_name(pt_decay_shape shape) { return shapes[shape]; }

bool pt_schedule_from_name(const char *name, pt_schedule_kind *out)
{
    int i = 0;
    if (!find(name, kinds, 3, &i)) return false;
    *out = (pt_schedule_kind)i;
    return true;
}

bool pt_decay_shape_from_name(const char *name, pt_decay_shape *out)
{
    int i = 0;
    if (!find(name, shapes, 3, &i)) return false;
    *out = (pt_decay_shape)i;
    return true;
}
