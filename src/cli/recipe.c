/* --depth, and --recipe: the settings of a run with the reason of each. SPDX-License-Identifier: MIT */
#include "cli/recipe.h"

#include "base/decimal.h"
#include "base/human.h"

#define MAX_LINES 40
#define VALUE_COLUMNS 12
#define MANY_EPOCHS 4

static bool given(const pt_train_arguments *a, const char *name)
{
    return pt_option_is_set(&a->line, name);
}

static bool of_run(const pt_train_arguments *a, const char *name)
{
    for (int i = 0; i < a->line.n_options; i++)
        if (strcmp(a->options[i].name, name) == 0) return a->options[i].set && a->of_run[i];
    return false;
}

/* ---- --depth ---- */

static pt_status check_depth(const pt_train_arguments *a, pt_error *err)
{
    if (!given(a, "preset")) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "--depth and --preset both choose a shape: give one of them");
}

/* What the recipe says, with what was given taken into account where one setting follows from another. */
static pt_status work_out(pt_train_arguments *a, pt_error *err)
{
    pt_depth_choice *d = &a->wanted;
    pt_regime regime = PT_REGIME_CHINCHILLA;
    if (!pt_regime_from_name(a->regime, &regime))
        return pt_fail(err, PT_INTERNAL, "the options list a regime that the recipe does not know");
    d->ctx = given(a, "ctx") ? a->model.ctx : PT_RECIPE_CTX;
    pt_status s = pt_recipe_of_depth(a->depth, regime, d->ctx, &d->recipe, err);
    if (s) return s;
    int64_t accum = pt_max_i64(1, a->train.accum), tokens = 0;
    d->batch = pt_max_i64(1, d->recipe.windows / accum);
    int64_t batch = given(a, "batch") ? pt_max_i64(1, a->train.batch) : d->batch;
    /* nothing that was given is checked yet: the trainer's check refuses what is out of bounds */
    if (!pt_mul_i64(batch, accum, &tokens) || !pt_mul_i64(tokens, d->ctx, &tokens))
        tokens = INT64_MAX;
    d->steps = pt_recipe_steps(&d->recipe, tokens);
    d->warmup = pt_recipe_warmup(given(a, "steps") ? a->train.steps : d->steps);
    d->min_lr = pt_recipe_min_lr(given(a, "lr") ? a->train.lr : d->recipe.lr);
    return PT_OK;
}

pt_status pt_apply_depth(pt_train_arguments *a, pt_error *err)
{
    pt_depth_choice *d = &a->wanted;
    pt_status s = check_depth(a, err);
    if (s == PT_OK) s = work_out(a, err);
    if (s) return s;
    if (!given(a, "layers")) a->model.n_layers = d->recipe.layers;
    if (!given(a, "d-model")) a->model.d_model = d->recipe.width;
    if (!given(a, "heads")) a->model.n_heads = d->recipe.heads;
    if (!given(a, "batch")) a->train.batch = d->batch;
    if (!given(a, "steps")) a->train.steps = d->steps;
    if (!given(a, "lr")) a->train.lr = d->recipe.lr;
    if (!given(a, "schedule")) a->schedule = "cosine";
    if (!given(a, "warmup")) a->train.warmup = d->warmup;
    bool falls = strcmp(a->schedule, "constant") != 0;
    if (falls && !given(a, "min-lr")) a->train.min_lr = d->min_lr;
    a->model.ctx = d->ctx;
    return PT_OK;
}

/* ---- lines ---- */

typedef struct recipe_line {
    const char *name;
    char value[PT_DECIMAL_MAX];
    bool number;
    const char *from; /* "given", "run", "depth", "preset", "default", "follows" */
    char why[200];
    bool overridden; /* given, and the recipe says otherwise */
} recipe_line;

typedef struct recipe_lines {
    const pt_train_arguments *a;
    recipe_line line[MAX_LINES];
    int n;
} recipe_lines;

static const char *shortest(double value, char out[PT_DECIMAL_MAX])
{
    pt_double_to_shortest(value, out);
    return out;
}

static recipe_line *add(recipe_lines *l, const char *name, const char *value, bool number)
{
    recipe_line *line = &l->line[l->n++];
    *line = (recipe_line){.name = name, .number = number};
    pt_format(line->value, sizeof line->value, "%s", value);
    return line;
}

