/* The trainer: one state machine, a bounded piece of work per poll.
 *
 *   STEP → MICRO (accum times) → READ ─┬→ STEP …                      (every read_every steps)
 *                                      ├→ SAVE → EVALUATE → SAMPLE → STEP        (whichever is due)
 *                                      ├→ SAVE → EVALUATE → SAMPLE → SAVE → DONE (after the last step)
 *                                      ├→ DIAGNOSE → failed          (a step was not finite)
 *                                      └→ ROLLBACK → STEP            (a spike, or after DIAGNOSE)
 * SPDX-License-Identifier: MIT */
#include "train/trainer_internal.h"

#include "base/clock.h"
#include "base/maths.h"
#include "model/init_upstream.h"
#include "text/bytes.h"

/* ---- life ---- */

static pt_status make_parts(pt_trainer *t, const pt_model_config *config, pt_error *err)
{
    pt_model_options model = {.mode = PT_MODEL_TRAIN,
                              .batch = t->options.batch,
                              .tokens = t->T,
                              .recompute = t->options.recompute,
                              .bf16 = t->options.bf16};
    pt_status s = pt_model_new(&t->model, t->device, config, &model, err);
    if (s) return s;
    const pt_train_options *o = &t->options;
    t->optimizer = (pt_optimizer){.model = t->model,
                                  .options = {.beta1 = o->beta1,
                                              .beta2 = o->beta2,
                                              .eps = o->eps,
                                              .weight_decay = o->weight_decay,
                                              .clip = o->clip,
                                              .ring = o->read_every}};
    s = pt_scorer_new(&t->scorer, t->model, err);
    if (s == PT_OK && o->sample_every) s = pt_session_new(&t->session, t->model, err);
    if (s == PT_OK && t->events.save_begin) s = pt_saver_new(&t->saver, &t->optimizer, err);
    return s;
}

static pt_status make_host_buffers(pt_trainer *t, pt_error *err)
{
    size_t n = (size_t)(t->options.batch * t->T);
    const char *prompt = t->options.sample_prompt;
    t->n_prompt = prompt ? (int64_t)strlen(prompt) : 0;
    t->host_ids = pt_alloc(n * sizeof *t->host_ids);
    t->host_targets = pt_alloc(n * sizeof *t->host_targets);
    t->prompt = pt_alloc((size_t)(t->n_prompt + 1) * sizeof *t->prompt);
    if (!t->host_ids || !t->host_targets || !t->prompt)
        return pt_fail(err, PT_NO_MEMORY, "no memory for batches of %zu tokens", n);
    pt_bytes_encode((const uint8_t *)prompt, t->n_prompt, t->prompt);
    if (!t->n_prompt) t->prompt[t->n_prompt++] = '\n';
    return PT_OK;
}

static void make_plan(pt_trainer *t)
{
    int64_t dim[4] = {t->options.batch, t->T, 0, 0};
    pt_plan_init(&t->plan);
    pt_model_plan(t->model, &t->plan, "");
    pt_optimizer_plan(&t->optimizer, &t->plan);
    t->ids_id = pt_plan_add(&t->plan, PT_ARENA_STEP, "ids", PT_I32, dim);
    t->target_id = pt_plan_add(&t->plan, PT_ARENA_STEP, "targets", PT_I32, dim);
    t->coef_id = pt_plan_add(&t->plan, PT_ARENA_STEP, "coefficients", t->device->compute, dim);
    pt_scorer_plan(t->scorer, &t->plan);
    if (t->session) pt_session_plan(t->session, &t->plan);
    if (t->saver) pt_saver_plan(t->saver, &t->plan);
    if (t->corpus_memory) pt_plan_add_host(&t->plan, "corpus", t->corpus_memory);
    pt_plan_add_host(&t->plan, "thread scratch", t->device->overhead_bytes);
    pt_plan_add_host(&t->plan, "batches", 2 * 4 * dim[0] * dim[1]);
}

static pt_status check_model(const pt_model_config *config, int64_t T, pt_error *err)
{
    if (T < 1 || T > config->ctx)
        return pt_fail(err, PT_BAD_INPUT, "ctx is %lld, the model's is %lld", (long long)T,
                       (long long)config->ctx);
    if (config->vocab < PT_BYTES_VOCAB)
        return pt_fail(err, PT_BAD_INPUT, "a text of bytes needs a vocabulary of 256, not %lld",
                       (long long)config->vocab);
    return PT_OK;
}

static pt_status take_starts(pt_trainer *t, pt_error *err)
{
    pt_windows *only = &t->train.source[0];
    only->starts = t->options.starts;
    only->n_starts = t->options.n_starts;
    if (t->train.n > 1) return pt_fail(err, PT_BAD_INPUT, "a list of starts goes with one source");
    for (int64_t i = 0; i < only->n_starts; i++)
        if (only->starts[i] < 0 || only->starts[i] >= pt_windows_count(only))
            return pt_fail(err, PT_BAD_INPUT, "start %lld is %lld, the windows are 0 to %lld",
                           (long long)i, (long long)only->starts[i],
                           (long long)pt_windows_count(only) - 1);
    if (only->n_starts > 0) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "the list of starts is empty");
}

