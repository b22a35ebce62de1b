/* The options of posttrain train. SPDX-License-Identifier: MIT */
#include "cli/train_options.h"

#include <assert.h>

#include "cli/recipe.h"
#include "cli/resume.h"
#include "io/note.h"
#include "train/run_folder.h"

/* ---- the table, in the order of the help ---- */

static void add(pt_train_arguments *a, const pt_option *list, size_t n)
{
    assert((size_t)a->line.n_options + n <= PT_TRAIN_MAX_OPTIONS);
    memcpy(a->options + a->line.n_options, list, n * sizeof *list);
    a->line.n_options += (int)n;
}

/* What the short help shows. */
static void add_job(pt_train_arguments *a)
{
    pt_train_options *t = &a->train;
    const pt_option list[] = {
        PT_CORPUS_OPTION(&a->corpus, "a text, a folder of texts or shards, - for standard input; "
                                     "several are joined"),
        {"out", PT_OPTION_TEXT, &a->out, "DIR", "the run's folder; must be new", NULL, false},
        {"resume", PT_OPTION_TEXT, &a->resume, "DIR", "go on with the run in DIR", NULL, false},
        {"preset", PT_OPTION_TEXT, &a->preset, "PRESET", "size of the model: a preset", "small",
         false},
        {"depth", PT_OPTION_COUNT, &a->depth, "N",
         "instead of a preset: N layers, and a recipe for all else", "none", false},
        {"steps", PT_OPTION_COUNT, &t->steps, "N", "optimizer steps", "the preset's", false},
        {"batch", PT_OPTION_COUNT, &t->batch, "B", "windows per micro-batch", "the preset's",
         false},
        {"accum", PT_OPTION_COUNT, &t->accum, "A", "micro-batches per step", NULL, false},
        {"lr", PT_OPTION_REAL, &t->lr, "X", "learning rate", NULL, false},
        {"seed", PT_OPTION_SEED, &t->seed, "K", "seeds weights, order of data, samples", NULL,
         false},
        {"eval-every", PT_OPTION_COUNT, &t->eval_every, "N",
         "steps between held-out losses; 0 = at the end", NULL, false},
        {"sample-every", PT_OPTION_COUNT, &t->sample_every, "N",
         "let the model write every N steps; 0 = never", NULL, false},
        {"save-every", PT_OPTION_COUNT, &t->save_every, "N",
         "save the model every N steps; 0 = at the end", NULL, false},
        {"save-minutes", PT_OPTION_REAL, &a->save_minutes, "X",
         "save the model every X minutes; 0 = off", NULL, false},
        {"keep", PT_OPTION_COUNT, &a->keep, "N", "checkpoints to keep, beside the best; 0 = all",
         NULL, false},
        {"json", PT_OPTION_SWITCH, &a->json, NULL, "the result as JSON on stdout", NULL, false},
        {"dry-run", PT_OPTION_SWITCH, &a->dry_run, NULL,
         "print memory, disk and time it would take, only; needs no text", NULL, false},
        {"recipe", PT_OPTION_SWITCH, &a->recipe, NULL, "print all settings and why, only", NULL,
         false},
        {"quiet", PT_OPTION_SWITCH, &a->quiet, NULL, "nothing on stderr but errors", NULL, false},
        {"config", PT_OPTION_TEXT, &a->config_path, "FILE", "these options as JSON", NULL, false},
        PT_DEVICE_OPTIONS(&a->device_choice),
    };
    add(a, list, sizeof list / sizeof list[0]);
}

