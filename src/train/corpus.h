/* A corpus from what a user names: files, folders of files, standard input, and folders of token shards, as streams
 * of byte tokens.
 *
 * Paths are joined in the order given, with a separator between documents (a document is one text file). Text
 * of up to PT_CORPUS_MEMORY bytes in all is copied into memory, so that nothing that happens to the files later
 * matters; beyond that, and in shards, each window is read from its file when it is used, so memory does not grow with the
 * corpus, and few files are open at a time (train/open_files.h). The streams of a corpus are read by one thread at a
 * time. Not part of the WASM build (it opens files).
 * SPDX-License-Identifier: MIT */
#ifndef PT_TRAIN_CORPUS_H
#define PT_TRAIN_CORPUS_H

#include "base/json.h"
#include "train/data.h"
#include "train/separator.h"
#include "train/shard_folder.h"
#include "train/text_files.h"

#define PT_CORPUS_MEMORY ((int64_t)1 << 30)

typedef struct pt_corpus_options {
    const char *const *path;
    int n;
    bool mixed; /* a stream for each path (at most PT_SOURCES_MAX) instead of one for all */
    pt_separator separator;
    pt_skipped skipped;
    int64_t memory; /* bytes of text copied into memory at most; 0: PT_CORPUS_MEMORY */
} pt_corpus_options;

/* What one path named. */
typedef struct pt_corpus_source {
    const char *path;
    int64_t files;                    /* text files or shards */
    int64_t runs;                     /* folders of runs that were left out */
    int64_t documents, tokens, bytes; /* bytes: of the files */
    int n_shards;                     /* 0: text */
    char cut_sha256[65];              /* of the digests in the headers of its shards; "" for text */
    char sha256[65];                  /* of its tokens with the separators among them */
    pt_separator separator;           /* of its documents */
} pt_corpus_source;

typedef struct pt_corpus pt_corpus;

/* Errors: those of pt_text_files_add and pt_shard_folder_open; UNSUPPORTED for shards of another tokenizer;
 * BAD_INPUT for more than 1 GiB from a pipe. */
pt_status pt_corpus_open(pt_corpus **out, const pt_corpus_options *options, pt_error *err);
void pt_corpus_close(pt_corpus *corpus); /* NULL is fine */

/* The streams: one, or one for each source of a mix. */
const pt_tokens *pt_corpus_streams(const pt_corpus *corpus, int *n);
const pt_corpus_source *pt_corpus_sources(const pt_corpus *corpus, int *n);
int64_t pt_corpus_tokens(const pt_corpus *corpus);
int64_t pt_corpus_memory(const pt_corpus *corpus); /* bytes of text in memory */
/* Reads all of source i's shards and checks that they are one stream, the one that its sha256 is of; nothing to do for text,
 * which was read. Errors: those of pt_shard_folder_verify. */
pt_status pt_corpus_verify(const pt_corpus *corpus, int i, const pt_job *job, pt_error *err);
/* One source: its sha256. Several: that of their digests in order, 32 bytes each. The separator between
 * sources is not in it. */
const char *pt_corpus_sha256(const pt_corpus *corpus);
/* The file that holds a token of a stream, and the token's number in it. */
const char *pt_corpus_locate(const pt_corpus *corpus, int stream, int64_t token, int64_t *at);
/* The members of run.json's "corpus" that tell about the sources; weight[n streams] of a mix, or NULL. */
void pt_corpus_write_json(const pt_corpus *corpus, const double *weight, pt_json_writer *w);

#endif
