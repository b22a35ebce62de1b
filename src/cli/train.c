/* posttrain train: a model from scratch, from a text. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/platform.h"
#include "cli/cli.h"
#include "cli/corpus.h"
#include "cli/dry_run.h"
#include "cli/progress.h"
#include "cli/recipe.h"
#include "cli/resume.h"
#include "cli/stopping.h"
#include "cli/train_options.h"
#include "factory/report.h"
#include "train/run_events.h"
#include "train/run_folder.h"

#define MOST_LOSSES 3 /* of the device, with no step between them that had not been done before */

typedef struct train_verb {
    pt_train_arguments args;
    pt_device *device;
    pt_trainer_desc desc;
    pt_trainer *trainer;
    pt_run_folder *run;
    pt_run_events *events; /* NULL: --no-tensorboard */
    pt_report_live report;
    pt_progress progress;
    int64_t asked_at;   /* step at which a save was asked for last */
    double saved_at;    /* clock seconds: the newest checkpoint, or the start of the loop */
    int64_t lost_at;    /* the furthest step at which the device was lost; -1: it never was */
    bool spike_stopped; /* --on-spike stop, or too many rollbacks, ended the run */
    uint8_t *stand_in;  /* --dry-run without a text */
} train_verb;

/* ---- events ---- */

static pt_status on_step(void *ctx, const pt_step_report *report, pt_error *err)
{
    train_verb *v = ctx;
    pt_progress_step(&v->progress, report, pt_trainer_tokens_per_second(v->trainer));
    pt_status s = pt_run_folder_step(v->run, report, err);
    return s ? s : pt_run_events_step(v->events, report, err);
}

static pt_status on_spiked(void *ctx, const pt_spike_report *report, pt_error *err)
{
    train_verb *v = ctx;
    pt_progress_spiked(&v->progress, report);
    v->spike_stopped = report->did == PT_SPIKE_STOP;
    return pt_run_folder_spiked(v->run, report, err);
}

static pt_status on_roll_back(void *ctx, int64_t from, double lr_scale, pt_error *err)
{
    train_verb *v = ctx;
    pt_status s = pt_run_folder_roll_back(v->run, v->trainer, from, lr_scale, err);
    if (s) return s;
    pt_progress_went_back(&v->progress, pt_trainer_step(v->trainer), lr_scale);
    return pt_run_events_went_back(v->events, pt_trainer_step(v->trainer), err);
}

static pt_status on_evaluated(void *ctx, int64_t step, double val_loss, pt_error *err)
{
    train_verb *v = ctx;
    pt_progress_evaluated(&v->progress, step, val_loss);
    pt_status s = pt_run_folder_evaluated(v->run, step, val_loss, err);
    if (s == PT_OK) s = pt_run_events_evaluated(v->events, step, val_loss, err);
    if (s == PT_OK) pt_report_refresh(&v->report, v->args.out);
    return s;
}

static pt_status on_sampled(void *ctx, int64_t step, const char *bytes, int64_t n, pt_error *err)
{
    train_verb *v = ctx;
    pt_progress_sampled(&v->progress, step, bytes, n);
    pt_status s = pt_run_folder_sampled(v->run, step, bytes, n, err);
    return s ? s : pt_run_events_sampled(v->events, step, bytes, n, err);
}

static pt_status on_save_begin(void *ctx, int64_t step, pt_sink *sink, pt_error *err)
{
    return pt_run_folder_save_begin(((train_verb *)ctx)->run, step, sink, err);
}

static pt_status on_save_end(void *ctx, int64_t step, bool failed, pt_error *err)
{
    train_verb *v = ctx;
    pt_status s = pt_run_folder_save_end(v->run, step, failed, err);
    v->saved_at = pt_clock_seconds();
    if (s == PT_OK && !failed) pt_progress_saved(&v->progress, step);
    return s;
}

/* ---- the run ---- */

/* A run that goes on gets the instruction set that it began with, where this machine has it; it is said where the bits
 * will not be the same. */
