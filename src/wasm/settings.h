/* From a JSON object to the settings of a model, a run, a sampler. Names are those of web/engine/src/types.ts.
 * SPDX-License-Identifier: MIT */
#ifndef PT_WASM_SETTINGS_H
#define PT_WASM_SETTINGS_H

#include "base/json.h"
#include "io/tinygpt.h"
#include "model/config.h"
#include "tensor/packed.h"
#include "train/options.h"

typedef struct pt_run_settings {
    pt_model_config model; /* completed */
    pt_train_options train;
    int64_t corpus_bytes; /* for a plan without a corpus */
    int64_t eval_rows;    /* windows per call when a text is evaluated */
    pt_dtype weights;     /* of a loaded file: PT_F32 or packed */
    bool inspect;         /* plan for looking inside */
    bool resume;          /* begin with the weights, moments and step of the open file */
    int64_t memory_bytes; /* of a plan: what can be had; 0 = what this module reaches */
    int64_t gpu_bytes;    /* of a plan: what a GPU gives that was short of memory; 0 = unknown */
    int64_t gpu_buffer_bytes, gpu_binding_bytes; /* of a plan: its limits; 0 = the device's */
    bool halve_lr;                               /* and with half the learning rate that it had */
} pt_run_settings;

/* Strings are borrowed from the JSON. BAD_INPUT names an unknown key, a wrong type, an unknown preset. */
pt_status pt_run_settings_read(const pt_json *json, pt_run_settings *out, pt_error *err);

/* The settings that go on with the run of a file, as an object `key` that pt_run_settings_read takes: what its header tells,
 * defaults for the rest; the seed as text. The model is the file's own. */
void pt_run_settings_of_file(const pt_tinygpt *file, const char *key, pt_json_writer *w);

typedef struct pt_sample_settings {
    pt_sampler_options sampler;
    const char *prompt;
    size_t prompt_len;
    int64_t tokens; /* most to make */
    int64_t top;    /* likeliest tokens told with each */
    bool logits;    /* and all logits */
} pt_sample_settings;
pt_status pt_sample_settings_read(const pt_json *json, pt_sample_settings *out, pt_error *err);
/* The options of a sampler alone, without a text. */
pt_status pt_odds_settings_read(const pt_json *json, pt_sampler_options *out, pt_error *err);
#define PT_MOST_TOP 64

#endif
