/* The step state: a small tensor on the device that a training step reads and writes, so that the
 * host need not read anything back inside a step.
 *
 * One number of the device's compute dtype per word. The host uploads words 0 … PT_STATE_HOST_WORDS-1
 * at the start of each step; the rest belongs to the device and is only set by the host when a
 * run begins (train/optimizer.c).
 * SPDX-License-Identifier: MIT */
#ifndef PT_DEVICE_STEP_STATE_H
#define PT_DEVICE_STEP_STATE_H

typedef enum pt_state_word {
    PT_STATE_LR,                         /* learning rate of this step */
    PT_STATE_CORRECTION1,                /* 1 / (1 - beta1^t), t = 1 for the first step */
    PT_STATE_CORRECTION2,                /* 1 / (1 - beta2^t) */
    PT_STATE_CLIP,                       /* largest gradient norm; <= 0 switches clipping off */
    PT_STATE_LOSS,                       /* sum of coef * logp; the host uploads 0 */
    PT_STATE_SQNORM,                     /* squared gradient norm; the host uploads 0 */
    PT_STATE_LIMIT,                      /* largest loss of a step that counts; 0 = any */
    PT_STATE_HALT,                       /* 1: a loss above LIMIT clears OK as well */
    PT_STATE_HOST_WORDS,                 /* number of words the host uploads */
    PT_STATE_NORM = PT_STATE_HOST_WORDS, /* gradient norm before clipping */
    PT_STATE_FACTOR,                     /* clip / (norm + 1e-6) if norm > clip, else 1 */
    PT_STATE_OK,        /* 1; sticks at 0 once a step's loss or norm was not finite, or at a halt */
    PT_STATE_SKIPPED,   /* 1: this step's loss is above LIMIT, so the step is not taken */
    PT_STATE_FIRST_BAD, /* lowest id for which check_finite found inf or nan */
    PT_STATE_COUNT = 16
} pt_state_word;

/* FIRST_BAD when nothing bad was found. */
#define PT_STATE_NO_BAD 16777216.0

/* Words of one entry of the ring that step_verdict writes, one entry per step. */
typedef enum pt_ring_word {
    PT_RING_LOSS,
    PT_RING_NORM,
    PT_RING_OK,
    PT_RING_LR,
    PT_RING_SKIPPED,
    PT_RING_WORDS
} pt_ring_word;

#endif