static pt_status choose_device(const pt_train_arguments *a, pt_device **out, pt_error *err)
{
    pt_device_choice choice = a->device_choice;
    const char *began = pt_json_get_string(pt_json_get(a->previous, "program"), "isa");
    bool cpu = strcmp(choice.device, "cpu") == 0;
    if (cpu && !choice.isa && began) {
        choice.isa = began;
        if (pt_device_choose(&choice, out, NULL) == PT_OK) return PT_OK;
        choice.isa = NULL;
    }
    pt_status s = pt_device_choose(&choice, out, err);
    if (s == PT_OK && cpu && began && strcmp(began, (*out)->detail) != 0)
        pt_say("posttrain: the run began with --isa %s and goes on with %s: close to what it would "
               "have been, but not bit for bit\n",
               began, (*out)->detail);
    return s;
}

static pt_status choose_text(train_verb *v, pt_error *err)
{
    pt_corpus_choice *choice = &v->args.corpus;
    pt_trainer_desc *desc = &v->desc;
    if (v->args.dry_run && !choice->paths.n) {
        pt_status s = pt_dry_run_text(&desc->config, &v->stand_in, &desc->corpus_bytes, err);
        desc->corpus = v->stand_in;
        return s;
    }
    choice->quiet = v->args.quiet;
    pt_status s = pt_resume_check_paths(&v->args, err);
    if (s == PT_OK) s = pt_corpus_choice_open(choice, err);
    if (s) return s;
    desc->data = &choice->data;
    desc->corpus_memory = pt_corpus_memory(choice->corpus);
    return PT_OK;
}

static pt_status prepare(train_verb *v, pt_error *err)
{
    v->desc = (pt_trainer_desc){.config = v->args.model,
                                .options = v->args.train,
                                .events = {.ctx = v,
                                           .step = on_step,
                                           .spiked = on_spiked,
                                           .roll_back = on_roll_back,
                                           .evaluated = on_evaluated,
                                           .sampled = on_sampled,
                                           .save_begin = on_save_begin,
                                           .save_end = on_save_end}};
    pt_status s = choose_text(v, err);
    if (s == PT_OK && v->args.previous) s = pt_resume_check_corpus(&v->args, err);
    if (s == PT_OK) s = choose_device(&v->args, &v->device, err);
    if (s) return s;
    return pt_trainer_new(&v->trainer, v->device, &v->desc, err);
}

/* A word as a shell takes it. What is not UTF-8 stands in escapes, as run.json and the log hold text. */
static void put_word(pt_strbuf *to, const char *word)
{
    bool plain = *word != 0, text = pt_utf8_valid(word, strlen(word));
    for (const char *p = word; *p; p++)
        plain = plain && (*p > ' ' && !strchr("'\"\\$`*?[]{}()<>|&;~#!", *p));
    pt_strbuf_puts(to, !text ? " $'" : plain ? " " : " '");
    for (const char *p = word; *p; p++) {
        if (!text && (*p < ' ' || *p > '~' || *p == '\'' || *p == '\\'))
            pt_strbuf_printf(to, "\\x%02x", (unsigned char)*p);
        else if (*p == '\'') pt_strbuf_puts(to, "'\\''");
        else pt_strbuf_putc(to, *p);
    }
    if (!plain) pt_strbuf_putc(to, '\'');
}

static void put_command(pt_strbuf *to, int argc, char **argv)
{
    pt_strbuf_puts(to, "posttrain train");
    for (int i = 0; i < argc; i++) put_word(to, argv[i]);
}

/* run.json and the first lines of the log. */
static pt_status describe_run(train_verb *v, const char *command, pt_error *err)
{
    pt_run_description description = {
        .command = command,
        .preset = pt_train_arguments_shape(&v->args),
        .corpus_path = v->args.corpus.paths.word[0],
        .corpus_bytes = pt_corpus_tokens(v->args.corpus.corpus),
        .corpus_sha256 = pt_corpus_sha256(v->args.corpus.corpus),
        .corpus = v->args.corpus.corpus,
        .weight = v->args.corpus.data.weight,
        .device = v->device->name,
        .isa = v->device->detail,
        .threads = pt_pool_threads(pt_device_pool(v->device)),
        .previous = v->args.previous,
        .planned_bytes = pt_plan_total_bytes(pt_trainer_plan(v->trainer)),
    };
    pt_status s = pt_train_arguments_record(&v->args, &description.arguments, err);
    pt_run_folder_keep(v->run, v->args.keep);
    if (s) return s;
    return pt_run_folder_begin(v->run, &description, &v->args.model, &v->args.train,
                               pt_trainer_n_params(v->trainer), err);
}

