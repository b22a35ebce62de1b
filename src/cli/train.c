/* posttrain train: a model from scratch, from a text. SPDX-License-Identifier: MIT */
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/platform.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/train_options.h"
#include "train/run_folder.h"

typedef struct train_verb {
    pt_train_arguments args;
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
    pt_trainer_desc desc = {.config = v->args.model,
                            .options = v->args.train,
                            .events = {.ctx = v,
                                       .step = on_step,
                                       .evaluated = on_evaluated,
                                       .sampled = on_sampled,
                                       .save_begin = on_save_begin,
                                       .save_end = on_save_end}};
    pt_status s = pt_file_view_read(&v->text, v->args.corpus, err);
    if (s == PT_OK) s = pt_choose_device(&v->args.device_choice, &v->device, err);
    if (s) return s;
    desc.corpus = v->text.data;
    desc.corpus_bytes = v->text.size;
    desc.corpus_in_memory = !v->text.mapped;
    s = pt_trainer_new(&v->trainer, v->device, &desc, err);
    if (s && err && pt_str_starts(err->message, "the corpus has"))
        pt_error_prefix(err, "%s", v->args.corpus);
    return s;
}

static pt_status print_plan(const train_verb *v, pt_error *err)
{
    const pt_plan *plan = pt_trainer_plan(v->trainer);
    pt_strbuf text = {0};
    if (v->args.json) {
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
        .preset = v->args.preset,
        .corpus_path = v->args.corpus,
        .corpus_bytes = v->text.size,
        .corpus = v->text.data,
        .device = v->device->name,
        .isa = v->device->detail,
        .threads = pt_pool_threads(pt_device_pool(v->device)),
    };
    pt_status s = pt_run_folder_new(&v->run, v->args.out, err);
    if (s == PT_OK)
        s = pt_run_folder_begin(v->run, &description, &v->args.model, &v->args.train,
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
    const pt_model_config *m = &v->args.model;
    pt_say("%s: %s parameters (%lld layers, width %lld, %lld heads, context %lld)\n",
           v->args.preset, pt_grouped(pt_trainer_n_params(v->trainer), n), (long long)m->n_layers,
           (long long)m->d_model, (long long)m->n_heads, (long long)m->ctx);
    pt_say("%s: %s bytes%s\n", v->args.corpus, pt_grouped(v->text.size, bytes),
           pt_trainer_validates(v->trainer) ? ", the last tenth held out"
                                            : ", too short to hold a part out: no validation loss");
    const pt_train_options *t = &v->args.train;
    pt_say("%lld steps of %lld x %lld tokens%s, learning rate %g %s, seed %llu\n",
           (long long)t->steps, (long long)(t->batch * t->accum), (long long)m->ctx,
           t->accum > 1 ? " (accumulated)" : "", t->lr, pt_schedule_name(t->schedule),
           (unsigned long long)t->seed);
    pt_say("%s (%s, %d threads), %s planned, run folder %s\n", v->device->name, v->device->detail,
           pt_pool_threads(pt_device_pool(v->device)),
           pt_megabytes(pt_plan_total_bytes(pt_trainer_plan(v->trainer)), memory), v->args.out);
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
    pt_json_string(&w, "run_dir", v->args.out);
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
    if (v->args.dry_run) return print_plan(v, err);
    s = pt_run_folder_check(v->args.out, err);
    if (s == PT_OK) s = pt_trainer_begin(v->trainer, pt_device_pool(v->device), err);
    if (s) return s;
    catch_signals();
    s = begin_run(v, argc, argv, err);
    if (s) return s;
    if (!v->args.quiet) greet(v);
    v->progress = pt_progress_begin(&v->args.train, v->args.quiet);
    s = loop(v, err);
    const char *how = s ? (err ? err->message : "failed") : interrupts ? "stopped" : "finished";
    pt_status end = pt_run_folder_end(v->run, pt_trainer_step(v->trainer), how, s ? NULL : err);
    if (s == PT_OK) s = end;
    if (s == PT_OK && v->args.json) s = print_result(v, err);
    if (s == PT_OK && interrupts) return interrupted(err);
    if (s == PT_OK && !v->args.quiet) pt_say("done: %s/model.tinygpt\n", v->args.out);
    return s;
}

static void release(train_verb *v)
{
    pt_trainer_free(v->trainer);
    pt_run_folder_free(v->run);
    pt_device_free(v->device);
    pt_file_view_close(&v->text);
    pt_train_arguments_deinit(&v->args);
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    train_verb v = {0};
    pt_train_arguments_init(&v.args);
    bool done = false;
    pt_status s = pt_verb_parse(verb, &v.args.line, argc, argv, &done, err);
    if (s == PT_OK && !done) s = pt_train_arguments_settle(&v.args, err);
    if (s == PT_OK && !done) s = train(&v, argc, argv, err);
    release(&v);
    return s;
}

const pt_verb pt_verb_train = {
    .name = "train",
    .summary = "train a model from scratch, on a text",
    .usage = "posttrain train --corpus FILE --out DIR [options]",
    .list = pt_train_list_presets,
    .details = "Example:\n"
               "  posttrain train --preset small --corpus book.txt --out runs/first \\\n"
               "      --steps 1500 --lr 2e-3 --schedule cosine --warmup 50 --sample-every 300\n",
    .manual = "Trains a new model on the bytes of a text and keeps the run in a folder of its "
              "own. Where the text is long enough, its last tenth is held out and the loss on it "
              "is measured before the first step, as asked, and at the end.\n\n"
              "Loss is in nats per byte: the mean of the negative logarithm of the probability "
              "that the model gave to each next byte. A model that knows nothing has ln 256 = "
              "5.55. In the progress line, trend is the loss smoothed over about 20 steps.\n\n"
              "An interrupt (Ctrl-C) ends the run after the step under way and saves it; a second "
              "one ends it at once. A loss or gradient that is not finite never reaches the "
              "weights: the run ends with exit status 9 and names the first bad tensor.\n\n"
              "A value is taken from the command line, else from the file given with --config, "
              "else from the preset, else from the default.\n",
    .files = "DIR/run.json: What was run: command, model, options, text, machine.\n"
             "DIR/log.jsonl: One JSON line per step, evaluation, sample and saved model.\n"
             "DIR/checkpoints/: Saved states, one folder each.\n"
             "DIR/model.tinygpt: The newest saved model.\n",
    .run = run,
};
