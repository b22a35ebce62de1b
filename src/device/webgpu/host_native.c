/* The GPU through a library that offers webgpu.h: Dawn or wgpu-native, loaded when it is first used. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/format.h"
#include "base/mem.h"
#include "base/platform.h"
#include "device/webgpu/host.h"
#include "device/webgpu/host_library.h"

#define MOST_GPUS 8
#define MOST_BINDINGS 16
#define UNIFORM_SLOT 256
#define OPEN_SECONDS 30
#define CLOSE_SECONDS 60
#define LOSS_NS \
    500000000 /* a refusal may be the first sign of a loss, which is told a moment later */
#define SPARE_READINGS 8
#define MOST_SPARE_BYTES (1 << 20)

/* Numbered things: slot i has number i + 1. */
typedef struct table {
    void **slot;
    int64_t n, capacity;
} table;

typedef struct buffer {
    WGPUBuffer object;
    uint64_t bytes;
} buffer;

typedef struct pipeline {
    WGPUComputePipeline object;
    pt_gpu_state state;
    bool freed; /* while it is compiled */
    bool trial; /* it may fail */
    struct gpu *gpu;
} pipeline;

/* Bytes on their way back: a buffer that is mapped once the copy into it was submitted. */
typedef struct reading {
    WGPUBuffer object;
    uint64_t bytes;
    uint64_t submission; /* that holds the copy; 0: not submitted yet */
    pt_gpu_state state;
    int64_t failed_ns; /* when that was told */
} reading;

typedef struct gpu {
    WGPUInstance instance;
    WGPUAdapter adapter;
    WGPUDevice device;
    WGPUQueue queue;
    WGPUBindGroupLayout group_layout[MOST_BINDINGS + 1];
    WGPUPipelineLayout layout[MOST_BINDINGS + 1];
    WGPUCommandEncoder encoder;
    WGPUComputePassEncoder pass;
    WGPULimits limits;
    table buffers, pipelines, groups, readings;
    reading *spare[SPARE_READINGS]; /* done with: their buffers serve the next of the same size */
    uint64_t submitted, done;
    int64_t live_buffers, live_bytes, compiling;
    bool software, f16, subgroups, matrix, answered, closing;
    bool trying, refused; /* a text that the library may refuse; it did */
    pt_gpu_failure_kind failure;
    char said[512], adapter_name[256];
} gpu;

static gpu *gpus[MOST_GPUS];

static gpu *gpu_of(uint32_t number) { return gpus[number - 1]; }

static uint32_t table_add(table *t, void *thing)
{
    for (int64_t i = 0; i < t->n; i++) {
        if (t->slot[i]) continue;
        t->slot[i] = thing;
        return (uint32_t)i + 1;
    }
    if (t->n == t->capacity) {
        int64_t more = t->capacity ? 2 * t->capacity : 64;
        void **slot =
            pt_realloc(t->slot, (size_t)t->capacity * sizeof *slot, (size_t)more * sizeof *slot);
        if (!slot) return 0;
        t->slot = slot;
        t->capacity = more;
    }
    t->slot[t->n] = thing;
    return (uint32_t)++t->n;
}

static void *table_get(const table *t, uint32_t number)
{
    return number && number <= t->n ? t->slot[number - 1] : NULL;
}

static WGPUStringView view(const char *text)
{
    return (WGPUStringView){text, text ? strlen(text) : 0};
}

/* The first failure stays, but that a loss explains what was refused before. */
static void fail(gpu *g, pt_gpu_failure_kind kind, WGPUStringView message)
{
    if (g->closing || (g->failure && !(kind == PT_GPU_LOST && g->failure == PT_GPU_BROKEN))) return;
    size_t n =
        message.data ? (message.length == SIZE_MAX ? strlen(message.data) : message.length) : 0;
    n = n < sizeof g->said ? n : sizeof g->said - 1;
    if (n) memcpy(g->said, message.data, n);
    g->said[n] = '\0';
    for (char *end;
         (end = strchr(g->said, '\n'));) /* where in the library it was, is for our bugs alone */
        *end = kind == PT_GPU_BROKEN ? ' ' : '\0';
    g->failure = kind;
}

