/* posttrain train: a model from scratch, from a text. SPDX-License-Identifier: MIT */
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/platform.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "train/run_folder.h"

typedef struct train_verb {
    pt_device_choice device_choice;
    const char *preset, *corpus, *out, *init, *schedule, *recompute, *dtype, *config_path;
    bool json, dry_run, quiet;
    pt_model_config model;
    pt_train_options train;

    char *config_text;
    pt_arena arena;
    pt_file_view text;
    pt_device *device;
    pt_trainer *trainer;
    pt_run_folder *run;
    pt_progress progress;
} train_verb;

static volatile sig_atomic_t interrupts, interrupt_signal;

/* The first signal asks for a clean end; the second one ends at once. */
static void on_signal(int number)
{
    interrupt_signal = number;
    if (++interrupts > 1) _exit(128 + number);
}

/* What the caller told us to ignore (nohup) stays ignored. */
static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < 3; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* nobody reading the progress is no reason to lose a run */
}

static pt_status interrupted(pt_error *err)
{
    pt_status s = interrupt_signal == SIGTERM  ? PT_TERMINATED
                  : interrupt_signal == SIGHUP ? PT_HUNG_UP
                                               : PT_INTERRUPTED;
    return pt_fail(err, s, "stopped by a signal; what was trained is saved");
}

/* ---- options ---- */

