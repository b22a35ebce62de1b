/* Loss spikes: a step whose loss is far above those before it.
 *
 * A step's loss is a spike when it is more than PT_SPIKE_FACTOR times the mean of the PT_SPIKE_WINDOW losses
 * before it. Before the window is full nothing is a spike.
 *
 * Each loss then replaces the oldest in the window. Where spikes are only told, none of the PT_SPIKE_GAP steps after one is told
 * as another (the original's detector): one disturbance, one line. Where a spike is kept from the weights, the next may come at
 * once; it counts in the mean as no more than its limit, so that it hides no other, and losses that stay high are at last taken.
 *
 * With results read every R steps the limit has to be known before: the limit of step s follows from the losses of
 * the steps up to the last multiple of R below s. So it depends on the run and R alone, not on when the device
 * answered, what was looked at in between, or where the run was stopped and resumed.
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_SPIKES_H
#define PT_TRAIN_SPIKES_H

#include "base/json.h"

#define PT_SPIKE_WINDOW 50
#define PT_SPIKE_FACTOR 3.0
#define PT_SPIKE_GAP 25
#define PT_MAX_READ_EVERY 64

typedef enum pt_on_spike {
    PT_SPIKE_OFF,
    PT_SPIKE_WARN,    /* told, nothing else */
    PT_SPIKE_SKIP,    /* the step is not taken; on with the next batch */
    PT_SPIKE_STOP,    /* the step is not taken; the run ends */
    PT_SPIKE_ROLLBACK /* back to the newest checkpoint with half the learning rate */
} pt_on_spike;

const char *pt_on_spike_name(pt_on_spike on); /* "off", "warn", "skip", "stop", "rollback" */
bool pt_on_spike_from_name(const char *name, pt_on_spike *out);

/* Zeroed, with `every` and `kept_out` set, is the state before the first step. */
typedef struct pt_spikes {
    int64_t every;                                    /* R, 1 … PT_MAX_READ_EVERY */
    bool kept_out;                                    /* spikes are, from the weights */
    double loss[PT_SPIKE_WINDOW + PT_MAX_READ_EVERY]; /* the newest, oldest first */
    int64_t n;                                        /* of them */
    int64_t waiting; /* the last of them that no limit knows of yet */
    int64_t last;    /* the last spike a limit knows of; 0 = none */
} pt_spikes;

/* The largest loss of 1-based step `step` that is no spike, an exact f32; 0 = any. */
double pt_spikes_limit(const pt_spikes *spikes, int64_t step);
/* The loss of the next step; true when it was a spike. */
bool pt_spikes_add(pt_spikes *spikes, int64_t step, double loss);

/* For the header of a checkpoint: {"losses":[…],"last":n}. read takes what write wrote after `step`; anything else
 * gives the state of a run that has just begun. */
void pt_spikes_write(const pt_spikes *spikes, pt_json_writer *w, const char *key);
void pt_spikes_read(pt_spikes *spikes, const pt_json *json, int64_t step);

#endif