/* The reason of a setting that has a flag of its name. `depth` says why --depth chose `wanted`, NULL: it doesn't;
 * `preset` whether presets choose it; `plain` is the reason of the default. */
static void explain(recipe_lines *l, recipe_line *line, const char *depth, const char *wanted,
                    bool preset, const char *plain)
{
    const pt_train_arguments *a = l->a;
    bool by_depth = a->depth && depth && !a->previous;
    line->from = of_run(a, line->name)  ? "run"
                 : given(a, line->name) ? "given"
                 : by_depth             ? "depth"
                 : preset && !a->depth  ? "preset"
                                        : "default";
    line->overridden = given(a, line->name) && by_depth && strcmp(wanted, line->value) != 0;
    if (line->overridden)
        pt_format(line->why, sizeof line->why, "you gave it; the recipe says %s", wanted);
    else if (of_run(a, line->name)) pt_format(line->why, sizeof line->why, "of the run");
    else if (given(a, line->name)) pt_format(line->why, sizeof line->why, "you gave it");
    else if (by_depth) pt_format(line->why, sizeof line->why, "%s", depth);
    else if (preset && !a->depth)
        pt_format(line->why, sizeof line->why, "of the preset %s", a->preset);
    else pt_format(line->why, sizeof line->why, "%s", plain);
}

typedef struct reason {
    const char *depth;
    int64_t wanted;
    bool preset;
    const char *plain;
} reason;

static void add_count(recipe_lines *l, const char *name, int64_t value, reason r)
{
    char text[24], wanted[24];
    pt_format(text, sizeof text, "%lld", (long long)value);
    pt_format(wanted, sizeof wanted, "%lld", (long long)r.wanted);
    explain(l, add(l, name, text, true), r.depth, wanted, r.preset, r.plain);
}

static void add_real(recipe_lines *l, const char *name, double value, const char *depth,
                     double wanted_value, const char *plain)
{
    char text[PT_DECIMAL_MAX], wanted[PT_DECIMAL_MAX];
    recipe_line *line = add(l, name, shortest(value, text), true);
    explain(l, line, depth, shortest(wanted_value, wanted), false, plain);
}

static void add_word(recipe_lines *l, const char *name, const char *value, const char *depth,
                     const char *wanted, const char *plain)
{
    explain(l, add(l, name, value, false), depth, wanted, false, plain);
}

/* A number that is no setting but follows from settings: products of them, which may be beyond int64. */
static recipe_line *add_fact(recipe_lines *l, const char *name, double value)
{
    char text[PT_DECIMAL_MAX];
    recipe_line *line = add(l, name, shortest(value, text), true);
    line->from = "follows";
    return line;
}

/* ---- what is said ---- */

static void add_shape(recipe_lines *l, int64_t n_params)
{
    const pt_train_arguments *a = l->a;
    const pt_model_config *m = &a->model;
    const pt_recipe *r = &a->wanted.recipe;
    add_count(l, "layers", m->n_layers, (reason){"the depth itself", r->layers, true, ""});
    add_count(l, "d-model", m->d_model, (reason){"64 for each layer", r->width, true, ""});
    add_count(l, "heads", m->n_heads,
              (reason){"one for each 64 of the width, as in GPT-2", r->heads, true, ""});
    add_count(l, "d-mlp", m->d_mlp, (reason){NULL, 0, false, "4 d-model, as in GPT-2"});
    add_count(l, "ctx", m->ctx,
              (reason){"the window of GPT-2, and of the recipe's table", a->wanted.ctx, true, ""});
    recipe_line *line = add_fact(l, "parameters", (double)n_params);
    pt_format(line->why, sizeof line->why,
              "counted from the shape, embeddings and biases included");
}