static void add_recipe(pt_train_arguments *a)
{
    pt_train_options *t = &a->train;
    pt_model_config *m = &a->model;
    const pt_option list[] = {
        {"", PT_OPTION_HEADING, NULL, NULL, "Recipe:", NULL, false},
        PT_SEPARATOR_OPTION(&a->corpus),
        {"mix", PT_OPTION_TEXT, &a->corpus.mix, "W,W", "mix the corpora by weight", "join", false},
        {"regime", PT_OPTION_TEXT, &a->regime, "chinchilla|overtrained",
         "of --depth: 20 or 40 tokens a parameter", "chinchilla", false},
        {"schedule", PT_OPTION_TEXT, &a->schedule, "constant|cosine|wsd",
         "how the learning rate changes", "constant", false},
        {"warmup", PT_OPTION_COUNT, &t->warmup, "N", "steps in which the rate rises", NULL, false},
        {"min-lr", PT_OPTION_REAL, &t->min_lr, "X", "the rate at the end of cosine and wsd", NULL,
         false},
        {"decay-steps", PT_OPTION_COUNT, &t->decay_steps, "N",
         "steps in which the rate falls, at the end of wsd", "steps / 10", false},
        {"decay-shape", PT_OPTION_TEXT, &a->decay_shape, "1-sqrt|linear|cosine",
         "how the rate falls at the end of wsd", "1-sqrt", false},
        {"on-spike", PT_OPTION_TEXT, &a->on_spike, "off|warn|skip|stop|rollback",
         "what to do about a loss 3 times the mean of 50 steps", "warn", false},
        {"clip", PT_OPTION_REAL, &t->clip, "X", "largest gradient norm; 0 = off", NULL, false},
        {"weight-decay", PT_OPTION_REAL, &t->weight_decay, "X", "pull of the matrices towards 0",
         NULL, false},
        {"beta1", PT_OPTION_REAL, &t->beta1, "X", "of AdamW: memory of the gradient", NULL, false},
        {"beta2", PT_OPTION_REAL, &t->beta2, "X", "of AdamW: memory of its square", NULL, false},
        {"dropout", PT_OPTION_REAL, &m->dropout, "P", "share of the residual stream that is zeroed",
         NULL, false},
        {"init", PT_OPTION_TEXT, &a->init, "default|upstream",
         "first weights; upstream: the original's, bit for bit", "default", false},
    };
    add(a, list, sizeof list / sizeof list[0]);
}

/* How it is computed and looked at. */
static void add_computing(pt_train_arguments *a)
{
    pt_train_options *t = &a->train;
    const pt_option list[] = {
        {"dtype", PT_OPTION_TEXT, &a->dtype, "f32|bf16", "what activations are stored in", "f32",
         false},
        {"no-tensorboard", PT_OPTION_SWITCH, &a->no_tensorboard, NULL,
         "write no event file for TensorBoard", NULL, false},
        {"recompute", PT_OPTION_TEXT, &a->recompute, "none|cheap|block",
         "less memory for more computing", "none", false},
        {"force-memory", PT_OPTION_SWITCH, &a->force_memory, NULL,
         "try even when memory will not do", NULL, false},
        {"eval-batches", PT_OPTION_COUNT, &t->eval_batches, "N", "batches of an evaluation", NULL,
         false},
        {"prompt", PT_OPTION_TEXT, &t->sample_prompt, "TEXT", "how the samples begin", "a newline",
         false},
        {"sample-tokens", PT_OPTION_COUNT, &t->sample_tokens, "N", "tokens of a sample", NULL,
         false},
    };
    add(a, list, sizeof list / sizeof list[0]);
}

static void add_shape(pt_train_arguments *a)
{
    pt_model_config *m = &a->model;
    const pt_option list[] = {
        {"", PT_OPTION_HEADING, NULL, NULL, "Shape (instead of the preset's):", NULL, false},
        {"layers", PT_OPTION_COUNT, &m->n_layers, "L", "transformer blocks", "the preset's", false},
        {"d-model", PT_OPTION_COUNT, &m->d_model, "C", "width", "the preset's", false},
        {"heads", PT_OPTION_COUNT, &m->n_heads, "H", "attention heads", "the preset's", false},
        {"d-mlp", PT_OPTION_COUNT, &m->d_mlp, "F", "hidden width", "4 C", false},
        {"ctx", PT_OPTION_COUNT, &m->ctx, "T", "context in tokens", "the preset's", false},
    };
    add(a, list, sizeof list / sizeof list[0]);
}

