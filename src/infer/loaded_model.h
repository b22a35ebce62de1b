/* A model from an open file on a device, bound and filled, with what was asked for beside it.
 * SPDX-License-Identifier: MIT */
#ifndef PT_INFER_LOADED_MODEL_H
#define PT_INFER_LOADED_MODEL_H

#include "infer/scorer.h"
#include "infer/session.h"
#include "io/tinygpt.h"

typedef struct pt_loaded_model {
    pt_model *model; /* EVALUATE */
    pt_plan plan;
    pt_scorer *scorer;   /* if asked for */
    pt_session *session; /* if asked for */
} pt_loaded_model;

typedef struct pt_loaded_model_options {
    int64_t batch;  /* rows of one scoring call; 0 = 1 */
    int64_t tokens; /* of one row; 0 = ctx */
    bool scorer, session;
    pt_dtype weights; /* as pt_model_options: PT_F32 or packed */
} pt_loaded_model_options;

/* The file is needed during the call only, the device as long as the model. On failure nothing is left. */
pt_status pt_loaded_model_open(pt_loaded_model *out, pt_device *device, const pt_tinygpt *file,
                               const pt_loaded_model_options *options, pt_error *err);
void pt_loaded_model_close(pt_loaded_model *loaded); /* a zeroed one is fine */

#endif