/* ---- callbacks: only within process_events ---- */

static void on_adapter(uint32_t status, WGPUAdapter adapter, WGPUStringView message, void *user,
                       void *unused)
{
    (void)unused;
    gpu *g = user;
    g->answered = true;
    if (status == WGPU_STATUS_SUCCESS) g->adapter = adapter;
    else fail(g, PT_GPU_BROKEN, message);
}

static void on_device(uint32_t status, WGPUDevice device, WGPUStringView message, void *user,
                      void *unused)
{
    (void)unused;
    gpu *g = user;
    g->answered = true;
    if (status == WGPU_STATUS_SUCCESS) g->device = device;
    else fail(g, PT_GPU_BROKEN, message);
}

static void on_lost(const WGPUDevice *device, uint32_t reason, WGPUStringView message, void *user,
                    void *unused)
{
    (void)device, (void)reason, (void)unused;
    fail(user, PT_GPU_LOST, message);
}

/* What is tried may be refused. */
static void refuse(gpu *g, pt_gpu_failure_kind kind, WGPUStringView message)
{
    if (g->trying) g->refused = true;
    else fail(g, kind, message);
}

static void on_error(const WGPUDevice *device, uint32_t type, WGPUStringView message, void *user,
                     void *unused)
{
    (void)device, (void)unused;
    refuse(user, type == WGPU_ERROR_OUT_OF_MEMORY ? PT_GPU_OUT_OF_MEMORY : PT_GPU_BROKEN, message);
}

static void on_pipeline(uint32_t status, WGPUComputePipeline object, WGPUStringView message,
                        void *user, void *unused)
{
    (void)unused;
    pipeline *p = user;
    p->object = object;
    p->state = status == WGPU_STATUS_SUCCESS ? PT_GPU_READY : PT_GPU_FAILED;
    p->gpu->compiling--;
    bool wanted = !p->trial && !p->freed;
    if (p->state == PT_GPU_FAILED && wanted) refuse(p->gpu, PT_GPU_BROKEN, message);
    if (!p->freed) return;
    if (object) pt_wgpu.ComputePipelineRelease(object);
    pt_free(p);
}

/* What is wrong with a shader on trial, its pipeline tells as well. */
static void on_trial(uint32_t status, uint32_t type, WGPUStringView message, void *user,
                     void *unused)
{
    (void)status, (void)type, (void)message, (void)user, (void)unused;
}

static void on_map(uint32_t status, WGPUStringView message, void *user, void *unused)
{
    (void)message, (void)unused;
    reading *r = user;
    r->state = status == WGPU_STATUS_SUCCESS ? PT_GPU_READY : PT_GPU_FAILED;
    r->failed_ns = pt_platform_monotonic_ns();
}

/* Where the user's data stands among its arguments differs between versions of the header, so it is known by who
 * processes events. Submissions finish in order. */
static gpu *processing;
static void on_done(void) { processing->done++; }

static void process_events(gpu *g)
{
    processing = g;
    pt_wgpu.InstanceProcessEvents(g->instance);
    processing = NULL;
}

static bool wait_for_answer(gpu *g)
{
    int64_t begun = pt_platform_monotonic_ns();
    while (!g->answered && !g->failure) {
        if (pt_platform_monotonic_ns() - begun > OPEN_SECONDS * (int64_t)1000000000) {
            fail(g, PT_GPU_BROKEN, view("it did not answer"));
            return false;
        }
        process_events(g);
        pt_platform_yield();
    }
    g->answered = false;
    return !g->failure;
}

/* ---- opening ---- */

static void name_adapter(gpu *g)
{
    WGPUAdapterInfo info = {0};
    pt_wgpu.AdapterGetInfo(g->adapter, &info);
    g->software = info.type == WGPU_ADAPTER_CPU;
    if (info.backend == WGPU_BACKEND_NULL)
        fail(g, PT_GPU_BROKEN, view("none was found that has a driver for Vulkan, Metal or D3D12"));
    pt_format(g->adapter_name, sizeof g->adapter_name, "%.*s%s%.*s", (int)info.device.length,
              info.device.data ? info.device.data : "", info.description.length ? ", " : "",
              (int)info.description.length, info.description.data ? info.description.data : "");
    pt_wgpu.AdapterInfoFreeMembers(info);
}

