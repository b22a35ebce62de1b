/* The parameters of a model: one table of names, shapes and places in one flat array.
 *
 * Weights, gradients and both AdamW moments use the same layout, so the optimizer runs over flat arrays.
 * Names are those of the .tinygpt format for the GPT-2 shape. Linear weights are [out,in].
 * SPDX-License-Identifier: MIT */
#ifndef PT_MODEL_PARAMS_H
#define PT_MODEL_PARAMS_H

#include "model/config.h"
#include "tensor/tensor.h"

typedef enum pt_param_init {
    PT_INIT_NORMAL,   /* N(0, 0.02) */
    PT_INIT_RESIDUAL, /* N(0, 0.02 / sqrt(2 L)): projections that write to the residual stream */
    PT_INIT_ZERO,
    PT_INIT_ONE
} pt_param_init;

typedef struct pt_param {
    char name[48];
    int rank; /* 1 or 2 */
    int64_t dim[2];
    int64_t n;      /* elements */
    int64_t offset; /* elements from the start of the flat array, a multiple of 64 */
    pt_param_init init;
    bool decay; /* weight decay: parameters with two dimensions */
} pt_param;

typedef struct pt_params {
    pt_param *list;
    int64_t n;          /* entries */
    int64_t n_elements; /* of the flat array, with the gaps */
    int64_t n_params;   /* without the gaps: the model's size */
    int64_t n_layers;   /* L, for the residual projections' initial values */
} pt_params;

/* For a completed, checked config. Errors: NO_MEMORY, BAD_INPUT when sizes overflow. */
pt_status pt_params_init(pt_params *params, const pt_model_config *config, pt_error *err);
void pt_params_deinit(pt_params *params);

const pt_param *pt_params_find(const pt_params *params, const char *name); /* NULL when absent */
/* The parameter that holds a flat element; NULL in a gap. */
const pt_param *pt_params_at(const pt_params *params, int64_t element);
/* The view of one parameter in a flat array. */
pt_tensor pt_param_tensor(const pt_param *param, const pt_tensor *flat);

/* Initial values of elements first … first+n-1 (first a multiple of 4) of parameter `index`: a pure
 * function of seed, index and element, so the same on every device and for any split. */
void pt_params_fill(const pt_params *params, int64_t index, uint64_t seed, int64_t first, int64_t n,
                    float *out);
#define PT_INIT_STD 0.02

#endif
