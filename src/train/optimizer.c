/* The optimizer of a model on its device. SPDX-License-Identifier: MIT */
#include "train/optimizer.h"

#include "base/maths.h"
#include "ops/ops.h"

void pt_optimizer_plan(pt_optimizer *o, pt_plan *plan)
{
    pt_dtype real = o->model->device->compute;
    int64_t n = o->model->params.n_elements;
    o->m_id = pt_plan_add(plan, PT_ARENA_RUN, "moment m", real, (int64_t[4]){n, 0, 0, 0});
    o->v_id = pt_plan_add(plan, PT_ARENA_RUN, "moment v", real, (int64_t[4]){n, 0, 0, 0});
    o->decay_id = pt_plan_add(plan, PT_ARENA_RUN, "decay mask", PT_U8,
                              (int64_t[4]){pt_div_up(n, PT_ADAMW_BLOCK), 0, 0, 0});
    o->state_id =
        pt_plan_add(plan, PT_ARENA_RUN, "step state", real, (int64_t[4]){PT_STATE_COUNT, 0, 0, 0});
    o->ring_id = pt_plan_add(plan, PT_ARENA_RUN, "ring of losses", real,
                             (int64_t[4]){o->options.ring, PT_RING_WORDS, 0, 0});
}

pt_status pt_upload_numbers(pt_device *device, const pt_tensor *t, const double *values, int64_t n,
                            pt_error *err)
{
    float narrow[64];
    if (device->compute == PT_F64)
        return pt_upload(device, t, values, n * (int64_t)sizeof *values, err);
    for (int64_t i = 0; i < n; i++) narrow[i] = (float)values[i];
    return pt_upload(device, t, narrow, n * (int64_t)sizeof *narrow, err);
}

static pt_status upload_decay_mask(pt_optimizer *o, pt_error *err)
{
    int64_t n = pt_numel(&o->decay);
    uint8_t *mask = pt_alloc((size_t)n);
    if (!mask) return pt_fail(err, PT_NO_MEMORY, "no memory for the decay mask");
    const pt_params *params = &o->model->params;
    for (int64_t i = 0; i < params->n; i++) {
        const pt_param *p = &params->list[i];
        if (!p->decay) continue;
        int64_t first = p->offset / PT_ADAMW_BLOCK;
        memset(mask + first, 1, (size_t)pt_div_up(p->n, PT_ADAMW_BLOCK));
    }
    pt_status s = pt_upload(o->model->device, &o->decay, mask, n, err);
    pt_free(mask);
    return s;
}

pt_status pt_optimizer_reset_state(pt_optimizer *o, pt_error *err)
{
    double state[PT_STATE_COUNT] = {[PT_STATE_OK] = 1, [PT_STATE_FIRST_BAD] = PT_STATE_NO_BAD};
    return pt_upload_numbers(o->model->device, &o->state, state, PT_STATE_COUNT, err);
}

pt_status pt_optimizer_bind(pt_optimizer *o, const pt_plan *plan, pt_error *err)
{
    o->m = pt_plan_tensor(plan, o->m_id);
    o->v = pt_plan_tensor(plan, o->v_id);
    o->decay = pt_plan_tensor(plan, o->decay_id);
    o->state = pt_plan_tensor(plan, o->state_id);
    o->ring = pt_plan_tensor(plan, o->ring_id);
    pt_status s = pt_optimizer_reset_state(o, err);
    if (s == PT_OK) s = upload_decay_mask(o, err);
    return s;
}

pt_status pt_optimizer_begin_step(pt_optimizer *o, int64_t t, double lr, pt_error *err)
{
    double host[PT_STATE_HOST_WORDS] = {
        [PT_STATE_LR] = lr,
        [PT_STATE_CORRECTION1] = 1 / (1 - pt_pow(o->options.beta1, (double)t)),
        [PT_STATE_CORRECTION2] = 1 / (1 - pt_pow(o->options.beta2, (double)t)),
        [PT_STATE_CLIP] = o->options.clip,
        [PT_STATE_LIMIT] = o->spike_limit,
        [PT_STATE_HALT] = o->spike_halts,
    };
    pt_device *device = o->model->device;
    pt_status s = pt_upload_numbers(device, &o->state, host, PT_STATE_HOST_WORDS, err);
    if (s == PT_OK) s = pt_fill_zero(device, &o->model->grads.flat, err);
    return s;
}

pt_status pt_optimizer_add_loss(pt_optimizer *o, const pt_batch *batch, pt_error *err)
{
    int64_t n = batch->B * batch->T;
    pt_loss_sum_args a = {.logp = pt_view(&o->model->logp, n, 0, 0, 0),
                          .coef = pt_view(&batch->coef, n, 0, 0, 0),
                          .state = o->state};
    return pt_loss_sum_forward(o->model->device, &a, err);
}

pt_status pt_optimizer_end_step(pt_optimizer *o, int64_t slot, pt_error *err)
{
    pt_model *m = o->model;
    pt_sqnorm_args norm = {.x = m->grads.flat, .state = o->state};
    pt_step_verdict_args verdict = {.state = o->state, .ring = o->ring, .slot = slot};
    pt_adamw_args adamw = {.w = m->weights.flat,
                           .g = m->grads.flat,
                           .m = o->m,
                           .v = o->v,
                           .decay = o->decay,
                           .state = o->state,
                           .copy = m->weights.copy,
                           .beta1 = o->options.beta1,
                           .beta2 = o->options.beta2,
                           .eps = o->options.eps,
                           .weight_decay = o->options.weight_decay};
    pt_status s = pt_sqnorm_forward(m->device, &norm, err);
    if (s == PT_OK) s = pt_step_verdict_forward(m->device, &verdict, err);
    if (s == PT_OK) s = pt_adamw_forward(m->device, &adamw, err);
    return s;
}
