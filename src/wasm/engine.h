/* What one module instance holds, and what can be asked of it. A function that works in pieces is called again while it answers
 * PT_PENDING; each call does pieces for about `ms` milliseconds. Results are JSON, appended to engine->out.
 * SPDX-License-Identifier: MIT */
#ifndef PT_WASM_ENGINE_H
#define PT_WASM_ENGINE_H

#include "bench/ladder.h"
#include "infer/text_score.h"
#include "interp/inspect.h"
#include "io/tinygpt.h"
#include "text/utf8_stream.h"
#include "train/trainer.h"
#include "wasm/settings.h"

/* Evaluating, sampling, looking inside. Only reads the weights. */
typedef struct pt_lab {
    pt_model *model; /* EVALUATE; shares the run's weights, or has those of the file */
    pt_scorer *scorer;
    pt_session *session;
    pt_inspection *inspection; /* NULL when it was not asked for */
    int64_t rows;              /* of an evaluation's batch */

    uint8_t *text; /* under evaluation */
    pt_text_score score;
    bool scoring;

    pt_sampler_options sampler;
    int64_t tokens_left, top;
    bool tell_logits;
    pt_strbuf logits; /* f32: vocab of them for each token of the last poll */
    pt_utf8_stream characters;
    bool sampling;
} pt_lab;

typedef struct pt_engine {
    pt_device *device; /* of runs and models: the cpu, or a GPU */
    pt_device *cpu;    /* of everything else */
    pt_strbuf out;     /* the result of the last call */
    pt_error err;
    uint8_t *corpus, *file_bytes;
    int64_t n_corpus, n_file;
    pt_tinygpt *file; /* open over file_bytes */
    pt_trainer *trainer;
    pt_plan lab_plan;
    pt_lab *lab;
    pt_bench_ladder *ladder; /* NULL: nothing is measured */
    int64_t save_position;   /* bytes of the checkpoint under way */
    pt_json_writer events;
} pt_engine;

/* Tried: one that is emulated is put on trial as a real one is, with a single kernel. For tests. */
typedef enum pt_engine_gpu { PT_ENGINE_NO_GPU, PT_ENGINE_GPU, PT_ENGINE_TRIED_GPU } pt_engine_gpu;

/* ---- life ---- */
pt_status pt_engine_open(pt_engine *e, int threads, pt_error *err);
void pt_engine_close(pt_engine *e);
/* From now on runs and models are on a GPU, which the host has opened (module "gpu"), or on the processor again. What was there is
 * unloaded, files and corpus stay. A GPU that was in use is let go: so a lost one is replaced. UNSUPPORTED, in words: the
 * processor is in use then. */
pt_status pt_engine_use_gpu(pt_engine *e, pt_engine_gpu gpu, pt_error *err);
/* Before the first op on the device: {done, total, remark}, of the kernels that a GPU tries. */
pt_status pt_engine_ready_poll(pt_engine *e, double ms, pt_error *err);
/* Of a slice that ends at `until`: whether to poll again. Not when the device waits: what it waits for comes from the host's event
 * loop. */
bool pt_engine_goes_on(const pt_engine *e, pt_status s, double until);

/* {version, isa, addressBits, threads} */
pt_status pt_engine_about(pt_engine *e, pt_error *err);
/* [{name, layers, dModel, heads, ctx, vocab, batch, steps, params}] */
pt_status pt_engine_presets(pt_engine *e, pt_error *err);
/* {params, bytes, arenas: {model, run, step, call, host}, addressableBytes, fits} of a run, and `refusal`, why it cannot be had and what can,
 * where that is so; allocates nothing large. */
pt_status pt_engine_plan(pt_engine *e, const pt_json *settings, pt_error *err);
/* {gflops, seconds}: products of two square matrices on all threads, for about ms milliseconds. */
pt_status pt_engine_probe(pt_engine *e, double ms, int64_t size, pt_error *err);

/* Memory for n bytes of corpus, or of a file, which the host fills. What was there before is gone; not while a run
 * reads the corpus. */
