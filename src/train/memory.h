/* The memory of a training run, by part; and what would fit when it does not.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_MEMORY_H
#define PT_TRAIN_MEMORY_H

#include "train/trainer.h"

typedef enum pt_memory_part {
    PT_MEMORY_WEIGHTS,
    PT_MEMORY_GRADIENTS,
    PT_MEMORY_MOMENTS,
    PT_MEMORY_RESIDUAL, /* activations: the stream that blocks add to */
    PT_MEMORY_NORMS,
    PT_MEMORY_ATTENTION,
    PT_MEMORY_MLP,
    PT_MEMORY_BACKWARD, /* gradients of activations, shared by all blocks */
    PT_MEMORY_HEAD,     /* logits and what the loss needs */
    PT_MEMORY_BATCHES,  /* of training and evaluation, on both sides */
    PT_MEMORY_SAMPLING,
    PT_MEMORY_SAVING,
    PT_MEMORY_CORPUS,
    PT_MEMORY_SCRATCH, /* of threads, and the small rest */
    PT_MEMORY_PARTS
} pt_memory_part;

const char *pt_memory_part_name(pt_memory_part part); /* "attention activations" */
/* The part that an entry of a trainer's plan belongs to. What it does not know is SCRATCH. */
pt_memory_part pt_memory_part_of(const char *entry);
void pt_memory_by_part(const pt_plan *plan, int64_t bytes[PT_MEMORY_PARTS]);
/* Indices of the n largest entries of the plan, largest first; fewer when there are fewer: their number. */
int pt_memory_largest(const pt_plan *plan, int64_t *out, int n);

/* A way to do the same steps with less memory. */
typedef struct pt_memory_way {
    int64_t batch, accum; /* the same tokens a step */
    int recompute;
    bool bf16;
    int64_t bytes; /* planned, exactly */
    bool fits;
} pt_memory_way;
#define PT_MEMORY_WAYS 5

/* Plans the run anew with one change: the largest smaller batch that fits, recompute block, bf16. When none fits alone, all
 * of these together: first recompute and batch, then bf16 too. Only ways that fit are given; when there is none, one that
 * does not: the smallest of all. Ways that cannot be planned, as bf16 where the device lacks it, and the run as it is, are
 * left out: there may be none. A run that has begun keeps its batch and dtype, which leaves recompute. */
void pt_memory_ways(pt_device *device, const pt_trainer_desc *desc, int64_t available, bool begun,
                    pt_memory_way out[PT_MEMORY_WAYS], int *n);

#endif