void pt_train_arguments_init(pt_train_arguments *a)
{
    *a = (pt_train_arguments){.device_choice = {.device = "cpu"},
                              .preset = "small",
                              .init = "default",
                              .regime = "chinchilla",
                              .schedule = "constant",
                              .decay_shape = "1-sqrt",
                              .on_spike = "warn",
                              .recompute = "none",
                              .dtype = "f32",
                              .keep = PT_RUN_KEEP,
                              .save_minutes = 10,
                              .train = pt_train_defaults()};
    a->line.options = a->options;
    add_job(a);
    add_recipe(a);
    add_computing(a);
    add_shape(a);
}

void pt_train_arguments_deinit(pt_train_arguments *a) { pt_arena_deinit(&a->arena); }

/* ---- what they come to ---- */

static void apply_preset(pt_train_arguments *a, const pt_preset *preset)
{
    pt_model_config *m = &a->model;
    const pt_model_config *p = &preset->config;
    if (!pt_option_is_set(&a->line, "layers")) m->n_layers = p->n_layers;
    if (!pt_option_is_set(&a->line, "heads")) m->n_heads = p->n_heads;
    if (!pt_option_is_set(&a->line, "d-model")) m->d_model = p->d_model;
    if (!pt_option_is_set(&a->line, "ctx")) m->ctx = p->ctx;
    m->vocab = p->vocab;
    m->gelu_tanh = p->gelu_tanh;
    if (!pt_option_is_set(&a->line, "batch")) a->train.batch = preset->batch;
    if (!pt_option_is_set(&a->line, "steps")) a->train.steps = preset->steps;
}

static pt_status find_preset(const char *name, const pt_preset **out, pt_error *err)
{
    const char *names[32];
    int n = 0;
    for (const pt_preset *p = pt_presets(); p->name; p++) names[n++] = p->name;
    *out = pt_preset_find(name);
    if (*out) return PT_OK;
    const char *near = pt_nearest(name, names, n);
    if (near)
        return pt_fail(err, PT_BAD_INPUT, "unknown preset '%s': did you mean %s?", name, near);
    return pt_fail(err, PT_BAD_INPUT, "unknown preset '%s': posttrain train --help lists them",
                   name);
}

const char *pt_train_arguments_shape(const pt_train_arguments *a)
{
    const pt_preset *preset = pt_preset_find(a->preset);
    const pt_model_config *m = &a->model;
    if (a->depth) return "depth";
    if (!preset) return "custom";
    pt_model_config p = preset->config;
    pt_model_config_complete(&p);
    bool same = m->n_layers == p.n_layers && m->d_model == p.d_model && m->n_heads == p.n_heads &&
                m->d_mlp == p.d_mlp && m->ctx == p.ctx;
    return same ? preset->name : "custom";
}

/* From --depth or the preset. */
static pt_status choose_shape(pt_train_arguments *a, pt_error *err)
{
    const pt_preset *preset = NULL;
    if (!a->previous && pt_option_is_set(&a->line, "depth")) return pt_apply_depth(a, err);
    if (!a->previous && pt_option_is_set(&a->line, "regime"))
        return pt_fail(err, PT_BAD_INPUT, "--regime is for --depth: give --depth N as well");
    pt_status s = find_preset(a->preset, &preset, err);
    if (s == PT_OK) apply_preset(a, preset);
    return s;
}

static pt_status set_choices(pt_train_arguments *a, pt_error *err)
{
    static const struct {
        const char *name;
        int flags;
    } recompute[] = {
        {"none", PT_RECOMPUTE_NONE}, {"cheap", PT_RECOMPUTE_CHEAP}, {"block", PT_RECOMPUTE_BLOCK}};
    /* The words were checked when they were parsed. */
    if (!pt_schedule_from_name(a->schedule, &a->train.schedule) ||
        !pt_decay_shape_from_name(a->decay_shape, &a->train.decay_shape) ||
        !pt_on_spike_from_name(a->on_spike, &a->train.on_spike))
        return pt_fail(err, PT_INTERNAL, "the options list a word that the trainer does not know");
    a->train.upstream_init = strcmp(a->init, "upstream") == 0;
    a->train.bf16 = strcmp(a->dtype, "bf16") == 0;
    for (size_t i = 0; i < sizeof recompute / sizeof recompute[0]; i++)
        if (strcmp(a->recompute, recompute[i].name) == 0) a->train.recompute = recompute[i].flags;
    return PT_OK;
}

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

