/* The trainer's state, shared by the files that make up its state machine: trainer.c (life and polling), trainer_step.c
 * (a step and what it came to), trainer_spike.c (steps that may not count), trainer_due.c (what is due between steps),
 * trainer_restore.c (going on from a checkpoint).
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_TRAINER_INTERNAL_H
#define PT_TRAIN_TRAINER_INTERNAL_H

#include "infer/scorer.h"
#include "train/diagnose.h"
#include "train/save.h"
#include "train/trainer.h"

typedef enum pt_train_phase {
    PHASE_STEP,
    PHASE_MICRO,
    PHASE_READ,
    PHASE_DUE, /* decide what comes next */
    PHASE_SAVE,
    PHASE_EVALUATE,
    PHASE_SAMPLE,
    PHASE_DIAGNOSE,
    PHASE_ROLLBACK,
    PHASE_DONE
} pt_train_phase;

enum { DUE_SAVE = 1, DUE_EVALUATE = 2, DUE_SAMPLE = 4 };

/* In the header's "posttrain" object, beside what is documented in docs/FORMATS.md. */
#define PT_HEADER_RECENT "recentLosses" /* of the last RECENT steps, the newest last */
#define PT_HEADER_SETTINGS "settings"   /* what the curve follows from, by name, as numbers */
#define PT_HEADER_FINISHED "finished"   /* the run's last file: nothing is due after it */

#define MAX_HISTORY 512
#define RECENT 10       /* steps in the mean training loss */
#define SKIPPED_STEPS 3 /* not counted for tokens per second: caches warm up */

struct pt_trainer {
    pt_device *device;
    pt_train_options options;
    pt_train_events events;
    pt_schedule schedule;
    pt_model *model;
    pt_optimizer optimizer;
    pt_plan plan;
    pt_scorer *scorer;
    pt_session *session; /* NULL when nothing is sampled */
    pt_saver *saver;
    pt_diagnosis diagnosis;
    pt_mixture train, validate;
    int64_t T;
    int64_t corpus_memory;

    pt_tensor ids, target, coef; /* (B,T) */
    int64_t ids_id, target_id, coef_id;
    int32_t *host_ids, *host_targets;
    int32_t *prompt; /* ids of the sample prompt */
    int64_t n_prompt;

    pt_train_phase phase;
    bool entered; /* the phase has begun its work */
    int due;
    bool stopping;
    bool save_asked;
    int64_t first_step; /* steps done before this run */
    int64_t step;       /* steps handed to the device */
    int64_t reported;   /* steps whose results were read */
    int64_t micro;      /* of the step under way */
    int64_t bad_step;
    pt_spikes spikes;
    int64_t n_spikes; /* of this run */
    double lr_scale;  /* of the schedule's rate: halved with every rollback */
    int64_t rollbacks;
    int64_t went_bad[PT_MAX_ROLLBACKS]; /* the steps they were for: a spike there is left out */
    pt_error failure;   /* what the run ends with once the last good weights are saved */
    int64_t saved_step; /* -1: none yet */
    pt_download download;
    double ring[PT_MAX_READ_EVERY * PT_RING_WORDS];
    float ring_narrow[PT_MAX_READ_EVERY * PT_RING_WORDS];

    int64_t eval_done, eval_total; /* windows */
    pt_score score;
    char sample[PT_MAX_SAMPLE_TOKENS + 1];
    int64_t n_sample;

    pt_tinygpt_loss history[MAX_HISTORY];
    int64_t n_history, history_every;
    pt_tinygpt_loss last_loss, best;
    double recent[RECENT]; /* that of step s at s % RECENT */
    int64_t n_recent;      /* how many of them are known */
    double val_loss;       /* of the newest finished evaluation; NaN: none */
    int64_t val_step;
    double mark, seconds, seconds_reported;
    double seconds_skipped; /* the first steps, which are not counted for the speed, */
    int64_t steps_skipped;  /* and how many those were */
};

/* One call each does the bounded piece of work of a phase; PT_OK means: go on polling. */
pt_status pt_trainer_begin_step(pt_trainer *t, pt_error *err);
pt_status pt_trainer_micro(pt_trainer *t, pt_error *err);
pt_status pt_trainer_read(pt_trainer *t, pt_error *err);
pt_status pt_trainer_diagnose(pt_trainer *t, pt_error *err);
pt_status pt_trainer_choose_due(pt_trainer *t, pt_error *err);
pt_status pt_trainer_save(pt_trainer *t, pt_error *err);
pt_status pt_trainer_evaluate(pt_trainer *t, pt_error *err);
pt_status pt_trainer_sample(pt_trainer *t, pt_error *err);

/* The learning rate of a step. */
double pt_trainer_lr(const pt_trainer *t, int64_t step);
/* Before a step is begun: the largest loss with which the device takes it. */
void pt_trainer_set_limit(pt_trainer *t, int64_t step);
/* Takes note of the loss of a step that was read: the limit that it is above when it is a spike, else 0. */
double pt_trainer_note_loss(pt_trainer *t, int64_t step, double loss);
pt_status pt_trainer_tell_spike(pt_trainer *t, int64_t step, double loss, double limit,
                                pt_error *err);
/* Step bad_step was a spike, or not finite and `bad` names the first tensor that was not. The device has taken no
 * step since: the run goes back to a checkpoint, or ends. */
pt_status pt_trainer_halt_at_spike(pt_trainer *t, double loss, pt_error *err);
pt_status pt_trainer_halt_at_bad(pt_trainer *t, const char *bad, pt_error *err);
pt_status pt_trainer_roll_back(pt_trainer *t, pt_error *err);

/* The members of the header's "posttrain" object on spikes; read when t->step is the file's. */
void pt_trainer_write_spikes(const pt_trainer *t, pt_json_writer *w);
void pt_trainer_read_spikes(pt_trainer *t, const pt_json *posttrain);

/* The member PT_HEADER_SETTINGS of the header's "posttrain" object, and whether it is ours: BAD_INPUT names the first that
 * differs, with both values. How many steps the run has, and its decay, may differ while that changes the rate of none up to the
 * file's `step`. A file from before there were any passes. */
void pt_trainer_write_settings(const pt_trainer *t, pt_json_writer *w);
pt_status pt_trainer_check_settings(const pt_trainer *t, const pt_json *posttrain, int64_t step,
                                    pt_error *err);

/* What is due after `step`: DUE_ flags. */
int pt_trainer_due_at(const pt_trainer *t, int64_t step);
/* And before the first step. */
int pt_trainer_due_first(const pt_trainer *t);
/* Global index of the first sample of a micro-batch of 1-based step `step`. */
int64_t pt_trainer_first_sample(const pt_trainer *t, int64_t step, int64_t micro);
/* Adds last_loss to the history of the file's header, when it is its turn or was evaluated. */
void pt_trainer_add_history(pt_trainer *t, bool evaluated);

#endif
