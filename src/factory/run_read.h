/* A run read back from its run.json and log.jsonl (docs/FORMATS.md), whatever state they are in.
 *
 * Lines that are no JSON object with a known shape are counted and skipped; types and keys that are not known
 * are ignored. Of several lines about one step the last one counts, so a step that was done again after a resume
 * is there once. Numbers that are null or missing are NaN.
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
    PT_RUN_RESUMED,
    PT_RUN_ROLLED_BACK,
    PT_RUN_ENDED
} pt_run_event_kind;
typedef struct pt_run_event {
    int64_t step;
    pt_run_event_kind kind;
    double t;         /* Unix seconds, NaN if unknown */
    const char *text; /* ENDED: how; else "" */
} pt_run_event;

/* Everything lives until pt_run_deinit. Arrays are sorted by step; events are in the order of the log. */
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

    /* From run.json, else from the log's first meta line; 0, NaN or "" when unknown. */
    int64_t total_steps, tokens_per_step, params, vocab;
    const char *preset, *started; /* started: ISO time */
    const char *how; /* "finished", "stopped", a message; "" while it runs or was killed */
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
/* Mean loss of the last 10 steps; NaN: none. */
double pt_run_train_loss(const pt_run *run);
/* "finished", "stopped", "diverged", "failed", or "unfinished": running still, or killed. */
const char *pt_run_state(const pt_run *run);

#endif