pt_status pt_engine_corpus(pt_engine *e, int64_t n, pt_error *err);
pt_status pt_engine_file(pt_engine *e, int64_t n, pt_error *err);
/* Opens and verifies the file: {version, dtype, layers, …, step, params, run, header}; run: settings to go on with it. */
pt_status pt_engine_file_open(pt_engine *e, pt_error *err);
/* The open file's weights as .safetensors, written to the host as a checkpoint is. */
pt_status pt_engine_file_safetensors(pt_engine *e, pt_error *err);

/* ---- a run ---- */
pt_status pt_engine_train(pt_engine *e, const pt_json *settings, pt_error *err);
/* A list of events: {type: step|evaluated|sampled|saving|saved, …}. */
pt_status pt_engine_train_poll(pt_engine *e, double ms, pt_error *err);
/* The file's model, without a run; of the settings evalRows, inspect and weights count. */
pt_status pt_engine_load(pt_engine *e, const pt_json *settings, pt_error *err);
/* Ends the run, or lets the loaded model go. */
void pt_engine_unload(pt_engine *e);
/* A file's way to the host, from its first byte. */
pt_sink pt_engine_sink(pt_engine *e);
/* The run's events, which the trainer tells. */
pt_train_events pt_engine_events(pt_engine *e);
/* The trainer, or BAD_INPUT. */
pt_status pt_engine_need_run(const pt_engine *e, pt_error *err);

/* ---- the lab: lab.c ---- */
pt_status pt_lab_new(pt_lab **out, pt_device *device, const pt_model_config *config,
                     const pt_model *share, const pt_run_settings *settings, pt_error *err);
void pt_lab_plan(pt_lab *lab, pt_plan *plan);
pt_status pt_lab_bind(pt_lab *lab, const pt_plan *plan, pt_error *err);
void pt_lab_free(pt_lab *lab); /* NULL is fine */

pt_status pt_engine_evaluate(pt_engine *e, const char *text, int64_t n, pt_error *err);
/* {done, total} tokens; with PT_OK {tokens, loss, perplexity, bits}. */
pt_status pt_engine_evaluate_poll(pt_engine *e, double ms, pt_error *err);
pt_status pt_engine_sample(pt_engine *e, const pt_json *settings, pt_error *err);
/* [{id, text, p, top: [{id, p, text}]}]: text is what became complete with the token. */
pt_status pt_engine_sample_poll(pt_engine *e, double ms, pt_error *err);
/* [{id, p, text}]: what a sampler with these settings could draw, from {settings, logits: [number]}. Needs no model. */
pt_status pt_engine_odds(pt_engine *e, const pt_json *question, pt_error *err);
/* Runs the tokens of a text. {tokens: [{id, text}], layers, heads, vocab} */
pt_status pt_engine_look(pt_engine *e, const char *text, int64_t n, pt_error *err);
/* Begins one of the two; then poll. */
pt_status pt_engine_lens(pt_engine *e, int64_t layer, pt_error *err);
pt_status pt_engine_attention(pt_engine *e, int64_t layer, pt_error *err);
pt_status pt_engine_look_poll(pt_engine *e, double ms, pt_error *err);
/* After a lens: the likeliest next tokens of each position, [[{id, p, text}]]. */
pt_status pt_engine_lens_top(pt_engine *e, int64_t k, pt_error *err);

/* ---- the ladder of kernels: ladder.c ---- */
/* [{name, lacks}]: the kernels for products of matrices of the GPU in use, and what it lacks for one. */
pt_status pt_engine_kernels(pt_engine *e, pt_error *err);
/* Begins to time the kernel (or PT_BENCH_LINEAR on the processor) on matrices of size by size; then poll. Not beside a run or a model, which
 * would end it. */
pt_status pt_engine_ladder(pt_engine *e, int kernel, int64_t size, pt_error *err);
/* {seconds, blocks, products, shortest}: see pt_bench_rung. */
pt_status pt_engine_ladder_poll(pt_engine *e, double ms, pt_error *err);
/* What is under way ends soon, with 0 blocks. */
pt_status pt_engine_ladder_stop(pt_engine *e, pt_error *err);
/* Lets go of what it was measured on. */
void pt_engine_ladder_end(pt_engine *e);

#endif
