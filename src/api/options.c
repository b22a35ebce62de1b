/* Version, errors and options of the public interface. SPDX-License-Identifier: MIT */
#include "api/api.h"
#include "base/strings.h"
#include "base/version.h"

static _Thread_local char last_error[sizeof((pt_error *)0)->message];

const char *posttrain_version(void) { return PT_VERSION; }
const char *posttrain_error(void) { return last_error; }

/* The layers below say --lr for what is set here as "lr". */
static void drop_dashes(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++) {
        bool begins = p == text || strchr(" ('", p[-1]) != NULL;
        if (begins && p[0] == '-' && p[1] == '-' && p[2] >= 'a' && p[2] <= 'z') p += 2;
        *to++ = *p;
    }
    *to = '\0';
}

posttrain_status pt_api_result(pt_status status, const pt_error *err)
{
    if (status != PT_OK && status != PT_PENDING) {
        pt_format(last_error, sizeof last_error, "%s",
                  err->message[0] ? err->message : pt_status_words(status));
        drop_dashes(last_error);
    }
    return (posttrain_status)pt_status_exit_code(status);
}

posttrain_status pt_api_missing(const char *call, const char *what)
{
    pt_error err = {0};
    return pt_api_result(
        pt_fail(&err, PT_BAD_INPUT, "%s: %s is NULL, it must point to something", call, what),
        &err);
}

/* ---- the table ---- */

typedef enum option_kind { TEXT, INTEGER, REAL } option_kind;

typedef struct option_entry {
    const char *name;
    option_kind kind;
    size_t offset;
} option_entry;

#define AT(member) offsetof(posttrain_options, member)
static const option_entry entries[] = {
    {"device", TEXT, AT(device)},
    {"isa", TEXT, AT(isa)},
    {"preset", TEXT, AT(preset)},
    {"schedule", TEXT, AT(schedule)},
    {"dtype", TEXT, AT(dtype)},
    {"weights", TEXT, AT(weights)},
    {"threads", INTEGER, AT(threads)},
    {"score-batch", INTEGER, AT(score_batch)},
    {"max-tokens", INTEGER, AT(max_tokens)},
    {"top-k", INTEGER, AT(top_k)},
    {"seed", INTEGER, AT(seed)},
    {"force", INTEGER, AT(force)},
    {"steps", INTEGER, AT(train.steps)},
    {"batch", INTEGER, AT(train.batch)},
    {"accum", INTEGER, AT(train.accum)},
    {"warmup", INTEGER, AT(train.warmup)},
    {"decay-steps", INTEGER, AT(train.decay_steps)},
    {"eval-every", INTEGER, AT(train.eval_every)},
    {"eval-batches", INTEGER, AT(train.eval_batches)},
    {"save-every", INTEGER, AT(train.save_every)},
    {"layers", INTEGER, AT(model.n_layers)},
    {"heads", INTEGER, AT(model.n_heads)},
    {"d-model", INTEGER, AT(model.d_model)},
    {"d-mlp", INTEGER, AT(model.d_mlp)},
    {"ctx", INTEGER, AT(model.ctx)},
    {"temperature", REAL, AT(temperature)},
    {"top-p", REAL, AT(top_p)},
    {"min-p", REAL, AT(min_p)},
    {"repetition-penalty", REAL, AT(repetition_penalty)},
    {"lr", REAL, AT(train.lr)},
    {"min-lr", REAL, AT(train.min_lr)},
    {"weight-decay", REAL, AT(train.weight_decay)},
    {"clip", REAL, AT(train.clip)},
    {"beta1", REAL, AT(train.beta1)},
    {"beta2", REAL, AT(train.beta2)},
    {"dropout", REAL, AT(model.dropout)},
};

/* Where the value of an option is, or NULL and an error. */
static void *find(posttrain_options *o, const char *name, option_kind kind, pt_error *err)
{
    static const char *const kinds[] = {"a text", "an integer", "a real number"};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (strcmp(entries[i].name, name) != 0) continue;
        if (entries[i].kind == kind) return (char *)o + entries[i].offset;
        (void)pt_fail(err, PT_BAD_INPUT, "option '%s' is %s, not %s", name, kinds[entries[i].kind],
                      kinds[kind]);
        return NULL;
    }
    (void)pt_fail(err, PT_BAD_INPUT, "there is no option '%s'", name);
    return NULL;
}

/* ---- setting ---- */

static void apply_preset(posttrain_options *o, const pt_preset *preset)
{
    o->model = preset->config;
    o->train.batch = preset->batch;
    o->train.steps = preset->steps;
}

posttrain_status posttrain_options_new(posttrain_options **out)
{
    pt_error err = {0};
    if (!out) return pt_api_missing(__func__, "out");
    posttrain_options *o = *out = pt_alloc(sizeof *o);
    if (!o) return pt_api_result(pt_fail(&err, PT_NO_MEMORY, "no memory for options"), &err);
    *o = (posttrain_options){.device = "cpu",
                             .preset = "small",
                             .schedule = "constant",
                             .dtype = "f32",
                             .weights = "f32",
                             .score_batch = 16,
                             .max_tokens = 200,
                             .seed = 42,
                             .temperature = 0.8,
                             .train = pt_train_defaults()};
    apply_preset(o, pt_preset_find(o->preset));
    return POSTTRAIN_OK;
}

void posttrain_options_free(posttrain_options *options) { pt_free(options); }

static pt_status set_text(posttrain_options *o, const char *name, const char *value, pt_error *err)
{
    char *at = find(o, name, TEXT, err);
    if (!at) return PT_BAD_INPUT;
    if (strlen(value) >= PT_API_TEXT)
        return pt_fail(err, PT_BAD_INPUT, "option '%s' is longer than any value it has", name);
    if (at == o->preset) {
        const pt_preset *preset = pt_preset_find(value);
        if (!preset) return pt_fail(err, PT_BAD_INPUT, "unknown preset '%s'", value);
        apply_preset(o, preset);
    }
    pt_format(at, PT_API_TEXT, "%s", value);
    return PT_OK;
}

posttrain_status posttrain_set_text(posttrain_options *options, const char *name, const char *value)
{
    pt_error err = {0};
    if (!options || !name || !value)
        return pt_api_missing(__func__, !options ? "options" : !name ? "name" : "value");
    return pt_api_result(set_text(options, name, value, &err), &err);
}

posttrain_status posttrain_set_integer(posttrain_options *options, const char *name, int64_t value)
{
    pt_error err = {0};
    if (!options || !name) return pt_api_missing(__func__, !options ? "options" : "name");
    int64_t *at = find(options, name, INTEGER, &err);
    if (at) *at = value;
    return pt_api_result(at ? PT_OK : PT_BAD_INPUT, &err);
}

posttrain_status posttrain_set_real(posttrain_options *options, const char *name, double value)
{
    pt_error err = {0};
    if (!options || !name) return pt_api_missing(__func__, !options ? "options" : "name");
    double *at = find(options, name, REAL, &err);
    if (at) *at = value;
    return pt_api_result(at ? PT_OK : PT_BAD_INPUT, &err);
}

pt_status pt_api_device(const posttrain_options *o, pt_device **out, pt_error *err)
{
    pt_device_choice choice = {
        .device = o->device, .isa = o->isa[0] ? o->isa : NULL, .threads = o->threads};
    pt_status s = pt_device_choose(&choice, out, err);
    if (s) return s;
    do s = pt_device_ready(*out, err);
    while (s == PT_PENDING);
    if (s) {
        pt_device_free(*out);
        *out = NULL;
    }
    return s;
}
