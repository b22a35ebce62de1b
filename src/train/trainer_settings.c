/* The settings that a checkpoint was trained with, so that no other ones are gone on with unnoticed. The rest of what makes
 * the curve is compared by trainer_restore.c. SPDX-License-Identifier: MIT */
#include "base/decimal.h"
#include "train/trainer_internal.h"

#define MAX_SETTINGS (20 + PT_SOURCES_MAX)
#define EVALUATION "evalBatches"

typedef struct setting {
    char name[24]; /* in the header, and for people */
    double value;
} setting;

static void add(setting *list, int *n, const char *name, double value)
{
    pt_format(list[*n].name, sizeof list[*n].name, "%s", name);
    list[(*n)++].value = value;
}

/* Under a constant rate the number of steps means nothing; then the rate's end means nothing either. */
static int settings_of(const pt_trainer *t, setting list[MAX_SETTINGS])
{
    const pt_train_options *o = &t->options;
    int n = 0;
    add(list, &n, "batch", (double)o->batch);
    add(list, &n, "accum", (double)o->accum);
    add(list, &n, EVALUATION, (double)o->eval_batches);
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

static int64_t count_of(const pt_json *object, const char *name, int64_t otherwise)
{
    int64_t n = otherwise;
    pt_json_get_i64(object, name, &n);
    return n;
}

/* Where the steps up to `step` had the rates that they have in this run, it may end elsewhere. */
static bool may_end_elsewhere(const pt_trainer *t, const pt_json *file, int64_t step)
{
    pt_schedule was = t->schedule;
    was.steps = count_of(file, "steps", was.steps);
    was.decay = count_of(file, "decaySteps", was.decay);
    return step <= pt_schedule_same_until(&was, &t->schedule);
}

/* Files of versions that did not record it are taken as they are. */
static pt_status check_setting(const setting *now, const pt_json *file, pt_error *err)
{
    double was;
    char text[2][PT_DECIMAL_MAX];
    if (!pt_json_get_double(file, now->name, &was) || was == now->value) return PT_OK;
    pt_double_to_shortest(was, text[0]);
    pt_double_to_shortest(now->value, text[1]);
    return pt_fail(err, PT_BAD_INPUT,
                   "its %s is %s, the run's is %s: set that back, or start a new run", now->name,
                   text[0], text[1]);
}

pt_status pt_trainer_check_evaluation(const pt_trainer *t, const pt_tinygpt *file, pt_error *err)
{
    const pt_json *own = pt_json_get(pt_tinygpt_get(file)->header, "posttrain");
    const setting now = {EVALUATION, (double)t->options.eval_batches};
    return check_setting(&now, pt_json_get(own, PT_HEADER_SETTINGS), err);
}

pt_status pt_trainer_check_settings(const pt_trainer *t, const pt_json *posttrain, int64_t step,
                                    pt_error *err)
{
    setting list[MAX_SETTINGS];
    const pt_json *file = pt_json_get(posttrain, PT_HEADER_SETTINGS);
    bool any_end = may_end_elsewhere(t, file, step);
    int n = settings_of(t, list);
    pt_status s = PT_OK;
    for (int i = 0; i < n && s == PT_OK; i++) {
        bool end = strcmp(list[i].name, "steps") == 0 || strcmp(list[i].name, "decaySteps") == 0;
        if ((end && any_end) || strcmp(list[i].name, EVALUATION) == 0) continue;
        s = check_setting(&list[i], file, err);
    }
    return s;
}

static double real_of(const pt_json *object, const char *name, double otherwise)
{
    double x = otherwise;
    pt_json_get_double(object, name, &x);
    return x;
}

static void read_seed(const pt_json *config, uint64_t *seed)
{
    const pt_json *text = pt_json_get(config, "seed");
    uint64_t n = 0;
    if (!text || text->type != PT_JSON_NUMBER) return;
    for (size_t i = 0; i < text->text_len; i++) {
        unsigned digit = (unsigned)text->text[i] - '0';
        if (digit > 9 || n > (UINT64_MAX - digit) / 10) return;
        n = 10 * n + digit;
    }
    *seed = n;
}

void pt_trainer_options_of(const pt_tinygpt *model, pt_train_options *o, double *dropout)
{
    const pt_tinygpt_info *info = pt_tinygpt_get(model);
    const pt_json *config = pt_json_get(info->header, "config");
    const pt_json *own = pt_json_get(info->header, "posttrain");
    const pt_json *file = pt_json_get(own, PT_HEADER_SETTINGS);
    int64_t kind = count_of(file, "schedule", o->schedule);
    int64_t shape = count_of(file, "decayShape", o->decay_shape);
    if (kind >= 0 && kind <= PT_SCHEDULE_WSD) o->schedule = (pt_schedule_kind)kind;
    if (shape >= 0 && shape <= PT_DECAY_COSINE) o->decay_shape = (pt_decay_shape)shape;
    o->steps = count_of(config, "maxSteps", o->steps);
    o->batch = count_of(config, "batchSize", o->batch);
    o->warmup = count_of(file, "warmup", o->warmup);
    o->decay_steps = count_of(file, "decaySteps", o->decay_steps);
    o->lr = real_of(file, "lr", real_of(config, "learningRate", o->lr));
    o->clip = real_of(file, "clip", real_of(config, "gradClip", o->clip));
    o->min_lr = real_of(file, "minLr", o->min_lr);
    o->weight_decay = real_of(file, "weightDecay", o->weight_decay);
    o->beta1 = real_of(file, "beta1", o->beta1);
    o->beta2 = real_of(file, "beta2", o->beta2);
    o->eps = real_of(file, "eps", o->eps);
    *dropout = real_of(file, "dropout", *dropout);
    read_seed(config, &o->seed);
    int64_t next = count_of(own, "nextSample", 0);
    if (info->step > 0 && o->batch > 0 && next > 0) o->accum = next / info->step / o->batch;
    o->accum = count_of(file, "accum", o->accum);
}
