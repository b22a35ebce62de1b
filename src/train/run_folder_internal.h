/* The run folder's state, shared by run_folder.c (its files and its log) and run_restore.c (going on with a run).
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_RUN_FOLDER_INTERNAL_H
#define PT_TRAIN_RUN_FOLDER_INTERNAL_H

#include "base/append_file.h"
#include "base/json.h"
#include "io/checkpoint.h"
#include "train/run_folder.h"

struct pt_run_folder {
    char path[PT_FS_PATH_MAX];
    pt_append_file *log;
    pt_checkpoint *checkpoint;
    pt_strbuf line; /* grown once, reused: no allocation in a step */
    int64_t keep;
    int64_t back_every; /* a rollback goes to multiples of it; 0: none is to come */
    int64_t saved_step, val_step, best_step; /* -1: none */
    double val_loss, best_loss;
    bool made_folder, wrote_json; /* by us: to be taken back when the run never begins */
};

/* One line of the log: begin, members, end. */
pt_json_writer pt_run_begin_line(pt_run_folder *run, const char *type);
pt_status pt_run_end_line(pt_run_folder *run, pt_json_writer *w, pt_error *err);

/* A pt_run_folder without its log. */
pt_status pt_run_folder_make(pt_run_folder **out, const char *path, pt_error *err);

#endif
