/* The trainer: one state machine, a bounded piece of work per poll.
 *
 *   STEP → MICRO (accum times) → READ ─┬→ STEP …                      (every read_every steps)
 *                                      ├→ SAVE → EVALUATE → SAMPLE → STEP     (whichever is due)
 *                                      └→ DIAGNOSE → failed          (a step was not finite)
 * SPDX-License-Identifier: MIT */
#include "train/trainer.h"

#include "base/clock.h"
#include "base/maths.h"
#include "infer/scorer.h"
#include "model/init_upstream.h"
#include "text/bytes.h"
#include "train/diagnose.h"
#include "train/save.h"

typedef enum phase {
    PHASE_STEP,
    PHASE_MICRO,
    PHASE_READ,
    PHASE_DUE, /* decide what comes next */
    PHASE_SAVE,
    PHASE_EVALUATE,
    PHASE_SAMPLE,
    PHASE_DIAGNOSE,
    PHASE_DONE
} phase;

enum { DUE_SAVE = 1, DUE_EVALUATE = 2, DUE_SAMPLE = 4 };

#define MAX_RING 64
#define MAX_HISTORY 512
#define RECENT 10       /* steps in the mean training loss */
#define SKIPPED_STEPS 3 /* not counted for tokens per second: caches warm up */
#define MAX_SAMPLE 4096

struct pt_trainer {
    pt_device *device;
    pt_train_options options;
    pt_train_events events;
    pt_schedule schedule;
    pt_model *model;
    pt_optimizer optimizer;
    pt_plan plan;
    pt_scorer *scorer;
    pt_session *session; /* NULL when nothing is sampled */
    pt_saver *saver;
    pt_diagnosis diagnosis;
    pt_windows train, validate;
    int64_t T;

    pt_tensor ids, target, coef; /* (B,T) */
    int64_t ids_id, target_id, coef_id;
    int32_t *host_ids, *host_targets;
    int32_t *prompt; /* ids of the sample prompt */
    int64_t n_prompt;

    phase phase;
    bool entered; /* the phase has begun its work */
    int due;
    bool stopping;
    int64_t first_step; /* steps done before this run */
    int64_t step;       /* steps handed to the device */
    int64_t reported;   /* steps whose results were read */
    int64_t micro;      /* of the step under way */
    int64_t bad_step;
    int64_t saved_step; /* -1: none yet */
    pt_download download;
    double ring[MAX_RING * PT_RING_WORDS];
    float ring_narrow[MAX_RING * PT_RING_WORDS];

    int64_t eval_done, eval_total; /* windows */
    pt_score score;
    char sample[MAX_SAMPLE + 1];
    int64_t n_sample;

    pt_tinygpt_loss history[MAX_HISTORY];
    int64_t n_history, history_every;
    pt_tinygpt_loss last_loss, best;
    double recent[RECENT];
    double mark, seconds, seconds_reported, seconds_skipped;
};

/* ---- options ---- */

pt_train_options pt_train_defaults(void)
{
    return (pt_train_options){
        .steps = 1000,
        .batch = 16,
        .accum = 1,
        .lr = 3e-4,
        .schedule = PT_SCHEDULE_CONSTANT,
        .beta1 = 0.9,
        .beta2 = 0.95,
        .eps = 1e-8,
        .weight_decay = 0.1,
        .clip = 1.0,
        .seed = 42,
        .eval_batches = 20,
        .sample_tokens = 80,
        .sample_prompt = "\n",
        .sampler = {.temperature = 0.8, .top_k = 40},
        .read_every = 1,
    };
}

static pt_status check_count(const char *name, int64_t value, int64_t least, int64_t most,
                             pt_error *err)
{
    if (value >= least && value <= most) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "%s is %lld, it must be %lld to %lld", name, (long long)value,
                   (long long)least, (long long)most);
}

static pt_status check_real(const char *name, double value, double least, double most,
                            pt_error *err)
{
    if (value >= least && value <= most) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "%s is %g, it must be %g to %g", name, value, least, most);
}