pt_status pt_trainer_new(pt_trainer **out, pt_device *device, const pt_trainer_desc *desc,
                         pt_error *err)
{
    *out = NULL;
    const pt_model_config *config = &desc->config;
    const pt_train_options *options = &desc->options;
    pt_status s = pt_train_options_check(options, err);
    int64_t T = pt_train_window(options, config);
    if (s == PT_OK) s = pt_model_config_check(config, err);
    if (s == PT_OK) s = check_model(config, T, err);
    if (s) return s;
    pt_trainer *t = pt_alloc(sizeof *t);
    if (!t) return pt_fail(err, PT_NO_MEMORY, "no memory for a trainer");
    t->device = device;
    t->options = *options;
    if (!t->options.read_every) t->options.read_every = pt_max_i64(device->read_every, 1);
    t->events = desc->events;
    t->corpus_memory = desc->corpus_memory;
    t->T = T;
    t->schedule = pt_train_options_schedule(options);
    t->history_every = pt_max_i64(1, options->steps / 128);
    t->last_loss = (pt_tinygpt_loss){-1, 0, PT_NAN};
    t->best.val = t->val_loss = PT_NAN;
    t->saved_step = -1;
    t->lr_scale = 1;
    t->spikes.every = t->options.read_every;
    t->spikes.kept_out = t->options.on_spike >= PT_SPIKE_SKIP;
    pt_tokens text = pt_tokens_of_bytes(desc->corpus, desc->corpus_bytes);
    pt_data one = {.source = &text, .n = 1};
    s = pt_data_split(desc->data ? desc->data : &one, T, options->seed, &t->train, &t->validate,
                      err);
    if (s == PT_OK && options->starts) s = take_starts(t, err);
    if (s == PT_OK) s = make_parts(t, config, err);
    if (s == PT_OK) s = make_host_buffers(t, err);
    if (s == PT_OK) make_plan(t);
    if (s == PT_OK) s = pt_plan_check(&t->plan, err);
    if (s) pt_trainer_free(t);
    else *out = t;
    return s;
}

void pt_trainer_free(pt_trainer *t)
{
    if (!t) return;
    pt_diagnosis_deinit(&t->diagnosis);
    pt_saver_free(t->saver);
    pt_session_free(t->session);
    pt_scorer_free(t->scorer);
    pt_model_free(t->model);
    pt_device_release_plan(&t->plan);
    pt_plan_deinit(&t->plan);
    pt_free(t->host_ids);
    pt_free(t->host_targets);
    pt_free(t->prompt);
    pt_free(t);
}

const pt_plan *pt_trainer_plan(const pt_trainer *t) { return &t->plan; }

static pt_status upload_coefficients(pt_trainer *t, pt_error *err)
{
    int64_t n = t->options.batch * t->T;
    double coef[64];
    for (int i = 0; i < 64; i++) coef[i] = -1.0 / ((double)n * (double)t->options.accum);
    pt_tensor flat = pt_view(&t->coef, n, 0, 0, 0);
    pt_status s = PT_OK;
    for (int64_t i = 0; i < n && s == PT_OK; i += 64) {
        int64_t some = pt_min_i64(64, n - i);
        pt_tensor part = pt_slice(&flat, i, some);
        s = pt_upload_numbers(t->device, &part, coef, some, err);
    }
    return s;
}

pt_status pt_trainer_begin(pt_trainer *t, pt_pool *pool, pt_error *err)
{
    pt_status s = pt_device_allocate_plan(t->device, &t->plan, err);
    if (s == PT_OK) s = pt_model_bind(t->model, &t->plan, err);
    if (s == PT_OK) s = pt_optimizer_bind(&t->optimizer, &t->plan, err);
    if (s) return s;
    pt_scorer_bind(t->scorer, &t->plan);
    if (t->session) s = pt_session_bind(t->session, &t->plan, err);
    t->ids = pt_plan_tensor(&t->plan, t->ids_id);
    t->target = pt_plan_tensor(&t->plan, t->target_id);
    t->coef = pt_plan_tensor(&t->plan, t->coef_id);
    if (s == PT_OK && t->saver) s = pt_saver_bind(t->saver, err);
    if (s == PT_OK) s = upload_coefficients(t, err);
    if (s == PT_OK && t->options.upstream_init)
        s = pt_model_init_upstream(t->model, t->options.seed, err);
    else if (s == PT_OK) s = pt_model_init_weights(t->model, t->options.seed, pool, err);
    t->phase = PHASE_DUE;
    t->due = pt_trainer_due_first(t);
    return s;
}

