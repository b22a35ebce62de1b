/* The options of a training run. SPDX-License-Identifier: MIT */
#include "train/options.h"

#include "text/bytes.h"

#define MOST_WINDOWS ((int64_t)1000000000000000000)

pt_train_options pt_train_defaults(void)
{
    return (pt_train_options){
        .steps = 1000,
        .batch = 16,
        .accum = 1,
        .lr = 3e-4,
        .schedule = PT_SCHEDULE_CONSTANT,
        .on_spike = PT_SPIKE_WARN,
        .beta1 = 0.9,
        .beta2 = 0.95,
        .eps = 1e-8,
        .weight_decay = 0.1,
        .clip = 1.0,
        .seed = 42,
        .eval_batches = 20,
        .sample_tokens = 200,
        .sample_prompt = "\n",
        .sampler = {.temperature = 0.8, .top_k = 40, .n_ids = PT_BYTES_VOCAB},
    };
}

static pt_status check_count(const char *name, int64_t value, int64_t least, int64_t most,
                             pt_error *err)
{
    if (value >= least && value <= most) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "--%s is %lld, it must be %lld to %lld", name,
                   (long long)value, (long long)least, (long long)most);
}

static pt_status check_real(const char *name, double value, double least, double most,
                            pt_error *err)
{
    if (value >= least && value <= most) return PT_OK;
    return pt_fail(err, PT_BAD_INPUT, "--%s is %g, it must be %g to %.9g", name, value, least,
                   most);
}

int64_t pt_train_window(const pt_train_options *o, const pt_model_config *config)
{
    return o->ctx ? o->ctx : config->ctx;
}

pt_schedule pt_train_options_schedule(const pt_train_options *o)
{
    return (pt_schedule){.kind = o->schedule,
                         .shape = o->decay_shape,
                         .lr = o->lr,
                         .min_lr = o->min_lr,
                         .warmup = o->warmup,
                         .decay =
                             o->decay_steps ? o->decay_steps : pt_schedule_default_decay(o->steps),
                         .steps = o->steps};
}

/* The parts of the schedule fit together, and into the run. */
static pt_status check_schedule(const pt_train_options *o, pt_error *err)
{
    pt_schedule s = pt_train_options_schedule(o);
    bool wsd = s.kind == PT_SCHEDULE_WSD;
    if (wsd && s.warmup + s.decay > s.steps)
        return pt_fail(err, PT_BAD_INPUT,
                       "--warmup is %lld and --decay-steps %lld%s: together they must be at most "
                       "--steps, %lld",
                       (long long)s.warmup, (long long)s.decay,
                       o->decay_steps ? "" : " (a tenth of the run)", (long long)s.steps);
    if (s.warmup > s.steps)
        return pt_fail(err, PT_BAD_INPUT, "--warmup is %lld, it must be at most --steps, %lld",
                       (long long)s.warmup, (long long)s.steps);
    if (s.kind != PT_SCHEDULE_CONSTANT && s.min_lr > s.lr)
        return pt_fail(err, PT_BAD_INPUT, "--min-lr is %g, it must be at most --lr, %g", s.min_lr,
                       s.lr);
    if (o->min_lr != 0 && s.kind == PT_SCHEDULE_CONSTANT)
        return pt_fail(err, PT_BAD_INPUT,
                       "--min-lr is for --schedule cosine and wsd, and the schedule is constant");
    if (o->decay_steps && !wsd)
        return pt_fail(err, PT_BAD_INPUT,
                       "--decay-steps is for --schedule wsd, and the schedule is %s",
                       pt_schedule_name(s.kind));
    return PT_OK;
}

/* Samples are counted in int64, up to the largest step that a file can hold. */
static pt_status check_windows(const pt_train_options *o, pt_error *err)
{
    int64_t windows;
    if (pt_mul_i64(o->batch * o->accum, o->steps, &windows) && windows <= MOST_WINDOWS)
        return PT_OK;
    return pt_fail(
        err, PT_BAD_INPUT,
        "--steps %lld x --batch %lld x --accum %lld are %g windows, a run has at most %g",
        (long long)o->steps, (long long)o->batch, (long long)o->accum,
        (double)(o->batch * o->accum) * (double)o->steps, (double)MOST_WINDOWS);
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
        {"decay-steps", o->decay_steps, 0, 1000000000},
        {"eval-every", o->eval_every, 0, 1000000000},
        {"eval-batches", o->eval_batches, 1, 1 << 20},
        {"sample-every", o->sample_every, 0, 1000000000},
        {"sample-tokens", o->sample_tokens, 0, PT_MAX_SAMPLE_TOKENS},
        {"save-every", o->save_every, 0, 1000000000},
        {"read-every", o->read_every, 0, PT_MAX_READ_EVERY},
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
    if (s == PT_OK) s = check_windows(o, err);
    if (s == PT_OK) s = check_schedule(o, err);
    if (s == PT_OK) s = pt_sampler_options_check(&o->sampler, err);
    return s;
}
