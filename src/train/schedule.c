/* Learning rate schedules. SPDX-License-Identifier: MIT */
#include "train/schedule.h"

#include "base/maths.h"
#include "base/mem.h"

static const char *const names[] = {"constant", "cosine"};

double pt_schedule_lr(const pt_schedule *s, int64_t step)
{
    if (step <= s->warmup) return s->lr * (double)step / (double)s->warmup;
    if (s->kind == PT_SCHEDULE_CONSTANT) return s->lr;
    int64_t length = pt_max_i64(1, s->steps - s->warmup);
    double progress = (double)(step - s->warmup) / (double)length;
    if (progress > 1) progress = 1;
    return s->min_lr + 0.5 * (s->lr - s->min_lr) * (1.0 + pt_cos(PT_PI * progress));
}

const char *pt_schedule_name(pt_schedule_kind kind) { return names[kind]; }

bool pt_schedule_from_name(const char *name, pt_schedule_kind *out)
{
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = (pt_schedule_kind)i;
        return true;
    }
    return false;
}
