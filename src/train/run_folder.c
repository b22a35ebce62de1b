/* The run folder. SPDX-License-Identifier: MIT */
#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/maths.h"
#include "base/platform.h"
#include "base/version.h"
#include "io/note.h"
#include "train/run_folder_internal.h"

#define LOSS_DIGITS 9 /* enough to tell any two f32 apart */

/* ---- lines of the log ---- */

pt_json_writer pt_run_begin_line(pt_run_folder *run, const char *type)
{
    pt_strbuf_clear(&run->line);
    pt_json_writer w = pt_json_writer_begin(&run->line, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "type", type);
    return w;
}

pt_status pt_run_end_line(pt_run_folder *run, pt_json_writer *w, pt_error *err)
{
    pt_json_digits(w, "t", (double)pt_clock_unix_ms() / 1000.0, 13);
    pt_json_end_object(w);
    pt_strbuf_putc(&run->line, '\n');
    if (run->line.failed) return pt_fail(err, PT_NO_MEMORY, "no memory for a line of the log");
    return pt_append_file_write(run->log, run->line.data, (int64_t)run->line.len, err);
}

pt_status pt_run_folder_step(pt_run_folder *run, const pt_step_report *report, pt_error *err)
{
    pt_json_writer w = pt_run_begin_line(run, "step");
    pt_json_i64(&w, "step", report->step);
    pt_json_digits(&w, "loss", report->loss, LOSS_DIGITS);
    pt_json_digits(&w, "lr", report->lr, LOSS_DIGITS);
    pt_json_digits(&w, "grad_norm", report->grad_norm, LOSS_DIGITS);
    pt_json_digits(&w, "seconds", report->seconds, 4);
    if (report->spike) pt_json_bool(&w, "spike", true);
    return pt_run_end_line(run, &w, err);
}

pt_status pt_run_folder_spiked(pt_run_folder *run, const pt_spike_report *report, pt_error *err)
{
    pt_json_writer w = pt_run_begin_line(run, "spike");
    pt_json_i64(&w, "step", report->step);
    pt_json_digits(&w, "loss", report->loss, LOSS_DIGITS);
    pt_json_digits(&w, "limit", report->limit, LOSS_DIGITS);
    pt_json_string(&w, "did", pt_on_spike_name(report->did));
    if (report->bad) pt_json_string(&w, "bad", report->bad);
    return pt_run_end_line(run, &w, err);
}

/* A checkpoint is made before its step is evaluated, the last one again after it: so this is asked after both. */
static pt_status mark_best(pt_run_folder *run, pt_error *err)
{
    bool known = run->saved_step >= 0 && run->saved_step == run->val_step;
    if (!known || !(run->best_step < 0 || run->val_loss < run->best_loss)) return PT_OK;
    if (!pt_is_finite(run->val_loss)) return PT_OK;
    run->best_step = run->val_step;
    run->best_loss = run->val_loss;
    return pt_checkpoint_mark_best(run->path, run->best_step, run->best_loss, err);
}

pt_status pt_run_folder_evaluated(pt_run_folder *run, int64_t step, double val_loss, pt_error *err)
{
    pt_json_writer w = pt_run_begin_line(run, "val");
    pt_json_i64(&w, "step", step);
    pt_json_digits(&w, "val_loss", val_loss, LOSS_DIGITS);
    run->val_step = step;
    run->val_loss = val_loss;
    pt_status s = pt_run_end_line(run, &w, err);
    return s == PT_OK ? mark_best(run, err) : s;
}

pt_status pt_run_folder_sampled(pt_run_folder *run, int64_t step, const char *bytes, int64_t n,
                                pt_error *err)
{
    pt_json_writer w = pt_run_begin_line(run, "sample");
    pt_json_i64(&w, "step", step);
    pt_json_string_n(&w, "text", bytes, (size_t)n);
    return pt_run_end_line(run, &w, err);
}

/* Keys of the schedule that only some schedules have. */
static void write_decay(pt_json_writer *w, const pt_train_options *o)
{
    pt_schedule s = pt_train_options_schedule(o);
    if (s.kind != PT_SCHEDULE_WSD) return;
    pt_json_i64(w, "decay_steps", s.decay);
    pt_json_string(w, "decay_shape", pt_decay_shape_name(s.shape));
}