static void add_amounts(recipe_lines *l, int64_t n_params)
{
    const pt_train_arguments *a = l->a;
    const pt_depth_choice *d = &a->wanted;
    const pt_train_options *t = &a->train;
    char why[200];
    double per_step = (double)(t->batch * t->accum) * (double)a->model.ctx;
    double tokens = per_step * (double)t->steps;
    pt_format(why, sizeof why, "32 d-model / ctx windows a step%s",
              t->accum > 1 ? ", in accum parts" : "");
    add_count(l, "batch", t->batch, (reason){why, d->batch, true, ""});
    add_count(l, "accum", t->accum,
              (reason){NULL, 0, false, "the whole batch at once: more only saves memory"});
    recipe_line *line = add_fact(l, "tokens a step", per_step);
    pt_format(line->why, sizeof line->why, "batch x accum x ctx");
    int64_t of_blocks = d->recipe.params;
    pt_format(
        why, sizeof why,
        "%s: %lld tokens for each parameter of the %lld blocks, 12 d-model^2 a block, %lld in "
        "all",
        a->regime, (long long)(d->recipe.tokens / pt_max_i64(1, of_blocks)),
        (long long)d->recipe.layers, (long long)of_blocks);
    add_count(l, "steps", t->steps, (reason){why, d->steps, true, ""});
    line = add_fact(l, "tokens", tokens);
    pt_format(line->why, sizeof line->why,
              "steps x tokens a step: %.1f for each parameter; 20 make the best model for the work "
              "(Hoffmann et al. 2022, arXiv:2203.15556)",
              tokens / (double)n_params);
}

/* How often the text is read; standard input is not read for it. `text`: bytes that are not held out; 0: there is none. */
static void add_epochs(recipe_lines *l, int64_t text)
{
    const pt_train_arguments *a = l->a;
    if (!text) return;
    const pt_train_options *t = &a->train;
    double tokens = (double)(t->batch * t->accum) * (double)a->model.ctx * (double)t->steps;
    double epochs = tokens / (double)text;
    char value[32], n[32];
    pt_format(value, sizeof value, "%.3g", epochs);
    recipe_line *line = add(l, "epochs", value, true);
    line->from = "follows";
    bool all = text == pt_corpus_tokens(a->corpus.corpus);
    pt_format(line->why, sizeof line->why, "times that the %s bytes of text%s are read%s",
              pt_grouped(text, n), all ? "" : " not held out",
              epochs > MANY_EPOCHS ? ": more than 4 teach little that is new, so take more text or "
                                     "fewer steps (Muennighoff et al. 2023, arXiv:2305.16264)"
                                   : "");
}

static void add_rate(recipe_lines *l)
{
    const pt_train_arguments *a = l->a;
    const pt_depth_choice *d = &a->wanted;
    pt_schedule s = pt_train_options_schedule(&a->train);
    add_real(l, "lr", s.lr,
             "3e-3 sqrt(512 / d-model), between 1e-4 and 6e-3: the wider, the smaller",
             d->recipe.lr, "the original's; small models bear up to 10 times as much");
    add_word(l, "schedule", pt_schedule_name(s.kind),
             "a high rate learns fast, a falling one settles", "cosine",
             "the original's in the browser; cosine or wsd end lower");
    add_count(l, "warmup", s.warmup,
              (reason){"500 steps, in a short run a tenth: AdamW's averages must form first",
                       d->warmup, false, "none"});
    if (s.kind == PT_SCHEDULE_CONSTANT) return;
    add_real(l, "min-lr", s.min_lr, "a tenth of lr, as the original's 3e-4 to 3e-5", d->min_lr,
             "down to nothing");
    if (s.kind == PT_SCHEDULE_COSINE) return;
    recipe_line *line = add_fact(l, "decay-steps", (double)s.decay);
    bool own = a->train.decay_steps > 0, run = of_run(a, "decay-steps");
    line->from = !own ? "default" : run ? "run" : "given";
    pt_format(line->why, sizeof line->why, "%s",
              !own  ? "a tenth of the steps"
              : run ? "of the run"
                    : "you gave it");
    add_word(l, "decay-shape", pt_decay_shape_name(s.shape), NULL, NULL,
             "the best of the shapes in Haegele et al. 2024, arXiv:2405.18392");
}

static void add_rest(recipe_lines *l)
{
    const pt_train_arguments *a = l->a;
    const pt_train_options *t = &a->train;
    static const char gpt3[] = "AdamW as in GPT-3 (Brown et al. 2020, appendix B)";
    char seed[24];
    add_real(l, "beta1", t->beta1, NULL, 0, gpt3);
    add_real(l, "beta2", t->beta2, NULL, 0, gpt3);
    add_real(l, "weight-decay", t->weight_decay, NULL, 0,
             "as in GPT-3, of matrices only: norms and biases do not overfit");
    add_real(l, "clip", t->clip, NULL, 0,
             "as in GPT-3: one bad batch cannot throw the weights far");
    add_real(l, "dropout", a->model.dropout, NULL, 0, "off: few runs see a text often enough");
    pt_format(seed, sizeof seed, "%llu", (unsigned long long)t->seed);
    explain(l, add(l, "seed", seed, false), NULL, NULL, false, "the original's");
    add_word(l, "init", a->init, NULL, NULL, "N(0, 0.02), projections / sqrt(2 layers), as GPT-2");
    add_word(l, "dtype", a->dtype, NULL, NULL, "the exact one; bf16 halves the activations");
    add_word(l, "recompute", a->recompute, NULL, NULL, "the fastest; cheap and block save memory");
    add_word(l, "on-spike", a->on_spike, NULL, NULL, "a spike is told and changes nothing");
}

