/* Checkpoints: a folder per saved step, complete or not a checkpoint at all. checkpoint.c opens with what always
 * holds.
 *
 *   RUN/checkpoints/step-00000500/model.tinygpt     weights, moments, and where the run stands
 *   RUN/checkpoints/step-00000500/manifest.json     written last: name, size and checksum
 *   RUN/checkpoints/best.json                       which of them had the lowest validation loss
 *   RUN/model.tinygpt                               the same file as the newest checkpoint's
 * Whoever writes holds the lock of the run's log (base/append_file.h). Not part of the WASM build (it opens files).
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_CHECKPOINT_H
#define PT_IO_CHECKPOINT_H

#include "base/fs.h"
#include "io/sink.h"
#include "io/tinygpt.h"

/* ---- saving ---- */

typedef struct pt_checkpoint pt_checkpoint;

/* Begins the checkpoint of `step`; its bytes go into *sink. A step that has one keeps it until the new one is
 * complete; but one of a newer program is set aside. */
pt_status pt_checkpoint_begin(pt_checkpoint **out, const char *run_folder, int64_t step,
                              pt_sink *sink, pt_error *err);
/* Makes it a checkpoint and the run's model.tinygpt. Frees it, also on failure; a folder that did
 * not become a checkpoint is then removed. */
pt_status pt_checkpoint_commit(pt_checkpoint *checkpoint, pt_error *err);
/* Leaves nothing behind. NULL is fine. */
void pt_checkpoint_discard(pt_checkpoint *checkpoint);

/* ---- reading ---- */

bool pt_checkpoint_is(const char *run_folder, int64_t step); /* it has a manifest */
/* The newest step below `below` that has a manifest, -1 if there is none. */
pt_status pt_checkpoint_before(const char *run_folder, int64_t below, int64_t *step, pt_error *err);

typedef struct pt_checkpoint_file {
    pt_file_view view;
    pt_tinygpt *file;
} pt_checkpoint_file;
/* Opens the checkpoint of a step once all of it is proved: manifest, size, checksums, header. Errors say what is wrong with
 * it: CORRUPT (damaged, or a part is missing), UNSUPPORTED (a newer version), IO; NO_MEMORY. */
pt_status pt_checkpoint_open(pt_checkpoint_file *out, const char *run_folder, int64_t step,
                             pt_error *err);
/* The same for RUN/model.tinygpt, which is all that is left where the checkpoints were deleted. It has no manifest: its own
 * checksum must do. Errors also: NOT_FOUND. */
pt_status pt_checkpoint_open_published(pt_checkpoint_file *out, const char *run_folder,
                                       pt_error *err);
void pt_checkpoint_close(pt_checkpoint_file *file);
/* A newer program's, and whole as far as can be told: opening it is UNSUPPORTED. */
bool pt_checkpoint_is_newer(const char *run_folder, int64_t step);

/* ---- the best ---- */

/* Records that the checkpoint of `step` has the lowest validation loss; but what a newer program recorded stays. */
pt_status pt_checkpoint_mark_best(const char *run_folder, int64_t step, double val_loss,
                                  pt_error *err);
/* What was recorded; *step is -1 when nothing was, or that checkpoint is gone. Where best.json is there and cannot be used,
 * the status says why (UNSUPPORTED: it is a newer program's), and the best is told all the same, from the losses in the
 * header of the newest good checkpoint, of the steps that have one. */
pt_status pt_checkpoint_best(const char *run_folder, int64_t *step, double *val_loss,
                             pt_error *err);

/* ---- housekeeping ---- */

/* Makes RUN/model.tinygpt that of the checkpoint of `step`, as a commit does that is not cut short. */
pt_status pt_checkpoint_publish(const char *run_folder, int64_t step, pt_error *err);

/* Deletes all but the newest `keep`, the newest `keep` of steps that are multiples of `every` (0: none), and the best,
 * once the newest is proved good. keep 0 keeps all. Those of a newer program stay, and are not counted. */
pt_status pt_checkpoint_prune(const char *run_folder, int64_t keep, int64_t every, pt_error *err);
/* Renames the folder of a checkpoint that was refused to step-N.refused-1 (2, …), so that the step can be saved
 * again and nothing is lost. */
pt_status pt_checkpoint_set_aside(const char *run_folder, int64_t step, pt_error *err);
#define PT_CHECKPOINT_ASIDE 40
/* Before the checkpoint of `step` is published: a RUN/model.tinygpt of a later step or of a newer program, whose bytes no
 * folder of the run holds, is all that there is of it. It becomes RUN/model.refused-1.tinygpt (2, …), and `name` says so;
 * else `name` is empty. */
pt_status pt_checkpoint_keep_published(const char *run_folder, int64_t step,
                                       char name[PT_CHECKPOINT_ASIDE], pt_error *err);
/* To be asked before anything is written: BAD_INPUT where best.json, a step, or anything in a step's folder is a symbolic
 * link, through which something outside of the run would be written. */
pt_status pt_checkpoint_refuse_links(const char *run_folder, pt_error *err);
/* Removes what killed processes left in the run folder: temporary files, and folders that never became
 * checkpoints. Adds their number to *swept. A folder that only lacks its manifest, and holds a whole model of its step,
 * gets one: it is a checkpoint again. A newer program's model stays. BAD_INPUT for a step that is a symbolic link; elsewhere such a one counts for nothing. */
pt_status pt_checkpoint_sweep(const char *run_folder, int64_t *swept, pt_error *err);

#endif
