/* Settings from JSON. SPDX-License-Identifier: MIT */
#include "wasm/settings.h"

#include "base/decimal.h"
#include "model/model.h"
#include "text/bytes.h"
#include "train/trainer.h"

typedef enum field_type {
    FIELD_COUNT,
    FIELD_REAL,
    FIELD_SEED,
    FIELD_SWITCH,
    FIELD_TEXT
} field_type;

typedef struct field {
    const char *name;
    field_type type;
    void *to; /* int64_t, double, uint64_t, bool, const pt_json * */
} field;

/* A whole number, or its decimal text where a double could not hold it. */
static bool read_seed(const pt_json *v, uint64_t *out)
{
    if (v->type != PT_JSON_NUMBER && v->type != PT_JSON_STRING) return false;
    uint64_t n = 0;
    for (size_t i = 0; i < v->text_len; i++) {
        unsigned digit = (unsigned)v->text[i] - '0';
        if (digit > 9 || n > (UINT64_MAX - digit) / 10) return false;
        n = 10 * n + digit;
    }
    *out = n;
    return v->text_len > 0;
}

static pt_status read_field(const field *f, const pt_json *v, pt_error *err)
{
    static const char *const wanted[] = {"a whole number", "a number", "a whole number below 2^64",
                                         "true or false", "a text"};
    bool ok = false;
    switch (f->type) {
    case FIELD_COUNT: ok = pt_json_to_i64(v, f->to); break;
    case FIELD_REAL:
        ok = v->type == PT_JSON_NUMBER;
        if (ok) *(double *)f->to = v->number;
        break;
    case FIELD_SEED: ok = read_seed(v, f->to); break;
    case FIELD_SWITCH:
        ok = v->type == PT_JSON_BOOL;
        if (ok) *(bool *)f->to = v->boolean;
        break;
    case FIELD_TEXT:
        ok = v->type == PT_JSON_STRING;
        if (ok) *(const pt_json **)f->to = v;
        break;
    }
    if (ok) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "%s must be %s", f->name, wanted[f->type]);
}

static pt_status read_fields(const pt_json *json, const field *fields, int n, pt_error *err)
{
    if (!json || json->type != PT_JSON_OBJECT)
        return pt_fail(err, PT_BAD_INPUT, "settings must be an object");
    for (const pt_json *v = json->child; v; v = v->next) {
        const field *f = NULL;
        for (int i = 0; i < n && !f; i++)
            if (strcmp(fields[i].name, v->key) == 0) f = &fields[i];
        if (!f) return pt_fail(err, PT_BAD_INPUT, "there is no setting '%.40s'", v->key);
        pt_status s = v->type == PT_JSON_NULL ? PT_OK : read_field(f, v, err);
        if (s) return s;
    }
    return PT_OK;
}

/* The settings that are words. */
typedef struct words {
    const pt_json *preset, *schedule, *decay_shape, *on_spike, *recompute, *init, *prompt, *weights;
} words;

static pt_status take_preset(const pt_json *name, pt_run_settings *o, pt_error *err)
{
    if (!name || name->type != PT_JSON_STRING)
        return PT_OK; /* what is no text is refused as a field */
    const pt_preset *preset = pt_preset_find(name->text);
    if (!preset) return pt_fail(err, PT_BAD_INPUT, "there is no preset '%.40s'", name->text);
    o->model = preset->config;
    o->train.batch = preset->batch;
    o->train.steps = preset->steps;
    return PT_OK;
}

