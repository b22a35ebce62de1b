/* The engine: its device, its files, a run or a loaded model. SPDX-License-Identifier: MIT */
#include "wasm/engine.h"

#include "base/clock.h"
#include "base/version.h"
#include "bench/probe.h"
#include "model/load_tinygpt.h"
#include "model/tinygpt_export.h"
#include "model/tinygpt_shape.h"
#include "train/memory.h"

#define OTHER_BYTES (32ll << 20) /* stack, code's data, JSON, the threads' stacks */

static int address_bits(void) { return 8 * (int)sizeof(void *); }

/* What a module can hold: all that 32 bits reach, or what browsers give to 64 (tested: 17 GiB are refused). */
static int64_t addressable_bytes(void) { return address_bits() == 32 ? 4ll << 30 : 16ll << 30; }

pt_status pt_engine_open(pt_engine *e, int threads, pt_error *err)
{
    if (e->device) return pt_fail(err, PT_BAD_INPUT, "the engine is open already");
    pt_cpu_options options = {.threads = threads};
    pt_status s = pt_device_cpu_new(&e->cpu, &options, err);
    e->device = e->cpu;
    return s;
}

void pt_engine_unload(pt_engine *e)
{
    pt_engine_ladder_end(e);
    pt_lab_free(e->lab);
    e->lab = NULL;
    pt_device_release_plan(&e->lab_plan);
    pt_plan_deinit(&e->lab_plan);
    pt_trainer_free(e->trainer);
    e->trainer = NULL;
}

static void drop_gpu(pt_engine *e)
{
    if (e->device != e->cpu) pt_device_free(e->device);
    e->device = e->cpu;
}

pt_status pt_engine_use_gpu(pt_engine *e, pt_engine_gpu gpu, pt_error *err)
{
    if (!e->cpu) return pt_fail(err, PT_BAD_INPUT, "the engine is not open");
    pt_engine_unload(e);
    drop_gpu(e);
    pt_webgpu_options options = {.software = true}; /* the host has judged that */
    if (gpu == PT_ENGINE_TRIED_GPU)
        options = (pt_webgpu_options){.software = true,
                                      .tuned = true,
                                      .kernels = "32x32 4x4",
                                      .trials = 1,
                                      .timed_scale = 16};
    pt_device *device = e->cpu;
    pt_status s = gpu ? pt_device_webgpu_new(&device, &options, err) : PT_OK;
    if (s == PT_OK) e->device = device;
    e->device->own_memory =
        gpu && s == PT_OK; /* none of it lies in the module's, emulated or not */
    return s;
}

bool pt_engine_goes_on(const pt_engine *e, pt_status s, double until)
{
    return s == PT_PENDING && !e->device->waits && pt_clock_seconds() < until;
}

