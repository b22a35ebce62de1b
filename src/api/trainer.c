/* Training, of the public interface. SPDX-License-Identifier: MIT */
#include "train/trainer.h"

#include "api/api.h"
#include "base/atomic_file.h"
#include "base/fs.h"

struct posttrain_trainer {
    pt_device *device;
    pt_trainer *trainer;
    posttrain_step step;
    void *ctx;
    char *path; /* to save to, or NULL */
    bool force;
    pt_atomic_file *file;
};

/* ---- what the trainer tells ---- */

static pt_status on_step(void *ctx, const pt_step_report *report, pt_error *err)
{
    posttrain_trainer *t = ctx;
    (void)err;
    if (t->step && t->step(t->ctx, report->step, report->loss)) pt_trainer_stop(t->trainer);
    return PT_OK;
}

static pt_status on_save_begin(void *ctx, int64_t step, pt_sink *sink, pt_error *err)
{
    posttrain_trainer *t = ctx;
    (void)step;
    pt_status s = pt_atomic_file_open(&t->file, t->path, t->force, err);
    if (s == PT_OK) *sink = pt_sink_to_file(t->file);
    return s;
}

static pt_status on_save_end(void *ctx, int64_t step, bool failed, pt_error *err)
{
    posttrain_trainer *t = ctx;
    (void)step;
    pt_status s = PT_OK;
    if (failed) pt_atomic_file_discard(t->file);
    else s = pt_atomic_file_commit(t->file, err);
    t->file = NULL;
    t->force = t->force || (s == PT_OK && !failed); /* the next one replaces our own */
    return s;
}

/* ---- the run ---- */

static pt_status describe(posttrain_trainer *t, const posttrain_options *o, pt_trainer_desc *desc,
                          pt_error *err)
{
    desc->config = o->model;
    pt_model_config_complete(&desc->config);
    desc->options = o->train;
    desc->options.seed = (uint64_t)o->seed;
    desc->options.sample_every = 0;
    desc->options.bf16 = strcmp(o->dtype, "bf16") == 0;
    if (!desc->options.bf16 && strcmp(o->dtype, "f32") != 0)
        return pt_fail(err, PT_BAD_INPUT, "dtype is '%s', it must be f32 or bf16", o->dtype);
    if (!pt_schedule_from_name(o->schedule, &desc->options.schedule))
        return pt_fail(err, PT_BAD_INPUT, "unknown schedule '%s'", o->schedule);
    desc->events = (pt_train_events){.ctx = t, .step = on_step};
    if (t->path) {
        desc->events.save_begin = on_save_begin;
        desc->events.save_end = on_save_end;
    }
    return PT_OK;
}

/* A path that cannot be written is better known before the training than after it. */
static pt_status keep_path(posttrain_trainer *t, const char *path, pt_error *err)
{
    pt_atomic_file *probe = NULL;
    if (!path) return PT_OK;
    if (!t->force && pt_fs_exists(path))
        return pt_fail(err, PT_EXISTS, "%s exists already: set force to replace it", path);
    pt_status s = pt_atomic_file_open(&probe, path, t->force, err);
    pt_atomic_file_discard(probe);
    if (s) return s;
    size_t n = strlen(path) + 1;
    t->path = pt_alloc(n);
    if (!t->path) return pt_fail(err, PT_NO_MEMORY, "no memory for a path");
    memcpy(t->path, path, n);
    return PT_OK;
}

/* The trainer, planned and allocated. */
static pt_status prepare(posttrain_trainer *t, const char *path, const posttrain_options *o,
                         pt_trainer_desc *desc, pt_error *err)
{
    t->force = o->force != 0;
    pt_status s = keep_path(t, path, err);
    if (s == PT_OK) s = describe(t, o, desc, err);
    if (s == PT_OK) s = pt_api_device(o, &t->device, err);
    if (s == PT_OK) s = pt_trainer_new(&t->trainer, t->device, desc, err);
    if (s == PT_OK) s = pt_trainer_begin(t->trainer, pt_device_pool(t->device), err);
    return s;
}

posttrain_status posttrain_trainer_new(posttrain_trainer **out, const char *corpus, size_t n,
                                       const char *path, const posttrain_options *options)
{
    pt_error err = {0};
    posttrain_options *defaults = NULL;
    pt_trainer_desc desc = {.corpus = (const uint8_t *)corpus, .corpus_bytes = (int64_t)n};
    if (!out || (n && !corpus)) return pt_api_missing(__func__, !out ? "out" : "corpus");
    *out = NULL;
    if (!options && posttrain_options_new(&defaults)) return POSTTRAIN_NO_MEMORY;
    posttrain_trainer *t = pt_alloc(sizeof *t);
    pt_status s = t ? PT_OK : pt_fail(&err, PT_NO_MEMORY, "no memory for a trainer");
    if (s == PT_OK) s = prepare(t, path, options ? options : defaults, &desc, &err);
    posttrain_options_free(defaults);
    if (s) posttrain_trainer_free(t);
    else *out = t;
    return pt_api_result(s, &err);
}

void posttrain_trainer_free(posttrain_trainer *t)
{
    if (!t) return;
    pt_trainer_free(t->trainer);
    pt_device_free(t->device);
    pt_atomic_file_discard(t->file);
    pt_free(t->path);
    pt_free(t);
}

void posttrain_trainer_on_step(posttrain_trainer *trainer, posttrain_step step, void *ctx)
{
    if (!trainer) return;
    trainer->step = step;
    trainer->ctx = ctx;
}

posttrain_status posttrain_trainer_poll(posttrain_trainer *trainer)
{
    pt_error err = {0};
    if (!trainer) return pt_api_missing(__func__, "trainer");
    return pt_api_result(pt_trainer_poll(trainer->trainer, &err), &err);
}

posttrain_status posttrain_trainer_run(posttrain_trainer *trainer)
{
    posttrain_status s;
    do s = posttrain_trainer_poll(trainer);
    while (s == POSTTRAIN_PENDING);
    return s;
}

void posttrain_trainer_stop(posttrain_trainer *trainer)
{
    if (trainer) pt_trainer_stop(trainer->trainer);
}

int64_t posttrain_trainer_steps(const posttrain_trainer *trainer)
{
    return trainer ? pt_trainer_step(trainer->trainer) : -1;
}
double posttrain_trainer_loss(const posttrain_trainer *trainer)
{
    return trainer ? pt_trainer_train_loss(trainer->trainer) : __builtin_nan("");
}
double posttrain_trainer_validation_loss(const posttrain_trainer *trainer)
{
    return trainer ? pt_trainer_val_loss(trainer->trainer) : __builtin_nan("");
}