static pt_dry_run dry_run_of(const train_verb *v)
{
    return (pt_dry_run){v->device,
                        &v->desc,
                        v->trainer,
                        .begun = v->args.previous != NULL,
                        .keep = v->args.keep,
                        .save_minutes = v->args.save_minutes,
                        .json = v->args.json,
                        .force_memory = v->args.force_memory};
}

/* How much memory a GPU has shows only when it has no more: then it is asked, and what would fit is told. */
static pt_status begin_trainer(train_verb *v, pt_error *err)
{
    const pt_plan *plan = pt_trainer_plan(v->trainer);
    pt_dry_run run = dry_run_of(v);
    pt_device *fresh = NULL;
    pt_status s = pt_trainer_begin(v->trainer, pt_device_pool(v->device), err);
    bool short_of = s == PT_NO_MEMORY && v->device->largest_buffer && !pt_plan_is_allocated(plan);
    if (!short_of || choose_device(&v->args, &fresh, NULL)) return s;
    int64_t needs = pt_plan_total_bytes(plan) - plan->arena_bytes[PT_ARENA_HOST];
    int64_t has = pt_device_room(fresh, needs);
    pt_device_free(fresh);
    if (has == needs) return s;
    *err = (pt_error){0};
    return pt_refuse_for_device(&run, has, err);
}

static pt_status begin_run(train_verb *v, const char *command, pt_error *err)
{
    pt_status s = pt_run_folder_check(v->args.out, err);
    if (s == PT_OK) s = begin_trainer(v, err);
    if (s) return s;
    pt_stopping_catch();
    s = pt_run_folder_new(&v->run, v->args.out, err);
    if (s == PT_OK) s = describe_run(v, command, err);
    if (s && v->run) {
        pt_run_folder_discard(v->run);
        v->run = NULL;
    }
    return s;
}

/* The reason may hold words of a manifest, which anyone may have written. */
static void say_refused(const pt_run_restored *r)
{
    for (int64_t i = 0; i < r->n_refused && i < PT_RUN_REFUSED_SHOWN; i++) {
        char why[3 * sizeof r->refused[i].why];
        pt_safe_line(why, sizeof why, r->refused[i].why, strlen(r->refused[i].why));
        pt_say("posttrain: checkpoint of step %lld cannot be used: %s%s\n",
               (long long)r->refused[i].step, why,
               r->refused[i].newer ? " (it stays where it is)" : "");
    }
    if (*r->best_why) {
        char why[3 * sizeof r->best_why];
        pt_safe_line(why, sizeof why, r->best_why, strlen(r->best_why));
        pt_say(
            "posttrain: %s; the best checkpoint is told from the headers of those that are there\n",
            why);
    }
    if (*r->kept)
        pt_say("posttrain: no checkpoint holds what model.tinygpt was: it is kept as %s\n",
               r->kept);
}

static void say_found(const train_verb *v, const pt_run_restored *r, const pt_run_found *found)
{
    if (found->torn_bytes)
        pt_say("the log ended in half a line of %lld bytes: set aside in log.jsonl.torn\n",
               (long long)found->torn_bytes);
    if (found->swept)
        pt_say("%lld leftover%s of a killed process removed\n", (long long)found->swept,
               found->swept == 1 ? "" : "s");
    if (r->from_published)
        pt_say("no checkpoint can be used, but model.tinygpt is whole: the run goes on from it\n");
    if (r->step < 0)
        pt_say("there is no checkpoint yet: the run begins at the start, with the settings that "
               "run.json holds now\n");
    else if (r->step < v->args.train.steps)
        pt_say("going on after step %lld\n", (long long)r->step);
    else
        pt_say("the run is at step %lld: no step is left to do%s\n", (long long)r->step,
               v->args.train.schedule == PT_SCHEDULE_CONSTANT ? "; --steps N trains on" : "");
}

