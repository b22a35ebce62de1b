/* posttrain: train a small GPT, score text with it, and let it write. The public C interface.
 *
 * For C99 and C++. Link with -lposttrain (`pkg-config --cflags --libs posttrain`; --static for the archive).
 *
 * - Every object is opaque: made by a _new or _open, released by the _free or _close of its name, which take NULL too.
 * - A function that can fail returns a posttrain_status; posttrain_error() has the message.
 * - NULL where something is needed is BAD_INPUT; where no status is returned it does nothing, and gives -1 or NaN.
 * - An object is used by one thread at a time. Different objects may be used by different threads at once.
 * - Text is bytes: a token is a byte, and nothing need be UTF-8.
 * - Nothing here prints, exits, or installs a signal handler. Files are opened by the two functions that take a path.
 * - Before version 1.0 a new minor version may change what is here; the library's soname then changes too.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSTTRAIN_H
#define POSTTRAIN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define POSTTRAIN_API __attribute__((visibility("default")))
#else
#define POSTTRAIN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are also the exit statuses of the program. */
typedef enum posttrain_status {
    POSTTRAIN_OK = 0,
    POSTTRAIN_BAD_INPUT = 2,
    POSTTRAIN_NO_MEMORY = 3,
    POSTTRAIN_IO = 4,          /* reading or writing a file failed */
    POSTTRAIN_CORRUPT = 5,     /* a file is damaged */
    POSTTRAIN_UNSUPPORTED = 6, /* not in this version or on this machine */
    POSTTRAIN_NOT_FOUND = 7,
    POSTTRAIN_EXISTS = 8,
    POSTTRAIN_DIVERGED = 9, /* a loss or gradient was not finite; the weights were not touched */
    POSTTRAIN_PENDING = 10, /* no failure: call again */
    POSTTRAIN_INTERNAL = 70
} posttrain_status;

/* "0.1.0", of the library that is linked. */
POSTTRAIN_API const char *posttrain_version(void);
/* What went wrong in the last call of this thread that failed: one sentence; "" before the first. Valid until the
 * next failure. */
POSTTRAIN_API const char *posttrain_error(void);

/* ---- options ----
 *
 * One set of options for all calls; each looks at those that concern it. Names, meanings and defaults are those of
 * the program's options (posttrain-train(1), posttrain-sample(1)):
 *
 *   where to compute     text     device (cpu, ref), isa           integer  threads
 *   a model's weights    text     weights: what posttrain_model_open keeps them in
 *   scoring              integer  score-batch: windows at a time (16)
 *   generating           integer  max-tokens, top-k, seed          real     temperature, top-p, min-p, repetition-penalty
 *   training, text       preset, schedule, dtype
 *   training, integer    steps, batch, accum, seed, warmup, decay-steps, eval-every, eval-batches, save-every,
 *                        layers, heads, d-model, d-mlp, ctx, force (1: save over an existing file)
 *   training, real       lr, min-lr, weight-decay, clip, beta1, beta2, dropout
 *
 * `preset` also sets layers, heads, d-model, ctx, batch and steps: set it before those. Values are checked when they
 * are used. BAD_INPUT: no such option, or it is not of this kind. Options may be changed and released once the call
 * that took them has returned. */
typedef struct posttrain_options posttrain_options;
POSTTRAIN_API posttrain_status posttrain_options_new(posttrain_options **out);
POSTTRAIN_API void posttrain_options_free(posttrain_options *options);
POSTTRAIN_API posttrain_status posttrain_set_text(posttrain_options *options, const char *name,
                                                  const char *value);
POSTTRAIN_API posttrain_status posttrain_set_integer(posttrain_options *options, const char *name,
                                                     int64_t value);
POSTTRAIN_API posttrain_status posttrain_set_real(posttrain_options *options, const char *name,
                                                  double value);

/* ---- a trained model ---- */

