/* The run folder: run.json, log.jsonl, checkpoints/ and model.tinygpt of one training run.
 * docs/FORMATS.md describes the files. Not part of the WASM build (it opens files).
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_RUN_FOLDER_H
#define PT_TRAIN_RUN_FOLDER_H

#include "io/checkpoint.h"
#include "train/corpus.h"
#include "train/trainer.h"

typedef struct pt_run_folder pt_run_folder;

#define PT_RUN_FORMAT "posttrain-run" /* what run.json says that it is */
#define PT_RUN_VERSION 1
#define PT_RUN_KEEP 3          /* checkpoints kept, unless asked otherwise */
#define PT_RUN_REFUSED_SHOWN 8 /* refused ones that are told of one by one */

/* What run.json records beside the model and the training options. Borrowed strings. */
typedef struct pt_run_description {
    const char *command; /* the command line, for people */
    const char *preset;  /* or NULL */
    const char *corpus_path;
    int64_t corpus_bytes;
    const char *corpus_sha256; /* hex */
    const pt_corpus *corpus;   /* tells about its sources; or NULL */
    const double *weight;      /* of its sources, in a mix; else NULL */
    const char *device, *isa;
    int threads;
    int64_t planned_bytes;    /* of memory */
    const pt_json *arguments; /* the options by name, or NULL */
    const pt_json *previous;  /* the run.json of the run that goes on, or NULL */
} pt_run_description;

/* Whether it holds a run.json of ours, of whatever version. */
bool pt_run_folder_is(const char *path);
/* EXISTS when path already holds a run, or anything else; but not what a run leaves that was killed before it
 * began (an empty log). */
pt_status pt_run_folder_check(const char *path, pt_error *err);
/* Checks, and makes the folder and its log. EXISTS while another process has it. */
pt_status pt_run_folder_new(pt_run_folder **out, const char *path, pt_error *err);

/* What opening a run again found. */
typedef struct pt_run_found {
    int64_t torn_bytes; /* of a log line cut short, set aside in log.jsonl.torn */
    int64_t swept;      /* leftovers of killed processes, removed */
} pt_run_found;
/* A folder that holds a run, to go on with it. BAD_INPUT where what is written is a symbolic link; IO where the log is no
 * regular file; EXISTS while another process has it. */
pt_status pt_run_folder_open(pt_run_folder **out, const char *path, pt_run_found *found,
                             pt_error *err);

/* The step of the newest checkpoint that is not of a newer version, not proved to be good; 0: there is none. Needs no
 * lock. */
pt_status pt_run_folder_newest(const char *path, int64_t *step, pt_error *err);

typedef struct pt_run_restored {
    int64_t step; /* of the checkpoint that was used; -1: there is none, the trainer is as it was */
    bool from_published; /* no checkpoint could be used, but the run's model.tinygpt */
    /* The new name of a model.tinygpt that no checkpoint holds, or empty. */
    char kept[PT_CHECKPOINT_ASIDE];
    /* Why best.json cannot be used, or empty: then the best was told from a checkpoint's header. */
    char best_why[200];
    int64_t n_refused; /* newer ones that could not be used; the first few of them: */
    struct {
        int64_t step;
        bool newer; /* of a newer program: it was left in place */
        char why[200];
    } refused[PT_RUN_REFUSED_SHOWN];
} pt_run_restored;
/* The trainer goes back to the newest checkpoint that is whole (pt_trainer_restore says when it may be asked
 * to). One that is damaged, lacks a part or is of a newer version is passed over, noted in the log as
 * `refused`, and set aside once an older one was good; but that of a newer version stays where it is. Where all are
 * refused it is an error with the newest one's reason; but first RUN/model.tinygpt is tried, as where there is none: one
 * that is there and cannot be used is an error too, so a run only begins anew where nothing was saved. IO: one cannot be
 * read, and may be whole. */
pt_status pt_run_folder_restore(pt_run_folder *run, pt_trainer *trainer, pt_run_restored *restored,
                                pt_error *err);
/* The log's line on it, after pt_run_folder_begin; then only as many checkpoints are kept as are wanted now. */
pt_status pt_run_folder_resumed(pt_run_folder *run, const pt_run_restored *restored,
                                const pt_run_found *found, const char *command, pt_error *err);
/* The same where the run goes on in the same sitting, on a device opened anew: the old one was lost at step `lost_at`, and why. */
pt_status pt_run_folder_regained(pt_run_folder *run, const pt_run_restored *restored,
                                 int64_t lost_at, const char *why, pt_error *err);
/* For the trainer's event roll_back. Back to the newest whole checkpoint before `from` that was due by steps: the start,
 * or a multiple of save_every; never one that a stop or the clock asked for, so that neither changes the result. When
 * `from` is the first step after it, to the one before, if there is one. Newer ones are set aside, the log gets a
 * line. NOT_FOUND without a checkpoint. */
pt_status pt_run_folder_roll_back(pt_run_folder *run, pt_trainer *trainer, int64_t from,
                                  double lr_scale, pt_error *err);
/* How many checkpoints are kept, beside the best; 0 = all. */
void pt_run_folder_keep(pt_run_folder *run, int64_t n);
/* The checkpoint with the lowest validation loss: its step, -1 if none was evaluated. */
int64_t pt_run_folder_best(const pt_run_folder *run);

/* Writes run.json, where it is not what is there already, and the log's `meta` line. */
pt_status pt_run_folder_begin(pt_run_folder *run, const pt_run_description *description,
                              const pt_model_config *config, const pt_train_options *options,
                              int64_t n_params, pt_error *err);
void pt_run_folder_free(pt_run_folder *run); /* NULL is fine */
/* For a new run that never began: takes back its log, its run.json, and the folder where that was made for it and holds
 * nothing else. Frees it. NULL is fine. */
void pt_run_folder_discard(pt_run_folder *run);

/* To be called from the trainer's events. */
pt_status pt_run_folder_step(pt_run_folder *run, const pt_step_report *report, pt_error *err);
pt_status pt_run_folder_spiked(pt_run_folder *run, const pt_spike_report *report, pt_error *err);
pt_status pt_run_folder_evaluated(pt_run_folder *run, int64_t step, double val_loss, pt_error *err);
pt_status pt_run_folder_sampled(pt_run_folder *run, int64_t step, const char *bytes, int64_t n,
                                pt_error *err);
pt_status pt_run_folder_save_begin(pt_run_folder *run, int64_t step, pt_sink *sink, pt_error *err);
pt_status pt_run_folder_save_end(pt_run_folder *run, int64_t step, bool failed, pt_error *err);
/* The last line of the log: the status the run ended with, and how in words ("finished", "stopped", or an error's
 * message). */
pt_status pt_run_folder_end(pt_run_folder *run, int64_t step, pt_status status, const char *how,
                            pt_error *err);

#endif
