/* The logits of given ids: one forward pass of one row.
 * SPDX-License-Identifier: MIT */
#ifndef PT_INFER_ROW_LOGITS_H
#define PT_INFER_ROW_LOGITS_H

#include "model/model.h"

typedef struct pt_row_logits {
    pt_device *device;
    pt_buffer *ids, *logits;
    pt_download download;
} pt_row_logits;

/* Queues it: logits (n,V) f32 into out, which must stay valid until the poll has answered; row t scores the token
 * after ids[0 … t]. n is at least 1 and at most the model's own tokens, ids are below vocab: BAD_INPUT. */
pt_status pt_row_logits_begin(pt_row_logits *row, pt_model *model, const int32_t *ids, int64_t n,
                              float *out, pt_error *err);
/* PT_PENDING; or PT_OK or an error, and its memory is released. */
pt_status pt_row_logits_poll(pt_row_logits *row, pt_error *err);

#endif