static void write_meta(pt_json_writer *w, const pt_run_description *d,
                       const pt_model_config *config, const pt_train_options *o, int64_t n_params)
{
    if (d->preset) pt_json_string(w, "preset", d->preset);
    pt_json_string(w, "lr_schedule", pt_schedule_name(o->schedule));
    pt_json_i64(w, "warmup", o->warmup);
    write_decay(w, o);
    pt_json_double(w, "max_lr", o->lr);
    pt_json_double(w, "min_lr", o->min_lr);
    pt_json_i64(w, "total_steps", o->steps);
    pt_json_i64(w, "params", n_params);
    pt_json_i64(w, "batch", o->batch);
    pt_json_i64(w, "accum", o->accum);
    pt_json_i64(w, "ctx", pt_train_window(o, config));
    char seed[32];
    pt_format(seed, sizeof seed, "%llu", (unsigned long long)o->seed);
    pt_json_string(w, "seed", seed);
}

/* ---- run.json ---- */

static void write_model(pt_json_writer *w, const pt_model_config *c, int64_t n_params)
{
    pt_json_begin_object(w, "model");
    pt_json_i64(w, "layers", c->n_layers);
    pt_json_i64(w, "d_model", c->d_model);
    pt_json_i64(w, "heads", c->n_heads);
    pt_json_i64(w, "d_mlp", c->d_mlp);
    pt_json_i64(w, "ctx", c->ctx);
    pt_json_i64(w, "vocab", c->vocab);
    pt_json_string(w, "gelu", c->gelu_tanh ? "tanh" : "erf");
    pt_json_double(w, "dropout", c->dropout);
    pt_json_i64(w, "params", n_params);
    pt_json_end_object(w);
}

static void write_options(pt_json_writer *w, const pt_model_config *c, const pt_train_options *o)
{
    pt_json_begin_object(w, "train");
    pt_json_i64(w, "steps", o->steps);
    pt_json_i64(w, "batch", o->batch);
    pt_json_i64(w, "accum", o->accum);
    pt_json_i64(w, "ctx", pt_train_window(o, c));
    pt_json_double(w, "lr", o->lr);
    pt_json_double(w, "min_lr", o->min_lr);
    pt_json_string(w, "schedule", pt_schedule_name(o->schedule));
    pt_json_i64(w, "warmup", o->warmup);
    write_decay(w, o);
    pt_json_string(w, "on_spike", pt_on_spike_name(o->on_spike));
    pt_json_double(w, "beta1", o->beta1);
    pt_json_double(w, "beta2", o->beta2);
    pt_json_double(w, "eps", o->eps);
    pt_json_double(w, "weight_decay", o->weight_decay);
    pt_json_double(w, "clip", o->clip);
    char seed[32];
    pt_format(seed, sizeof seed, "%llu", (unsigned long long)o->seed);
    pt_json_string(w, "seed", seed);
    pt_json_string(w, "init", o->upstream_init ? "upstream" : "default");
    pt_json_i64(w, "eval_every", o->eval_every);
    pt_json_i64(w, "eval_batches", o->eval_batches);
    pt_json_i64(w, "sample_every", o->sample_every);
    pt_json_i64(w, "sample_tokens", o->sample_tokens);
    pt_json_string(w, "sample_prompt", o->sample_prompt);
    pt_json_double(w, "sample_temperature", o->sampler.temperature);
    pt_json_i64(w, "sample_top_k", o->sampler.top_k);
    pt_json_i64(w, "save_every", o->save_every);
    pt_json_i64(w, "recompute", o->recompute);
    pt_json_string(w, "dtype", o->bf16 ? "bf16" : "f32");
    pt_json_end_object(w);
}

static void write_corpus(pt_json_writer *w, const pt_run_description *d)
{
    char folder[PT_FS_PATH_MAX];
    pt_json_begin_object(w, "corpus");
    pt_json_string(w, "path", d->corpus_path);
    if (pt_fs_working_folder(folder)) pt_json_string(w, "folder", folder);
    pt_json_i64(w, "bytes", d->corpus_bytes);
    pt_json_string(w, "sha256", d->corpus_sha256);
    pt_json_string(w, "tokenizer", "bytes");
    if (d->corpus) pt_corpus_write_json(d->corpus, d->weight, w);
    pt_json_end_object(w);
}

static void write_program(pt_json_writer *w, const pt_run_description *d)
{
    char hex[65];
    pt_json_begin_object(w, "program");
    pt_json_string(w, "version", PT_VERSION);
    pt_json_string(w, "command", d->command);
    pt_json_string(w, "device", d->device);
    pt_json_string(w, "isa", d->isa);
    pt_json_i64(w, "threads", d->threads);
    pt_json_i64(w, "planned_bytes", d->planned_bytes);
    if (pt_fs_sha256("/proc/self/exe", hex, NULL) == PT_OK) pt_json_string(w, "binary_sha256", hex);
    else pt_json_null(w, "binary_sha256"); /* where the system does not tell */
    pt_json_end_object(w);
}

static const char *const own_members[] = {"format",    "version", "started", "program",
                                          "arguments", "model",   "train",   "corpus"};

