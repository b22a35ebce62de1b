/* A transformer on a device: its weights, its activations, its forward and its backward.
 *
 * Life: pt_model_new (sizes only) → pt_model_plan (adds its tensors to a memory plan) → the owner
 * allocates the plan → pt_model_bind → weights are initialised or loaded → forward, backward.
 * The model never names a device and never waits.
 * SPDX-License-Identifier: MIT */
#ifndef PT_MODEL_MODEL_H
#define PT_MODEL_MODEL_H

#include "device/device.h"
#include "model/config.h"
#include "model/params.h"

typedef enum pt_model_mode {
    PT_MODEL_TRAIN,    /* forward and backward */
    PT_MODEL_EVALUATE, /* forward of whole windows; blocks share their activations */
    PT_MODEL_GENERATE  /* forward through a key-value cache */
} pt_model_mode;

/* Activations of a block that are not kept but computed again in the backward pass, bit for bit. */
typedef enum pt_recompute {
    PT_RECOMPUTE_NONE = 0,
    PT_RECOMPUTE_NORM1 = 1 << 0,
    PT_RECOMPUTE_QKV = 1 << 1,
    PT_RECOMPUTE_ATTENTION = 1 << 2,
    PT_RECOMPUTE_MIDDLE = 1 << 3, /* residual stream between attention and mlp */
    PT_RECOMPUTE_NORM2 = 1 << 4,
    PT_RECOMPUTE_HIDDEN = 1 << 5, /* mlp before its nonlinearity */
    PT_RECOMPUTE_ACTIVATED = 1 << 6,
    PT_RECOMPUTE_CHEAP = PT_RECOMPUTE_NORM1 | PT_RECOMPUTE_NORM2 | PT_RECOMPUTE_ACTIVATED,
    PT_RECOMPUTE_BLOCK = 127
} pt_recompute;

typedef struct pt_model_options {
    pt_model_mode mode;
    int64_t batch;     /* B: most rows of one call */
    int64_t tokens;    /* most tokens per row of one call; 0 = ctx */
    int recompute;     /* pt_recompute flags; TRAIN only */
    int64_t head_rows; /* R: rows of logits held at once; 0 = chosen by vocabulary */
    /* Matrix weights and activations are stored in bf16, where the device has that. Statistics, log-probabilities, logits,
     * vectors of weights and all gradients of weights stay what the device computes in. */
    bool bf16;
    /* Not for TRAIN: what linear layers, token embedding and head are kept in, PT_F32 (what the device computes in) or packed
     * (tensor/packed.h). Everything else stays what the device computes in. With `share`: taken from there. */
    pt_dtype weights;
    bool keep; /* EVALUATE: every block keeps its activations, for those who look inside */
    /* Another model on the same device with the same config and bf16, whose weights this one uses (it must outlive
     * this one). NULL: weights of its own. */
    const struct pt_model *share;
} pt_model_options;

/* The weights, or their gradients, as views of one flat array. Absent ones have no buffer. */
typedef struct pt_linear_weights {
    pt_tensor w, b;
} pt_linear_weights;
typedef struct pt_block_weights {
    pt_linear_weights norm1, q, k, v, o, norm2, gate, in, out;
    pt_tensor q_norm, k_norm;
} pt_block_weights;
typedef struct pt_weights {
    pt_tensor flat;  /* [n_elements] */
    pt_tensor copy;  /* with bf16: flat, rounded; the views of matrices lie here. Else absent */
    pt_tensor *each; /* with packed weights: every parameter by itself, and no flat. Else NULL */
    pt_tensor token, position, head;
    pt_linear_weights norm;
    pt_block_weights *blocks;
} pt_weights;

/* Activations of one block, shaped for the largest call. */
typedef struct pt_block_activations {
    pt_tensor input; /* x: the residual stream that enters, (B,T,C) */
    pt_tensor norm1, mean1, rstd1;
    pt_tensor q_raw, k_raw, q_rstd, k_rstd; /* only with qk_norm: before it */
    pt_tensor q, k, v, att, lse;
    pt_tensor middle, norm2, mean2, rstd2;
    pt_tensor gate, hidden, activated;
    pt_tensor cache_k, cache_v; /* GENERATE: (B,G,ctx,D) */
} pt_block_activations;

