/* Checkpoints: a folder per saved step, complete or not a checkpoint at all.
 *
 *   RUN/checkpoints/step-00000500/model.tinygpt     weights, moments, and where the run stands
 *   RUN/checkpoints/step-00000500/manifest.json     written last: names, sizes and checksums
 *   RUN/model.tinygpt                               the same file as the newest checkpoint's
 * Not part of the WASM build (it opens files).
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_CHECKPOINT_H
#define PT_IO_CHECKPOINT_H

#include "io/sink.h"

typedef struct pt_checkpoint pt_checkpoint;

/* Begins the checkpoint of `step`; its bytes go into *sink. EXISTS when that step has one. */
pt_status pt_checkpoint_begin(pt_checkpoint **out, const char *run_folder, int64_t step,
                              pt_sink *sink, pt_error *err);
/* Makes it a checkpoint and the run's model.tinygpt. Frees it, also on failure; a folder that did
 * not become a checkpoint is then removed. Of a step that was saved before, a failure may leave the
 * new model under the old manifest, whose checksum tells; model.tinygpt of the run is whole all the
 * same. */
pt_status pt_checkpoint_commit(pt_checkpoint *checkpoint, pt_error *err);
/* Leaves nothing behind. NULL is fine. */
void pt_checkpoint_discard(pt_checkpoint *checkpoint);

#endif