pt_status pt_train_options_check(const pt_train_options *o, pt_error *err)
{
    const struct {
        const char *name;
        int64_t value, least, most;
    } counts[] = {
        {"steps", o->steps, 1, 1000000000},
        {"batch", o->batch, 1, 1 << 20},
        {"accum", o->accum, 1, 1 << 20},
        {"warmup", o->warmup, 0, 1000000000},
        {"eval-every", o->eval_every, 0, INT64_MAX},
        {"eval-batches", o->eval_batches, 1, 1 << 20},
        {"sample-every", o->sample_every, 0, INT64_MAX},
        {"sample-tokens", o->sample_tokens, 0, MAX_SAMPLE},
        {"save-every", o->save_every, 0, INT64_MAX},
        {"read-every", o->read_every, 0, MAX_RING},
    };
    const struct {
        const char *name;
        double value, least, most;
    } reals[] = {
        {"lr", o->lr, 0, 1000},
        {"min-lr", o->min_lr, 0, 1000},
        {"beta1", o->beta1, 0, 0.9999999},
        {"beta2", o->beta2, 0, 0.9999999},
        {"eps", o->eps, 1e-30, 1},
        {"weight-decay", o->weight_decay, 0, 1000},
        {"clip", o->clip, 0, 1e30},
    };
    pt_status s = PT_OK;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && s == PT_OK; i++)
        s = check_count(counts[i].name, counts[i].value, counts[i].least, counts[i].most, err);
    for (size_t i = 0; i < sizeof reals / sizeof reals[0] && s == PT_OK; i++)
        s = check_real(reals[i].name, reals[i].value, reals[i].least, reals[i].most, err);
    if (s == PT_OK) s = pt_sampler_options_check(&o->sampler, err);
    return s;
}

/* ---- life ---- */