static pt_status resume_run(train_verb *v, const char *command, pt_error *err)
{
    pt_run_found found;
    pt_run_restored restored = {.step = -1};
    pt_status s = pt_run_folder_open(&v->run, v->args.out, &found, err);
    if (s == PT_OK) s = begin_trainer(v, err);
    if (s == PT_OK) s = pt_run_folder_restore(v->run, v->trainer, &restored, err);
    say_refused(&restored);
    if (s) return s;
    if (!v->args.quiet) say_found(v, &restored, &found);
    pt_stopping_catch();
    s = describe_run(v, command, err);
    return s ? s : pt_run_folder_resumed(v->run, &restored, &found, command, err);
}

static pt_status open_events(train_verb *v, pt_error *err)
{
    const pt_train_options *o = &v->args.train;
    int64_t tokens = o->batch * o->accum * pt_train_window(o, &v->args.model);
    if (v->args.no_tensorboard) return PT_OK;
    return pt_run_events_open(&v->events, v->args.out, v->args.previous != NULL,
                              pt_trainer_step(v->trainer), tokens, err);
}

static void greet(const train_verb *v)
{
    char n[32], memory[32];
    const pt_model_config *m = &v->args.model;
    pt_say_overrides(&v->args);
    pt_say("%s: %s parameters (%lld layer%s, width %lld, %lld head%s, context %lld)\n",
           pt_train_arguments_shape(&v->args), pt_grouped(pt_trainer_n_params(v->trainer), n),
           (long long)m->n_layers, m->n_layers == 1 ? "" : "s", (long long)m->d_model,
           (long long)m->n_heads, m->n_heads == 1 ? "" : "s", (long long)m->ctx);
    pt_corpus_choice_say(&v->args.corpus, pt_trainer_held_out(v->trainer));
    const pt_train_options *t = &v->args.train;
    pt_say("%lld steps of %lld x %lld tokens%s, learning rate %g %s, seed %llu\n",
           (long long)t->steps, (long long)(t->batch * t->accum), (long long)m->ctx,
           t->accum > 1 ? " (accumulated)" : "", t->lr, pt_schedule_name(t->schedule),
           (unsigned long long)t->seed);
    char threads[24] = "";
    pt_pool *pool = pt_device_pool(v->device);
    if (pool)
        pt_format(threads, sizeof threads, ", %d thread%s", pt_pool_threads(pool),
                  pt_pool_threads(pool) == 1 ? "" : "s");
    pt_say("%s (%s%s), %s planned\nrun folder: %s\n", v->device->name, v->device->detail, threads,
           pt_megabytes(pt_plan_total_bytes(pt_trainer_plan(v->trainer)), memory), v->args.out);
    if (!t->save_every && v->args.save_minutes <= 0)
        pt_say("nothing is saved before the end: a kill would lose all (--save-minutes, "
               "--save-every)\n");
}

/* By time, so that a kill costs no more than that. The weights do not depend on when it happens. Time counts from the first
 * step after a save, so a save that takes longer than that stops no run. */
static void request_save(train_verb *v)
{
    double now = pt_clock_seconds();
    int64_t step = pt_trainer_step(v->trainer);
    if (step == v->asked_at) v->saved_at = now;
    if (v->args.save_minutes <= 0 || now - v->saved_at < 60 * v->args.save_minutes) return;
    v->asked_at = step;
    pt_trainer_request_save(v->trainer);
}

static pt_status poll_to_the_end(train_verb *v, pt_error *err)
{
    pt_status s = PT_PENDING;
    v->saved_at = pt_clock_seconds();
    v->asked_at = pt_trainer_step(v->trainer); /* what it goes on from, or nothing, is saved */
    while (s == PT_PENDING) {
        if (pt_stopping()) pt_trainer_stop(v->trainer);
        else request_save(v);
        s = pt_trainer_poll(v->trainer, err);
    }
    pt_progress_end(&v->progress);
    return s;
}