/* What the library says of limits makes sense; else its structs are laid out in another way. */
static bool limits_make_sense(const WGPULimits *l)
{
    return l->storage_buffers >= 4 && l->storage_buffers < 1u << 20 &&
           l->storage_bytes >= 1u << 24 && l->buffer_bytes >= l->storage_bytes &&
           l->workgroups >= 65535 && l->invocations >= 128 && l->invocations <= 4096 &&
           l->workgroup_bytes >= 16384 && l->storage_alignment >= 4 && l->storage_alignment <= 256;
}

static bool request_adapter(gpu *g)
{
    WGPURequestAdapterOptions options = {.power = WGPU_POWER_HIGH};
    WGPUCallbackInfo answer = {
        .mode = WGPU_CALLBACK_PROCESS_EVENTS, .callback = (WGPUCallback)on_adapter, .user1 = g};
    pt_wgpu.InstanceRequestAdapter(g->instance, &options, answer);
    if (!wait_for_answer(g)) return false;
    name_adapter(g);
    if (g->failure) return false;
    pt_wgpu.AdapterGetLimits(g->adapter, &g->limits);
    g->limits.next = NULL;
    if (limits_make_sense(&g->limits)) return true;
    fail(g, PT_GPU_BROKEN, view("its limits make no sense: its webgpu.h is another one"));
    return false;
}

/* Libraries number the features that we can use differently: each that may be one is asked for, and try_features finds out. */
static size_t find_features(gpu *g, uint32_t *found)
{
    static const uint32_t maybe[] = {10, 11,           /* shader-f16 */
                                     17, 18, 0x30021}; /* subgroups */
    size_t n = 0;
    for (size_t i = 0; i < sizeof maybe / sizeof *maybe; i++)
        if (pt_wgpu.AdapterHasFeature(g->adapter, maybe[i])) found[n++] = maybe[i];
    return n;
}

static bool request_device(gpu *g)
{
    uint32_t features[5];
    WGPUDeviceDescriptor wanted = {.n_features = find_features(g, features),
                                   .features = features,
                                   .limits = &g->limits,
                                   .lost = {.mode = WGPU_CALLBACK_PROCESS_EVENTS,
                                            .callback = (WGPUCallback)on_lost,
                                            .user1 = g},
                                   .error = {.callback = (WGPUCallback)on_error, .user1 = g}};
    WGPUCallbackInfo answer = {
        .mode = WGPU_CALLBACK_PROCESS_EVENTS, .callback = (WGPUCallback)on_device, .user1 = g};
    pt_wgpu.AdapterRequestDevice(g->adapter, &wanted, answer);
    if (!wait_for_answer(g)) return false;
    g->queue = pt_wgpu.DeviceGetQueue(g->device);
    pt_wgpu.DeviceGetLimits(g->device, &g->limits);
    return true;
}

static void make_layouts(gpu *g, int n)
{
    WGPULayoutEntry entry[MOST_BINDINGS + 1] = {0};
    for (int i = 0; i <= n; i++) {
        entry[i].binding = (uint32_t)i;
        entry[i].visibility = WGPU_STAGE_COMPUTE;
        entry[i].buffer.type = i ? WGPU_BINDING_STORAGE : WGPU_BINDING_UNIFORM;
        entry[i].buffer.dynamic = i == 0;
    }
    WGPULayoutDescriptor groups = {.n = (size_t)n + 1, .entries = entry};
    g->group_layout[n] = pt_wgpu.DeviceCreateBindGroupLayout(g->device, &groups);
    WGPUPipelineLayoutDescriptor layout = {.n = 1, .layouts = &g->group_layout[n]};
    g->layout[n] = pt_wgpu.DeviceCreatePipelineLayout(g->device, &layout);
}

