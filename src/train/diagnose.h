/* Finding the first bad tensor: while begun, every launch on the device is followed by a check of
 * all its tensors; the lowest numbered bad one is then read from the step state.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_DIAGNOSE_H
#define PT_TRAIN_DIAGNOSE_H

#include "train/optimizer.h"

typedef struct pt_diagnosis {
    pt_device *device;
    pt_tensor state;
    struct pt_checked *checked; /* what id number i stands for */
    int64_t n, capacity;
} pt_diagnosis;

/* Sets the device's launch hook. */
void pt_diagnosis_begin(pt_diagnosis *d, pt_device *device, const pt_tensor *state);
/* Takes the hook away again. */
void pt_diagnosis_end(pt_diagnosis *d);
/* What the id that the step state holds (PT_STATE_FIRST_BAD) stands for: "blocks.1.hidden (op linear, forward)";
 * false when nothing bad was found. */
bool pt_diagnosis_name(const pt_diagnosis *d, double first_bad, const pt_model *model,
                       const pt_plan *plan, char *out, size_t cap);
void pt_diagnosis_deinit(pt_diagnosis *d);

#endif
