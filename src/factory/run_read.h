/* A run read back from its run.json and log.jsonl (docs/FORMATS.md), whatever state they are in.
 *
 * Lines that are no JSON object with a known shape are counted and skipped; types and keys that are not known
 * are ignored. Numbers that are null or missing are NaN.
 *
 * Three lines say at which step the run stands from there on: `resumed` (its `step`), `rollback` (its `to`) and
 * `end` (its `step`). What lines before them told of later steps was abandoned and is not there; the events, which
 * say what happened, stay. Of several lines about one step the last one counts.
 * SPDX-License-Identifier: MIT */
#ifndef PT_FACTORY_RUN_READ_H
#define PT_FACTORY_RUN_READ_H

#include "base/json.h"

typedef struct pt_run_step {
    int64_t step; /* from 1 */
    double loss;  /* nats per token */
    double lr;
    double grad_norm; /* before clipping */
    double seconds;   /* of training work */
    bool spike;       /* its loss is one (train/spikes.h) */
} pt_run_step;

typedef struct pt_run_val {
    int64_t step;
    double loss; /* nats per token */
} pt_run_val;

typedef struct pt_run_sample {
    int64_t step;
    const char *bytes; /* any bytes */
    int64_t n;
} pt_run_sample;

typedef enum pt_run_event_kind {
    PT_RUN_SAVED,
    PT_RUN_REFUSED,     /* a checkpoint that could not be used */
    PT_RUN_RESUMED,     /* after `step`, and so is `to` */
    PT_RUN_ROLLED_BACK, /* `step` was not taken: back to step `to` */
    PT_RUN_SPIKED,
    PT_RUN_ENDED
} pt_run_event_kind;
typedef struct pt_run_event {
    int64_t step;
    pt_run_event_kind kind;
    double t;           /* Unix seconds, NaN if unknown */
    const char *text;   /* ENDED: how; REFUSED: why; SPIKED: what was done, "skip"; else "" */
    const char *bad;    /* SPIKED: the first bad tensor of a step that was not finite, else "" */
    int64_t to;         /* RESUMED, ROLLED_BACK: where it stands from here on; else -1 */
    double loss, limit; /* SPIKED: and the largest loss that would have been none */
    double lr_scale;    /* ROLLED_BACK: of the learning rate, from here on */
} pt_run_event;

/* Everything lives until pt_run_deinit. Arrays are sorted by step; events are in the order of the
 * log, but a save stands before a spike of a later step that was told first, and a step saved twice in a row is one. */
typedef struct pt_run {
    const pt_json *json; /* run.json; NULL when it is missing or damaged */
    pt_run_step *steps;
    pt_run_val *vals;
    pt_run_sample *samples;
    pt_run_event *events;
    int64_t n_steps, n_vals, n_samples, n_events;
    int64_t lines,
        bad_lines; /* of the log; a last line without newline that is no JSON is torn, not bad */
    bool torn;
    double first_t, last_t; /* Unix seconds of the first and last usable line, NaN: none */
    double seconds;         /* from first to last line of each sitting, added up; NaN: none */

    /* From run.json, else from the log's first meta line; 0, NaN or "" when unknown. */
    int64_t total_steps, tokens_per_step, params, vocab;
    const char *preset, *started; /* started: ISO time */
    const char *how; /* "finished", "stopped", a message; "" while it runs or was killed */
    const char
        *status; /* that it ended with, "DIVERGED"; "" as above, or when the log does not say */
    int64_t planned_bytes, peak_bytes; /* memory */
    pt_arena arena;
} pt_run;

/* Reads from memory. json may be NULL; bytes are copied where needed. Errors: NO_MEMORY only. */
pt_status pt_run_read(pt_run *out, const char *json, int64_t json_bytes, const char *log,
                      int64_t log_bytes, pt_error *err);
/* Reads a folder (run_open.c; not part of the WASM build). Errors: NOT_FOUND when it holds neither file, IO,
 * NO_MEMORY. */
pt_status pt_run_open(pt_run *out, const char *folder, pt_error *err);
void pt_run_deinit(pt_run *run);

/* Tokens per second over all steps but the first three, which warm up; NaN when unknown. */
double pt_run_speed(const pt_run *run);
/* Index of the lowest and of the newest evaluation, -1: none that is finite. */
int64_t pt_run_best_val(const pt_run *run);
int64_t pt_run_last_val(const pt_run *run);
/* Mean loss of the last 10 steps, finite ones; NaN: none. */
double pt_run_train_loss(const pt_run *run);
/* The newest step; 0: none. */
int64_t pt_run_last_step(const pt_run *run);
/* "finished", "stopped", "diverged", "failed", or "unfinished": running still, or killed. */
const char *pt_run_state(const pt_run *run);

#endif