/* One on trial may be refused: Dawn's compiler tells that of its pipeline as well, wgpu-native's on the spot. */
static WGPUShaderModule make_shader(gpu *g, const char *wgsl, size_t n, bool trial)
{
    WGPUShaderText text = {.chain = {.type = WGPU_TYPE_WGSL}, .code = {wgsl, n}};
    WGPUShaderDescriptor shader = {.next = &text.chain};
    WGPUCallbackInfo answer = {.mode = WGPU_CALLBACK_PROCESS_EVENTS,
                               .callback = (WGPUCallback)on_trial};
    bool scope = trial && !pt_wgpu.native;
    if (scope) pt_wgpu.DevicePushErrorScope(g->device, WGPU_FILTER_VALIDATION);
    WGPUShaderModule module = pt_wgpu.DeviceCreateShaderModule(g->device, &shader);
    if (scope) pt_wgpu.DevicePopErrorScope(g->device, answer);
    return module;
}

static void compile(gpu *g, pipeline *p, const char *wgsl, size_t n, const char *entry,
                    WGPUPipelineLayout layout)
{
    p->gpu = g;
    if (p->trial) {
        g->trying = pt_wgpu.native;
        g->refused = false;
    }
    WGPUShaderModule module = make_shader(g, wgsl, n, p->trial);
    WGPUPipelineDescriptor d = {.layout = layout,
                                .compute = {.module = module, .entry = view(entry)}};
    if (pt_wgpu.native) {
        p->object = pt_wgpu.DeviceCreateComputePipeline(g->device, &d);
        p->state = p->object && !(p->trial && g->refused) ? PT_GPU_READY : PT_GPU_FAILED;
    } else {
        WGPUCallbackInfo answer = {.mode = WGPU_CALLBACK_PROCESS_EVENTS,
                                   .callback = (WGPUCallback)on_pipeline,
                                   .user1 = p};
        g->compiling++;
        pt_wgpu.DeviceCreateComputePipelineAsync(g->device, &d, answer);
    }
    pt_wgpu.ShaderModuleRelease(module);
    if (p->trial) g->trying = false;
}

/* Now, or when its compiler answers. */
static void release_pipeline(pipeline *p)
{
    p->freed = p->state == PT_GPU_WAITING;
    if (p->freed) return;
    if (p->object) pt_wgpu.ComputePipelineRelease(p->object);
    pt_free(p);
}

static bool compiles(gpu *g, const char *text)
{
    pipeline *p = pt_alloc(sizeof *p);
    if (!p) return false;
    g->trying = true;
    g->refused = false;
    compile(g, p, text, strlen(text), "main", g->layout[1]);
    while (p->state == PT_GPU_WAITING && !g->failure) process_events(g);
    process_events(g);
    g->trying = false;
    bool ready = p->state == PT_GPU_READY && !g->refused;
    release_pipeline(p);
    return ready;
}

static void try_features(gpu *g)
{
#define MAIN "@compute @workgroup_size(32) fn main() "
    g->f16 = compiles(g, "enable f16; " MAIN "{}");
    g->subgroups = compiles(g, "enable subgroups; " MAIN "{}");
    g->matrix = g->f16 && g->subgroups &&
                compiles(g, "enable f16; enable chromium_experimental_subgroup_matrix; " MAIN
                            "{ var x = subgroup_matrix_left<f16, 16, 16>(); }");
#undef MAIN
}

static bool open_all(gpu *g, bool software)
{
    g->instance = pt_wgpu.CreateInstance(NULL);
    if (!g->instance) {
        fail(g, PT_GPU_BROKEN, view("the library makes no instance"));
        return false;
    }
    if (!request_adapter(g)) return false;
    if (g->software && !software) {
        fail(g, PT_GPU_BROKEN,
             view("there is only an emulation on the processor, for --device webgpu-software"));
        return false;
    }
    if (!request_device(g)) return false;
    int most =
        g->limits.storage_buffers < MOST_BINDINGS ? (int)g->limits.storage_buffers : MOST_BINDINGS;
    for (int n = 1; n <= most; n++) make_layouts(g, n);
    try_features(g);
    return !g->failure;
}