static bool is_own(const char *key)
{
    for (size_t i = 0; i < sizeof own_members / sizeof own_members[0]; i++)
        if (strcmp(own_members[i], key) == 0) return true;
    return false;
}

/* The run.json of a run that goes on keeps when and with what it began, and what we do not know. */
static void write_run(pt_strbuf *text, const pt_run_description *d, const pt_model_config *config,
                      const pt_train_options *options, int64_t n_params)
{
    char now[32];
    pt_clock_iso(pt_clock_unix_ms(), now);
    const char *started = pt_json_get_string(d->previous, "started");
    const pt_json *program = pt_json_get(d->previous, "program");
    pt_json_writer w = pt_json_writer_begin(text, 2);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "format", PT_RUN_FORMAT);
    pt_json_i64(&w, "version", PT_RUN_VERSION);
    pt_json_string(&w, "started", started ? started : now);
    if (program) pt_json_value(&w, "program", program);
    else write_program(&w, d);
    if (d->arguments) pt_json_value(&w, "arguments", d->arguments);
    write_model(&w, config, n_params);
    write_options(&w, config, options);
    write_corpus(&w, d);
    for (const pt_json *m = d->previous ? d->previous->child : NULL; m; m = m->next)
        if (!is_own(m->key)) pt_json_value(&w, m->key, m);
    pt_json_end_object(&w);
    pt_strbuf_putc(text, '\n');
}

static bool file_holds(const char *path, const pt_strbuf *text)
{
    char *old = NULL;
    int64_t size = 0;
    bool same = pt_fs_read(path, PT_NOTE_MAX, &old, &size, NULL) == PT_OK &&
                size == (int64_t)text->len && memcmp(old, text->data, text->len) == 0;
    pt_free(old);
    return same;
}

pt_status pt_run_folder_begin(pt_run_folder *run, const pt_run_description *d,
                              const pt_model_config *config, const pt_train_options *options,
                              int64_t n_params, pt_error *err)
{
    char path[PT_FS_PATH_MAX];
    pt_strbuf text = {0};
    pt_status s = PT_OK;
    write_run(&text, d, config, options, n_params);
    if (text.failed) s = pt_fail(err, PT_NO_MEMORY, "no memory for run.json");
    if (s == PT_OK) s = pt_fs_path(path, run->path, "run.json", err);
    if (s == PT_OK && !(d->previous && file_holds(path, &text)))
        s = pt_atomic_file_put(path, d->previous != NULL, text.data, (int64_t)text.len, err);
    pt_strbuf_deinit(&text);
    if (s) return s;
    run->wrote_json = !d->previous;
    bool back = options->on_spike == PT_SPIKE_ROLLBACK;
    run->back_every = !back ? 0 : options->save_every ? options->save_every : INT64_MAX;
    pt_json_writer w = pt_run_begin_line(run, "meta");
    write_meta(&w, d, config, options, n_params);
    return pt_run_end_line(run, &w, err);
}

/* ---- life ---- */

typedef struct entries {
    const char *path;
    int64_t n;
} entries;

static void note_entry(void *ctx, const char *name, bool folder)
{
    entries *e = ctx;
    char path[PT_FS_PATH_MAX];
    bool empty_log = !folder && strcmp(name, "log.jsonl") == 0 &&
                     pt_fs_join(path, sizeof path, e->path, name) && pt_fs_size(path) == 0;
    bool unfinished = !folder && pt_str_starts(name, ".run.json.") && pt_str_ends(name, ".tmp");
    e->n += !empty_log && !unfinished;
}

bool pt_run_folder_is(const char *path)
{
    const pt_note_kind kind = {PT_RUN_FORMAT, PT_RUN_VERSION, NULL};
    char json[PT_FS_PATH_MAX];
    pt_arena arena = {0};
    const pt_json *note = NULL;
    pt_status s = pt_fs_path(json, path, "run.json", NULL);
    if (s == PT_OK) s = pt_note_read(json, &kind, &arena, &note, NULL);
    pt_arena_deinit(&arena);
    return s == PT_OK || s == PT_UNSUPPORTED;
}

pt_status pt_run_folder_check(const char *path, pt_error *err)
{
    entries found = {path, 0};
    if (!pt_fs_exists(path)) return PT_OK;
    if (!pt_fs_is_folder(path))
        return pt_fail(err, PT_EXISTS, "%s is a file: choose another --out", path);
    pt_status s = pt_fs_list(path, note_entry, &found, err);
    if (s || found.n == 0) return s;
    char json[PT_FS_PATH_MAX];
    bool run = pt_fs_join(json, sizeof json, path, "run.json") && pt_fs_exists(json);
    return pt_fail(err, PT_EXISTS,
                   run ? "%s already holds a run: go on with --resume, or choose another --out"
                       : "%s is not empty: choose another --out",
                   path);
}

