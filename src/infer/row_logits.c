/* The logits of given ids. SPDX-License-Identifier: MIT */
#include "infer/row_logits.h"

static pt_status check(const pt_model *model, const int32_t *ids, int64_t n, pt_error *err)
{
    int64_t most = model->options.tokens;
    if (n < 1) return pt_fail(err, PT_BAD_INPUT, "no ids: the logits of nothing are not defined");
    if (n > most)
        return pt_fail(err, PT_BAD_INPUT, "%lld ids, but the model's context is %lld", (long long)n,
                       (long long)most);
    for (int64_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= model->config.vocab)
            return pt_fail(err, PT_BAD_INPUT, "id %d, but the vocabulary is %lld", (int)ids[i],
                           (long long)model->config.vocab);
    return PT_OK;
}

static void release(pt_row_logits *row)
{
    pt_buffer_free(row->ids);
    pt_buffer_free(row->logits);
    row->ids = row->logits = NULL;
}

pt_status pt_row_logits_begin(pt_row_logits *row, pt_model *model, const int32_t *ids, int64_t n,
                              float *out, pt_error *err)
{
    int64_t V = model->config.vocab;
    *row = (pt_row_logits){.device = model->device};
    pt_status s = check(model, ids, n, err);
    if (s) return s;
    s = pt_buffer_new(row->device, n * 4, &row->ids, err);
    if (s == PT_OK) s = pt_buffer_new(row->device, n * V * 4, &row->logits, err);
    pt_tensor flat = {.buffer = row->ids, .dtype = PT_I32};
    pt_tensor logits = {.buffer = row->logits, .dtype = PT_F32};
    logits = pt_view(&logits, n, V, 0, 0);
    pt_batch batch = {.B = 1, .T = n, .ids = pt_view(&flat, 1, n, 0, 0)};
    if (s == PT_OK) s = pt_upload(row->device, &batch.ids, ids, n * 4, err);
    if (s == PT_OK) s = pt_model_forward(model, &batch, err);
    if (s == PT_OK) s = pt_model_logits(model, 0, n, &logits, err);
    if (s == PT_OK)
        s = pt_download_begin(row->device, &logits, out, n * V * 4, &row->download, err);
    if (s == PT_OK) s = pt_submit(row->device, err);
    if (s) release(row);
    return s;
}

pt_status pt_row_logits_poll(pt_row_logits *row, pt_error *err)
{
    pt_status s = pt_download_poll(row->device, &row->download, err);
    if (s != PT_PENDING) release(row);
    return s;
}
