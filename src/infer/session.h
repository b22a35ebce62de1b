/* A generation session: a prompt goes in, tokens come out one at a time, through a key-value cache.
 *
 * Resumable: pt_session_poll does or queues a bounded piece of work and never waits. When the text
 * grows beyond ctx, the window slides by one token and the cache is rebuilt from position 0, so the
 * oldest token in the window always stands at position 0, as in training.
 * SPDX-License-Identifier: MIT */
#ifndef PT_INFER_SESSION_H
#define PT_INFER_SESSION_H

#include "infer/likely.h"
#include "infer/sampler.h"
#include "model/model.h"

typedef struct pt_session pt_session;

/* A session over the weights of `model` (which must outlive it). Its memory joins `plan`, which the
 * caller allocates before pt_session_bind. */
pt_status pt_session_new(pt_session **out, const pt_model *model, pt_error *err);
void pt_session_plan(pt_session *session, pt_plan *plan);
pt_status pt_session_bind(pt_session *session, const pt_plan *plan, pt_error *err);
void pt_session_free(pt_session *session); /* NULL is fine */

/* Begins a new text: n >= 1 ids, each below vocab; of a prompt longer than ctx the last ctx count. Allocates
 * nothing. */
pt_status pt_session_start(pt_session *session, const int32_t *ids, int64_t n,
                           const pt_sampler_options *options, pt_error *err);
/* PT_OK: the next token is in *out; PT_PENDING: call again; else an error. */
pt_status pt_session_poll(pt_session *session, int32_t *out, pt_error *err);
/* Of the distribution that the last token came from (after the repetition penalty, before temperature and filters): the k
 * likeliest, and the probability of one. */
int64_t pt_session_top(const pt_session *session, int64_t k, pt_likely *out);
double pt_session_probability(const pt_session *session, int32_t id);
const float *pt_session_logits(const pt_session *session); /* (vocab); until the next poll */

/* Bytes of the key-value cache: the keys and values of ctx tokens, of all layers. */
int64_t pt_session_cache_bytes(const pt_session *session);

#endif