pt_status pt_run_folder_make(pt_run_folder **out, const char *path, pt_error *err)
{
    *out = NULL;
    pt_run_folder *run = pt_alloc(sizeof *run);
    if (!run) return pt_fail(err, PT_NO_MEMORY, "no memory for a run");
    run->keep = PT_RUN_KEEP;
    run->saved_step = run->val_step = run->best_step = -1;
    if (pt_format(run->path, PT_FS_PATH_MAX, "%s", path) < PT_FS_PATH_MAX - 128) {
        *out = run;
        return PT_OK;
    }
    pt_free(run);
    return pt_fail(err, PT_BAD_INPUT, "the path of the run's folder is too long");
}

pt_status pt_run_folder_new(pt_run_folder **out, const char *path, pt_error *err)
{
    *out = NULL;
    pt_run_folder *run = NULL;
    char log[PT_FS_PATH_MAX];
    int64_t swept = 0;
    pt_status s = pt_run_folder_make(&run, path, err);
    if (s) return s;
    pt_fs_join(log, sizeof log, path, "log.jsonl");
    run->made_folder = !pt_fs_exists(path);
    s = pt_run_folder_check(path, err);
    if (s == PT_OK) s = pt_fs_make_folder(path, err);
    if (s == PT_OK) s = pt_append_file_open(&run->log, log, NULL, err);
    /* until the log was ours, another process may have had a whole run there */
    if (s == PT_OK) s = pt_run_folder_check(path, err);
    if (s == PT_OK) s = pt_fs_sweep(path, &swept, err);
    if (s) pt_run_folder_free(run);
    else *out = run;
    return s;
}

void pt_run_folder_keep(pt_run_folder *run, int64_t n) { run->keep = n; }
int64_t pt_run_folder_best(const pt_run_folder *run) { return run->best_step; }

void pt_run_folder_free(pt_run_folder *run)
{
    if (!run) return;
    pt_checkpoint_discard(run->checkpoint);
    pt_append_file_close(run->log);
    pt_strbuf_deinit(&run->line);
    pt_free(run);
}

/* The log goes last: with it goes the lock. */
void pt_run_folder_discard(pt_run_folder *run)
{
    char path[PT_FS_PATH_MAX];
    if (!run) return;
    if (run->wrote_json && pt_fs_join(path, sizeof path, run->path, "run.json"))
        pt_fs_remove(path, NULL);
    if (pt_fs_join(path, sizeof path, run->path, "log.jsonl")) pt_fs_remove(path, NULL);
    if (run->made_folder) pt_fs_remove_empty(run->path, NULL);
    pt_run_folder_free(run);
}

pt_status pt_run_folder_save_begin(pt_run_folder *run, int64_t step, pt_sink *sink, pt_error *err)
{
    if (!pt_append_file_is_in_place(run->log)) /* or half a folder would be made anew */
        return pt_fail(err, PT_NOT_FOUND,
                       "%s was moved or deleted while the run went on: step %lld cannot be saved",
                       run->path, (long long)step);
    return pt_checkpoint_begin(&run->checkpoint, run->path, step, sink, err);
}

pt_status pt_run_folder_save_end(pt_run_folder *run, int64_t step, bool failed, pt_error *err)
{
    pt_checkpoint *checkpoint = run->checkpoint;
    run->checkpoint = NULL;
    if (failed) {
        pt_checkpoint_discard(checkpoint);
        return PT_OK;
    }
    pt_status s = pt_append_file_sync(run->log, err); /* the log is never behind a checkpoint */
    if (s) {
        pt_checkpoint_discard(checkpoint);
        return s;
    }
    s = pt_checkpoint_commit(checkpoint, err);
    if (s) return s;
    run->saved_step = step;
    pt_json_writer w = pt_run_begin_line(run, "save");
    pt_json_i64(&w, "step", step);
    s = pt_run_end_line(run, &w, err);
    if (s == PT_OK) s = mark_best(run, err);
    return s == PT_OK ? pt_checkpoint_prune(run->path, run->keep, run->back_every, err) : s;
}

pt_status pt_run_folder_end(pt_run_folder *run, int64_t step, pt_status status, const char *how,
                            pt_error *err)
{
    pt_json_writer w = pt_run_begin_line(run, "end");
    pt_json_i64(&w, "step", step);
    pt_json_string(&w, "status", pt_status_name(status));
    pt_json_string(&w, "how", how);
    pt_json_i64(&w, "peak_rss_bytes", pt_platform_peak_rss_bytes());
    pt_status s = pt_run_end_line(run, &w, err);
    return s == PT_OK ? pt_append_file_sync(run->log, err) : s;
}
