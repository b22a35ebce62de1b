/* What the browser calls. No logic: each export hands its arguments to the engine and keeps the result.
 *
 * A call that can fail answers 0 (done), 1 (call again), 2 (failed: the output is {status, message}) or 3 (call again
 * once the GPU has told the host something). Text and
 * settings go into the input buffer first, and the call is told their length; results are in the output
 * buffer until the next call. One engine per instance; one thread calls.
 * SPDX-License-Identifier: MIT */
#include "wasm/engine.h"

#define EXPORT(type, name, ...) \
    type name(__VA_ARGS__);     \
    __attribute__((export_name(#name))) type name(__VA_ARGS__)

enum { ANSWER_DONE, ANSWER_AGAIN, ANSWER_FAILED, ANSWER_WAIT };

static pt_engine engine;
static char *input, *shaders;

/* Before each call: the last one's result goes. */
static pt_error *begin(void)
{
    pt_strbuf_clear(&engine.out);
    engine.err = (pt_error){0};
    if (engine.device) engine.device->waits = false;
    return &engine.err;
}

static int answer(pt_status s)
{
    if (engine.out.failed && (s == PT_OK || s == PT_PENDING))
        s = pt_fail(&engine.err, PT_NO_MEMORY, "no memory for the result");
    if (s == PT_OK) return ANSWER_DONE;
    if (s == PT_PENDING) return engine.device->waits ? ANSWER_WAIT : ANSWER_AGAIN;
    pt_strbuf_deinit(&engine.out); /* half a result may stand there */
    pt_json_writer w = pt_json_writer_begin(&engine.out, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "status", pt_status_name(s));
    pt_json_string(&w, "message", engine.err.message);
    pt_json_end_object(&w);
    return ANSWER_FAILED;
}

/* A call that takes settings: the first n bytes of the input. */
typedef pt_status (*settings_call)(pt_engine *e, const pt_json *settings, pt_error *err);
static int call_with_settings(settings_call call, size_t n)
{
    pt_arena arena = {0};
    const pt_json *json = NULL;
    pt_error *err = begin();
    pt_status s = pt_json_parse(input, n, &arena, &json, err);
    if (s == PT_OK) s = call(&engine, json, err);
    pt_arena_deinit(&arena);
    return answer(s);
}

EXPORT(void *, pt_wasm_input, size_t n)
{
    pt_free(input);
    return input = pt_alloc(n);
}
EXPORT(const char *, pt_wasm_output, void) { return engine.out.data; }
EXPORT(size_t, pt_wasm_output_bytes, void) { return engine.out.len; }

EXPORT(int, pt_wasm_open, int threads) { return answer(pt_engine_open(&engine, threads, begin())); }
EXPORT(void, pt_wasm_close, void)
{
    pt_engine_close(&engine);
    pt_free(input);
    pt_free(shaders);
    input = shaders = NULL;
}
/* The input becomes the text of all shaders, before a GPU is used. */
EXPORT(int, pt_wasm_shaders, size_t n)
{
    pt_free(shaders);
    shaders = input;
    input = NULL;
    pt_device_webgpu_shaders(shaders, (int64_t)n);
    return answer((begin(), PT_OK));
}
EXPORT(int, pt_wasm_use_gpu, int gpu)
{
    return answer(pt_engine_use_gpu(&engine, (pt_engine_gpu)gpu, begin()));
}
EXPORT(int, pt_wasm_ready_poll, double ms)
{
    return answer(pt_engine_ready_poll(&engine, ms, begin()));
}
/* What was recorded goes to the device; tells what it has to say meanwhile. */
EXPORT(int, pt_wasm_submit, void)
{
    pt_error *err = begin();
    return answer(engine.device ? pt_submit(engine.device, err) : PT_OK);
}
EXPORT(int, pt_wasm_about, void) { return answer(pt_engine_about(&engine, begin())); }
EXPORT(int, pt_wasm_presets, void) { return answer(pt_engine_presets(&engine, begin())); }
EXPORT(int, pt_wasm_plan, size_t n) { return call_with_settings(pt_engine_plan, n); }
EXPORT(int, pt_wasm_probe, double ms, int size)
{
    return answer(pt_engine_probe(&engine, ms, size, begin()));
}

/* Sizes of bulk data are doubles, so that both kinds of module take the same numbers. */
EXPORT(int, pt_wasm_corpus, double n)
{
    return answer(pt_engine_corpus(&engine, (int64_t)n, begin()));
}
EXPORT(void *, pt_wasm_corpus_bytes, void) { return engine.corpus; }
EXPORT(int, pt_wasm_file, double n) { return answer(pt_engine_file(&engine, (int64_t)n, begin())); }
EXPORT(void *, pt_wasm_file_bytes, void) { return engine.file_bytes; }
EXPORT(int, pt_wasm_file_open, void) { return answer(pt_engine_file_open(&engine, begin())); }
EXPORT(int, pt_wasm_file_safetensors, void)
{
    return answer(pt_engine_file_safetensors(&engine, begin()));
}

EXPORT(int, pt_wasm_train, size_t n) { return call_with_settings(pt_engine_train, n); }
EXPORT(int, pt_wasm_train_poll, double ms)
{
    return answer(pt_engine_train_poll(&engine, ms, begin()));
}
EXPORT(int, pt_wasm_train_stop, void)
{
    pt_status s = pt_engine_need_run(&engine, begin());
    if (s == PT_OK) pt_trainer_stop(engine.trainer);
    return answer(s);
}
EXPORT(int, pt_wasm_train_save, void)
{
    pt_status s = pt_engine_need_run(&engine, begin());
    if (s == PT_OK) pt_trainer_request_save(engine.trainer);
    return answer(s);
}
EXPORT(int, pt_wasm_train_continue, double steps)
{
    pt_status s = pt_engine_need_run(&engine, begin());
    if (s == PT_OK) s = pt_trainer_continue(engine.trainer, (int64_t)steps, &engine.err);
    return answer(s);
}
EXPORT(int, pt_wasm_load, size_t n) { return call_with_settings(pt_engine_load, n); }
EXPORT(void, pt_wasm_unload, void) { pt_engine_unload(&engine); }

EXPORT(int, pt_wasm_evaluate, size_t n)
{
    return answer(pt_engine_evaluate(&engine, input, (int64_t)n, begin()));
}
EXPORT(int, pt_wasm_evaluate_poll, double ms)
{
    return answer(pt_engine_evaluate_poll(&engine, ms, begin()));
}
EXPORT(int, pt_wasm_sample, size_t n) { return call_with_settings(pt_engine_sample, n); }
EXPORT(int, pt_wasm_sample_poll, double ms)
{
    return answer(pt_engine_sample_poll(&engine, ms, begin()));
}
/* f32 logits of the tokens of the last poll, where they were asked for. */
EXPORT(const char *, pt_wasm_logits, void) { return engine.lab ? engine.lab->logits.data : NULL; }
EXPORT(double, pt_wasm_logits_count, void)
{
    return engine.lab ? (double)(engine.lab->logits.len / sizeof(float)) : 0;
}
EXPORT(int, pt_wasm_odds, size_t n) { return call_with_settings(pt_engine_odds, n); }
EXPORT(int, pt_wasm_look, size_t n)
{
    return answer(pt_engine_look(&engine, input, (int64_t)n, begin()));
}
EXPORT(int, pt_wasm_lens, int layer) { return answer(pt_engine_lens(&engine, layer, begin())); }
EXPORT(int, pt_wasm_attention, int layer)
{
    return answer(pt_engine_attention(&engine, layer, begin()));
}
EXPORT(int, pt_wasm_look_poll, double ms)
{
    return answer(pt_engine_look_poll(&engine, ms, begin()));
}
EXPORT(int, pt_wasm_lens_top, int k) { return answer(pt_engine_lens_top(&engine, k, begin())); }
/* f32 values of the last lens or attention; NULL when nothing can be looked at. */
EXPORT(const float *, pt_wasm_values, void)
{
    bool some = engine.lab && engine.lab->inspection;
    return some ? pt_inspection_values(engine.lab->inspection) : NULL;
}
EXPORT(double, pt_wasm_values_count, void)
{
    bool some = engine.lab && engine.lab->inspection;
    return some ? (double)pt_inspection_n_values(engine.lab->inspection) : 0;
}

EXPORT(int, pt_wasm_kernels, void) { return answer(pt_engine_kernels(&engine, begin())); }
EXPORT(int, pt_wasm_ladder, int kernel, int size)
{
    return answer(pt_engine_ladder(&engine, kernel, size, begin()));
}
EXPORT(int, pt_wasm_ladder_poll, double ms)
{
    return answer(pt_engine_ladder_poll(&engine, ms, begin()));
}
EXPORT(int, pt_wasm_ladder_stop, void) { return answer(pt_engine_ladder_stop(&engine, begin())); }
EXPORT(void, pt_wasm_ladder_end, void) { pt_engine_ladder_end(&engine); }
