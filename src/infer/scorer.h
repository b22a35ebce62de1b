/* Scoring: the log-probability of each given next token under a model, batch by batch.
 *
 * Resumable: pt_scorer_begin queues one batch, pt_scorer_poll says when its scores are there. Sums are taken
 * on the host in double, in token order.
 * SPDX-License-Identifier: MIT */
#ifndef PT_INFER_SCORER_H
#define PT_INFER_SCORER_H

#include "model/model.h"

typedef struct pt_scorer pt_scorer;

/* For batches of up to the model's own size. The model (TRAIN or EVALUATE) must outlive it. Its tensors join `plan`. */
pt_status pt_scorer_new(pt_scorer **out, pt_model *model, pt_error *err);
void pt_scorer_plan(pt_scorer *scorer, pt_plan *plan);
void pt_scorer_bind(pt_scorer *scorer, const pt_plan *plan);
void pt_scorer_free(pt_scorer *scorer); /* NULL is fine */

/* Host buffers of batch*tokens ids and targets, for the caller to fill before begin. A target < 0 is
 * masked. */
int32_t *pt_scorer_ids(pt_scorer *scorer);
int32_t *pt_scorer_targets(pt_scorer *scorer);
/* Queues the batch (B,T) in those buffers. Ids and targets must be below vocab. */
pt_status pt_scorer_begin(pt_scorer *scorer, int64_t B, int64_t T, pt_error *err);

typedef struct pt_score {
    double loss_sum;   /* minus the sum of log-probabilities of the unmasked targets; nats */
    int64_t n_targets; /* unmasked */
} pt_score;

double pt_score_loss(const pt_score *score);       /* nats per token; NaN when nothing was scored */
double pt_score_perplexity(const pt_score *score); /* exp(loss) */
double pt_score_bits(const pt_score *score); /* loss in bits: per byte, where a token is a byte */
/* PT_PENDING; or PT_OK, and the batch is added to *total. */
pt_status pt_scorer_poll(pt_scorer *scorer, pt_score *total, pt_error *err);

#endif
