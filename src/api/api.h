/* What the files of the public interface share. The interface itself: include/posttrain.h.
 * SPDX-License-Identifier: MIT */
#ifndef PT_API_API_H
#define PT_API_API_H

#include "device/device.h"
#include "infer/sampler.h"
#include "model/config.h"
#include "posttrain.h"
#include "train/options.h"

#define PT_API_TEXT 32 /* bytes of an option's text, with the NUL */

struct posttrain_options {
    char device[PT_API_TEXT], isa[PT_API_TEXT], preset[PT_API_TEXT], schedule[PT_API_TEXT],
        dtype[PT_API_TEXT], weights[PT_API_TEXT];
    int64_t threads, score_batch, max_tokens, seed, force;
    double temperature, top_p, min_p, repetition_penalty;
    int64_t top_k;
    pt_model_config model;
    pt_train_options train;
};

/* Keeps the message for posttrain_error and turns the status into a public one. */
posttrain_status pt_api_result(pt_status status, const pt_error *err);

/* BAD_INPUT: NULL was given to the function `call` where `what` is needed. */
posttrain_status pt_api_missing(const char *call, const char *what);

/* The device that the options name, ready. */
pt_status pt_api_device(const posttrain_options *options, pt_device **out, pt_error *err);

#endif
