/* A model from a file on a device, ready to score or to generate.
 * SPDX-License-Identifier: MIT */
#ifndef PT_CLI_LOADED_H
#define PT_CLI_LOADED_H

#include "cli/cli.h"
#include "infer/scorer.h"
#include "infer/session.h"

typedef struct pt_loaded {
    pt_model_file file;
    pt_device *device;
    pt_model *model; /* EVALUATE */
    pt_plan plan;
    pt_scorer *scorer;   /* if asked for */
    pt_session *session; /* if asked for */
} pt_loaded;

typedef struct pt_loaded_options {
    const char *path;
    const pt_device_choice *choice;
    int64_t batch;  /* rows of one scoring call; 0 = 1 */
    int64_t tokens; /* of one row; 0 = ctx */
    bool scorer, session;
} pt_loaded_options;

pt_status pt_loaded_open(pt_loaded *out, const pt_loaded_options *options, pt_error *err);
void pt_loaded_close(pt_loaded *loaded); /* a zeroed one is fine */

/* Polls a session until it has a token. */
pt_status pt_next_token(pt_session *session, int32_t *out, pt_error *err);

#endif
