/* Looking inside one forward pass: the logit lens of every layer, the attention weights of every head.
 *
 * Life: new → plan (its memory joins a plan) → bind → run (one text) → lens or attention, poll, values; and so on.
 * Resumable: poll does or queues a bounded piece of work and never waits. Weights are only read.
 * SPDX-License-Identifier: MIT */
#ifndef PT_INTERP_INSPECT_H
#define PT_INTERP_INSPECT_H

#include "model/model.h"

typedef struct pt_inspection pt_inspection;

/* Of texts of up to `tokens` (0 = ctx) tokens, over the weights of `model`, which must outlive it.
 * UNSUPPORTED for a model that stores activations in bf16. */
pt_status pt_inspection_new(pt_inspection **out, const pt_model *model, int64_t tokens,
                            pt_error *err);
void pt_inspection_plan(pt_inspection *inspection, pt_plan *plan);
pt_status pt_inspection_bind(pt_inspection *inspection, const pt_plan *plan, pt_error *err);
void pt_inspection_free(pt_inspection *inspection); /* NULL is fine */

/* The forward pass of T ids, 1 … tokens of them, each below vocab. BAD_INPUT otherwise. */
pt_status pt_inspection_run(pt_inspection *inspection, const int32_t *ids, int64_t T,
                            pt_error *err);

/* The logit lens (nostalgebraist 2020): the final norm and the head applied to the residual stream. Layer l in 0 … L-1:
 * the stream that enters block l, so 0 is the embedding; L: the stream that leaves the last block, whose lens is the model's
 * logits, bit for bit. Values (T,V). */
pt_status pt_inspection_lens(pt_inspection *inspection, int64_t layer, pt_error *err);
/* The attention weights of block `layer`: values (H,T,T), [h,i,j] the weight that query i gives key j, 0 where it does not look. They
 * are what the attention op multiplies values by: it is run on values that are unit vectors, D keys at a time. */
pt_status pt_inspection_attention(pt_inspection *inspection, int64_t layer, pt_error *err);
/* PT_PENDING; PT_OK when the values are there; or an error. */
pt_status pt_inspection_poll(pt_inspection *inspection, pt_error *err);
/* Until the next lens, attention or run. */
const float *pt_inspection_values(const pt_inspection *inspection);
int64_t pt_inspection_n_values(const pt_inspection *inspection);
int64_t pt_inspection_tokens(const pt_inspection *inspection); /* T of the last run */

#endif