uint32_t pt_gpu_open(int32_t software, char *why, int32_t cap)
{
    uint32_t number = 0;
    while (number < MOST_GPUS && gpus[number]) number++;
    const char *trouble = NULL;
    if (!pt_wgpu_load()) trouble = pt_wgpu.trouble;
    else if (number == MOST_GPUS) trouble = "too many are open";
    gpu *g = trouble ? NULL : pt_alloc(sizeof *g);
    if (!trouble && !g) trouble = "no memory";
    if (trouble) {
        pt_format(why, (size_t)cap, "%s", trouble);
        return 0;
    }
    gpus[number] = g;
    if (open_all(g, software != 0)) return number + 1;
    pt_format(why, (size_t)cap, "%s", g->said);
    pt_gpu_close(number + 1);
    return 0;
}

/* ---- closing ---- */

static void free_reading(gpu *g, reading *r)
{
    g->live_buffers--;
    g->live_bytes -= (int64_t)r->bytes;
    pt_wgpu.BufferDestroy(r->object);
    pt_wgpu.BufferRelease(r->object);
    pt_free(r);
}

static void end_encoding(gpu *g)
{
    if (g->pass) {
        pt_wgpu.ComputePassEncoderEnd(g->pass);
        pt_wgpu.ComputePassEncoderRelease(g->pass);
        g->pass = NULL;
    }
}

static void free_tables(gpu *g, uint32_t number)
{
    for (int64_t i = 0; i < g->groups.n; i++) pt_gpu_group_free(number, (uint32_t)i + 1);
    for (int64_t i = 0; i < g->pipelines.n; i++) pt_gpu_pipeline_free(number, (uint32_t)i + 1);
    for (int64_t i = 0; i < g->buffers.n; i++) pt_gpu_buffer_free(number, (uint32_t)i + 1);
    for (int64_t i = 0; i < g->readings.n; i++)
        if (g->readings.slot[i]) free_reading(g, g->readings.slot[i]);
    for (int i = 0; i < SPARE_READINGS; i++)
        if (g->spare[i]) free_reading(g, g->spare[i]);
    pt_free(g->groups.slot);
    pt_free(g->pipelines.slot);
    pt_free(g->buffers.slot);
    pt_free(g->readings.slot);
}

/* Compilers write where they were told to. One that does not end must not keep the program. */
static bool wait_for_compilers(gpu *g)
{
    int64_t begun = pt_platform_monotonic_ns();
    while (g->compiling && !g->failure) {
        if (pt_platform_monotonic_ns() - begun > CLOSE_SECONDS * (int64_t)1000000000) return false;
        process_events(g);
        pt_platform_yield();
    }
    return true;
}

void pt_gpu_close(uint32_t number)
{
    gpu *g = gpu_of(number);
    end_encoding(g);
    if (g->encoder) pt_wgpu.CommandEncoderRelease(g->encoder);
    if (!wait_for_compilers(g)) {
        gpus[number - 1] = NULL; /* the rest is left as it is */
        return;
    }
    g->closing = true;
    if (g->device) pt_wgpu.DeviceDestroy(g->device);
    for (int i = 0; i < 3; i++) process_events(g); /* callbacks that were cancelled */
    free_tables(g, number);
    for (int i = 0; i <= MOST_BINDINGS; i++) {
        if (g->layout[i]) pt_wgpu.PipelineLayoutRelease(g->layout[i]);
        if (g->group_layout[i]) pt_wgpu.BindGroupLayoutRelease(g->group_layout[i]);
    }
    if (g->queue) pt_wgpu.QueueRelease(g->queue);
    if (g->device) pt_wgpu.DeviceRelease(g->device);
    if (g->adapter) pt_wgpu.AdapterRelease(g->adapter);
    if (g->instance) pt_wgpu.InstanceRelease(g->instance);
    gpus[number - 1] = NULL;
    pt_free(g);
}

/* ---- facts ---- */