/* Whatever a GPU must do before its first op; a user should know which of its kernels cannot be trusted. */
static pt_status ready(const train_verb *v, pt_error *err)
{
    pt_status s = pt_get_ready(v->device, v->args.quiet, err);
    if (s == PT_OK && v->device->remark) pt_say("posttrain: %s\n", v->device->remark);
    return s;
}

/* ---- a device that was lost ---- */

/* Opened anew, with the trainer; the run is at its start. What `why` says of the loss is told where that fails. */
static pt_status open_anew(train_verb *v, const char *why, pt_error *err)
{
    pt_error now = {0};
    pt_trainer_free(v->trainer);
    pt_device_free(v->device);
    v->trainer = NULL;
    v->device = NULL;
    if (choose_device(&v->args, &v->device, &now))
        return pt_fail(err, PT_LOST, "step %lld: %.80s; opening it anew fails: %s",
                       (long long)v->lost_at, why, now.message);
    pt_status s = pt_trainer_new(&v->trainer, v->device, &v->desc, err);
    if (s == PT_OK) s = ready(v, err);
    return s ? s : begin_trainer(v, err);
}

/* The run goes on from its newest checkpoint, or from its start, on a device opened anew: to the bits that it would have had. */
static pt_status go_on_anew(train_verb *v, pt_error *err)
{
    const pt_error lost = *err;
    pt_run_restored restored = {.step = -1};
    *err = (pt_error){0};
    pt_status s = open_anew(v, lost.message, err);
    if (s == PT_OK) s = pt_run_folder_restore(v->run, v->trainer, &restored, err);
    say_refused(&restored);
    if (s) return s;
    int64_t step = pt_trainer_step(v->trainer);
    s = pt_run_folder_regained(v->run, &restored, v->lost_at, lost.message, err);
    if (s == PT_OK) s = pt_run_events_went_back(v->events, step, err);
    if (s == PT_OK)
        pt_say("posttrain: step %lld: %s; it was opened anew, and the run goes on from step %lld\n",
               (long long)v->lost_at, lost.message, (long long)step);
    return s;
}

/* A device that is lost costs the steps since the newest checkpoint; one that is lost again and again without getting beyond
 * the step where it was lost before is given up. */