pt_status pt_trainer_load(pt_trainer *t, int64_t param, const float *w, const float *m,
                          const float *v, pt_error *err)
{
    const pt_param *p = &t->model->params.list[param];
    pt_tensor to_m = pt_param_tensor(p, &t->optimizer.m),
              to_v = pt_param_tensor(p, &t->optimizer.v);
    pt_status s = pt_model_set_weight(t->model, param, w, err);
    if (s == PT_OK && m && v) s = pt_upload_floats(t->device, &to_m, m, p->n, err);
    if (s == PT_OK && m && v) s = pt_upload_floats(t->device, &to_v, v, p->n, err);
    return s;
}

void pt_trainer_set_step(pt_trainer *t, int64_t step)
{
    t->first_step = t->step = t->reported = t->saved_step = step;
}

/* ---- polling ---- */

/* Between steps, with nothing unread: the weights are those of the step that was reported last. */
static void take_save_request(pt_trainer *t)
{
    bool between = t->phase == PHASE_DUE || t->phase == PHASE_STEP || t->phase == PHASE_DONE;
    if (!t->save_asked || !between || t->reported != t->step) return;
    t->save_asked = false;
    t->saved_step = -1;
    t->due |= DUE_SAVE;
    t->phase = PHASE_DUE;
}

pt_status pt_trainer_poll(pt_trainer *t, pt_error *err)
{
    pt_status s = PT_INTERNAL;
    take_save_request(t);
    switch (t->phase) {
    case PHASE_STEP: s = pt_trainer_begin_step(t, err); break;
    case PHASE_MICRO: s = pt_trainer_micro(t, err); break;
    case PHASE_READ: s = pt_trainer_read(t, err); break;
    case PHASE_DUE: s = pt_trainer_choose_due(t, err); break;
    case PHASE_SAVE: s = pt_trainer_save(t, err); break;
    case PHASE_EVALUATE: s = pt_trainer_evaluate(t, err); break;
    case PHASE_SAMPLE: s = pt_trainer_sample(t, err); break;
    case PHASE_ROLLBACK: s = pt_trainer_roll_back(t, err); break;
    case PHASE_DIAGNOSE: s = pt_trainer_diagnose(t, err); break;
    case PHASE_DONE: return PT_OK;
    }
    return s == PT_OK ? PT_PENDING : s;
}

void pt_trainer_stop(pt_trainer *t) { t->stopping = true; }
void pt_trainer_request_save(pt_trainer *t) { t->save_asked = t->saver != NULL; }

/* Nothing left to do; a checkpoint that was asked for may have been the last thing done. */
static bool is_over(const pt_trainer *t)
{
    bool enough = t->stopping || t->step >= t->options.steps;
    return t->phase == PHASE_DONE || (t->phase == PHASE_DUE && !t->due && enough);
}

pt_status pt_trainer_continue(pt_trainer *t, int64_t steps, pt_error *err)
{
    if (!is_over(t))
        return pt_fail(err, PT_BAD_INPUT,
                       "the run is not over: stop it before it can be continued");
    if (steps <= t->step)
        return pt_fail(err, PT_BAD_INPUT, "%lld steps, but %lld are done already: give more",
                       (long long)steps, (long long)t->step);
    pt_train_options options = t->options;
    options.steps = steps;
    pt_status s = pt_train_options_check(&options, err);
    if (s) return s;
    t->options.steps = steps;
    t->schedule = pt_train_options_schedule(&t->options);
    t->stopping = false;
    t->due = 0;
    t->phase = PHASE_DUE;
    return PT_OK;
}

/* ---- results ---- */

int64_t pt_trainer_step(const pt_trainer *t) { return t->reported; }
int64_t pt_trainer_micro_batches(const pt_trainer *t) { return t->micro; }
double pt_trainer_val_loss(const pt_trainer *t) { return t->val_loss; }
int64_t pt_trainer_val_step(const pt_trainer *t) { return t->val_step; }
int64_t pt_trainer_spikes(const pt_trainer *t) { return t->n_spikes; }
int64_t pt_trainer_n_params(const pt_trainer *t) { return t->model->params.n_params; }
const pt_mixture *pt_trainer_held_out(const pt_trainer *t) { return &t->validate; }
const pt_model *pt_trainer_model(const pt_trainer *t) { return t->model; }

double pt_trainer_train_loss(const pt_trainer *t)
{
    int64_t n = t->n_recent;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += t->recent[(t->reported - i) % RECENT];
    return n ? sum / (double)n : PT_NAN;
}

double pt_trainer_tokens_per_second(const pt_trainer *t)
{
    int64_t steps = t->reported - t->first_step - t->steps_skipped;
    double seconds = t->seconds - t->seconds_skipped;
    if (!t->steps_skipped || steps <= 0 || seconds <= 0) return 0;
    return (double)(steps * t->options.batch * t->options.accum * t->T) / seconds;
}