pt_status pt_engine_ready_poll(pt_engine *e, double ms, pt_error *err)
{
    if (!e->device) return pt_fail(err, PT_BAD_INPUT, "the engine is not open");
    double until = pt_clock_seconds() + ms / 1000;
    pt_status s;
    do s = pt_device_ready(e->device, err);
    while (pt_engine_goes_on(e, s, until));
    if (s != PT_OK && s != PT_PENDING) return s;
    pt_json_writer w = pt_json_writer_begin(&e->out, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_i64(&w, "done", e->device->readied);
    pt_json_i64(&w, "total", e->device->to_ready);
    if (e->device->remark) pt_json_string(&w, "remark", e->device->remark);
    pt_json_end_object(&w);
    return s;
}

static void drop_file(pt_engine *e)
{
    pt_tinygpt_close(e->file);
    pt_free(e->file_bytes);
    e->file = NULL;
    e->file_bytes = NULL;
    e->n_file = 0;
}

void pt_engine_close(pt_engine *e)
{
    pt_engine_unload(e);
    drop_file(e);
    pt_free(e->corpus);
    drop_gpu(e);
    pt_device_free(e->cpu);
    pt_strbuf_deinit(&e->out);
    *e = (pt_engine){0};
}

pt_status pt_engine_need_run(const pt_engine *e, pt_error *err)
{
    return e->trainer ? PT_OK : pt_fail(err, PT_BAD_INPUT, "nothing is being trained");
}

/* ---- facts ---- */

pt_status pt_engine_about(pt_engine *e, pt_error *err)
{
    if (!e->device) return pt_fail(err, PT_BAD_INPUT, "the engine is not open");
    pt_json_writer w = pt_json_writer_begin(&e->out, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "version", PT_VERSION);
    pt_json_string(&w, "isa", e->cpu->detail);
    pt_json_i64(&w, "addressBits", address_bits());
    pt_json_i64(&w, "threads", pt_pool_threads(pt_device_cpu_pool(e->cpu)));
    pt_json_end_object(&w);
    return PT_OK;
}

static void put_shape(pt_json_writer *w, const pt_model_config *c)
{
    pt_json_i64(w, "layers", c->n_layers);
    pt_json_i64(w, "dModel", c->d_model);
    pt_json_i64(w, "heads", c->n_heads);
    pt_json_i64(w, "dMlp", c->d_mlp);
    pt_json_i64(w, "ctx", c->ctx);
    pt_json_i64(w, "vocab", c->vocab);
}

pt_status pt_engine_presets(pt_engine *e, pt_error *err)
{
    pt_status s = PT_OK;
    pt_json_writer w = pt_json_writer_begin(&e->out, 0);
    pt_json_begin_array(&w, NULL);
    for (const pt_preset *p = pt_presets(); p->name && s == PT_OK; p++) {
        pt_model_config config = p->config;
        pt_params params;
        pt_model_config_complete(&config);
        s = pt_params_init(&params, &config, err);
        if (s) break;
        pt_json_begin_object(&w, NULL);
        pt_json_string(&w, "name", p->name);
        put_shape(&w, &config);
        pt_json_i64(&w, "batch", p->batch);
        pt_json_i64(&w, "steps", p->steps);
        pt_json_i64(&w, "params", params.n_params);
        pt_json_end_object(&w);
        pt_params_deinit(&params);
    }
    if (s == PT_OK) pt_json_end_array(&w);
    return s;
}

pt_status pt_engine_probe(pt_engine *e, double ms, int64_t size, pt_error *err)
{
    if (!e->device) return pt_fail(err, PT_BAD_INPUT, "the engine is not open");
    double begun = pt_clock_seconds(), rate = 0;
    pt_status s = pt_bench_probe(e->cpu, size, ms / 1000, &rate, err);
    if (s) return s;
    pt_json_writer w = pt_json_writer_begin(&e->out, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_double(&w, "gflops", rate / 1e9);
    pt_json_double(&w, "seconds", pt_clock_seconds() - begun);
    pt_json_end_object(&w);
    return PT_OK;
}

/* ---- bytes from the host ---- */

static pt_status take_bytes(uint8_t **to, int64_t n, const char *what, pt_error *err)
{
    pt_free(*to);
    *to = n >= 0 && (uint64_t)n < SIZE_MAX ? pt_alloc((size_t)n) : NULL;
    return *to ? PT_OK
               : pt_fail(err, PT_NO_MEMORY, "no memory for %s of %lld bytes", what, (long long)n);
}

pt_status pt_engine_corpus(pt_engine *e, int64_t n, pt_error *err)
{
    if (e->trainer)
        return pt_fail(err, PT_BAD_INPUT, "a run reads the corpus: end it before giving another");
    e->n_corpus = 0;
    pt_status s = take_bytes(&e->corpus, n, "a corpus", err);
    if (s == PT_OK) e->n_corpus = n;
    return s;
}

pt_status pt_engine_file(pt_engine *e, int64_t n, pt_error *err)
{
    drop_file(e);
    pt_status s = take_bytes(&e->file_bytes, n, "a file", err);
    if (s == PT_OK) e->n_file = n;
    return s;
}

pt_status pt_engine_file_open(pt_engine *e, pt_error *err)
{
    pt_tinygpt_close(e->file);
    e->file = NULL;
    if (!e->file_bytes) return pt_fail(err, PT_BAD_INPUT, "no file was given");
    pt_status s = pt_tinygpt_open(&e->file, e->file_bytes, e->n_file, err);
    if (s == PT_OK) s = pt_tinygpt_verify(e->file, err);
    pt_model_config config;
    if (s == PT_OK) s = pt_model_config_from_tinygpt(pt_tinygpt_get(e->file), &config, err);
    if (s) {
        drop_file(e);
        return s;
    }
    const pt_tinygpt_info *info = pt_tinygpt_get(e->file);
    pt_json_writer w = pt_json_writer_begin(&e->out, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_i64(&w, "version", info->version);
    pt_json_string(&w, "dtype", pt_tinygpt_dtype_name(info->dtype));
    put_shape(&w, &config);
    pt_json_i64(&w, "step", info->step);
    pt_json_i64(&w, "params", info->n_params);
    pt_run_settings_of_file(e->file, "run", &w);
    pt_json_value(&w, "header", info->header);
    pt_json_end_object(&w);
    return PT_OK;
}

pt_status pt_engine_file_safetensors(pt_engine *e, pt_error *err)
{
    if (!e->file) return pt_fail(err, PT_BAD_INPUT, "nothing to convert: open a file first");
    pt_sink sink = pt_engine_sink(e);
    return pt_tinygpt_to_safetensors(e->file, &sink, err);
}

/* ---- planning ---- */

static int64_t planned_bytes(const pt_engine *e)
{
    int64_t bytes = pt_plan_total_bytes(&e->lab_plan);
    if (e->trainer) bytes += pt_plan_total_bytes(pt_trainer_plan(e->trainer));
    return bytes;
}

/* What of it must lie in the module's memory. */
static int64_t own_bytes(const pt_engine *e)
{
    if (e->device == e->cpu) return planned_bytes(e);
    int64_t bytes = e->lab_plan.arena_bytes[PT_ARENA_HOST];
    if (e->trainer) bytes += pt_trainer_plan(e->trainer)->arena_bytes[PT_ARENA_HOST];
    return bytes;
}

static bool fits(const pt_engine *e) { return own_bytes(e) + OTHER_BYTES <= addressable_bytes(); }

/* For a loaded model; of a run more can be said. */
static pt_status check_room(const pt_engine *e, pt_error *err)
{
    if (fits(e)) return PT_OK;
    return pt_fail(
        err, PT_NO_MEMORY, "this needs %.1f GB of memory, and a %d-bit module reaches %.1f GB: %s",
        (double)own_bytes(e) / 1e9, address_bits(), (double)addressable_bytes() / 1e9,
        address_bits() == 32 ? "use the 64-bit module or a smaller model" : "use a smaller model");
}

static pt_trainer_desc desc_of(pt_engine *e, const pt_run_settings *o, const uint8_t *corpus)
{
    return (pt_trainer_desc){.config = o->model,
                             .options = o->train,
                             .corpus = corpus,
                             .corpus_bytes = o->corpus_bytes,
                             .corpus_memory = o->corpus_bytes,
                             .events = pt_engine_events(e)};
}

/* What the planned run needs and cannot have, and the batch that could, as the command line says it; OK where there is room. */
static pt_status refuse_run(pt_engine *e, const pt_run_settings *o, const uint8_t *corpus,
                            pt_error *err)
{
    const pt_trainer_desc desc = desc_of(e, o, corpus);
    const pt_plan *plan = pt_trainer_plan(e->trainer), *lab = &e->lab_plan;
    int64_t reach = (o->memory_bytes ? o->memory_bytes : addressable_bytes()) - OTHER_BYTES;
    int64_t lab_host = lab->arena_bytes[PT_ARENA_HOST], all = pt_plan_total_bytes(lab);
    bool own = e->device->own_memory;
    pt_memory_room room = pt_memory_room_of(e->device, o->gpu_bytes);
    room.machine = own ? reach - lab_host : reach;
    if (o->gpu_buffer_bytes) room.buffer = o->gpu_buffer_bytes;
    if (o->gpu_binding_bytes) room.tensor = o->gpu_binding_bytes;
    pt_memory_question q = {.device = e->device,
                            .desc = &desc,
                            .room = room,
                            .may = o->resume ? PT_MEMORY_MAY_RECOMPUTE : PT_MEMORY_MAY_BATCH,
                            .besides = own ? all - lab_host : all};
    if (reach == addressable_bytes() - OTHER_BYTES && address_bits() == 32)
        q.hint = "; a 32-bit module reaches no more, a 64-bit module does";
    pt_memory_way ways[PT_MEMORY_WAYS];
    int n = 0;
    if (pt_memory_fits(&q, plan)) return PT_OK;
    pt_memory_ways(&q, ways, &n);
    return pt_memory_refuse(&q, plan, ways, n, err);
}

/* Sizes of a run, or of a loaded model (trainer NULL): the lab's and the trainer's plans. */
static pt_status plan_run(pt_engine *e, const pt_run_settings *o, const uint8_t *corpus,
                          pt_error *err)
{
    pt_trainer_desc desc = desc_of(e, o, corpus);
    if (o->weights != PT_F32)
        return pt_fail(err, PT_BAD_INPUT, "weights are f32 while they are trained: leave them out");
    pt_status s = pt_trainer_new(&e->trainer, e->device, &desc, err);
    if (s) return s;
    const pt_model *model = pt_trainer_model(e->trainer);
    s = pt_lab_new(&e->lab, e->device, &model->config, model, o, err);
    if (s) return s;
    pt_plan_init(&e->lab_plan);
    pt_lab_plan(e->lab, &e->lab_plan);
    return pt_plan_check(&e->lab_plan, err);
}

/* refusal: why a run cannot be had, or NULL. */
static void put_plan(pt_engine *e, int64_t n_params, const char *refusal)
{
    pt_json_writer w = pt_json_writer_begin(&e->out, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_i64(&w, "params", n_params);
    pt_json_i64(&w, "bytes", planned_bytes(e) + OTHER_BYTES);
    pt_json_begin_object(&w, "arenas");
    for (int i = 0; i < PT_ARENA_COUNT; i++) {
        int64_t bytes = e->lab_plan.arena_bytes[i];
        if (e->trainer) bytes += pt_trainer_plan(e->trainer)->arena_bytes[i];
        pt_json_i64(&w, pt_arena_id_name((pt_arena_id)i), bytes);
    }
    pt_json_end_object(&w);
    pt_json_i64(&w, "addressableBytes", addressable_bytes());
    pt_json_bool(&w, "fits", fits(e));
    if (refusal) pt_json_string(&w, "refusal", refusal);
    pt_json_i64(&w, "cacheBytes", pt_session_cache_bytes(e->lab->session));
    pt_json_end_object(&w);
}

pt_status pt_engine_plan(pt_engine *e, const pt_json *settings, pt_error *err)
{
    pt_run_settings o;
    if (!e->device) return pt_fail(err, PT_BAD_INPUT, "the engine is not open");
    if (e->trainer || e->lab)
        return pt_fail(err, PT_BAD_INPUT, "a model is loaded: plan with an engine of its own");
    pt_status s = pt_run_settings_read(settings, &o, err);
    /* Only the corpus's length counts; its bytes are not read before the first step. */
    static const uint8_t none[1];
    if (s == PT_OK) s = plan_run(e, &o, none, err);
    if (s == PT_OK) {
        pt_error why = {0};
        bool refused = refuse_run(e, &o, none, &why) != PT_OK;
        put_plan(e, pt_trainer_n_params(e->trainer), refused ? why.message : NULL);
    }
    pt_engine_unload(e);
    return s;
}

/* ---- a run, a loaded model ---- */

static pt_status allocate_lab(pt_engine *e, pt_error *err)
{
    pt_status s = pt_device_allocate_plan(e->device, &e->lab_plan, err);
    return s == PT_OK ? pt_lab_bind(e->lab, &e->lab_plan, err) : s;
}

static pt_status begin_run(pt_engine *e, const pt_run_settings *o, pt_error *err)
{
    pt_status s = plan_run(e, o, e->corpus, err);
    if (s == PT_OK) s = refuse_run(e, o, e->corpus, err);
    if (s == PT_OK) s = pt_trainer_begin(e->trainer, pt_device_cpu_pool(e->cpu), err);
    if (s == PT_OK) s = allocate_lab(e, err);
    if (s == PT_OK && o->resume) s = pt_trainer_restore(e->trainer, e->file, err);
    if (s == PT_OK && o->resume && o->halve_lr) pt_trainer_halve_lr(e->trainer);
    return s;
}

pt_status pt_engine_train(pt_engine *e, const pt_json *settings, pt_error *err)
{
    pt_run_settings o;
    pt_status s = pt_run_settings_read(settings, &o, err);
    if (s) return s;
    if (!e->device) return pt_fail(err, PT_BAD_INPUT, "the engine is not open");
    if (!e->corpus) return pt_fail(err, PT_BAD_INPUT, "nothing to learn from: give a corpus");
    if (o.resume && !e->file)
        return pt_fail(err, PT_BAD_INPUT, "nothing to go on from: open a file first");
    double dropout = o.model.dropout; /* the run's, of which the file's model knows nothing */
    if (o.resume) s = pt_model_config_from_tinygpt(pt_tinygpt_get(e->file), &o.model, err);
    if (s) return s;
    o.model.dropout = dropout;
    pt_engine_unload(e);
    o.corpus_bytes = e->n_corpus;
    s = begin_run(e, &o, err);
    if (s) {
        pt_engine_unload(e);
        return s;
    }
    put_plan(e, pt_trainer_n_params(e->trainer), NULL);
    return PT_OK;
}

pt_status pt_engine_load(pt_engine *e, const pt_json *settings, pt_error *err)
{
    pt_run_settings o;
    pt_status s = pt_run_settings_read(settings, &o, err);
    if (s == PT_OK && !e->device) s = pt_fail(err, PT_BAD_INPUT, "the engine is not open");
    if (s == PT_OK && !e->file)
        s = pt_fail(err, PT_BAD_INPUT, "nothing to load: open a file first");
    if (s == PT_OK) s = pt_model_config_from_tinygpt(pt_tinygpt_get(e->file), &o.model, err);
    if (s) return s;
    pt_engine_unload(e);
    pt_plan_init(&e->lab_plan);
    s = pt_lab_new(&e->lab, e->device, &o.model, NULL, &o, err);
    if (s == PT_OK) {
        pt_lab_plan(e->lab, &e->lab_plan);
        s = check_room(e, err);
    }
    if (s == PT_OK) s = allocate_lab(e, err);
    if (s == PT_OK) s = pt_model_load_tinygpt(e->lab->model, e->file, err);
    if (s) pt_engine_unload(e);
    else put_plan(e, pt_tinygpt_get(e->file)->n_params, NULL);
    return s;
}
