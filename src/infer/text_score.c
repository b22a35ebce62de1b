/* The loss of a whole text. SPDX-License-Identifier: MIT */
#include "infer/text_score.h"

#include "text/bytes.h"

pt_status pt_text_score_begin(pt_text_score *score, pt_scorer *scorer, const pt_model *model,
                              pt_tokens text, pt_error *err)
{
    int64_t n = text.n;
    if (n < 2)
        return pt_fail(err, PT_BAD_INPUT,
                       "the text has %lld byte%s; a loss needs at least 2, one to read and one to "
                       "predict",
                       (long long)n, n == 1 ? "" : "s");
    if (model->config.vocab < PT_BYTES_VOCAB)
        return pt_fail(err, PT_BAD_INPUT, "a text of bytes needs a vocabulary of 256, not %lld",
                       (long long)model->config.vocab);
    *score = (pt_text_score){.scorer = scorer,
                             .text = text,
                             .rows = model->options.batch,
                             .tokens = model->options.tokens};
    return PT_OK;
}

/* Fills up to `rows` windows; a last short one fills its row's tail with masked targets. */
static pt_status fill(pt_text_score *s, int64_t *rows, pt_error *err)
{
    int32_t *ids = pt_scorer_ids(s->scorer), *targets = pt_scorer_targets(s->scorer);
    int64_t B = 0;
    while (B < s->rows && s->next < s->text.n - 1) {
        int64_t T = pt_min_i64(s->tokens, s->text.n - 1 - s->next);
        pt_status status = pt_tokens_window(&s->text, s->next, T, ids, targets, err);
        if (status) return status;
        for (int64_t t = T; t < s->tokens; t++) {
            ids[t] = 0;
            targets[t] = -1;
        }
        s->next += T;
        ids += s->tokens;
        targets += s->tokens;
        B++;
    }
    *rows = B;
    return PT_OK;
}

pt_status pt_text_score_poll(pt_text_score *s, pt_error *err)
{
    if (s->waiting) {
        pt_status status = pt_scorer_poll(s->scorer, &s->total, err);
        if (status) return status;
        s->waiting = false;
    }
    if (s->next >= s->text.n - 1) return PT_OK;
    int64_t B = 0;
    pt_status status = fill(s, &B, err);
    if (status == PT_OK) status = pt_scorer_begin(s->scorer, B, s->tokens, err);
    s->waiting = status == PT_OK;
    return status == PT_OK ? PT_PENDING : status;
}
