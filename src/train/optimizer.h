/* The optimizer of a model on its device: gradients, AdamW moments, step state and the ring of
 * losses; and the device work at both ends of a step. Nothing here reads anything back.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_OPTIMIZER_H
#define PT_TRAIN_OPTIMIZER_H

#include "device/step_state.h"
#include "model/model.h"

typedef struct pt_optimizer_options {
    double beta1, beta2, eps, weight_decay, clip;
    int64_t ring; /* entries of the ring of losses */
} pt_optimizer_options;

typedef struct pt_optimizer {
    pt_model *model; /* TRAIN */
    pt_optimizer_options options;
    pt_tensor m, v;     /* [n_elements], the layout of the weights */
    pt_tensor decay;    /* [n_elements / 64] u8 */
    pt_tensor state;    /* device/step_state.h */
    pt_tensor ring;     /* [ring, PT_RING_WORDS] */
    double spike_limit; /* of the steps begun from now on: a larger loss is not taken; 0 = any is */
    bool spike_halts;   /* and then no step is until pt_optimizer_reset_state */
    int64_t m_id, v_id, decay_id, state_id, ring_id;
} pt_optimizer;

void pt_optimizer_plan(pt_optimizer *optimizer, pt_plan *plan);
/* Takes the tensors and uploads the decay mask and a fresh step state. */
pt_status pt_optimizer_bind(pt_optimizer *optimizer, const pt_plan *plan, pt_error *err);

/* A fresh step state: a step that was not finite, or a halt, no longer stops the ones after it. */
pt_status pt_optimizer_reset_state(pt_optimizer *optimizer, pt_error *err);

/* Zeroes the gradients and sets learning rate and bias corrections of 1-based step t. */
pt_status pt_optimizer_begin_step(pt_optimizer *optimizer, int64_t t, double lr, pt_error *err);
/* Adds the loss of one micro-batch after its backward: state.loss += sum coef * logp. */
pt_status pt_optimizer_add_loss(pt_optimizer *optimizer, const pt_batch *batch, pt_error *err);
/* Norm, clip, verdict into ring entry `slot`, and the update. */
pt_status pt_optimizer_end_step(pt_optimizer *optimizer, int64_t slot, pt_error *err);

/* n numbers into a tensor of the device's compute dtype (n <= 64). */
pt_status pt_upload_numbers(pt_device *device, const pt_tensor *t, const double *values, int64_t n,
                            pt_error *err);

#endif
