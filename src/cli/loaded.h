/* A model from a file on a device, ready to score or to generate.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_LOADED_H
#define PT_CLI_LOADED_H

#include "cli/cli.h"
#include "infer/loaded_model.h"

typedef struct pt_loaded {
    pt_model_file file;
    pt_device *device;
    pt_loaded_model ready;
} pt_loaded;

typedef struct pt_loaded_options {
    const char *path;
    const pt_device_choice *choice;
    const char *weights; /* of PT_WEIGHTS_NAMES: from it model.weights is set */
    pt_loaded_model_options model;
} pt_loaded_options;
#define PT_WEIGHTS_OPTION(target)                                                   \
    {                                                                               \
        "weights", PT_OPTION_TEXT, target, PT_WEIGHTS_NAMES,                        \
            "what they are kept in; f16 and int8 with webgpu and ref", "f32", false \
    }

/* What is done with it. */
typedef pt_status (*pt_loaded_work)(void *ctx, pt_loaded *loaded, pt_error *err);
/* Opens the model, has the work done, and closes it. When the device is lost meanwhile, all of it is done once more. */
pt_status pt_loaded_do(const pt_loaded_options *options, pt_loaded_work work, void *ctx,
                       pt_error *err);

#endif
