/* The tensors of an open .tinygpt file on their way into another file.
 * SPDX-License-Identifier: MIT */
#ifndef PT_MODEL_TINYGPT_EXPORT_H
#define PT_MODEL_TINYGPT_EXPORT_H

#include "io/tinygpt.h"

/* Room for the file's largest tensor, to be freed with pt_free; NULL: no memory, and *err says so. */
float *pt_tinygpt_new_block(const pt_tinygpt *file, pt_error *err);
/* pt_tinygpt_read, and CORRUPT when a value is not finite, naming the tensor. */
pt_status pt_tinygpt_read_finite(const pt_tinygpt *file, int64_t tensor, pt_tinygpt_part part,
                                 float *block, pt_error *err);
/* All weights as a .safetensors file: f32, Linear weights in true [out,in] order, under their own names. The sink must be
 * empty. Errors: CORRUPT, NO_MEMORY, the sink's. */
pt_status pt_tinygpt_to_safetensors(const pt_tinygpt *file, const pt_sink *sink, pt_error *err);

#endif
