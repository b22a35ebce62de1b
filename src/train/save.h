/* Writing a model under training to a sink, tensor by tensor, without waiting.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_SAVE_H
#define PT_TRAIN_SAVE_H

#include "io/tinygpt.h"
#include "train/optimizer.h"

typedef struct pt_saver pt_saver;

/* UNSUPPORTED or BAD_INPUT, naming the option, when the
 * model is not one that .tinygpt can hold: before anything is trained. */
pt_status pt_saver_new(pt_saver **out, const pt_optimizer *optimizer, pt_error *err);
void pt_saver_plan(const pt_saver *saver, pt_plan *plan);
/* Takes the planned memory. */
pt_status pt_saver_bind(pt_saver *saver, pt_error *err);
void pt_saver_free(pt_saver *saver); /* NULL is fine; an unfinished file is abandoned */

/* Writes the header. desc->config and dtype are filled here. */
pt_status pt_saver_begin(pt_saver *saver, const pt_tinygpt_desc *desc, const pt_sink *sink,
                         pt_error *err);
/* PT_PENDING, PT_OK when the file is complete, or an error. */
pt_status pt_saver_poll(pt_saver *saver, pt_error *err);

#endif