typedef struct pt_model pt_model;

/* What one call works on. Tensors as in ops/embedding, ops/crossentropy, ops/attention. */
typedef struct pt_batch {
    int64_t B, T;
    pt_tensor ids;        /* (B,T) i32 */
    pt_tensor target;     /* (B,T) i32, < 0 = masked; for the loss calls */
    pt_tensor coef;       /* (B,T): d loss / d logp; for the backward pass */
    pt_tensor doc_start;  /* (B,T) i32 or absent */
    pt_tensor offset;     /* (B) i32 or absent; GENERATE: tokens already in the cache */
    uint64_t seed;        /* of dropout */
    int64_t first_sample; /* global index of row 0: dropout's place in its stream */
    bool train;           /* dropout on */
} pt_batch;

/* A tensor to fill, and the id of its entry in the plan. */
typedef struct pt_model_place {
    pt_tensor *tensor;
    int64_t id;
} pt_model_place;

struct pt_model {
    pt_device *device;
    pt_model_config config;
    pt_model_options options;
    pt_params params;
    pt_weights weights, grads;    /* grads: TRAIN only */
    pt_block_activations *blocks; /* L */
    pt_tensor output;             /* (B,T,C): the residual stream that leaves the last block */
    pt_tensor normed, mean, rstd; /* final norm */
    pt_tensor branch;             /* (B,T,C): what a block adds to its stream; shared */
    pt_tensor logits;             /* (R,V): workspace of the head */
    pt_tensor logp, lse;          /* (B,T) */
    pt_tensor freq;               /* (D/2): rope */
    pt_tensor d_stream, d_branch, d_hidden, d_gate, d_q, d_k, d_v, d_att, delta; /* TRAIN */
    struct {
        pt_model_place *list;
        int64_t n, capacity;
        bool failed;
    } places; /* of these tensors in the plan, kept between plan and bind */
};

/* A completed config is checked, and the device asked for every op that the mode needs.
 * Errors: BAD_INPUT, UNSUPPORTED (naming op and device), NO_MEMORY. */
pt_status pt_model_new(pt_model **out, pt_device *device, const pt_model_config *config,
                       const pt_model_options *options, pt_error *err);
void pt_model_free(pt_model *model); /* NULL is fine */

/* Adds the model's tensors to the plan; names begin with `prefix` (may be ""). */
void pt_model_plan(pt_model *model, pt_plan *plan, const char *prefix);
/* Takes the tensors from the allocated plan and uploads constants (rope's frequencies). */
pt_status pt_model_bind(pt_model *model, const pt_plan *plan, pt_error *err);

/* Whether the parameter is multiplied or looked up by tokens: what model_options.weights is about. */
bool pt_model_packs(const pt_param *param);
/* Initial weights from the seed (model/params.h), not packed. Filled in parallel on pool (may be NULL). */
pt_status pt_model_init_weights(pt_model *model, uint64_t seed, pt_pool *pool, pt_error *err);
/* One parameter from n floats on the host. UNSUPPORTED when it does not fit what weights are kept in, naming it. */
pt_status pt_model_set_weight(pt_model *model, int64_t index, const float *values, pt_error *err);

/* Fills model->normed from batch->ids (through the cache in GENERATE mode). model/transformer.c */
pt_status pt_model_forward(pt_model *model, const pt_batch *batch, pt_error *err);
/* After a forward: logp and lse of batch->target, in model->logp, model->lse. */
pt_status pt_model_score(pt_model *model, const pt_batch *batch, pt_error *err);
/* After a forward: logp, lse, and gradients of sum(coef * logp): adds to model->grads. */
pt_status pt_model_backward(pt_model *model, const pt_batch *batch, pt_error *err);
/* After a forward: logits of n consecutive rows of model->normed (counted over B*T) into
 * out (n,V). */
pt_status pt_model_logits(pt_model *model, int64_t first_row, int64_t n, const pt_tensor *out,
                          pt_error *err);

/* "weight blocks.0.ln1.weight", "gradient of …", or the plan's name: for error messages. */
void pt_model_name_of(const pt_model *model, const pt_plan *plan, const pt_tensor *t, char *out,
                      size_t cap);

#endif