typedef struct posttrain_model posttrain_model;
/* Opens and verifies a .tinygpt file and loads it on the device. NULL options: the defaults. */
POSTTRAIN_API posttrain_status posttrain_model_open(posttrain_model **out, const char *path,
                                                    const posttrain_options *options);
POSTTRAIN_API void posttrain_model_close(posttrain_model *model);

typedef enum posttrain_fact {
    POSTTRAIN_PARAMETERS,
    POSTTRAIN_LAYERS,
    POSTTRAIN_HEADS,
    POSTTRAIN_WIDTH,
    POSTTRAIN_CONTEXT,    /* the longest window, in tokens */
    POSTTRAIN_VOCABULARY, /* logits of one token */
    POSTTRAIN_STEP        /* optimizer steps that made it */
} posttrain_fact;
/* -1 for a fact that this version does not know. */
POSTTRAIN_API int64_t posttrain_model_fact(const posttrain_model *model, posttrain_fact fact);

/* Gets the next n >= 1 bytes of a text, whole characters where they are UTF-8; returns 0 to go on, else the text ends
 * here, which is no failure. */
typedef int (*posttrain_piece)(void *ctx, const char *bytes, size_t n);
/* Continues a prompt of n bytes (none: a newline) by max-tokens bytes (200). Same options, same text. */
POSTTRAIN_API posttrain_status posttrain_generate(posttrain_model *model, const char *prompt,
                                                  size_t n, const posttrain_options *options,
                                                  posttrain_piece piece, void *ctx);

/* The loss on a text of n >= 2 bytes, in nats per byte, every byte but the first scored once; and its exponential.
 * Either may be NULL. */
POSTTRAIN_API posttrain_status posttrain_score(posttrain_model *model, const char *text, size_t n,
                                               double *loss, double *perplexity);

/* Raw scores of every next token: row t of logits[n][VOCABULARY] is for the token after ids[0 … t]. n is 1 … CONTEXT. */
POSTTRAIN_API posttrain_status posttrain_logits(posttrain_model *model, const int32_t *ids,
                                                size_t n, float *logits);

/* ---- training ---- */

typedef struct posttrain_trainer posttrain_trainer;
/* A new model, to be trained on n bytes, which must stay as they are until the trainer is freed. Where they are enough
 * the last tenth is held out and validates. The model is written to `path` as .tinygpt, at the end and every save-every
 * steps; the file appears whole or not at all. NULL: nothing is saved. EXISTS: there is a file, and `force` is not 1. */
POSTTRAIN_API posttrain_status posttrain_trainer_new(posttrain_trainer **out, const char *corpus,
                                                     size_t n, const char *path,
                                                     const posttrain_options *options);
POSTTRAIN_API void posttrain_trainer_free(posttrain_trainer *trainer);

/* Called after each step with its number (from 1) and its loss before the update; returns 0 to go on, else as
 * posttrain_trainer_stop. NULL: none. */
typedef int (*posttrain_step)(void *ctx, int64_t step, double loss);
POSTTRAIN_API void posttrain_trainer_on_step(posttrain_trainer *trainer, posttrain_step step,
                                             void *ctx);
/* Does a bounded piece of work: PENDING, OK when the run is over and saved, or a failure. */
POSTTRAIN_API posttrain_status posttrain_trainer_poll(posttrain_trainer *trainer);
/* Polls until the run is over. */
POSTTRAIN_API posttrain_status posttrain_trainer_run(posttrain_trainer *trainer);
/* Lets the run end after the micro-batch under way: a step that is not done is dropped, those done before it are saved. */
POSTTRAIN_API void posttrain_trainer_stop(posttrain_trainer *trainer);

/* At any time; NaN where there is none yet. */
POSTTRAIN_API int64_t posttrain_trainer_steps(const posttrain_trainer *trainer); /* done */
POSTTRAIN_API double
posttrain_trainer_loss(const posttrain_trainer *trainer); /* mean of 10 steps */
POSTTRAIN_API double posttrain_trainer_validation_loss(const posttrain_trainer *trainer);

#ifdef __cplusplus
}
#endif

#endif
