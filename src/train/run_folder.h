/* The run folder: run.json, log.jsonl, checkpoints/ and model.tinygpt of one training run.
 * docs/FORMATS.md describes the files. Not part of the WASM build (it opens files).
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_RUN_FOLDER_H
#define PT_TRAIN_RUN_FOLDER_H

#include "train/trainer.h"

typedef struct pt_run_folder pt_run_folder;

/* What run.json records beside the model and the training options. Borrowed strings. */
typedef struct pt_run_description {
    const char *command; /* the command line, for people */
    const char *preset;  /* or NULL */
    const char *corpus_path;
    int64_t corpus_bytes;
    const uint8_t *corpus;
    const char *device, *isa;
    int threads;
} pt_run_description;

/* EXISTS when path already holds a run, or anything else. */
pt_status pt_run_folder_check(const char *path, pt_error *err);
/* Checks, and makes the folder and its log. */
pt_status pt_run_folder_new(pt_run_folder **out, const char *path, pt_error *err);
/* Writes run.json and the log's first line. */
pt_status pt_run_folder_begin(pt_run_folder *run, const pt_run_description *description,
                              const pt_model_config *config, const pt_train_options *options,
                              int64_t n_params, pt_error *err);
void pt_run_folder_free(pt_run_folder *run); /* NULL is fine */
/* Frees it and removes the folder: for a run that never began. NULL is fine. */
void pt_run_folder_discard(pt_run_folder *run);

/* To be called from the trainer's events. */
pt_status pt_run_folder_step(pt_run_folder *run, const pt_step_report *report, pt_error *err);
pt_status pt_run_folder_evaluated(pt_run_folder *run, int64_t step, double val_loss, pt_error *err);
pt_status pt_run_folder_sampled(pt_run_folder *run, int64_t step, const char *bytes, int64_t n,
                                pt_error *err);
pt_status pt_run_folder_save_begin(pt_run_folder *run, int64_t step, pt_sink *sink, pt_error *err);
pt_status pt_run_folder_save_end(pt_run_folder *run, int64_t step, bool failed, pt_error *err);
/* The last line of the log: how the run ended ("finished", "stopped", or an error's message). */
pt_status pt_run_folder_end(pt_run_folder *run, int64_t step, const char *how, pt_error *err);

#endif
