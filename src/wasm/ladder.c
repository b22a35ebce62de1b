/* The ladder of kernels. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "bench/ladder.h"
#include "wasm/engine.h"

pt_status pt_engine_kernels(pt_engine *e, pt_error *err)
{
    if (!e->device) return pt_fail(err, PT_BAD_INPUT, "the engine is not open");
    const char *name;
    pt_json_writer w = pt_json_writer_begin(&e->out, 0);
    pt_json_begin_array(&w, NULL);
    for (int i = 0; e->device != e->cpu && (name = pt_device_webgpu_kernel(i)); i++) {
        const char *lacks = pt_device_webgpu_kernel_lacks(e->device, i);
        pt_json_begin_object(&w, NULL);
        pt_json_string(&w, "name", name);
        if (lacks) pt_json_string(&w, "lacks", lacks);
        pt_json_end_object(&w);
    }
    pt_json_end_array(&w);
    return PT_OK;
}

pt_status pt_engine_ladder(pt_engine *e, int kernel, int64_t size, pt_error *err)
{
    if (!e->device) return pt_fail(err, PT_BAD_INPUT, "the engine is not open");
    if (e->lab)
        return pt_fail(err, PT_BAD_INPUT, "a model is there: measure with an engine of its own");
    bool cpu = kernel == PT_BENCH_LINEAR;
    if (!cpu && e->device == e->cpu)
        return pt_fail(err, PT_BAD_INPUT, "kernel %d is a GPU's, and none is in use", kernel);
    pt_status s = e->ladder ? PT_OK : pt_bench_ladder_new(&e->ladder, err);
    if (s) return s;
    return pt_bench_ladder_begin(e->ladder, cpu ? e->cpu : e->device, kernel, size, err);
}

static pt_status need_ladder(const pt_engine *e, pt_error *err)
{
    return e->ladder ? PT_OK : pt_fail(err, PT_BAD_INPUT, "nothing is being measured");
}

pt_status pt_engine_ladder_poll(pt_engine *e, double ms, pt_error *err)
{
    pt_bench_rung rung;
    double until = pt_clock_seconds() + ms / 1000;
    pt_status s = need_ladder(e, err);
    if (s) return s;
    do s = pt_bench_ladder_poll(e->ladder, &rung, err);
    while (pt_engine_goes_on(e, s, until));
    if (s) return s;
    pt_json_writer w = pt_json_writer_begin(&e->out, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_double(&w, "seconds", rung.seconds);
    pt_json_i64(&w, "blocks", rung.blocks);
    pt_json_i64(&w, "products", rung.calls);
    pt_json_double(&w, "shortest", rung.block);
    pt_json_end_object(&w);
    return PT_OK;
}

pt_status pt_engine_ladder_stop(pt_engine *e, pt_error *err)
{
    pt_status s = need_ladder(e, err);
    if (s == PT_OK) pt_bench_ladder_stop(e->ladder);
    return s;
}

void pt_engine_ladder_end(pt_engine *e)
{
    pt_bench_ladder_free(e->ladder);
    e->ladder = NULL;
}