static void apply_preset(train_verb *v, const pt_command_line *line, const pt_preset *preset)
{
    pt_model_config *m = &v->model;
    const pt_model_config *p = &preset->config;
    if (!pt_option_is_set(line, "layers")) m->n_layers = p->n_layers;
    if (!pt_option_is_set(line, "heads")) m->n_heads = p->n_heads;
    if (!pt_option_is_set(line, "d-model")) m->d_model = p->d_model;
    if (!pt_option_is_set(line, "ctx")) m->ctx = p->ctx;
    m->vocab = p->vocab;
    m->gelu_tanh = p->gelu_tanh;
    if (!pt_option_is_set(line, "batch")) v->train.batch = preset->batch;
    if (!pt_option_is_set(line, "steps")) v->train.steps = preset->steps;
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

static pt_status set_choices(train_verb *v, pt_error *err)
{
    static const struct {
        const char *name;
        int flags;
    } recompute[] = {
        {"none", PT_RECOMPUTE_NONE}, {"cheap", PT_RECOMPUTE_CHEAP}, {"block", PT_RECOMPUTE_BLOCK}};
    if (!pt_schedule_from_name(v->schedule, &v->train.schedule))
        return pt_fail(err, PT_BAD_INPUT, "--schedule is '%s', it must be constant or cosine",
                       v->schedule);
    v->train.upstream_init = strcmp(v->init, "upstream") == 0;
    if (!v->train.upstream_init && strcmp(v->init, "default") != 0)
        return pt_fail(err, PT_BAD_INPUT, "--init is '%s', it must be default or upstream",
                       v->init);
    v->train.bf16 = strcmp(v->dtype, "bf16") == 0;
    if (!v->train.bf16 && strcmp(v->dtype, "f32") != 0)
        return pt_fail(err, PT_BAD_INPUT, "--dtype is '%s', it must be f32 or bf16", v->dtype);
    for (size_t i = 0; i < sizeof recompute / sizeof recompute[0]; i++) {
        if (strcmp(v->recompute, recompute[i].name) != 0) continue;
        v->train.recompute = recompute[i].flags;
        return PT_OK;
    }
    return pt_fail(err, PT_BAD_INPUT, "--recompute is '%s', it must be none, cheap or block",
                   v->recompute);
}

static pt_status read_config(train_verb *v, pt_command_line *line, pt_error *err)
{
    int64_t size = 0;
    const pt_json *json = NULL;
    pt_status s = pt_fs_read(v->config_path, 1 << 20, &v->config_text, &size, err);
    if (s) return s;
    s = pt_json_parse(v->config_text, (size_t)size, &v->arena, &json, err);
    if (s) {
        pt_error_prefix(err, "%s", v->config_path);
        return s;
    }
    return pt_options_config(line, json, v->config_path, err);
}

static pt_status settle_options(train_verb *v, pt_command_line *line, pt_error *err)
{
    const pt_preset *preset = NULL;
    pt_status s = v->config_path ? read_config(v, line, err) : PT_OK;
    if (s == PT_OK) s = find_preset(v->preset, &preset, err);
    if (s) return s;
    apply_preset(v, line, preset);
    pt_model_config_complete(&v->model);
    if (!v->corpus)
        return pt_fail(err, PT_BAD_INPUT,
                       "which text? give --corpus FILE (make corpus fetches Moby-Dick)");
    if (!v->out && !v->dry_run)
        return pt_fail(err, PT_BAD_INPUT, "where to? give --out DIR for the run");
    return set_choices(v, err);
}

/* ---- events ---- */

static pt_status on_step(void *ctx, const pt_step_report *report, pt_error *err)
{
    train_verb *v = ctx;
    pt_progress_step(&v->progress, report, pt_trainer_tokens_per_second(v->trainer));
    return pt_run_folder_step(v->run, report, err);
}

static pt_status on_evaluated(void *ctx, int64_t step, double val_loss, pt_error *err)
{
    train_verb *v = ctx;
    pt_progress_evaluated(&v->progress, step, val_loss);
    return pt_run_folder_evaluated(v->run, step, val_loss, err);
}

static pt_status on_sampled(void *ctx, int64_t step, const char *bytes, int64_t n, pt_error *err)
{
    train_verb *v = ctx;
    pt_progress_sampled(&v->progress, step, bytes, n);
    return pt_run_folder_sampled(v->run, step, bytes, n, err);
}

static pt_status on_save_begin(void *ctx, int64_t step, pt_sink *sink, pt_error *err)
{
    return pt_run_folder_save_begin(((train_verb *)ctx)->run, step, sink, err);
}

static pt_status on_save_end(void *ctx, int64_t step, bool failed, pt_error *err)
{
    train_verb *v = ctx;
    pt_status s = pt_run_folder_save_end(v->run, step, failed, err);
    if (s == PT_OK && !failed) pt_progress_saved(&v->progress, step);
    return s;
}

/* ---- the run ---- */

static pt_status prepare(train_verb *v, pt_error *err)
{
    pt_trainer_desc desc = {.config = v->model,
                            .options = v->train,
                            .events = {.ctx = v,
                                       .step = on_step,
                                       .evaluated = on_evaluated,
                                       .sampled = on_sampled,
                                       .save_begin = on_save_begin,
                                       .save_end = on_save_end}};
    pt_status s = pt_file_view_read(&v->text, v->corpus, err);
    if (s == PT_OK) s = pt_choose_device(&v->device_choice, &v->device, err);
    if (s) return s;
    desc.corpus = v->text.data;
    desc.corpus_bytes = v->text.size;
    desc.corpus_in_memory = !v->text.mapped;
    s = pt_trainer_new(&v->trainer, v->device, &desc, err);
    if (s && err && pt_str_starts(err->message, "the corpus has"))
        pt_error_prefix(err, "%s", v->corpus);
    return s;
}

static pt_status print_plan(const train_verb *v, pt_error *err)
{
    const pt_plan *plan = pt_trainer_plan(v->trainer);
    pt_strbuf text = {0};
    if (v->json) {
        pt_json_writer w = pt_json_writer_begin(&text, 0);
        pt_json_begin_object(&w, NULL);
        pt_json_i64(&w, "params", pt_trainer_n_params(v->trainer));
        pt_json_i64(&w, "planned_bytes", pt_plan_total_bytes(plan));
        for (int i = 0; i < PT_ARENA_COUNT; i++)
            pt_json_i64(&w, pt_arena_id_name((pt_arena_id)i), plan->arena_bytes[i]);
        pt_json_end_object(&w);
        pt_strbuf_putc(&text, '\n');
    } else {
        char n[32];
        pt_strbuf_printf(&text, "%s parameters; memory by lifetime:\n",
                         pt_grouped(pt_trainer_n_params(v->trainer), n));
        pt_plan_print(plan, &text);
    }
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

/* A word as a shell takes it. */
static void put_word(pt_strbuf *to, const char *word)
{
    bool plain = *word != 0;
    for (const char *p = word; *p; p++)
        plain = plain && (*p > ' ' && !strchr("'\"\\$`*?[]{}()<>|&;~#!", *p));
    pt_strbuf_puts(to, plain ? " " : " '");
    for (const char *p = word; *p; p++) {
        if (*p == '\'') pt_strbuf_puts(to, "'\\''");
        else pt_strbuf_putc(to, *p);
    }
    if (!plain) pt_strbuf_putc(to, '\'');
}

static pt_status begin_run(train_verb *v, int argc, char **argv, pt_error *err)
{
    pt_strbuf command = {0};
    pt_strbuf_puts(&command, "posttrain train");
    for (int i = 0; i < argc; i++) put_word(&command, argv[i]);
    pt_run_description description = {
        .command = command.failed ? "?" : command.data,
        .preset = v->preset,
        .corpus_path = v->corpus,
        .corpus_bytes = v->text.size,
        .corpus = v->text.data,
        .device = v->device->name,
        .isa = v->device->detail,
        .threads = pt_pool_threads(pt_device_pool(v->device)),
    };
    pt_status s = pt_run_folder_new(&v->run, v->out, err);
    if (s == PT_OK)
        s = pt_run_folder_begin(v->run, &description, &v->model, &v->train,
                                pt_trainer_n_params(v->trainer), err);
    if (s && v->run) {
        pt_run_folder_discard(v->run);
        v->run = NULL;
    }
    pt_strbuf_deinit(&command);
    return s;
}

static void greet(const train_verb *v)
{
    char n[32], bytes[32], memory[32];
    const pt_model_config *m = &v->model;
    pt_say("%s: %s parameters (%lld layers, width %lld, %lld heads, context %lld)\n", v->preset,
           pt_grouped(pt_trainer_n_params(v->trainer), n), (long long)m->n_layers,
           (long long)m->d_model, (long long)m->n_heads, (long long)m->ctx);
    pt_say("%s: %s bytes%s\n", v->corpus, pt_grouped(v->text.size, bytes),
           pt_trainer_validates(v->trainer) ? ", the last tenth held out"
                                            : ", too short to hold a part out: no validation loss");
    const pt_train_options *t = &v->train;
    pt_say("%lld steps of %lld x %lld tokens%s, learning rate %g %s, seed %llu\n",
           (long long)t->steps, (long long)(t->batch * t->accum), (long long)m->ctx,
           t->accum > 1 ? " (accumulated)" : "", t->lr, pt_schedule_name(t->schedule),
           (unsigned long long)t->seed);
    pt_say("%s (%s, %d threads), %s planned, run folder %s\n", v->device->name, v->device->detail,
           pt_pool_threads(pt_device_pool(v->device)),
           pt_megabytes(pt_plan_total_bytes(pt_trainer_plan(v->trainer)), memory), v->out);
}

static pt_status loop(train_verb *v, pt_error *err)
{
    pt_status s = PT_PENDING;
    bool told = false;
    while (s == PT_PENDING) {
        if (interrupts && !told) {
            told = true;
            pt_trainer_stop(v->trainer);
            pt_progress_end(&v->progress);
            pt_say("stopping after this step; once more to stop at once\n");
        }
        s = pt_trainer_poll(v->trainer, err);
    }
    pt_progress_end(&v->progress);
    return s;
}

static pt_status print_result(const train_verb *v, pt_error *err)
{
    pt_trainer *t = v->trainer;
    pt_strbuf text = {0};
    pt_json_writer w = pt_json_writer_begin(&text, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_i64(&w, "step", pt_trainer_step(t));
    pt_json_double(&w, "train_loss", pt_trainer_train_loss(t));
    pt_json_double(&w, "val_loss", pt_trainer_val_loss(t));
    pt_json_i64(&w, "val_step", pt_trainer_val_step(t));
    pt_json_i64(&w, "params", pt_trainer_n_params(t));
    pt_json_double(&w, "tokens_per_second", pt_trainer_tokens_per_second(t));
    pt_json_i64(&w, "peak_rss_bytes", pt_peak_rss());
    pt_json_i64(&w, "planned_bytes", pt_plan_total_bytes(pt_trainer_plan(t)));
    pt_json_string(&w, "run_dir", v->out);
    pt_json_end_object(&w);
    pt_strbuf_putc(&text, '\n');
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

static pt_status train(train_verb *v, int argc, char **argv, pt_error *err)
{
    pt_status s = prepare(v, err);
    if (s) return s;
    if (v->dry_run) return print_plan(v, err);
    s = pt_run_folder_check(v->out, err);
    if (s == PT_OK) s = pt_trainer_begin(v->trainer, pt_device_pool(v->device), err);
    if (s) return s;
    catch_signals();
    s = begin_run(v, argc, argv, err);
    if (s) return s;
    if (!v->quiet) greet(v);
    v->progress = pt_progress_begin(&v->train, v->quiet);
    s = loop(v, err);
    const char *how = s ? (err ? err->message : "failed") : interrupts ? "stopped" : "finished";
    pt_status end = pt_run_folder_end(v->run, pt_trainer_step(v->trainer), how, s ? NULL : err);
    if (s == PT_OK) s = end;
    if (s == PT_OK && v->json) s = print_result(v, err);
    if (s == PT_OK && interrupts) return interrupted(err);
    if (s == PT_OK && !v->quiet) pt_say("done: %s/model.tinygpt\n", v->out);
    return s;
}

static void release(train_verb *v)
{
    pt_trainer_free(v->trainer);
    pt_run_folder_free(v->run);
    pt_device_free(v->device);
    pt_file_view_close(&v->text);
    pt_arena_deinit(&v->arena);
    pt_free(v->config_text);
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    train_verb v = {.device_choice = {.device = "cpu"},
                    .preset = "small",
                    .init = "default",
                    .schedule = "constant",
                    .recompute = "none",
                    .dtype = "f32",
                    .train = pt_train_defaults()};
    pt_train_options *t = &v.train;
    pt_model_config *m = &v.model;
    pt_option options[] = {
        {"corpus", PT_OPTION_TEXT, &v.corpus, "FILE", "the text to learn from", NULL, false},
        {"out", PT_OPTION_TEXT, &v.out, "DIR", "the run's folder; must be new", NULL, false},
        {"preset", PT_OPTION_TEXT, &v.preset, "P", "size of the model, see below", "small", false},
        {"steps", PT_OPTION_COUNT, &t->steps, "N", "optimizer steps", "preset", false},
        {"batch", PT_OPTION_COUNT, &t->batch, "B", "windows per micro-batch", "preset", false},
        {"accum", PT_OPTION_COUNT, &t->accum, "A", "micro-batches per step", NULL, false},
        {"lr", PT_OPTION_REAL, &t->lr, "X", "learning rate", NULL, false},
        {"seed", PT_OPTION_SEED, &t->seed, "K", "of weights, data order, samples", NULL, false},
        {"eval-every", PT_OPTION_COUNT, &t->eval_every, "N", "steps; 0 = at the end", NULL, false},
        {"sample-every", PT_OPTION_COUNT, &t->sample_every, "N", "steps; 0 = never", NULL, false},
        {"save-every", PT_OPTION_COUNT, &t->save_every, "N", "steps; 0 = at the end", NULL, false},
        {"json", PT_OPTION_SWITCH, &v.json, NULL, "the result as JSON on stdout", NULL, false},
        {"dry-run", PT_OPTION_SWITCH, &v.dry_run, NULL, "print the memory plan only", NULL, false},
        {"quiet", PT_OPTION_SWITCH, &v.quiet, NULL, "nothing on stderr but errors", NULL, false},
        {"config", PT_OPTION_TEXT, &v.config_path, "FILE", "these options as JSON", NULL, false},
        PT_DEVICE_OPTIONS(&v.device_choice),
        {"", PT_OPTION_HEADING, NULL, NULL, "Recipe:", NULL, false},
        {"schedule", PT_OPTION_TEXT, &v.schedule, "S", "constant or cosine", "constant", false},
        {"warmup", PT_OPTION_COUNT, &t->warmup, "N", "steps of rising rate", NULL, false},
        {"min-lr", PT_OPTION_REAL, &t->min_lr, "X", "where cosine ends", NULL, false},
        {"clip", PT_OPTION_REAL, &t->clip, "X", "largest gradient norm; 0 = off", NULL, false},
        {"weight-decay", PT_OPTION_REAL, &t->weight_decay, "X", "of matrices", NULL, false},
        {"beta1", PT_OPTION_REAL, &t->beta1, "X", "AdamW", NULL, false},
        {"beta2", PT_OPTION_REAL, &t->beta2, "X", "AdamW", NULL, false},
        {"dropout", PT_OPTION_REAL, &m->dropout, "P", "on the residual stream", NULL, false},
        {"init", PT_OPTION_TEXT, &v.init, "I", "default, or upstream's bits", "default", false},
        {"dtype", PT_OPTION_TEXT, &v.dtype, "D", "of activations: f32 or bf16", "f32", false},
        {"recompute", PT_OPTION_TEXT, &v.recompute, "R", "none, cheap or block: less memory",
         "none", false},
        {"eval-batches", PT_OPTION_COUNT, &t->eval_batches, "N", "of an evaluation", NULL, false},
        {"prompt", PT_OPTION_TEXT, &t->sample_prompt, "TEXT", "of the samples", "a newline", false},
        {"sample-tokens", PT_OPTION_COUNT, &t->sample_tokens, "N", "of a sample", NULL, false},
        {"", PT_OPTION_HEADING, NULL, NULL, "Shape (instead of the preset's):", NULL, false},
        {"layers", PT_OPTION_COUNT, &m->n_layers, "L", "transformer blocks", "preset", false},
        {"d-model", PT_OPTION_COUNT, &m->d_model, "C", "width", "preset", false},
        {"heads", PT_OPTION_COUNT, &m->n_heads, "H", "attention heads", "preset", false},
        {"d-mlp", PT_OPTION_COUNT, &m->d_mlp, "F", "hidden width", "4 C", false},
        {"ctx", PT_OPTION_COUNT, &m->ctx, "T", "context in tokens", "preset", false},
    };
    pt_command_line line = {.options = options, .n_options = sizeof options / sizeof options[0]};
    bool done = false;
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    s = settle_options(&v, &line, err);
    if (s == PT_OK) s = train(&v, argc, argv, err);
    release(&v);
    return s;
}

/* "tiny 70K, small 366K, …" */
static void list_presets(pt_strbuf *out)
{
    pt_strbuf_puts(out, "\nPresets, with their parameters:\n ");
    size_t line = out->len;
    for (const pt_preset *p = pt_presets(); p->name; p++) {
        pt_params params;
        pt_model_config config = p->config;
        pt_model_config_complete(&config);
        if (pt_params_init(&params, &config, NULL)) continue;
        bool millions = params.n_params >= 1000000;
        double size = (double)params.n_params / (millions ? 1e6 : 1e3);
        if (out->len - line > 62) {
            pt_strbuf_puts(out, "\n ");
            line = out->len;
        }
        pt_strbuf_printf(out, " %s %.*f%s%s", p->name, millions && size < 10 ? 1 : 0, size,
                         millions ? "M" : "K", p[1].name ? "," : "\n");
        pt_params_deinit(&params);
    }
}

const pt_verb pt_verb_train = {
    .name = "train",
    .summary = "a model from scratch, from a text",
    .usage = "posttrain train --corpus FILE --out DIR [options]",
    .list = list_presets,
    .details = "Example:\n"
               "  posttrain train --preset small --corpus book.txt --out runs/first \\\n"
               "      --steps 1500 --lr 2e-3 --schedule cosine --warmup 50 --sample-every 300\n",
    .run = run,
};