static pt_status take_words(const words *w, pt_run_settings *o, pt_error *err)
{
    static const struct {
        const char *name;
        int flags;
    } recompute[] = {
        {"none", PT_RECOMPUTE_NONE}, {"cheap", PT_RECOMPUTE_CHEAP}, {"block", PT_RECOMPUTE_BLOCK}};
    if (w->schedule && !pt_schedule_from_name(w->schedule->text, &o->train.schedule))
        return pt_fail(err, PT_BAD_INPUT, "there is no schedule '%.40s'", w->schedule->text);
    if (w->decay_shape && !pt_decay_shape_from_name(w->decay_shape->text, &o->train.decay_shape))
        return pt_fail(err, PT_BAD_INPUT, "there is no decayShape '%.40s'", w->decay_shape->text);
    if (w->on_spike && !pt_on_spike_from_name(w->on_spike->text, &o->train.on_spike))
        return pt_fail(err, PT_BAD_INPUT, "onSpike can not be '%.40s'", w->on_spike->text);
    bool known = !w->recompute;
    for (size_t i = 0; !known && i < sizeof recompute / sizeof recompute[0]; i++) {
        known = strcmp(w->recompute->text, recompute[i].name) == 0;
        if (known) o->train.recompute = recompute[i].flags;
    }
    if (!known)
        return pt_fail(err, PT_BAD_INPUT, "recompute is '%.40s': give none, cheap or block",
                       w->recompute->text);
    if (w->weights && !pt_weights_from_name(w->weights->text, &o->weights))
        return pt_fail(err, PT_BAD_INPUT, "weights is '%.40s': give f32, f16 or int8",
                       w->weights->text);
    if (w->prompt) o->train.sample_prompt = w->prompt->text;
    if (!w->init) return PT_OK;
    o->train.upstream_init = strcmp(w->init->text, "upstream") == 0;
    if (o->train.upstream_init || strcmp(w->init->text, "default") == 0) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "init is '%.40s': give default or upstream", w->init->text);
}

static pt_status settle_eval_rows(pt_run_settings *o, pt_error *err)
{
    if (!o->eval_rows) o->eval_rows = pt_max_i64(1, pt_min_i64(8, o->train.batch));
    if (o->eval_rows >= 1 && o->eval_rows <= 4096) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "evalRows is %lld, it must be 1 to 4096",
                   (long long)o->eval_rows);
}

pt_status pt_run_settings_read(const pt_json *json, pt_run_settings *o, pt_error *err)
{
    *o = (pt_run_settings){.train = pt_train_defaults(), .corpus_bytes = 1 << 20, .inspect = true};
    pt_model_config *m = &o->model;
    pt_train_options *t = &o->train;
    words w = {0};
    pt_status s = take_preset(pt_json_get(json, "preset"), o, err);
    if (s) return s;
    const field fields[] = {
        {"preset", FIELD_TEXT, &w.preset},
        {"layers", FIELD_COUNT, &m->n_layers},
        {"dModel", FIELD_COUNT, &m->d_model},
        {"heads", FIELD_COUNT, &m->n_heads},
        {"dMlp", FIELD_COUNT, &m->d_mlp},
        {"ctx", FIELD_COUNT, &m->ctx},
        {"vocab", FIELD_COUNT, &m->vocab},
        {"dropout", FIELD_REAL, &m->dropout},
        {"steps", FIELD_COUNT, &t->steps},
        {"batch", FIELD_COUNT, &t->batch},
        {"accum", FIELD_COUNT, &t->accum},
        {"lr", FIELD_REAL, &t->lr},
        {"minLr", FIELD_REAL, &t->min_lr},
        {"warmup", FIELD_COUNT, &t->warmup},
        {"schedule", FIELD_TEXT, &w.schedule},
        {"decaySteps", FIELD_COUNT, &t->decay_steps},
        {"decayShape", FIELD_TEXT, &w.decay_shape},
        {"onSpike", FIELD_TEXT, &w.on_spike},
        {"beta1", FIELD_REAL, &t->beta1},
        {"beta2", FIELD_REAL, &t->beta2},
        {"eps", FIELD_REAL, &t->eps},
        {"weightDecay", FIELD_REAL, &t->weight_decay},
        {"clip", FIELD_REAL, &t->clip},
        {"seed", FIELD_SEED, &t->seed},
        {"evalEvery", FIELD_COUNT, &t->eval_every},
        {"evalBatches", FIELD_COUNT, &t->eval_batches},
        {"sampleEvery", FIELD_COUNT, &t->sample_every},
        {"sampleTokens", FIELD_COUNT, &t->sample_tokens},
        {"samplePrompt", FIELD_TEXT, &w.prompt},
        {"saveEvery", FIELD_COUNT, &t->save_every},
        {"readEvery", FIELD_COUNT, &t->read_every},
        {"recompute", FIELD_TEXT, &w.recompute},
        {"init", FIELD_TEXT, &w.init},
        {"corpusBytes", FIELD_COUNT, &o->corpus_bytes},
        {"memoryBytes", FIELD_COUNT, &o->memory_bytes},
        {"gpuBytes", FIELD_COUNT, &o->gpu_bytes},
        {"gpuBufferBytes", FIELD_COUNT, &o->gpu_buffer_bytes},
        {"gpuBindingBytes", FIELD_COUNT, &o->gpu_binding_bytes},
        {"evalRows", FIELD_COUNT, &o->eval_rows},
        {"weights", FIELD_TEXT, &w.weights},
        {"inspect", FIELD_SWITCH, &o->inspect},
        {"resume", FIELD_SWITCH, &o->resume},
        {"halveLr", FIELD_SWITCH, &o->halve_lr},
    };
    s = read_fields(json, fields, (int)(sizeof fields / sizeof fields[0]), err);
    if (s == PT_OK) s = take_words(&w, o, err);
    if (s) return s;
    pt_model_config_complete(m);
    return settle_eval_rows(o, err);
}