double pt_gpu_number(uint32_t number, int32_t which)
{
    const gpu *g = gpu_of(number);
    const WGPULimits *l = &g->limits;
    switch ((pt_gpu_number_of)which) {
    case PT_GPU_BINDING_BYTES: return (double)l->storage_bytes;
    case PT_GPU_BUFFER_BYTES: return (double)l->buffer_bytes;
    case PT_GPU_BINDINGS:
        return l->storage_buffers < MOST_BINDINGS ? l->storage_buffers : MOST_BINDINGS;
    case PT_GPU_WORKGROUP_BYTES: return l->workgroup_bytes;
    case PT_GPU_INVOCATIONS: return l->invocations;
    case PT_GPU_STORAGE_ALIGNMENT: return l->storage_alignment;
    case PT_GPU_UNIFORM_ALIGNMENT: return l->uniform_alignment;
    case PT_GPU_SOFTWARE: return g->software;
    case PT_GPU_F16: return g->f16;
    case PT_GPU_SUBGROUPS: return g->subgroups;
    case PT_GPU_SUBGROUP_MATRIX: return g->matrix;
    case PT_GPU_LIVE_BUFFERS: return (double)g->live_buffers;
    case PT_GPU_LIVE_BYTES: return (double)g->live_bytes;
    }
    return 0;
}

void pt_gpu_words(uint32_t number, int32_t which, char *out, int32_t cap)
{
    const gpu *g = gpu_of(number);
    pt_format(out, (size_t)cap, "%s", which == PT_GPU_ADAPTER ? g->adapter_name : g->said);
}

int32_t pt_gpu_failure(uint32_t number) { return (int32_t)gpu_of(number)->failure; }

/* ---- buffers ---- */

static WGPUBuffer make_buffer(gpu *g, uint64_t usage, uint64_t bytes)
{
    WGPUBufferDescriptor d = {.usage = usage, .bytes = bytes};
    return pt_wgpu.DeviceCreateBuffer(g->device, &d);
}

uint32_t pt_gpu_buffer_new(uint32_t number, int32_t kind, double bytes)
{
    gpu *g = gpu_of(number);
    buffer *b = pt_alloc(sizeof *b);
    if (!b) return 0;
    uint64_t use =
        kind == PT_GPU_UNIFORM ? WGPU_USAGE_UNIFORM : WGPU_USAGE_STORAGE | WGPU_USAGE_COPY_SRC;
    b->bytes = (uint64_t)bytes;
    b->object = make_buffer(g, use | WGPU_USAGE_COPY_DST, b->bytes);
    uint32_t index = b->object ? table_add(&g->buffers, b) : 0;
    if (!index) {
        pt_free(b);
        return 0;
    }
    g->live_buffers++;
    g->live_bytes += (int64_t)b->bytes;
    return index;
}

void pt_gpu_buffer_free(uint32_t number, uint32_t index)
{
    gpu *g = gpu_of(number);
    buffer *b = table_get(&g->buffers, index);
    if (!b) return;
    g->live_buffers--;
    g->live_bytes -= (int64_t)b->bytes;
    pt_wgpu.BufferDestroy(b->object);
    pt_wgpu.BufferRelease(b->object);
    g->buffers.slot[index - 1] = NULL;
    pt_free(b);
}

void pt_gpu_write(uint32_t number, uint32_t index, double offset, const void *src, double bytes)
{
    gpu *g = gpu_of(number);
    buffer *b = table_get(&g->buffers, index);
    if (b && !g->failure)
        pt_wgpu.QueueWriteBuffer(g->queue, b->object, (uint64_t)offset, src, (size_t)bytes);
}

/* ---- pipelines and groups ---- */

uint32_t pt_gpu_pipeline_new(uint32_t number, const char *wgsl, int32_t n, const char *entry,
                             int32_t bindings, int32_t trial)
{
    gpu *g = gpu_of(number);
    pipeline *p = pt_alloc(sizeof *p);
    uint32_t index = p ? table_add(&g->pipelines, p) : 0;
    if (!index) {
        pt_free(p);
        return 0;
    }
    p->trial = trial != 0;
    compile(g, p, wgsl, (size_t)n, entry, g->layout[bindings]);
    return index;
}

int32_t pt_gpu_pipeline_state(uint32_t number, uint32_t index)
{
    gpu *g = gpu_of(number);
    const pipeline *p = table_get(&g->pipelines, index);
    if (p->state == PT_GPU_WAITING) process_events(g);
    if (p->state == PT_GPU_WAITING) pt_platform_yield(); /* a compiler needs the processor */
    return (int32_t)p->state;
}