/* A preset or a depth on the command line is a whole shape: nothing of the file's is left of it. */
static pt_status read_config(pt_train_arguments *a, pt_error *err)
{
    static const char *const shape[] = {"preset", "depth", "regime", "layers", "d-model",
                                        "heads",  "d-mlp", "ctx",    NULL};
    bool chosen = pt_option_is_set(&a->line, "preset") || pt_option_is_set(&a->line, "depth");
    bool left_out[PT_TRAIN_MAX_OPTIONS] = {false};
    const pt_json *json = NULL;
    pt_status s = pt_note_read(a->config_path, &(pt_note_kind){0}, &a->arena, &json, err);
    if (s) return s;
    for (int i = 0; i < a->line.n_options; i++) {
        pt_option *o = &a->line.options[i];
        left_out[i] = chosen && !o->set && is_among(o->name, shape);
        o->set |= left_out[i]; /* what is set, the file does not */
    }
    s = pt_options_config(&a->line, json, a->config_path, &a->arena, err);
    for (int i = 0; i < a->line.n_options; i++) a->line.options[i].set &= !left_out[i];
    return s;
}

pt_status pt_train_arguments_settle(pt_train_arguments *a, pt_error *err)
{
    const pt_json *record = NULL;
    pt_status s = a->config_path ? read_config(a, err) : PT_OK;
    if (s == PT_OK && a->resume) s = pt_resume_arguments(a, err);
    if (s == PT_OK) s = choose_shape(a, err);
    if (s) return s;
    pt_model_config_complete(&a->model);
    s = set_choices(a, err);
    if (s || a->recipe) return s;
    if (!a->dry_run) s = pt_corpus_choice_check(&a->corpus, err);
    if (s) return s;
    if (a->keep < 0)
        return pt_fail(err, PT_BAD_INPUT, "--keep is %lld, it must be 0 (all) or more",
                       (long long)a->keep);
    if (!(a->save_minutes >= 0 && a->save_minutes <= 1e6))
        return pt_fail(err, PT_BAD_INPUT, "--save-minutes is %g, it must be 0 (off) to 1e6",
                       a->save_minutes);
    if (!a->out && !a->dry_run)
        return pt_fail(err, PT_BAD_INPUT, "where to? give --out DIR for the run");
    return pt_train_arguments_record(a, &record, err); /* that it can be, before there is a run */
}

/* Of one sitting, not of the run. */
#define SITTING                                                                      \
    "out", "resume", "config", "json", "quiet", "dry-run", "recipe", "force-memory", \
        "no-tensorboard"
/* What chose the shape is recorded too, the preset or the depth: what came of it, one by one, does not tell. */
static const char *const not_of_depth[] = {SITTING, "preset", NULL};
static const char *const not_of_preset[] = {SITTING, "depth", "regime", NULL};

pt_status pt_train_arguments_record(pt_train_arguments *a, const pt_json **out, pt_error *err)
{
    const char *const *except = a->depth ? not_of_depth : not_of_preset;
    return pt_options_record(&a->line, except, &a->arena, out, err);
}

/* Keys are written with _ or with -. */
static bool is_key_of(const char *key, const char *name)
{
    while (*key && (*key == *name || (*key == '_' && *name == '-'))) key++, name++;
    return !*key && !*name;
}

pt_status pt_train_arguments_check_record(const pt_json *record, const char *path, pt_error *err)
{
    bool preset = pt_json_get(record, "preset") != NULL;
    for (const pt_json *m = record->child; m; m = m->next)
        for (const char *const *name = preset ? not_of_preset : not_of_depth; *name; name++)
            if (is_key_of(m->key, *name))
                return pt_fail(err, PT_BAD_INPUT,
                               "%s: its arguments hold '%s', which no run records: take it out",
                               path, *name);
    return PT_OK;
}
