/* The settings that a checkpoint was trained with, so that no other ones are gone on with unnoticed. The rest of what makes
 * the curve is compared by trainer_restore.c. SPDX-License-Identifier: MIT */
#include "base/decimal.h"
#include "train/trainer_internal.h"

#define MAX_SETTINGS (16 + PT_SOURCES_MAX)

typedef struct setting {
    char name[24]; /* in the header, and for people */
    double value;
} setting;

static void add(setting *list, int *n, const char *name, double value)
{
    pt_format(list[*n].name, sizeof list[*n].name, "%s", name);
    list[(*n)++].value = value;
}

/* Under a constant rate the number of steps may change; then the rate's end means nothing either. */
static int settings_of(const pt_trainer *t, setting list[MAX_SETTINGS])
{
    const pt_train_options *o = &t->options;
    int n = 0;
    add(list, &n, "schedule", (double)t->schedule.kind);
    add(list, &n, "lr", o->lr);
    add(list, &n, "warmup", (double)o->warmup);
    add(list, &n, "clip", o->clip);
    add(list, &n, "weightDecay", o->weight_decay);
    add(list, &n, "beta1", o->beta1);
    add(list, &n, "beta2", o->beta2);
    add(list, &n, "eps", o->eps);
    add(list, &n, "dropout", t->model->config.dropout);
    add(list, &n, "bf16", o->bf16);
    if (t->schedule.kind != PT_SCHEDULE_CONSTANT) {
        add(list, &n, "steps", (double)o->steps);
        add(list, &n, "minLr", o->min_lr);
    }
    if (t->schedule.kind == PT_SCHEDULE_WSD) {
        add(list, &n, "decaySteps", (double)t->schedule.decay);
        add(list, &n, "decayShape", (double)t->schedule.shape);
    }
    for (int i = 0; t->train.n > 1 && i < t->train.n; i++) {
        char name[24];
        pt_format(name, sizeof name, "mixShare%d", i + 1);
        add(list, &n, name, (double)t->train.share[i]);
    }
    return n;
}

void pt_trainer_write_settings(const pt_trainer *t, pt_json_writer *w)
{
    setting list[MAX_SETTINGS];
    int n = settings_of(t, list);
    pt_json_begin_object(w, PT_HEADER_SETTINGS);
    for (int i = 0; i < n; i++) pt_json_double(w, list[i].name, list[i].value);
    pt_json_end_object(w);
}

pt_status pt_trainer_check_settings(const pt_trainer *t, const pt_json *posttrain, pt_error *err)
{
    setting list[MAX_SETTINGS];
    const pt_json *file = pt_json_get(posttrain, PT_HEADER_SETTINGS);
    int n = settings_of(t, list);
    for (int i = 0; i < n; i++) {
        double was;
        char text[2][PT_DECIMAL_MAX];
        if (!pt_json_get_double(file, list[i].name, &was) || was == list[i].value) continue;
        pt_double_to_shortest(was, text[0]);
        pt_double_to_shortest(list[i].value, text[1]);
        return pt_fail(err, PT_BAD_INPUT,
                       "its %s is %s, the run's is %s: set that back, or start a new run",
                       list[i].name, text[0], text[1]);
    }
    return PT_OK;
}