void pt_gpu_pipeline_free(uint32_t number, uint32_t index)
{
    gpu *g = gpu_of(number);
    pipeline *p = table_get(&g->pipelines, index);
    if (!p) return;
    g->pipelines.slot[index - 1] = NULL;
    release_pipeline(p);
}

uint32_t pt_gpu_group_new(uint32_t number, uint32_t uniform, const pt_gpu_range *range, int32_t n)
{
    gpu *g = gpu_of(number);
    WGPUGroupEntry entry[MOST_BINDINGS + 1] = {0};
    const buffer *b = table_get(&g->buffers, uniform);
    entry[0].buffer = b->object;
    entry[0].bytes = UNIFORM_SLOT;
    for (int32_t i = 0; i < n; i++) {
        b = table_get(&g->buffers, range[i].buffer);
        entry[i + 1].binding = (uint32_t)i + 1;
        entry[i + 1].buffer = b->object;
        entry[i + 1].offset = (uint64_t)range[i].offset;
        entry[i + 1].bytes = (uint64_t)range[i].bytes;
    }
    WGPUGroupDescriptor d = {.layout = g->group_layout[n], .n = (size_t)n + 1, .entries = entry};
    WGPUBindGroup group = pt_wgpu.DeviceCreateBindGroup(g->device, &d);
    return group ? table_add(&g->groups, group) : 0;
}

void pt_gpu_group_free(uint32_t number, uint32_t index)
{
    gpu *g = gpu_of(number);
    void *group = table_get(&g->groups, index);
    if (!group) return;
    pt_wgpu.BindGroupRelease(group);
    g->groups.slot[index - 1] = NULL;
}

/* ---- commands ---- */

static WGPUCommandEncoder encoder_of(gpu *g)
{
    if (!g->encoder) g->encoder = pt_wgpu.DeviceCreateCommandEncoder(g->device, NULL);
    return g->encoder;
}

/* For what is no dispatch. */
static WGPUCommandEncoder outside_pass(gpu *g)
{
    end_encoding(g);
    return encoder_of(g);
}

void pt_gpu_dispatch(uint32_t number, uint32_t pipe, uint32_t group, uint32_t uniform_offset,
                     const uint32_t *groups)
{
    gpu *g = gpu_of(number);
    const pipeline *p = table_get(&g->pipelines, pipe);
    WGPUBindGroup bound = table_get(&g->groups, group);
    if (g->failure || !p || !p->object || !bound) return;
    if (!g->pass) g->pass = pt_wgpu.CommandEncoderBeginComputePass(encoder_of(g), NULL);
    pt_wgpu.ComputePassEncoderSetPipeline(g->pass, p->object);
    pt_wgpu.ComputePassEncoderSetBindGroup(g->pass, 0, bound, 1, &uniform_offset);
    pt_wgpu.ComputePassEncoderDispatchWorkgroups(g->pass, groups[0], groups[1], groups[2]);
}

void pt_gpu_copy(uint32_t number, uint32_t to, double to_offset, uint32_t from, double from_offset,
                 double bytes)
{
    gpu *g = gpu_of(number);
    const buffer *a = table_get(&g->buffers, to), *b = table_get(&g->buffers, from);
    if (g->failure) return;
    pt_wgpu.CommandEncoderCopyBufferToBuffer(outside_pass(g), b->object, (uint64_t)from_offset,
                                             a->object, (uint64_t)to_offset, (uint64_t)bytes);
}

void pt_gpu_clear(uint32_t number, uint32_t index, double offset, double bytes)
{
    gpu *g = gpu_of(number);
    const buffer *b = table_get(&g->buffers, index);
    if (g->failure) return;
    pt_wgpu.CommandEncoderClearBuffer(outside_pass(g), b->object, (uint64_t)offset,
                                      (uint64_t)bytes);
}

