/* Weights from an open .tinygpt file into a model.
 * SPDX-License-Identifier: MIT */
#ifndef PT_MODEL_LOAD_TINYGPT_H
#define PT_MODEL_LOAD_TINYGPT_H

#include "io/tinygpt.h"
#include "model/model.h"

/* For each tensor of the file: w (and m, v, when moments is true and the file has them, else NULL)
 * of n elements in [out,in] order, for parameter `index` of the table. The pointers are valid during the call. */
typedef pt_status (*pt_param_visitor)(void *ctx, int64_t index, const float *w, const float *m,
                                      const float *v, pt_error *err);
/* CORRUPT when the file holds a weight that is not finite, naming it. */
pt_status pt_tinygpt_visit(const pt_tinygpt *file, const pt_params *params, bool moments,
                           pt_param_visitor visit, void *ctx, pt_error *err);
/* The weights alone, into a bound model of the file's configuration. */
pt_status pt_model_load_tinygpt(pt_model *model, const pt_tinygpt *file, pt_error *err);

#endif
