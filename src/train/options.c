/* The options of a training run. SPDX-License-Identifier: MIT */
#include "train/options.h"

#include "text/bytes.h"

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
        .sample_tokens = 200,
        .sample_prompt = "\n",
        .sampler = {.temperature = 0.8, .top_k = 40, .n_ids = PT_BYTES_VOCAB},
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
    return pt_fail(err, PT_BAD_INPUT, "%s is %g, it must be %g to %.9g", name, value, least, most);
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
    if (s == PT_OK) s = pt_sampler_options_check(&o->sampler, err);
    return s;
}