void pt_run_settings_of_file(const pt_tinygpt *file, const char *key, pt_json_writer *w)
{
    pt_train_options o = pt_train_defaults();
    double dropout = 0;
    char seed[32];
    pt_trainer_options_of(file, &o, &dropout);
    pt_format(seed, sizeof seed, "%llu", (unsigned long long)o.seed);
    pt_json_begin_object(w, key);
    pt_json_double(w, "dropout", dropout);
    pt_json_i64(w, "steps", o.steps);
    pt_json_i64(w, "batch", o.batch);
    pt_json_i64(w, "accum", o.accum);
    pt_json_double(w, "lr", o.lr);
    pt_json_double(w, "minLr", o.min_lr);
    pt_json_i64(w, "warmup", o.warmup);
    pt_json_string(w, "schedule", pt_schedule_name(o.schedule));
    if (o.schedule == PT_SCHEDULE_WSD) {
        pt_json_i64(w, "decaySteps", o.decay_steps);
        pt_json_string(w, "decayShape", pt_decay_shape_name(o.decay_shape));
    }
    pt_json_double(w, "beta1", o.beta1);
    pt_json_double(w, "beta2", o.beta2);
    pt_json_double(w, "eps", o.eps);
    pt_json_double(w, "weightDecay", o.weight_decay);
    pt_json_double(w, "clip", o.clip);
    pt_json_string(w, "seed", seed);
    pt_json_end_object(w);
}

pt_status pt_sample_settings_read(const pt_json *json, pt_sample_settings *o, pt_error *err)
{
    *o = (pt_sample_settings){.sampler = {.temperature = 0.8, .n_ids = PT_BYTES_VOCAB, .seed = 42},
                              .tokens = 200};
    const pt_json *prompt = NULL;
    const field fields[] = {
        {"prompt", FIELD_TEXT, &prompt},
        {"tokens", FIELD_COUNT, &o->tokens},
        {"temperature", FIELD_REAL, &o->sampler.temperature},
        {"topK", FIELD_COUNT, &o->sampler.top_k},
        {"topP", FIELD_REAL, &o->sampler.top_p},
        {"minP", FIELD_REAL, &o->sampler.min_p},
        {"repetitionPenalty", FIELD_REAL, &o->sampler.repetition_penalty},
        {"seed", FIELD_SEED, &o->sampler.seed},
        {"top", FIELD_COUNT, &o->top},
        {"logits", FIELD_SWITCH, &o->logits},
    };
    pt_status s = read_fields(json, fields, (int)(sizeof fields / sizeof fields[0]), err);
    if (s == PT_OK) s = pt_sampler_options_check(&o->sampler, err);
    if (s) return s;
    bool empty = !prompt || !prompt->text_len;
    o->prompt = empty ? "\n" : prompt->text;
    o->prompt_len = empty ? 1 : prompt->text_len;
    if (o->tokens < 0) return pt_fail(err, PT_BAD_INPUT, "tokens must be at least 0");
    if (o->top < 0 || o->top > PT_MOST_TOP)
        return pt_fail(err, PT_BAD_INPUT, "top is %lld, it must be 0 to %d", (long long)o->top,
                       PT_MOST_TOP);
    return PT_OK;
}

pt_status pt_odds_settings_read(const pt_json *json, pt_sampler_options *o, pt_error *err)
{
    *o = (pt_sampler_options){.temperature = 1};
    const field fields[] = {
        {"temperature", FIELD_REAL, &o->temperature},
        {"topK", FIELD_COUNT, &o->top_k},
        {"topP", FIELD_REAL, &o->top_p},
        {"minP", FIELD_REAL, &o->min_p},
    };
    pt_status s = read_fields(json, fields, (int)(sizeof fields / sizeof fields[0]), err);
    return s == PT_OK ? pt_sampler_options_check(o, err) : s;
}