static void collect(recipe_lines *l, const pt_train_arguments *a, int64_t n_params, int64_t text)
{
    *l = (recipe_lines){.a = a};
    add_shape(l, n_params);
    add_amounts(l, n_params);
    add_epochs(l, text);
    add_rate(l);
    add_rest(l);
}

static void write_json(const recipe_lines *l, pt_strbuf *text)
{
    pt_json_writer w = pt_json_writer_begin(text, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_begin_array(&w, "recipe");
    for (int i = 0; i < l->n; i++) {
        const recipe_line *line = &l->line[i];
        double value = 0;
        pt_json_begin_object(&w, NULL);
        pt_json_string(&w, "name", line->name);
        if (line->number && pt_decimal_to_double(line->value, strlen(line->value), &value))
            pt_json_double(&w, "value", value);
        else pt_json_string(&w, "value", line->value);
        pt_json_string(&w, "from", line->from);
        pt_json_string(&w, "why", line->why);
        pt_json_end_object(&w);
    }
    pt_json_end_array(&w);
    pt_json_end_object(&w);
    pt_strbuf_putc(text, '\n');
}

static pt_status open_text(pt_train_arguments *a, pt_error *err)
{
    const pt_word_list *paths = &a->corpus.paths;
    a->corpus.quiet = a->quiet;
    for (int i = 0; i < paths->n; i++)
        if (strcmp(paths->word[i], "-") == 0) return PT_OK;
    return paths->n ? pt_corpus_choice_open(&a->corpus, err) : PT_OK;
}

/* Bytes of the text that are not held out. */
static pt_status count_trained(const pt_train_arguments *a, int64_t *out, pt_error *err)
{
    pt_mixture train, held_out;
    pt_status s = pt_data_split(&a->corpus.data, pt_train_window(&a->train, &a->model),
                                a->train.seed, &train, &held_out, err);
    for (int k = 0; k < train.n && s == PT_OK; k++) *out += train.source[k].n;
    return s;
}

pt_status pt_print_recipe(pt_train_arguments *a, pt_error *err)
{
    pt_params params = {0};
    pt_strbuf text = {0};
    int64_t trained = 0;
    recipe_lines *l = pt_alloc(sizeof *l);
    pt_status s = l ? PT_OK : pt_fail(err, PT_NO_MEMORY, "no memory for the recipe");
    if (s == PT_OK) s = pt_train_options_check(&a->train, err);
    if (s == PT_OK) s = pt_model_config_check(&a->model, err);
    if (s == PT_OK) s = pt_params_init(&params, &a->model, err);
    if (s == PT_OK) s = open_text(a, err);
    if (s == PT_OK && a->corpus.corpus) s = count_trained(a, &trained, err);
    if (s == PT_OK) {
        collect(l, a, params.n_params, trained);
        if (a->json) write_json(l, &text);
        for (int i = 0; i < l->n && !a->json; i++) {
            pt_strbuf_printf(&text, "%-14s %-*s ", l->line[i].name, VALUE_COLUMNS,
                             l->line[i].value);
            pt_put_wrapped(&text, 16 + VALUE_COLUMNS, l->line[i].why);
            pt_strbuf_putc(&text, '\n');
        }
        s = pt_print_strbuf(&text, err);
    }
    pt_params_deinit(&params);
    pt_strbuf_deinit(&text);
    pt_free(l);
    return s;
}

void pt_say_overrides(const pt_train_arguments *a)
{
    recipe_lines *l = a->depth && !a->previous ? pt_alloc(sizeof *l) : NULL;
    if (!l) return;
    collect(l, a, 1, 0);
    for (int i = 0; i < l->n; i++)
        if (l->line[i].overridden)
            pt_say("--%s %s: %s\n", l->line[i].name, l->line[i].value, l->line[i].why);
    pt_free(l);
}
