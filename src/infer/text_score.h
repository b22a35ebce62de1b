/* The loss of a whole text: consecutive windows of ctx targets, every byte but the first scored exactly
 * once, the last short window included.
 * SPDX-License-Identifier: MIT */
#ifndef PT_INFER_TEXT_SCORE_H
#define PT_INFER_TEXT_SCORE_H

#include "infer/scorer.h"
#include "text/tokens.h"

typedef struct pt_text_score {
    pt_scorer *scorer;    /* bound; borrowed */
    pt_tokens text;       /* of byte tokens */
    int64_t rows, tokens; /* of one batch: the model's B and T */
    int64_t next;         /* token where the next window begins */
    bool waiting;
    pt_score total; /* the result */
} pt_text_score;

/* BAD_INPUT when there are fewer than two bytes: nothing to predict. Allocates nothing. */
pt_status pt_text_score_begin(pt_text_score *score, pt_scorer *scorer, const pt_model *model,
                              pt_tokens text, pt_error *err);
/* One batch per call: PT_PENDING, or PT_OK when score->total covers the whole text. */
pt_status pt_text_score_poll(pt_text_score *score, pt_error *err);

#endif
