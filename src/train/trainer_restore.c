/* Going on from a checkpoint: weights and moments from the body, where the run stood from the header.
 *
 * Nothing else is needed. Batch order, dropout and samples are functions of the seed and a counter, and a
 * checkpoint is only made between steps, so no gradient is half summed.
 * SPDX-License-Identifier: MIT */
#include "base/maths.h"
#include "model/load_tinygpt.h"
#include "model/tinygpt_shape.h"
#include "train/trainer_internal.h"

static pt_status check_shape(const pt_trainer *t, const pt_tinygpt_info *info, pt_error *err)
{
    pt_tinygpt_config ours;
    pt_status s = pt_tinygpt_shape_of(&t->model->config, &ours, err);
    if (s) return s;
    const struct {
        const char *name;
        int64_t file, run;
    } dims[] = {
        {"layers", info->config.layers, ours.layers},
        {"heads", info->config.heads, ours.heads},
        {"width", info->config.d_model, ours.d_model},
        {"mlp", info->config.d_mlp, ours.d_mlp},
        {"context", info->config.ctx, ours.ctx},
        {"vocabulary", info->config.vocab, ours.vocab},
    };
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++)
        if (dims[i].file != dims[i].run)
            return pt_fail(err, PT_BAD_INPUT, "it is of a model with %s %lld, the run's is %lld",
                           dims[i].name, (long long)dims[i].file, (long long)dims[i].run);
    return PT_OK;
}

/* That the file was made by a run with our seed, samples per step, shape and settings. */
static pt_status check_run(const pt_trainer *t, const pt_tinygpt_info *info, pt_error *err)
{
    const pt_json *config = pt_json_get(info->header, "config");
    const pt_json *seed = pt_json_get(config, "seed");
    char ours[32];
    int64_t next = 0, want = pt_trainer_first_sample(t, info->step + 1, 0);
    pt_format(ours, sizeof ours, "%llu", (unsigned long long)t->options.seed);
    if (info->dtype != PT_TINYGPT_F32)
        return pt_fail(err, PT_BAD_INPUT, "it holds %s, and to go on takes f32 with moments",
                       pt_tinygpt_dtype_name(info->dtype));
    if (seed && seed->type == PT_JSON_NUMBER && strcmp(seed->text, ours) != 0)
        return pt_fail(err, PT_BAD_INPUT, "its seed is %s, the run's is %s", seed->text, ours);
    if (pt_json_get_i64(pt_json_get(info->header, "posttrain"), "nextSample", &next) &&
        next != want)
        return pt_fail(err, PT_BAD_INPUT,
                       "its step %lld had seen %lld samples, the run's batches make it %lld",
                       (long long)info->step, (long long)next, (long long)want);
    pt_status s = check_shape(t, info, err);
    return s ? s
             : pt_trainer_check_settings(t, pt_json_get(info->header, "posttrain"), info->step,
                                         err);
}

/* One {step, train, val}; a missing or null number is NaN. */
static pt_tinygpt_loss loss_of(const pt_json *json)
{
    pt_tinygpt_loss loss = {-1, PT_NAN, PT_NAN};
    pt_json_get_i64(json, "step", &loss.step);
    pt_json_get_double(json, "train", &loss.train);
    pt_json_get_double(json, "val", &loss.val);
    return loss;
}

static void restore_losses(pt_trainer *t, const pt_json *header)
{
    t->n_history = 0;
    const pt_json *list = pt_json_get(header, "lossHistory");
    for (const pt_json *p = list ? list->child : NULL; p && t->n_history < MAX_HISTORY; p = p->next)
        t->history[t->n_history++] = loss_of(p);
    t->last_loss = loss_of(pt_json_get(header, "finalLoss"));
    const pt_json *best = pt_json_get(header, "bestVal");
    t->best = (pt_tinygpt_loss){-1, PT_NAN, PT_NAN};
    pt_json_get_i64(best, "step", &t->best.step);
    if (pt_json_get_double(best, "loss", &t->best.val)) t->best.train = t->best.val;
    bool evaluated = t->last_loss.step == t->step && !pt_is_nan(t->last_loss.val);
    t->val_loss = evaluated ? t->last_loss.val : PT_NAN;
    t->val_step = evaluated ? t->step : 0;
    t->n_recent = 0;
    const pt_json *recent = pt_json_get(pt_json_get(header, "posttrain"), PT_HEADER_RECENT);
    int64_t n = recent ? pt_min_i64(recent->n_children, pt_min_i64(RECENT, t->step)) : 0;
    for (const pt_json *p = n ? recent->child : NULL; p && t->n_recent < n; p = p->next)
        t->recent[(t->step - n + ++t->n_recent) % RECENT] = p->number;
}

static void restore_sample(pt_trainer *t, const pt_json *header)
{
    const pt_json *sample = pt_json_get(header, "sample");
    bool text = sample && sample->type == PT_JSON_STRING;
    t->n_sample = text ? pt_min_i64((int64_t)sample->text_len, PT_MAX_SAMPLE_TOKENS) : 0;
    if (t->n_sample) memcpy(t->sample, sample->text, (size_t)t->n_sample);
    t->sample[t->n_sample] = 0;
}

static pt_status load_param(void *ctx, int64_t index, const float *w, const float *m,
                            const float *v, pt_error *err)
{
    return pt_trainer_load(ctx, index, w, m, v, err);
}

/* What was due after the saving of the step, and may not have happened. Done again it comes to the same.
 * The last file tells the last evaluation and sample, so if it does not it is written again. */
static int due_again(const pt_trainer *t, const pt_json *header)
{
    int64_t steps = t->options.steps;
    bool finished = false;
    pt_json_get_bool(pt_json_get(header, "posttrain"), PT_HEADER_FINISHED, &finished);
    if (t->step > steps || (t->step == steps && finished)) return 0;
    int due = t->step ? pt_trainer_due_at(t, t->step) : pt_trainer_due_first(t);
    return t->step == steps ? due : due & ~DUE_SAVE;
}

pt_status pt_trainer_restore(pt_trainer *t, const pt_tinygpt *file, pt_error *err)
{
    const pt_tinygpt_info *info = pt_tinygpt_get(file);
    if (t->phase != PHASE_DUE && t->phase != PHASE_STEP)
        return pt_fail(err, PT_INTERNAL, "a trainer goes back only between steps");
    pt_status s = check_run(t, info, err);
    if (s == PT_OK) s = pt_optimizer_reset_state(&t->optimizer, err);
    if (s == PT_OK) s = pt_tinygpt_visit(file, &t->model->params, true, load_param, t, err);
    if (s) return s;
    pt_trainer_set_step(t, info->step);
    restore_losses(t, info->header);
    pt_trainer_read_spikes(t, pt_json_get(info->header, "posttrain"));
    restore_sample(t, info->header);
    t->seconds = t->seconds_reported = t->seconds_skipped = 0;
    t->steps_skipped = 0;
    t->due = due_again(t, info->header);
    t->phase = PHASE_DUE;
    return PT_OK;
}
