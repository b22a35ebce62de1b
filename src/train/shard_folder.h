/* A folder of token shards (io/shard.h): shard-00000.bin, shard-00001.bin, …, one stream.
 *
 * Opening reads and checks the headers, so a missing, foreign, cut or reordered shard is found at once. Bodies are
 * checked by pt_shard_folder_verify, since that reads all of them. Not part of the WASM build (it opens files).
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_SHARD_FOLDER_H
#define PT_TRAIN_SHARD_FOLDER_H

#include "base/arena.h"
#include "io/shard.h"
#include "train/open_files.h"

/* Called between pieces of a long job with the bytes done so far; an error stops the job. fn may be NULL. */
typedef struct pt_job {
    pt_status (*fn)(void *ctx, int64_t bytes, pt_error *err);
    void *ctx;
} pt_job;

/* ---- reading ---- */

typedef struct pt_shard_file {
    pt_shard shard;
    pt_open_file file;
} pt_shard_file;

typedef struct pt_shard_folder {
    pt_shard_file *file; /* [n], in order */
    int64_t n;
    int64_t bytes;        /* of all files */
    const pt_shard *last; /* its documents and sha256 are the stream's */
    int64_t tokens;       /* of the stream */
    pt_open_files *files; /* borrowed */
    pt_arena memory;
} pt_shard_folder;

/* Whether the folder holds any file that is named like a shard. */
bool pt_shard_folder_is(const char *path);
/* The shards are read through `files`, which outlives the folder. Errors: NOT_FOUND, IO, NO_MEMORY, CORRUPT, UNSUPPORTED;
 * they name the file. */
pt_status pt_shard_folder_open(pt_shard_folder *out, const char *path, pt_open_files *files,
                               pt_error *err);
/* Reads every body and checks it. CORRUPT names the first shard that was damaged. */
pt_status pt_shard_folder_verify(const pt_shard_folder *folder, const pt_job *job, pt_error *err);
void pt_shard_folder_close(pt_shard_folder *folder);

/* ---- making ---- */

typedef struct pt_shard_maker pt_shard_maker;

/* Begins a folder of byte shards of at most shard_tokens each, which appears whole at the end under `path`; what killed
 * processes left beside it is removed. `like` gives the separator. Errors: EXISTS (something is there), BAD_INPUT, IO. */
pt_status pt_shard_maker_new(pt_shard_maker **out, const char *path, int64_t shard_tokens,
                             const pt_shard *like, pt_error *err);
/* The next bytes begin a document. One without bytes does not count. */
void pt_shard_maker_document(pt_shard_maker *maker);
pt_status pt_shard_maker_put(pt_shard_maker *maker, const void *bytes, int64_t n, pt_error *err);
/* Gives the folder its name and frees the maker, also on failure; then nothing is left. *total is what a shard
 * after the last would say: `index` shards, `first` tokens, documents, sha256. BAD_INPUT without any byte. */
pt_status pt_shard_maker_end(pt_shard_maker *maker, pt_shard *total, pt_error *err);
void pt_shard_maker_discard(pt_shard_maker *maker); /* NULL is fine */

#endif
