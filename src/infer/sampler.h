/* The sampler: from one row of logits to one token.
 *
 * Order of operations: repetition penalty, then greedy if temperature is 0; else temperature, top-k,
 * top-p, min-p, and one draw. Deterministic for (seed, position): base/rng.h, stream SAMPLE.
 * SPDX-License-Identifier: MIT */
#ifndef PT_INFER_SAMPLER_H
#define PT_INFER_SAMPLER_H

#include "base/mem.h"
#include "infer/likely.h"

typedef struct pt_sampler_options {
    double temperature; /* 0 = greedy (the first largest logit wins) */
    int64_t top_k;      /* keep the k most likely; 0 = all. Equal logits: lower index first */
    double top_p;       /* keep the smallest set with at least this probability; 0 or 1 = all */
    double min_p;       /* drop tokens below min_p times the most likely; 0 = none */
    double repetition_penalty; /* 0 or 1 = off; logits of tokens already in the window are divided
                                  by it when positive, multiplied when negative (Keskar et al. 2019) */
    int64_t
        n_ids; /* ids from here on are never picked: the tokenizer has no text for them; 0 = all */
    uint64_t seed;
} pt_sampler_options;

pt_status pt_sampler_options_check(const pt_sampler_options *options, pt_error *err);

/* Scratch for one vocabulary. */
typedef struct pt_sampler {
    int64_t vocab;
    struct pt_candidate *candidates; /* vocab */
    uint8_t *seen;                   /* vocab: marks of the repetition penalty */
} pt_sampler;
pt_status pt_sampler_init(pt_sampler *sampler, int64_t vocab, pt_error *err);
void pt_sampler_deinit(pt_sampler *sampler);

/* The text so far. */
typedef struct pt_sampler_text {
    const int32_t *window; /* the n token ids that the penalty looks at */
    int64_t n;
    int64_t position; /* index of the new token in the text: the counter of its draw */
} pt_sampler_text;

/* Picks a token. logits (vocab) may be changed. NaN logits are never picked; CORRUPT when no logit is
 * finite. */
pt_status pt_sampler_pick(pt_sampler *sampler, const pt_sampler_options *options,
                          const pt_sampler_text *text, float *logits, int32_t *out, pt_error *err);

/* The odds of a pick, for people to look at: the tokens that could be drawn, likeliest first, and the
 * probability of each. out has room for vocab, *n says how many there are. Without a text there is no
 * penalty. CORRUPT when no logit is finite. */
pt_status pt_sampler_odds(pt_sampler *sampler, const pt_sampler_options *options,
                          const float *logits, pt_likely *out, int64_t *n, pt_error *err);

#endif