static pt_status make_parts(pt_trainer *t, const pt_model_config *config, pt_error *err)
{
    pt_model_options model = {.mode = PT_MODEL_TRAIN,
                              .batch = t->options.batch,
                              .tokens = t->T,
                              .recompute = t->options.recompute};
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

pt_status pt_trainer_new(pt_trainer **out, pt_device *device, const pt_model_config *config,
                         const pt_train_options *options, const uint8_t *corpus,
                         int64_t corpus_bytes, const pt_train_events *events, pt_error *err)
{
    *out = NULL;
    pt_status s = pt_train_options_check(options, err);
    int64_t T = options->ctx ? options->ctx : config->ctx;
    if (s == PT_OK) s = pt_model_config_check(config, err);
    if (s == PT_OK) s = check_model(config, T, err);
    if (s) return s;
    pt_trainer *t = pt_alloc(sizeof *t);
    if (!t) return pt_fail(err, PT_NO_MEMORY, "no memory for a trainer");
    t->device = device;
    t->options = *options;
    if (!t->options.read_every) t->options.read_every = 1;
    if (events) t->events = *events;
    t->T = T;
    t->schedule = (pt_schedule){options->schedule, options->lr, options->min_lr, options->warmup,
                                options->steps};
    t->history_every = pt_max_i64(1, options->steps / 128);
    t->last_loss.val = t->best.val = PT_NAN;
    t->saved_step = -1;
    s = pt_data_split(corpus, corpus_bytes, T, options->seed, &t->train, &t->validate, err);
    t->train.starts = options->starts;
    t->train.n_starts = options->n_starts;
    if (s == PT_OK) s = make_parts(t, config, err);
    if (s == PT_OK) s = make_host_buffers(t, err);
    if (s == PT_OK) make_plan(t);
    if (s == PT_OK && t->plan.failure) s = pt_device_allocate_plan(device, &t->plan, err);
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
    if (s == PT_OK) s = upload_coefficients(t, err);
    if (s == PT_OK && t->options.upstream_init)
        s = pt_model_init_upstream(t->model, t->options.seed, err);
    else if (s == PT_OK) s = pt_model_init_weights(t->model, t->options.seed, pool, err);
    t->phase = PHASE_DUE;
    if (t->options.eval_every && t->validate.n) t->due |= DUE_EVALUATE;
    if (t->options.sample_every) t->due |= DUE_SAMPLE;
    return s;
}

static pt_status load_flat(pt_trainer *t, int64_t param, const pt_tensor *flat, const float *values,
                           pt_error *err)
{
    const pt_param *p = &t->model->params.list[param];
    pt_tensor tensor = pt_param_tensor(p, flat);
    if (t->device->compute == PT_F32)
        return pt_upload(t->device, &tensor, values, p->n * (int64_t)sizeof *values, err);
    double *wide = pt_alloc((size_t)p->n * sizeof *wide);
    if (!wide) return pt_fail(err, PT_NO_MEMORY, "no memory to load %s", p->name);
    for (int64_t i = 0; i < p->n; i++) wide[i] = (double)values[i];
    pt_status s = pt_upload(t->device, &tensor, wide, p->n * (int64_t)sizeof *wide, err);
    pt_free(wide);
    return s;
}

pt_status pt_trainer_load(pt_trainer *t, int64_t param, const float *w, const float *m,
                          const float *v, pt_error *err)
{
    pt_status s = load_flat(t, param, &t->model->weights.flat, w, err);
    if (s == PT_OK && m && v) s = load_flat(t, param, &t->optimizer.m, m, err);
    if (s == PT_OK && m && v) s = load_flat(t, param, &t->optimizer.v, v, err);
    return s;
}

void pt_trainer_set_step(pt_trainer *t, int64_t step)
{
    t->first_step = t->step = t->reported = step;
}

/* ---- one step ---- */

static int64_t first_sample(const pt_trainer *t, int64_t step, int64_t micro)
{
    return ((step - 1) * t->options.accum + micro) * t->options.batch;
}

/* Forward and backward of one micro-batch of 1-based step `step`. */
static pt_status run_micro(pt_trainer *t, int64_t step, int64_t micro, pt_error *err)
{
    int64_t B = t->options.batch, g = first_sample(t, step, micro);
    pt_windows_fill(&t->train, g, B, t->host_ids, t->host_targets);
    pt_batch batch = {.B = B,
                      .T = t->T,
                      .ids = t->ids,
                      .target = t->target,
                      .coef = t->coef,
                      .seed = t->options.seed,
                      .first_sample = g,
                      .train = true};
    pt_status s = pt_upload(t->device, &t->ids, t->host_ids, B * t->T * 4, err);
    if (s == PT_OK) s = pt_upload(t->device, &t->target, t->host_targets, B * t->T * 4, err);
    if (s == PT_OK) s = pt_model_forward(t->model, &batch, err);
    if (s == PT_OK) s = pt_model_backward(t->model, &batch, err);
    if (s == PT_OK) s = pt_optimizer_add_loss(&t->optimizer, &batch, err);
    return s;
}

static int due_at(const pt_trainer *t, int64_t step)
{
    const pt_train_options *o = &t->options;
    bool last = step == o->steps;
    int due = 0;
    if (t->saver && (last || (o->save_every && step % o->save_every == 0))) due |= DUE_SAVE;
    if (t->validate.n && (last || (o->eval_every && step % o->eval_every == 0)))
        due |= DUE_EVALUATE;
    if (t->session && (last || step % o->sample_every == 0)) due |= DUE_SAMPLE;
    return due;
}

static pt_status begin_step(pt_trainer *t, pt_error *err)
{
    double lr = pt_schedule_lr(&t->schedule, t->step + 1);
    t->micro = 0;
    t->phase = PHASE_MICRO;
    return pt_optimizer_begin_step(&t->optimizer, t->step + 1, lr, err);
}

static pt_status begin_read(pt_trainer *t, pt_error *err)
{
    bool wide = t->device->compute == PT_F64;
    void *to = wide ? (void *)t->ring : t->ring_narrow;
    const pt_tensor *ring = &t->optimizer.ring;
    t->phase = PHASE_READ;
    return pt_download_begin(t->device, ring, to, pt_tensor_bytes(ring), &t->download, err);
}

static pt_status micro_step(pt_trainer *t, pt_error *err)
{
    pt_status s = run_micro(t, t->step + 1, t->micro, err);
    if (s || ++t->micro < t->options.accum) return s ? s : pt_submit(t->device, err);
    s = pt_optimizer_end_step(&t->optimizer, t->step % t->options.read_every, err);
    t->step++;
    t->phase = PHASE_STEP;
    bool full = t->step - t->reported == t->options.read_every;
    if (s == PT_OK && (full || t->stopping || due_at(t, t->step))) s = begin_read(t, err);
    if (s == PT_OK) s = pt_submit(t->device, err);
    return s;
}

static void add_history(pt_trainer *t, bool evaluated)
{
    int64_t n = t->n_history;
    if (n && t->history[n - 1].step == t->last_loss.step) {
        t->history[n - 1] = t->last_loss;
        return;
    }
    if (!evaluated && t->last_loss.step % t->history_every != 0) return;
    if (n == MAX_HISTORY) { /* keep every second point */
        for (int64_t i = 0; i < n / 2; i++) t->history[i] = t->history[2 * i];
        t->n_history = n = n / 2;
    }
    t->history[n] = t->last_loss;
    t->n_history++;
}

static pt_status report_step(pt_trainer *t, const double *entry, pt_error *err)
{
    int64_t step = ++t->reported;
    pt_step_report report = {.step = step,
                             .loss = entry[PT_RING_LOSS],
                             .grad_norm = entry[PT_RING_NORM],
                             .lr = entry[PT_RING_LR],
                             .seconds = t->seconds - t->seconds_reported};
    t->seconds_reported = t->seconds;
    if (step - t->first_step == SKIPPED_STEPS) t->seconds_skipped = t->seconds;
    t->recent[step % RECENT] = report.loss;
    t->last_loss = (pt_tinygpt_loss){step, report.loss, PT_NAN};
    add_history(t, false);
    return t->events.step ? t->events.step(t->events.ctx, &report, err) : PT_OK;
}

static void tick(pt_trainer *t)
{
    double now = pt_clock_seconds();
    t->seconds += now - t->mark;
    t->mark = now;
}

static pt_status take_ring(pt_trainer *t, pt_error *err)
{
    tick(t);
    if (t->device->compute != PT_F64)
        for (int i = 0; i < MAX_RING * PT_RING_WORDS; i++) t->ring[i] = (double)t->ring_narrow[i];
    pt_status s = PT_OK;
    while (t->reported < t->step && s == PT_OK) {
        const double *entry = t->ring + (t->reported % t->options.read_every) * PT_RING_WORDS;
        if (entry[PT_RING_OK] == 0) {
            t->bad_step = t->reported + 1;
            t->phase = PHASE_DIAGNOSE;
            t->entered = false;
            return PT_OK;
        }
        s = report_step(t, entry, err);
    }
    t->due = due_at(t, t->step);
    t->phase = PHASE_DUE;
    return s;
}

static pt_status read_ring(pt_trainer *t, pt_error *err)
{
    pt_status s = pt_download_poll(t->device, &t->download, err);
    return s == PT_OK ? take_ring(t, err) : s;
}

/* ---- what is due between steps ---- */

/* Saving comes first, so that a crash in an evaluation loses nothing; but the last file waits for
 * the last evaluation and sample, which its header tells. */
static pt_status choose_due(pt_trainer *t)
{
    bool last = t->step >= t->options.steps;
    t->entered = false;
    if (t->stopping) t->due = t->saver && t->saved_step != t->step ? DUE_SAVE : 0;
    if ((t->due & DUE_SAVE) && !last) t->phase = PHASE_SAVE;
    else if (t->due & DUE_EVALUATE) t->phase = PHASE_EVALUATE;
    else if (t->due & DUE_SAMPLE) t->phase = PHASE_SAMPLE;
    else if (t->due & DUE_SAVE) t->phase = PHASE_SAVE;
    else if (t->stopping || t->step >= t->options.steps) t->phase = PHASE_DONE;
    else {
        t->phase = PHASE_STEP;
        t->mark = pt_clock_seconds();
    }
    return PT_OK;
}

static pt_status queue_evaluation(pt_trainer *t, pt_error *err)
{
    int64_t B = pt_min_i64(t->options.batch, t->eval_total - t->eval_done);
    pt_windows_fill(&t->validate, t->eval_done, B, pt_scorer_ids(t->scorer),
                    pt_scorer_targets(t->scorer));
    t->eval_done += B;
    return pt_scorer_begin(t->scorer, B, t->T, err);
}

static pt_status evaluate(pt_trainer *t, pt_error *err)
{
    if (!t->entered) {
        t->entered = true;
        t->score = (pt_score){0};
        t->eval_done = 0;
        t->eval_total =
            pt_min_i64(pt_windows_count(&t->validate), t->options.batch * t->options.eval_batches);
        return queue_evaluation(t, err);
    }
    pt_status s = pt_scorer_poll(t->scorer, &t->score, err);
    if (s) return s;
    if (t->eval_done < t->eval_total) return queue_evaluation(t, err);
    double loss = t->score.loss_sum / (double)t->score.n_targets;
    t->last_loss.val = loss;
    if (t->step) add_history(t, true);
    if (!(t->best.val <= loss)) t->best = (pt_tinygpt_loss){t->step, loss, loss};
    t->due &= ~DUE_EVALUATE;
    t->phase = PHASE_DUE;
    return t->events.evaluated ? t->events.evaluated(t->events.ctx, t->step, loss, err) : PT_OK;
}

static pt_status sample(pt_trainer *t, pt_error *err)
{
    if (!t->entered) {
        t->entered = true;
        t->n_sample = 0;
        pt_sampler_options sampler = t->options.sampler;
        sampler.seed = t->options.seed;
        return pt_session_start(t->session, t->prompt, t->n_prompt, &sampler, err);
    }
    if (t->n_sample < t->options.sample_tokens) {
        int32_t id = 0;
        pt_status s = pt_session_poll(t->session, &id, err);
        int byte = pt_bytes_decode(id);
        if (s == PT_OK) t->sample[t->n_sample++] = (char)(byte < 0 ? '?' : byte);
        return s;
    }
    t->sample[t->n_sample] = 0;
    t->due &= ~DUE_SAMPLE;
    t->phase = PHASE_DUE;
    if (!t->events.sampled) return PT_OK;
    return t->events.sampled(t->events.ctx, t->step, t->sample, t->n_sample, err);
}

/* The header's "posttrain" members: what the format itself has no place for. */
static const pt_json *own_header(const pt_trainer *t, pt_arena *arena)
{
    pt_strbuf text = {0};
    pt_json_writer w = pt_json_writer_begin(&text, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "tokenizer", "bytes");
    if (t->model->config.gelu_tanh) pt_json_bool(&w, "geluTanh", true);
    pt_json_i64(&w, "accum", t->options.accum);
    pt_json_i64(&w, "windowTokens", t->T);
    pt_json_string(&w, "schedule", pt_schedule_name(t->options.schedule));
    pt_json_double(&w, "minLr", t->options.min_lr);
    pt_json_i64(&w, "warmup", t->options.warmup);
    pt_json_i64(&w, "nextSample", first_sample(t, t->step + 1, 0));
    pt_json_end_object(&w);
    const pt_json *json = NULL;
    if (!text.failed) pt_json_parse(text.data, text.len, arena, &json, NULL);
    pt_strbuf_deinit(&text);
    return json;
}

static pt_status begin_save(pt_trainer *t, pt_error *err)
{
    pt_sink sink = {0};
    pt_status s = t->events.save_begin(t->events.ctx, t->step, &sink, err);
    if (s) return s;
    t->entered = true;
    char saved_at[32], sample_text[321] = "";
    pt_clock_iso(pt_clock_unix_ms(), saved_at);
    size_t n = pt_utf8_complete(t->sample, (size_t)pt_min_i64(320, t->n_sample));
    if (pt_utf8_valid(t->sample, n)) memcpy(sample_text, t->sample, n);
    pt_arena arena = {0};
    pt_tinygpt_run run = {.batch_size = t->options.batch,
                          .max_steps = t->options.steps,
                          .eval_every = t->options.eval_every,
                          .learning_rate = t->options.lr,
                          .grad_clip = t->options.clip,
                          .seed = t->options.seed,
                          .backend = t->device->name};
    pt_tinygpt_desc desc = {.step = t->step,
                            .run = &run,
                            .saved_at = saved_at,
                            .history = t->history,
                            .n_history = t->n_history,
                            .final_loss = t->step ? &t->last_loss : NULL,
                            .best_val = pt_is_nan(t->best.val) ? NULL : &t->best,
                            .sample = sample_text,
                            .posttrain = own_header(t, &arena)};
    s = pt_saver_begin(t->saver, &desc, &sink, err);
    pt_arena_deinit(&arena);
    return s;
}

static pt_status save(pt_trainer *t, pt_error *err)
{
    bool begun = t->entered;
    pt_status s = begun ? pt_saver_poll(t->saver, err) : begin_save(t, err);
    if (s == PT_PENDING || (s == PT_OK && !begun)) return s;
    if (t->entered) {
        t->entered = false;
        pt_status end = t->events.save_end(t->events.ctx, t->step, s != PT_OK, err);
        if (s == PT_OK) s = end;
    }
    t->due &= ~DUE_SAVE;
    t->saved_step = t->step;
    t->phase = PHASE_DUE;
    return s;
}

/* ---- a step that went bad ---- */

static pt_status rerun_checked(pt_trainer *t, pt_error *err)
{
    pt_optimizer *o = &t->optimizer;
    double none[1] = {PT_STATE_NO_BAD};
    pt_tensor word = pt_slice(&o->state, PT_STATE_FIRST_BAD, 1);
    double lr = pt_schedule_lr(&t->schedule, t->bad_step);
    pt_status s = pt_upload_numbers(t->device, &word, none, 1, err);
    if (s == PT_OK) s = pt_optimizer_begin_step(o, t->bad_step, lr, err);
    pt_diagnosis_begin(&t->diagnosis, t->device, &o->state);
    for (int64_t i = 0; i < t->options.accum && s == PT_OK; i++)
        s = run_micro(t, t->bad_step, i, err);
    pt_diagnosis_end(&t->diagnosis);
    bool wide = t->device->compute == PT_F64;
    void *to = wide ? (void *)t->ring : t->ring_narrow;
    if (s == PT_OK)
        s = pt_download_begin(t->device, &o->state, to, pt_tensor_bytes(&o->state), &t->download,
                              err);
    if (s == PT_OK) s = pt_submit(t->device, err);
    return s;
}

static pt_status diagnose(pt_trainer *t, pt_error *err)
{
    if (!t->entered) {
        t->entered = true;
        return rerun_checked(t, err);
    }
    pt_status s = pt_download_poll(t->device, &t->download, err);
    if (s) return s;
    bool wide = t->device->compute == PT_F64;
    double found = wide ? t->ring[PT_STATE_FIRST_BAD] : (double)t->ring_narrow[PT_STATE_FIRST_BAD];
    char what[128];
    if (!pt_diagnosis_name(&t->diagnosis, found, t->model, &t->plan, what, sizeof what))
        pt_format(what, sizeof what, "none: the squared gradient norm overflowed");
    return pt_fail(err, PT_DIVERGED,
                   "step %lld went to infinity or NaN; first bad tensor: %s. The weights are still "
                   "those of step %lld; try a lower --lr",
                   (long long)t->bad_step, what, (long long)t->bad_step - 1);
}

/* ---- polling ---- */

pt_status pt_trainer_poll(pt_trainer *t, pt_error *err)
{
    pt_status s = PT_INTERNAL;
    switch (t->phase) {
    case PHASE_STEP: s = begin_step(t, err); break;
    case PHASE_MICRO: s = micro_step(t, err); break;
    case PHASE_READ: s = read_ring(t, err); break;
    case PHASE_DUE: s = choose_due(t); break;
    case PHASE_SAVE: s = save(t, err); break;
    case PHASE_EVALUATE: s = evaluate(t, err); break;
    case PHASE_SAMPLE: s = sample(t, err); break;
    case PHASE_DIAGNOSE: s = diagnose(t, err); break;
    case PHASE_DONE: return PT_OK;
    }
    return s == PT_OK ? PT_PENDING : s;
}

void pt_trainer_stop(pt_trainer *t) { t->stopping = true; }

/* ---- results ---- */

int64_t pt_trainer_step(const pt_trainer *t) { return t->reported; }
double pt_trainer_val_loss(const pt_trainer *t)
{
    return t->score.n_targets ? t->score.loss_sum / (double)t->score.n_targets : PT_NAN;
}
int64_t pt_trainer_n_params(const pt_trainer *t) { return t->model->params.n_params; }
bool pt_trainer_validates(const pt_trainer *t) { return t->validate.n > 0; }
const pt_model *pt_trainer_model(const pt_trainer *t) { return t->model; }

double pt_trainer_train_loss(const pt_trainer *t)
{
    int64_t n = pt_min_i64(RECENT, t->reported - t->first_step);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += t->recent[(t->reported - i) % RECENT];
    return n ? sum / (double)n : PT_NAN;
}

double pt_trainer_tokens_per_second(const pt_trainer *t)
{
    int64_t steps = t->reported - t->first_step - SKIPPED_STEPS;
    double seconds = t->seconds - t->seconds_skipped;
    if (steps <= 0 || seconds <= 0) return 0;
    return (double)(steps * t->options.batch * t->options.accum * t->T) / seconds;
}
