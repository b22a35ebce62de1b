/* posttrain devices: what can compute here, and how to get what is missing.
 * SPDX-License-Identifier: MIT */
#include "base/platform.h"
#include "cli/cli.h"

/* What WebGPU finds here. */
typedef struct gpu_here {
    char adapter[200]; /* empty: there is none */
    char why[300];     /* not, or not by default */
    char remark[400];  /* what is wrong with it; empty: nothing */
    bool tried;        /* its kernels were put on trial */
} gpu_here;

static pt_status look_at_gpu(bool software, gpu_here *here, pt_error *err)
{
    pt_device *device = NULL;
    pt_status s = pt_device_webgpu_new(&device, &(pt_webgpu_options){.software = software}, err);
    if (s == PT_OK) s = pt_get_ready(device, false, err);
    if (s == PT_OK) {
        pt_format(here->adapter, sizeof here->adapter, "%s", device->detail);
        pt_format(here->remark, sizeof here->remark, "%s", device->remark ? device->remark : "");
        here->tried = device->to_ready > 0;
    }
    pt_device_free(device);
    return s;
}

static gpu_here look_for_gpu(void)
{
    gpu_here here = {0};
    pt_error err = {0};
    if (look_at_gpu(false, &here, &err) == PT_OK) return here;
    pt_safe_line(here.why, sizeof here.why, err.message, strlen(err.message));
    (void)look_at_gpu(true, &here, NULL);
    return here;
}

static void write_json(pt_strbuf *text, const gpu_here *gpu)
{
    pt_json_writer w = pt_json_writer_begin(text, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_i64(&w, "processors", pt_platform_cpu_count());
    pt_json_i64(&w, "memory_bytes", pt_platform_memory_bytes());
    pt_json_begin_array(&w, "devices");
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "name", "cpu");
    pt_json_bool(&w, "available", true);
    pt_json_begin_array(&w, "isas");
    for (const char *const *isa = pt_device_cpu_isas(); *isa; isa++) pt_json_string(&w, NULL, *isa);
    pt_json_end_array(&w);
    pt_json_end_object(&w);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "name", "webgpu");
    pt_json_bool(&w, "available", *gpu->adapter && !*gpu->why);
    if (*gpu->adapter) pt_json_string(&w, "adapter", gpu->adapter);
    if (*gpu->why) pt_json_string(&w, "why_not", gpu->why);
    if (*gpu->remark) pt_json_string(&w, "remark", gpu->remark);
    pt_json_end_object(&w);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "name", "ref");
    pt_json_bool(&w, "available", true);
    pt_json_end_object(&w);
    pt_json_end_array(&w);
    pt_json_end_object(&w);
    pt_strbuf_putc(text, '\n');
}

static void write_text(pt_strbuf *text, const gpu_here *gpu)
{
    char memory[32];
    const char *const *isa = pt_device_cpu_isas();
    int best = 0;
    while (isa[best + 1]) best++;
    pt_strbuf_printf(text, "cpu    %d processors, %s of memory\n       instruction set %s%s",
                     pt_platform_cpu_count(), pt_megabytes(pt_platform_memory_bytes(), memory),
                     isa[best], best ? "; also" : "");
    for (int i = 0; i < best; i++) pt_strbuf_printf(text, " %s", isa[i]);
    pt_strbuf_putc(text, '\n');
    pt_strbuf_puts(text, "webgpu ");
    if (*gpu->adapter && *gpu->why)
        pt_strbuf_puts(text, "emulated, much slower than cpu: --device webgpu-software\n       ");
    pt_strbuf_printf(text, "%s\n", *gpu->adapter ? gpu->adapter : gpu->why);
    if (*gpu->remark) pt_strbuf_printf(text, "       %s\n", gpu->remark);
    else if (gpu->tried)
        pt_strbuf_puts(text, "       its kernels for products give right results\n");
    pt_strbuf_puts(text, "ref    plain C, the definition of every op; for checking, slow\n");
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    bool json = false, done = false;
    pt_option options[] = {
        PT_JSON_OPTION(&json),
    };
    pt_command_line line = {.options = options, .n_options = 1};
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    pt_strbuf text = {0};
    gpu_here gpu = look_for_gpu();
    if (json) write_json(&text, &gpu);
    else write_text(&text, &gpu);
    s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

const pt_verb pt_verb_devices = {
    .name = "devices",
    .summary = "show what can compute on this machine",
    .usage = "posttrain devices [--json]",
    .details =
        "What --device takes: cpu; webgpu, a GPU; webgpu-software, an emulated one as well, to "
        "try\n"
        "things out; ref, plain and slow. A GPU needs a driver for Vulkan, Metal or D3D12 and a\n"
        "library with webgpu.h, which the environment variable POSTTRAIN_WEBGPU names, as in\n"
        "POSTTRAIN_WEBGPU=/opt/dawn/libwebgpu_dawn.so; else libwebgpu_dawn.so or "
        "libwgpu_native.so\n"
        "is taken where the loader finds it.\n\n"
        "Example:\n  posttrain devices\n",
    .manual = "Lists the devices that --device takes, the GPU that WebGPU finds, and the "
              "instruction sets "
              "that --isa takes here, worst first. A GPU's kernels for products are put on trial "
              "first, which takes seconds, and what fails is told. Those whose names end in strict "
              "give the bits of plain C and "
              "are slower.\n",
    .run = run,
};
