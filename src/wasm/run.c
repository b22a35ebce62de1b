/* The events of a run as JSON, its checkpoints as bytes. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "wasm/engine.h"
#include "wasm/host.h"

static void begin_event(pt_engine *e, const char *type, int64_t step)
{
    pt_json_begin_object(&e->events, NULL);
    pt_json_string(&e->events, "type", type);
    pt_json_i64(&e->events, "step", step);
}

static pt_status on_step(void *ctx, const pt_step_report *r, pt_error *err)
{
    (void)err;
    pt_engine *e = ctx;
    begin_event(e, "step", r->step);
    pt_json_double(&e->events, "loss", r->loss);
    pt_json_double(&e->events, "gradNorm", r->grad_norm);
    pt_json_double(&e->events, "lr", r->lr);
    pt_json_double(&e->events, "seconds", r->seconds);
    pt_json_double(&e->events, "tokensPerSecond", pt_trainer_tokens_per_second(e->trainer));
    pt_json_end_object(&e->events);
    return PT_OK;
}

static pt_status on_spiked(void *ctx, const pt_spike_report *r, pt_error *err)
{
    (void)err;
    pt_engine *e = ctx;
    begin_event(e, "spiked", r->step);
    pt_json_double(&e->events, "loss", r->loss);
    pt_json_double(&e->events, "limit", r->limit);
    pt_json_string(&e->events, "did", pt_on_spike_name(r->did));
    pt_json_end_object(&e->events);
    return PT_OK;
}

static pt_status on_evaluated(void *ctx, int64_t step, double val_loss, pt_error *err)
{
    (void)err;
    pt_engine *e = ctx;
    begin_event(e, "evaluated", step);
    pt_json_double(&e->events, "loss", val_loss);
    pt_json_end_object(&e->events);
    return PT_OK;
}

static pt_status on_sampled(void *ctx, int64_t step, const char *bytes, int64_t n, pt_error *err)
{
    (void)err;
    pt_engine *e = ctx;
    begin_event(e, "sampled", step);
    pt_json_string_n(&e->events, "text", bytes, (size_t)n);
    pt_json_end_object(&e->events);
    return PT_OK;
}

/* ---- checkpoints ---- */

static pt_status write_bytes(void *ctx, const void *bytes, int64_t n, pt_error *err)
{
    (void)err;
    pt_engine *e = ctx;
    pt_host_write((double)e->save_position, bytes, (size_t)n);
    e->save_position += n;
    return PT_OK;
}

static pt_status patch_bytes(void *ctx, int64_t offset, const void *bytes, int64_t n, pt_error *err)
{
    (void)ctx, (void)err;
    pt_host_write((double)offset, bytes, (size_t)n);
    return PT_OK;
}

pt_sink pt_engine_sink(pt_engine *e)
{
    e->save_position = 0;
    return (pt_sink){.write = write_bytes, .patch = patch_bytes, .ctx = e};
}

static pt_status on_save_begin(void *ctx, int64_t step, pt_sink *sink, pt_error *err)
{
    (void)err;
    pt_engine *e = ctx;
    *sink = pt_engine_sink(e);
    begin_event(e, "saving", step);
    pt_json_end_object(&e->events);
    return PT_OK;
}

static pt_status on_save_end(void *ctx, int64_t step, bool failed, pt_error *err)
{
    (void)err;
    pt_engine *e = ctx;
    begin_event(e, "saved", step);
    pt_json_i64(&e->events, "bytes", e->save_position);
    pt_json_bool(&e->events, "failed", failed);
    pt_json_end_object(&e->events);
    return PT_OK;
}

pt_train_events pt_engine_events(pt_engine *e)
{
    return (pt_train_events){.ctx = e,
                             .step = on_step,
                             .spiked = on_spiked,
                             .evaluated = on_evaluated,
                             .sampled = on_sampled,
                             .save_begin = on_save_begin,
                             .save_end = on_save_end};
}

pt_status pt_engine_train_poll(pt_engine *e, double ms, pt_error *err)
{
    pt_status s = pt_engine_need_run(e, err);
    if (s) return s;
    double until = pt_clock_seconds() + ms / 1000;
    e->events = pt_json_writer_begin(&e->out, 0);
    pt_json_begin_array(&e->events, NULL);
    do s = pt_trainer_poll(e->trainer, err);
    while (pt_engine_goes_on(e, s, until));
    if (s != PT_OK &&
        s != PT_PENDING) { /* told as the last event, behind those that came before it */
        begin_event(e, "failed", pt_trainer_step(e->trainer));
        pt_json_string(&e->events, "status", pt_status_name(s));
        pt_json_string(&e->events, "message", err->message);
        pt_json_end_object(&e->events);
        s = PT_OK;
    }
    pt_json_end_array(&e->events);
    return s;
}
