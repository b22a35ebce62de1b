/* Scoring. SPDX-License-Identifier: MIT */
#include "infer/scorer.h"

#include "base/maths.h"

struct pt_scorer {
    pt_model *model;
    pt_tensor ids, target; /* (B,T) i32 */
    int64_t ids_id, target_id;
    int32_t *host_ids, *host_targets;
    void *logp; /* (B,T) of the device's compute dtype */
    int64_t n;  /* B*T of the batch under way */
    pt_download download;
};

pt_status pt_scorer_new(pt_scorer **out, pt_model *model, pt_error *err)
{
    *out = NULL;
    pt_scorer *s = pt_alloc(sizeof *s);
    if (!s) return pt_fail(err, PT_NO_MEMORY, "no memory for scoring");
    s->model = model;
    int64_t n = model->options.batch * model->options.tokens;
    s->host_ids = pt_alloc((size_t)n * sizeof *s->host_ids);
    s->host_targets = pt_alloc((size_t)n * sizeof *s->host_targets);
    s->logp = pt_alloc((size_t)pt_dtype_bytes(model->device->compute, n));
    if (s->host_ids && s->host_targets && s->logp) {
        *out = s;
        return PT_OK;
    }
    pt_scorer_free(s);
    return pt_fail(err, PT_NO_MEMORY, "no memory for scoring %lld tokens", (long long)n);
}

void pt_scorer_free(pt_scorer *s)
{
    if (!s) return;
    pt_free(s->host_ids);
    pt_free(s->host_targets);
    pt_free(s->logp);
    pt_free(s);
}

void pt_scorer_plan(pt_scorer *s, pt_plan *plan)
{
    int64_t dim[4] = {s->model->options.batch, s->model->options.tokens, 0, 0};
    s->ids_id = pt_plan_add(plan, PT_ARENA_STEP, "scorer.ids", PT_I32, dim);
    s->target_id = pt_plan_add(plan, PT_ARENA_STEP, "scorer.targets", PT_I32, dim);
    pt_plan_add_host(plan, "scorer",
                     dim[0] * dim[1] * (8 + pt_dtype_bytes(s->model->device->compute, 1)));
}

void pt_scorer_bind(pt_scorer *s, const pt_plan *plan)
{
    s->ids = pt_plan_tensor(plan, s->ids_id);
    s->target = pt_plan_tensor(plan, s->target_id);
}

int32_t *pt_scorer_ids(pt_scorer *s) { return s->host_ids; }
int32_t *pt_scorer_targets(pt_scorer *s) { return s->host_targets; }

pt_status pt_scorer_begin(pt_scorer *s, int64_t B, int64_t T, pt_error *err)
{
    pt_device *device = s->model->device;
    pt_batch batch = {.B = B,
                      .T = T,
                      .ids = pt_view(&s->ids, B, T, 0, 0),
                      .target = pt_view(&s->target, B, T, 0, 0)};
    s->n = B * T;
    pt_status status = pt_upload(device, &batch.ids, s->host_ids, s->n * 4, err);
    if (status == PT_OK) status = pt_upload(device, &batch.target, s->host_targets, s->n * 4, err);
    if (status == PT_OK) status = pt_model_forward(s->model, &batch, err);
    if (status == PT_OK) status = pt_model_score(s->model, &batch, err);
    pt_tensor logp = pt_view(&s->model->logp, s->n, 0, 0, 0);
    if (status == PT_OK)
        status =
            pt_download_begin(device, &logp, s->logp, pt_tensor_bytes(&logp), &s->download, err);
    if (status == PT_OK) status = pt_submit(device, err);
    return status;
}

pt_status pt_scorer_poll(pt_scorer *s, pt_score *total, pt_error *err)
{
    pt_device *device = s->model->device;
    pt_status status = pt_download_poll(device, &s->download, err);
    if (status) return status;
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
        if (s->host_targets[i] < 0) continue;
        sum -= device->compute == PT_F64 ? ((const double *)s->logp)[i]
                                         : (double)((const float *)s->logp)[i];
        total->n_targets++;
    }
    total->loss_sum += sum;
    return PT_OK;
}

double pt_score_loss(const pt_score *score)
{
    return score->n_targets ? score->loss_sum / (double)score->n_targets : PT_NAN;
}

double pt_score_perplexity(const pt_score *score) { return pt_exp(pt_score_loss(score)); }

double pt_score_bits(const pt_score *score) { return pt_score_loss(score) / PT_LN2; }
