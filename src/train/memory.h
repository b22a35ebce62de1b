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

/* What there is for a run, in bytes; 0 = unknown, or any. */
typedef struct pt_memory_room {
    int64_t machine; /* of the machine's memory */
    int64_t device; /* of a device's buffers together, where one was short of it (pt_device_room) */
    int64_t buffer; /* of a device's buffer: one holds an arena */
    int64_t tensor; /* of an activation */
} pt_memory_room;

/* What of a run may be another. */
typedef enum pt_memory_may {
    PT_MEMORY_MAY_ALL,       /* as long as the tokens a step are the same */
    PT_MEMORY_MAY_RECOMPUTE, /* of a run that has begun: it keeps its batch and dtype */
    PT_MEMORY_MAY_BATCH      /* and the tokens a step with it */
} pt_memory_may;

typedef struct pt_memory_question {
    pt_device *device; /* for planning: one that has failed will do */
    const pt_trainer_desc *desc;
    pt_memory_room room;
    pt_memory_may may;
    int64_t besides;  /* bytes that something else takes where the plan's tensors lie */
    const char *hint; /* "; what else can be done" about the machine's memory, or NULL */
} pt_memory_question;

/* What a device says of its own, and where it was short of memory the bytes that it gives (pt_device_room), else 0: less what is
 * not planned, which is the ops' scratch and bytes on their way. */
pt_memory_room pt_memory_room_of(const pt_device *device, int64_t gives);

/* Whether there is room for the plan of a trainer on the question's device. */
bool pt_memory_fits(const pt_memory_question *q, const pt_plan *plan);

/* A way to do the steps with less memory. */
typedef struct pt_memory_way {
    int64_t batch, accum;
    int recompute;
    bool bf16;
    int threads;   /* of the device's pool; 0: as many as it has, as pt_memory_ways leaves it */
    int64_t bytes; /* planned, exactly, and what is besides */
    int64_t device_bytes; /* of them, not the host's */
    bool fits;
} pt_memory_way;
#define PT_MEMORY_WAYS 5

/* Plans the run anew with one change: the largest smaller batch that fits, recompute block, bf16. When none fits alone, all
 * of these together: first recompute and batch, then bf16 too. Only ways that fit are given; when there is none, one that
 * does not: the smallest of all. Ways that cannot be planned, as bf16 where the device lacks it, and the run as it is, are
 * left out: there may be none. */
void pt_memory_ways(const pt_memory_question *q, pt_memory_way out[PT_MEMORY_WAYS], int *n);
/* What of the run it changes: "--batch 4 --accum 4 --recompute block --threads 1", "" for nothing. */
const char *pt_memory_flags(const pt_memory_way *way, const pt_train_options *o, char out[96]);

/* NO_MEMORY: what the plan needs, what there is, and the first of the ways, in one sentence. The plan does not fit. */
pt_status pt_memory_refuse(const pt_memory_question *q, const pt_plan *plan,
                           const pt_memory_way *ways, int n, pt_error *err);

#endif
