/* The bridge between a model's configuration and the .tinygpt format's.
 * SPDX-License-Identifier: MIT */
#ifndef PT_MODEL_TINYGPT_SHAPE_H
#define PT_MODEL_TINYGPT_SHAPE_H

#include "io/tinygpt.h"
#include "model/config.h"

/* UNSUPPORTED naming the option when the model is not of the GPT-2 shape that the format holds. */
pt_status pt_tinygpt_shape_of(const pt_model_config *config, pt_tinygpt_config *out, pt_error *err);
/* The configuration of an open file, completed; options beyond the format's come from the header's "posttrain"
 * object. BAD_INPUT when it is not one we can run. */
pt_status pt_model_config_from_tinygpt(const pt_tinygpt_info *info, pt_model_config *out,
                                       pt_error *err);

#endif