static pt_status loop(train_verb *v, pt_error *err)
{
    int losses = 0;
    pt_status s = poll_to_the_end(v, err);
    while (s == PT_LOST && v->trainer && !pt_stopping()) {
        int64_t step = pt_trainer_step(v->trainer);
        losses = step > v->lost_at ? 1 : losses + 1;
        v->lost_at = pt_max_i64(v->lost_at, step);
        if (losses == MOST_LOSSES) {
            pt_error_prefix(err, "step %lld, %d times without getting further",
                            (long long)v->lost_at, losses);
            return s;
        }
        s = go_on_anew(v, err);
        if (s == PT_OK) s = poll_to_the_end(v, err);
    }
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
    pt_json_i64(&w, "spikes", pt_trainer_spikes(t));
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

static void say_done(const train_verb *v)
{
    int64_t best = pt_run_folder_best(v->run);
    pt_say("done: %s/model.tinygpt\nreport: %s/report.html\n", v->args.out, v->args.out);
    if (best >= 0 && best < pt_trainer_step(v->trainer))
        pt_say("lowest validation loss at step %lld:\n%s/checkpoints/step-%08lld\n",
               (long long)best, v->args.out, (long long)best);
}

/* Where the run can go on as it is. After a loss that was not finite it would come to the same again. */
static void say_how_to_go_on(const train_verb *v, pt_status s)
{
    pt_strbuf command = {0};
    bool can = s == PT_IO || s == PT_NO_MEMORY || s == PT_LOST ||
               (s == PT_DIVERGED && v->spike_stopped) || (s && s == pt_stopping());
    if (!can || v->args.quiet) return;
    pt_strbuf_puts(&command, "go on with: posttrain train --resume");
    put_word(&command, v->args.out);
    if (s == PT_DIVERGED) pt_strbuf_puts(&command, " --on-spike skip");
    pt_strbuf_putc(&command, '\n');
    pt_say_strbuf(&command);
    pt_strbuf_deinit(&command);
}

/* Whether the run can be had. A dry run is over with that. */
static pt_status check_plan(const train_verb *v, pt_error *err)
{
    pt_dry_run plan = dry_run_of(v);
    pt_status s = PT_OK;
    if (v->args.previous) s = pt_run_folder_newest(v->args.out, &plan.done, err);
    if (s == PT_OK && v->args.previous) s = pt_resume_check_steps(&v->args, plan.done, err);
    if (s) return s;
    return v->args.dry_run ? pt_dry_run_print(&plan, err) : pt_check_memory(&plan, err);
}

static pt_status open_run(train_verb *v, int argc, char **argv, pt_error *err)
{
    pt_strbuf command = {0};
    put_command(&command, argc, argv);
    const char *words = command.failed ? "?" : command.data;
    pt_status s = v->args.previous ? resume_run(v, words, err) : begin_run(v, words, err);
    pt_strbuf_deinit(&command);
    return s ? s : open_events(v, err);
}

/* The loop ended with s: the end is recorded, the report written. The status of all that. */
static pt_status end_run(train_verb *v, pt_status s, pt_error *err)
{
    pt_status stopped = pt_stopping();
    const char *how = s ? (err ? err->message : "failed") : stopped ? "stopped" : "finished";
    int64_t step = v->trainer ? pt_trainer_step(v->trainer) : v->lost_at;
    pt_status end = pt_run_folder_end(v->run, step, s ? s : stopped, how, s ? NULL : err);
    pt_error no_report = {0};
    if (end == PT_OK && pt_report_put(v->args.out, NULL, &no_report))
        pt_say("no report: %s\n", no_report.message);
    return s ? s : end;
}

static pt_status train(train_verb *v, int argc, char **argv, pt_error *err)
{
    pt_status s = prepare(v, err);
    if (s == PT_OK) s = check_plan(v, err);
    if (s || v->args.dry_run) return s;
    s = ready(v, err);
    if (s == PT_OK) s = open_run(v, argc, argv, err);
    if (s) return s;
    if (!v->args.quiet && pt_trainer_step(v->trainer) < v->args.train.steps) greet(v);
    v->progress = pt_progress_begin(&v->args.train, v->args.quiet);
    s = end_run(v, loop(v, err), err);
    pt_status stopped = pt_stopping();
    bool over = s == PT_OK && !stopped; /* done and saved, whether or not that can be printed */
    if (s == PT_OK && v->args.json) s = print_result(v, err);
    if (!over) say_how_to_go_on(v, s ? s : stopped);
    if (s == PT_OK && stopped)
        return pt_fail(err, stopped, "stopped by a signal; what was trained is saved");
    if (s == PT_OK && !v->args.quiet) say_done(v);
    return s;
}

static void release(train_verb *v)
{
    pt_trainer_free(v->trainer);
    pt_run_events_close(v->events);
    pt_run_folder_free(v->run);
    pt_device_free(v->device);
    pt_corpus_choice_close(&v->args.corpus);
    pt_free(v->stand_in);
    pt_train_arguments_deinit(&v->args);
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    train_verb v = {.lost_at = -1};
    pt_train_arguments_init(&v.args);
    bool done = false;
    pt_status s = pt_verb_parse(verb, &v.args.line, argc, argv, &done, err);
    if (s == PT_OK && !done) s = pt_train_arguments_settle(&v.args, err);
    if (s == PT_OK && !done && v.args.recipe) s = pt_print_recipe(&v.args, err);
    else if (s == PT_OK && !done) s = train(&v, argc, argv, err);
    release(&v);
    return s;
}

const pt_verb pt_verb_train = {
    .name = "train",
    .summary = "train a model from scratch, on a text",
    .usage = "posttrain train --corpus PATH [--corpus PATH …] --out DIR [options]\n"
             "       posttrain train --resume DIR [options]",
    .list = pt_train_list_presets,
    .details = "Example:\n"
               "  posttrain train --preset small --corpus book.txt --out runs/first \\\n"
               "      --steps 1500 --lr 2e-3 --schedule cosine --warmup 50 --sample-every 300\n",
    .manual =
        "Trains a new model on the bytes of a text and keeps the run in a folder of its "
        "own. Where the text is long enough, its last tenth is held out and the loss on it "
        "is measured at the end, and with --eval-every N also before the first step and every N "
        "steps.\n\n"
        "Loss is in nats per byte: the mean of the negative logarithm of the probability "
        "that the model gave to each next byte. A model that knows nothing has ln 256 = "
        "5.55. In the progress line, trend is the loss smoothed over about 20 steps.\n\n"
        "An interrupt (Ctrl-C) ends the run after the micro-batch under way: a step that is "
        "not done is dropped, and what was done before it is saved. A second one ends it at "
        "once, and what is not saved is lost. TERM does the same as an "
        "interrupt, also for a job that a script started in the background, where interrupts "
        "are ignored. A loss or gradient that is not finite never reaches the "
        "weights: the run ends with exit status 9 and names the first bad tensor.\n\n"
        "A step whose loss is more than 3 times the mean of the 50 steps before it is a spike; in "
        "the first 50 steps of a run none is. "
        "--on-spike says what then happens: warn tells it and trains on, and tells no other in "
        "the next 25 steps; skip leaves the "
        "step out and goes on with the next batch; stop ends the run with the weights of the "
        "step before; rollback goes back to a checkpoint of --save-every or the start, also "
        "from a step that was not finite, and halves the learning rate. When that step "
        "spikes again it is left out (one that is not finite cannot be); where the first step "
        "after a checkpoint goes bad, the "
        "run goes back to the one before. The rate is halved at most 3 times: the next step "
        "that goes bad ends the run. With skip, stop and rollback every step is looked at, also "
        "right after a spike, and a loss that was left out counts in the mean as the highest "
        "that would have been taken: one spike hides no other, and losses that stay high are "
        "taken at last.\n\n"
        "A checkpoint is made every 10 minutes (--save-minutes), every N steps where "
        "--save-every says so, and at the end: a kill costs what came after the newest. No "
        "number depends on when. The best is the best of what was saved: for every evaluation to "
        "count, save as often as you evaluate.\n\n"
        "A GPU that is lost (--device webgpu) is opened anew, and the run goes on from its newest "
        "checkpoint, to the bits that it would have had; when it is lost 3 times without getting "
        "beyond the step where it was lost before, the run ends with exit status 11. A run that "
        "the GPU has no memory for is refused, naming what would fit.\n\n"
        "--resume DIR goes on with the run's own settings, which need not be repeated. With it "
        "may be given: --steps, where the rate of no step that is done would have been another; "
        "--eval-every, --sample-every, --sample-tokens, --prompt, --save-every, --save-minutes, "
        "--keep, --on-spike, --recompute, --threads, --isa; and --corpus, where the same text "
        "lies elsewhere now. Anything else would make another run, and is refused.\n\n"
        "A value is taken from the command line, else from the file given with --config, "
        "else from the preset, else from the default. A --preset or --depth on the command line "
        "takes the place of the file's, and of the shape that the file gives one by one.\n",
    .files = "DIR/run.json: What was run: command, model, options, text, machine.\n"
             "DIR/log.jsonl: One JSON line per step, evaluation, sample and saved model; of a step "
             "that was done again after a kill the last line counts.\n"
             "DIR/checkpoints/: Saved states, one folder each; --resume goes on from the newest "
             "good one.\n"
             "DIR/checkpoints/best.json: Which saved checkpoint had the lowest validation loss.\n"
             "DIR/model.tinygpt: The newest saved model.\n"
             "DIR/report.html: The run as a page: curves, verdict, samples, settings.\n"
             "DIR/events.out.tfevents.*: The same figures for TensorBoard, a file for each "
             "sitting; none with --no-tensorboard.\n",
    .run = run,
};