static reading *reading_for(gpu *g, uint64_t bytes)
{
    for (int i = 0; i < SPARE_READINGS; i++) {
        reading *r = g->spare[i];
        if (!r || r->bytes != bytes) continue;
        g->spare[i] = NULL;
        *r = (reading){.object = r->object, .bytes = bytes};
        return r;
    }
    reading *r = pt_alloc(sizeof *r);
    if (!r) return NULL;
    r->bytes = bytes;
    r->object = make_buffer(g, WGPU_USAGE_MAP_READ | WGPU_USAGE_COPY_DST, bytes);
    if (!r->object) {
        pt_free(r);
        return NULL;
    }
    g->live_buffers++;
    g->live_bytes += (int64_t)bytes;
    return r;
}

/* Large ones are not kept. */
static void keep_spare(gpu *g, reading *r)
{
    int i = 0;
    while (i < SPARE_READINGS && g->spare[i]) i++;
    if (i == SPARE_READINGS || r->state != PT_GPU_READY || r->bytes > MOST_SPARE_BYTES) {
        free_reading(g, r);
        return;
    }
    pt_wgpu.BufferUnmap(r->object);
    g->spare[i] = r;
}

uint32_t pt_gpu_read_begin(uint32_t number, uint32_t index, double offset, double bytes)
{
    gpu *g = gpu_of(number);
    const buffer *b = table_get(&g->buffers, index);
    reading *r = g->failure ? NULL : reading_for(g, (uint64_t)bytes);
    if (!r) return 0;
    uint32_t at = table_add(&g->readings, r);
    if (!at) {
        free_reading(g, r);
        return 0;
    }
    pt_wgpu.CommandEncoderCopyBufferToBuffer(outside_pass(g), b->object, (uint64_t)offset,
                                             r->object, 0, r->bytes);
    return at;
}

int32_t pt_gpu_read_poll(uint32_t number, uint32_t index, void *dst)
{
    gpu *g = gpu_of(number);
    reading *r = table_get(&g->readings, index);
    if (!r || g->failure) return PT_GPU_FAILED;
    if (r->state != PT_GPU_READY) process_events(g);
    if (g->failure) return PT_GPU_FAILED;
    bool may_be_lost =
        r->state == PT_GPU_FAILED && pt_platform_monotonic_ns() - r->failed_ns < LOSS_NS;
    if (r->state == PT_GPU_WAITING || may_be_lost) {
        pt_platform_yield(); /* an emulated GPU needs the processor */
        return PT_GPU_WAITING;
    }
    const void *bytes =
        r->state == PT_GPU_READY ? pt_wgpu.BufferGetConstMappedRange(r->object, 0, r->bytes) : NULL;
    if (bytes) memcpy(dst, bytes, r->bytes);
    g->readings.slot[index - 1] = NULL;
    keep_spare(g, r);
    return bytes ? PT_GPU_READY : PT_GPU_FAILED;
}

/* What is read back is mapped as soon as the copy to it is on its way. */
static void map_submitted(gpu *g)
{
    for (int64_t i = 0; i < g->readings.n; i++) {
        reading *r = g->readings.slot[i];
        if (!r || r->submission) continue;
        r->submission = g->submitted;
        WGPUCallbackInfo answer = {
            .mode = WGPU_CALLBACK_PROCESS_EVENTS, .callback = (WGPUCallback)on_map, .user1 = r};
        pt_wgpu.BufferMapAsync(r->object, WGPU_MAP_READ, 0, r->bytes, answer);
    }
}

void pt_gpu_submit(uint32_t number)
{
    gpu *g = gpu_of(number);
    if (!g->encoder || g->failure) return;
    end_encoding(g);
    WGPUCommandBuffer commands = pt_wgpu.CommandEncoderFinish(g->encoder, NULL);
    pt_wgpu.QueueSubmit(g->queue, 1, &commands);
    pt_wgpu.CommandBufferRelease(commands);
    pt_wgpu.CommandEncoderRelease(g->encoder);
    g->encoder = NULL;
    g->submitted++;
    WGPUCallbackInfo answer = {.mode = WGPU_CALLBACK_PROCESS_EVENTS,
                               .callback = (WGPUCallback)on_done};
    pt_wgpu.QueueOnSubmittedWorkDone(g->queue, answer);
    map_submitted(g);
}

double pt_gpu_done(uint32_t number)
{
    gpu *g = gpu_of(number);
    process_events(g);
    return (double)g->done;
}
