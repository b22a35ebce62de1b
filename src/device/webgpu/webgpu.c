/* The WebGPU device. SPDX-License-Identifier: MIT */
#include "device/webgpu/webgpu.h"

#include "base/format.h"
#include "device/webgpu/bindings.h"
#include "device/webgpu/choice.h"
#include "device/webgpu/queue.h"
#include "device/webgpu/trial.h"

#define MOST_SHADERS 32
#define FIRST_PIPELINES 64
#define FIRST_GROUPS 512
#define READ_EVERY 8
#define MOST_RETIRED 48
#define LEAST_SCRATCH (1 << 20)

/* What tells one pipeline from another. */
typedef struct pipeline_key {
    const pt_shader *shader;
    const char *entry;
    uint32_t constant[PT_WG_MOST_CONSTANTS];
    pt_shader_use use[PT_SHADER_MOST_NAMES];
} pipeline_key;

typedef struct pipeline {
    pipeline_key key;
    uint32_t pipeline;
} pipeline;

typedef struct group {
    pt_wg_ranges key;
    uint64_t hash;
    uint32_t group; /* 0: free */
} group;

typedef struct gpu_device {
    pt_device base;
    uint32_t gpu;
    pt_wg_limits limits;
    int64_t alignment, memory_bytes, most_groups;
    pt_wg_queue queue;
    pt_shader shader[MOST_SHADERS];
    int n_shaders;
    pipeline *pipelines;
    int64_t n_pipelines, pipeline_capacity;
    group *groups; /* a hash table, at most half full */
    int64_t n_groups, group_capacity;
    pt_buffer *scratch[2], *retired[MOST_RETIRED];
    int n_retired;
    pt_strbuf text;
    pt_webgpu_options options;
    bool compile_only;
    pt_wg_choice choice;
    pt_wg_choosing *choosing; /* under way */
    bool chosen;
    char adapter[256], said[160];
} gpu_device;

static gpu_device *of(pt_device *device) { return (gpu_device *)device; }

const pt_webgpu_options *pt_wg_options_of(const pt_device *device)
{
    return &((const gpu_device *)device)->options;
}

uint32_t pt_wg_host_of(const pt_device *device) { return ((const gpu_device *)device)->gpu; }

const pt_wg_choice *pt_wg_choice_of(const pt_device *device)
{
    return &((const gpu_device *)device)->choice;
}

void pt_wg_choose(pt_device *device, const pt_wg_choice *choice) { of(device)->choice = *choice; }

const pt_wg_limits *pt_wg_limits_of(const pt_device *device)
{
    return &((const gpu_device *)device)->limits;
}

int64_t pt_wg_rows_that_fit(const pt_device *device, const pt_tensor *t)
{
    int64_t row = pt_tensor_bytes(t) / pt_max_i64(t->dim[0], 1);
    int64_t room = pt_wg_limits_of(device)->binding_bytes - PT_WG_BUFFER_UNIT;
    return pt_max_i64(room / pt_max_i64(row, 1), 1);
}

/* What the GPU had to say, as one of ours. */
static pt_status failure(gpu_device *d, pt_error *err)
{
    int32_t kind = pt_gpu_failure(d->gpu);
    if (!kind) return PT_OK;
    pt_gpu_words(d->gpu, PT_GPU_FAILURE, d->said, sizeof d->said);
    if (kind == PT_GPU_LOST) return pt_fail(err, PT_LOST, "the GPU was lost: %s", d->said);
    if (kind == PT_GPU_OUT_OF_MEMORY)
        return pt_fail(err, PT_NO_MEMORY,
                       "the GPU has no memory for this: choose a smaller model, batch or context "
                       "(%s)",
                       d->said);
    return pt_fail(err, PT_INTERNAL, "the GPU refused a command: %s", d->said);
}

/* ---- memory ---- */

static pt_status gpu_buffer_new(pt_device *device, int64_t bytes, pt_buffer *out, pt_error *err)
{
    gpu_device *d = of(device);
    int64_t whole = pt_round_up(pt_max_i64(bytes, 1), PT_WG_BUFFER_UNIT);
    if (whole > device->largest_buffer)
        return pt_fail(err, PT_NO_MEMORY,
                       "needs a buffer of %.2f GB, this GPU allows %.2f GB: choose a smaller "
                       "model, batch or context",
                       (double)whole / 1e9, (double)device->largest_buffer / 1e9);
    if (d->memory_bytes && device->allocated_bytes + whole > d->memory_bytes)
        return pt_fail(err, PT_NO_MEMORY, "the GPU has no memory for %.2f GB more",
                       (double)whole / 1e9);
    out->handle = pt_gpu_buffer_new(d->gpu, PT_GPU_STORAGE, (double)whole);
    pt_status s = failure(d, err);
    if (s == PT_OK && !out->handle) s = pt_fail(err, PT_NO_MEMORY, "no memory for a buffer");
    return s;
}

static void forget_groups(gpu_device *d, uint32_t buffer);

static void gpu_buffer_free(pt_device *device, pt_buffer *buffer)
{
    gpu_device *d = of(device);
    pt_wg_queue_pump(&d->queue);
    forget_groups(d, (uint32_t)buffer->handle);
    pt_gpu_buffer_free(d->gpu, (uint32_t)buffer->handle);
}

static pt_wg_record *record(gpu_device *d, pt_wg_record_kind kind, pt_error *err)
{
    pt_wg_record *r = pt_wg_queue_add(&d->queue);
    if (r) r->kind = kind;
    else (void)pt_fail(err, PT_NO_MEMORY, "no memory to record work");
    return r;
}

/* Up to 3 bytes behind `bytes` become zero: tensors of bytes lie apart by more than that. */
static pt_status gpu_upload(pt_device *device, const pt_tensor *dst, const void *src, int64_t bytes,
                            pt_error *err)
{
    gpu_device *d = of(device);
    int64_t whole = bytes / 4 * 4;
    uint32_t buffer = (uint32_t)dst->buffer->handle;
    if (dst->offset % 4)
        return pt_fail(err, PT_INTERNAL, "an upload to an offset of %lld bytes",
                       (long long)dst->offset);
    if (d->queue.n == 0 && whole == bytes) { /* nothing is before it: no copy is needed */
        pt_gpu_write(d->gpu, buffer, (double)dst->offset, src, (double)bytes);
        return failure(d, err);
    }
    pt_wg_record *r = record(d, PT_WG_WRITE, err);
    if (!r) return PT_NO_MEMORY;
    r->to = buffer;
    r->to_offset = dst->offset;
    r->bytes = pt_round_up(bytes, 4);
    r->data = pt_alloc((size_t)r->bytes);
    if (!r->data) {
        d->queue.n--;
        return pt_fail(err, PT_NO_MEMORY, "no memory to record work");
    }
    if (bytes) memcpy(r->data, src, (size_t)bytes);
    return PT_OK;
}

static pt_status gpu_download_begin(pt_device *device, const pt_tensor *src, void *dst,
                                    int64_t bytes, pt_download *download, pt_error *err)
{
    gpu_device *d = of(device);
    download->ticket =
        pt_wg_queue_read(&d->queue, (uint32_t)src->buffer->handle, src->offset, bytes, dst);
    if (download->ticket) return PT_OK;
    return pt_fail(err, PT_NO_MEMORY, "too many downloads at once");
}

static pt_status gpu_download_poll(pt_device *device, pt_download *download, pt_error *err)
{
    gpu_device *d = of(device);
    pt_gpu_state state = pt_wg_queue_poll(&d->queue, download->ticket);
    if (state == PT_GPU_READY) return PT_OK;
    pt_status s = failure(d, err);
    if (s) return s;
    if (state == PT_GPU_WAITING) return PT_PENDING;
    return pt_fail(err, PT_INTERNAL, "the GPU does not give its bytes back");
}

static pt_status gpu_fill_zero(pt_device *device, const pt_tensor *t, pt_error *err)
{
    pt_wg_record *r = record(of(device), PT_WG_CLEAR, err);
    if (!r) return PT_NO_MEMORY;
    r->to = (uint32_t)t->buffer->handle;
    r->to_offset = t->offset;
    r->bytes = pt_round_up(pt_tensor_bytes(t), 4);
    return PT_OK;
}

static pt_status gpu_copy(pt_device *device, const pt_tensor *dst, const pt_tensor *src,
                          pt_error *err)
{
    gpu_device *d = of(device);
    if (dst->buffer == src->buffer) { /* WebGPU copies between two buffers only */
        pt_tensor between;
        pt_status s = pt_wg_scratch(device, pt_tensor_bytes(src), &between, err);
        if (s == PT_OK) s = gpu_copy(device, &between, src, err);
        return s == PT_OK ? gpu_copy(device, dst, &between, err) : s;
    }
    pt_wg_record *r = record(d, PT_WG_COPY, err);
    if (!r) return PT_NO_MEMORY;
    r->to = (uint32_t)dst->buffer->handle;
    r->to_offset = dst->offset;
    r->from = (uint32_t)src->buffer->handle;
    r->from_offset = src->offset;
    r->bytes = pt_round_up(pt_tensor_bytes(src), 4);
    return PT_OK;
}

static pt_status scratch_of(pt_device *device, pt_buffer **scratch, int64_t bytes, pt_tensor *out,
                            pt_error *err)
{
    gpu_device *d = of(device);
    if (!*scratch || (*scratch)->bytes < bytes) {
        pt_buffer *more;
        int64_t had = *scratch ? (*scratch)->bytes : LEAST_SCRATCH / 2;
        pt_status s = pt_buffer_new(device, pt_max_i64(bytes, 2 * had), &more, err);
        if (s) return s;
        /* what was recorded still names the old one; each is at least twice the last, so they are few */
        if (*scratch) d->retired[d->n_retired++] = *scratch;
        *scratch = more;
    }
    *out = (pt_tensor){.buffer = *scratch, .dtype = PT_F32};
    *out = pt_view(out, bytes / 4, 0, 0, 0);
    return PT_OK;
}

pt_status pt_wg_scratch(pt_device *device, int64_t bytes, pt_tensor *out, pt_error *err)
{
    return scratch_of(device, &of(device)->scratch[0], bytes, out, err);
}

pt_status pt_wg_second_scratch(pt_device *device, int64_t bytes, pt_tensor *out, pt_error *err)
{
    return scratch_of(device, &of(device)->scratch[1], bytes, out, err);
}

/* ---- pipelines and groups ---- */

static pt_status shader_of(gpu_device *d, const char *name, const pt_shader **out, pt_error *err)
{
    for (int i = 0; i < d->n_shaders; i++) {
        *out = &d->shader[i];
        if (d->shader[i].name == name || strcmp(d->shader[i].name, name) == 0) return PT_OK;
    }
    if (d->n_shaders == MOST_SHADERS) return pt_fail(err, PT_INTERNAL, "too many shaders");
    *out = &d->shader[d->n_shaders];
    pt_status s = pt_shader_find(name, &d->shader[d->n_shaders], err);
    if (s == PT_OK) d->n_shaders++;
    return s;
}

static bool same_pipeline(const pipeline_key *a, const pipeline_key *b)
{
    return a->shader == b->shader && memcmp(a->constant, b->constant, sizeof a->constant) == 0 &&
           memcmp(a->use, b->use, sizeof a->use) == 0 &&
           (a->entry == b->entry || strcmp(a->entry, b->entry) == 0);
}

static pt_status make_pipeline(gpu_device *d, const pipeline_key *key, const pt_wg_call *call,
                               int bindings, uint32_t *out, pt_error *err)
{
    if (d->n_pipelines == d->pipeline_capacity) {
        int64_t more = d->pipeline_capacity ? 2 * d->pipeline_capacity : FIRST_PIPELINES;
        pipeline *all = pt_realloc(d->pipelines, (size_t)d->pipeline_capacity * sizeof *all,
                                   (size_t)more * sizeof *all);
        if (!all) return pt_fail(err, PT_NO_MEMORY, "no memory for a pipeline");
        d->pipelines = all;
        d->pipeline_capacity = more;
    }
    pt_strbuf_clear(&d->text);
    pt_shader_write(key->shader, key->use, call, &d->text);
    if (d->text.failed) return pt_fail(err, PT_NO_MEMORY, "no memory for a shader");
    *out = pt_gpu_pipeline_new(d->gpu, d->text.data, (int32_t)d->text.len, call->entry, bindings,
                               d->compile_only);
    if (!*out) return pt_fail(err, PT_NO_MEMORY, "no memory for a pipeline");
    d->pipelines[d->n_pipelines++] = (pipeline){*key, *out};
    return PT_OK;
}

static pt_status pipeline_of(gpu_device *d, const pipeline_key *key, const pt_wg_call *call,
                             int bindings, uint32_t *out, pt_error *err)
{
    for (int64_t i = 0; i < d->n_pipelines; i++) {
        *out = d->pipelines[i].pipeline;
        if (same_pipeline(&d->pipelines[i].key, key)) return PT_OK;
    }
    return make_pipeline(d, key, call, bindings, out, err);
}

void pt_wg_compile_only(pt_device *device, bool on) { of(device)->compile_only = on; }

int64_t pt_wg_pipelines(const pt_device *device)
{
    return ((const gpu_device *)device)->n_pipelines;
}

pt_status pt_wg_pipelines_poll(pt_device *device, int64_t first, bool *failed, pt_error *err)
{
    gpu_device *d = of(device);
    bool waits = false;
    *failed = false;
    for (int64_t i = first; i < d->n_pipelines; i++) {
        int32_t state = pt_gpu_pipeline_state(d->gpu, d->pipelines[i].pipeline);
        waits |= state == PT_GPU_WAITING;
        *failed |= state == PT_GPU_FAILED;
    }
    device->waits = waits && !*failed;
    pt_status s = failure(d, err);
    return s == PT_OK && device->waits ? PT_PENDING : s;
}

void pt_wg_pipelines_drop(pt_device *device, int64_t first)
{
    gpu_device *d = of(device);
    while (d->n_pipelines > first)
        pt_gpu_pipeline_free(d->gpu, d->pipelines[--d->n_pipelines].pipeline);
}

static uint64_t hash_of(const pt_wg_ranges *key)
{
    const uint64_t *word = (const uint64_t *)(const void *)key;
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < sizeof *key / sizeof *word; i++) {
        h = (h ^ word[i]) * 1099511628211u;
        h ^= h >> 29;
    }
    return h;
}

static group *group_slot(gpu_device *d, const pt_wg_ranges *key, uint64_t hash)
{
    int64_t mask = d->group_capacity - 1;
    for (int64_t i = (int64_t)hash & mask;; i = (i + 1) & mask) {
        group *g = &d->groups[i];
        if (!g->group || (g->hash == hash && memcmp(&g->key, key, sizeof *key) == 0)) return g;
    }
}

/* The table anew, with room, without those that name `gone`. */
static bool rehash(gpu_device *d, int64_t capacity, uint32_t gone)
{
    group *old = d->groups;
    int64_t n = d->group_capacity;
    group *fresh = pt_alloc((size_t)capacity * sizeof *fresh);
    if (!fresh) return false;
    d->groups = fresh;
    d->group_capacity = capacity;
    d->n_groups = 0;
    for (int64_t i = 0; i < n; i++) {
        bool names = false;
        for (int r = 0; r < old[i].key.n; r++) names |= gone && old[i].key.range[r].buffer == gone;
        if (!old[i].group) continue;
        if (names) {
            pt_gpu_group_free(d->gpu, old[i].group);
        } else {
            *group_slot(d, &old[i].key, old[i].hash) = old[i];
            d->n_groups++;
        }
    }
    pt_free(old);
    return true;
}

static void forget_groups(gpu_device *d, uint32_t buffer)
{
    (void)rehash(d, d->group_capacity, buffer);
}

static pt_status group_of(gpu_device *d, const pt_wg_ranges *key, uint32_t *out, pt_error *err)
{
    if (2 * d->n_groups >= d->group_capacity && !rehash(d, 2 * d->group_capacity, 0))
        return pt_fail(err, PT_NO_MEMORY, "no memory to bind buffers");
    uint64_t hash = hash_of(key);
    group *g = group_slot(d, key, hash);
    if (!g->group) {
        g->group = pt_gpu_group_new(d->gpu, d->queue.uniform, key->range, key->n);
        if (!g->group) return pt_fail(err, PT_NO_MEMORY, "no memory to bind buffers");
        g->key = *key;
        g->hash = hash;
        d->n_groups++;
    }
    *out = g->group;
    return PT_OK;
}

/* ---- a dispatch ---- */

#define MOST_GROUPS 65535 /* along one dimension, on every GPU */

static pt_status count_groups(const gpu_device *d, const pt_wg_call *call, pt_wg_record *r,
                              pt_error *err)
{
    int64_t most = d->most_groups;
    int64_t x = call->groups[0], y = pt_max_i64(call->groups[1], 1),
            z = pt_max_i64(call->groups[2], 1);
    if (call->groups[1] == 0 && call->groups[2] == 0 && x > most) {
        y = pt_div_up(x, most);
        x = most;
    }
    if (x < 1 || x > MOST_GROUPS || y > MOST_GROUPS || z > MOST_GROUPS)
        return pt_fail(err, PT_UNSUPPORTED, "shader %s %s: %lld x %lld x %lld workgroups",
                       call->shader, call->entry, (long long)x, (long long)y, (long long)z);
    r->groups[0] = (uint32_t)x;
    r->groups[1] = (uint32_t)y;
    r->groups[2] = (uint32_t)z;
    return PT_OK;
}

pt_status pt_wg_run(pt_device *device, const pt_wg_call *call, pt_error *err)
{
    gpu_device *d = of(device);
    pipeline_key key;
    pt_wg_bindings bindings;
    pt_wg_record made = {.kind = PT_WG_DISPATCH, .work = call->work};
    memset(&key, 0, sizeof key);
    pt_status s = shader_of(d, call->shader, &key.shader, err);
    if (s == PT_OK) s = pt_wg_bind(&d->limits, d->alignment, key.shader, call, &bindings, err);
    if (s) return s;
    key.entry = call->entry;
    for (int i = 0; i < PT_WG_MOST_CONSTANTS; i++) key.constant[i] = call->constant[i].value;
    memcpy(key.use, bindings.use, sizeof key.use);
    s = pipeline_of(d, &key, call, bindings.ranges.n, &made.pipeline, err);
    if (d->compile_only) return s;
    if (s == PT_OK) s = group_of(d, &bindings.ranges, &made.group, err);
    if (s == PT_OK) s = count_groups(d, call, &made, err);
    if (s) return s;
    memcpy(made.word, bindings.offset, sizeof bindings.offset);
    memcpy(made.word + PT_SHADER_OFFSET_WORDS, call->word, (size_t)call->n_words * 4);
    pt_wg_record *r = record(d, PT_WG_DISPATCH, err);
    if (!r) return PT_NO_MEMORY;
    *r = made;
    return PT_OK;
}

/* ---- the device ---- */

typedef pt_status (*kernels)(pt_device *device, pt_pass pass, const void *args, pt_error *err);

static const kernels table[PT_OP_COUNT] = {
#define PT_OP(name, tensors, backward, cpu, formula) [PT_OP_##name] = pt_##name##_webgpu,
#include "tensor/ops.def"
#undef PT_OP
};

static bool gpu_supports(const pt_device *device, pt_op op, pt_pass pass)
{
    (void)device;
    return table[op] && (pass == PT_FORWARD || pt_op_info_of(op)->has_backward);
}

static pt_status gpu_launch(pt_device *device, pt_op op, pt_pass pass, const void *args,
                            size_t args_bytes, pt_error *err)
{
    (void)args_bytes;
    return table[op](device, pass, args, err);
}

static pt_status gpu_submit(pt_device *device, pt_error *err)
{
    gpu_device *d = of(device);
    pt_wg_queue_hand_over(&d->queue);
    pt_wg_queue_pump(&d->queue);
    return failure(d, err);
}

static pt_status gpu_ready(pt_device *device, pt_error *err)
{
    gpu_device *d = of(device);
    device->waits = false;
    if (d->chosen || d->limits.software) return PT_OK;
    pt_status s = d->choosing ? PT_OK : pt_wg_choosing_new(&d->choosing, device, err);
    if (s == PT_OK) s = pt_wg_choosing_poll(d->choosing, err);
    if (s) return s;
    pt_wg_choosing_free(d->choosing);
    d->choosing = NULL;
    d->chosen = true;
    if (*d->choice.remark) device->remark = d->choice.remark;
    return PT_OK;
}

static void gpu_free(pt_device *device)
{
    gpu_device *d = of(device);
    pt_wg_choosing_free(d->choosing);
    for (int i = 0; i < 2; i++) pt_buffer_free(d->scratch[i]);
    while (d->n_retired) pt_buffer_free(d->retired[--d->n_retired]);
    pt_wg_queue_deinit(&d->queue);
    if (d->gpu) pt_gpu_close(d->gpu);
    pt_strbuf_deinit(&d->text);
    pt_free(d->pipelines);
    pt_free(d->groups);
    pt_free(d);
}

static const pt_device_vtable gpu_vtable = {
    .buffer_new = gpu_buffer_new,
    .buffer_free = gpu_buffer_free,
    .upload = gpu_upload,
    .download_begin = gpu_download_begin,
    .download_poll = gpu_download_poll,
    .fill_zero = gpu_fill_zero,
    .copy = gpu_copy,
    .supports = gpu_supports,
    .launch = gpu_launch,
    .submit = gpu_submit,
    .ready = gpu_ready,
    .free = gpu_free,
};

static int64_t number(const gpu_device *d, pt_gpu_number_of which)
{
    return (int64_t)pt_gpu_number(d->gpu, (int32_t)which);
}

void pt_device_webgpu_census(const pt_device *device, int64_t *buffers, int64_t *bytes)
{
    *buffers = number((const gpu_device *)device, PT_GPU_LIVE_BUFFERS);
    *bytes = number((const gpu_device *)device, PT_GPU_LIVE_BYTES);
}

static void read_limits(gpu_device *d)
{
    d->limits = (pt_wg_limits){.binding_bytes = number(d, PT_GPU_BINDING_BYTES),
                               .workgroup_bytes = number(d, PT_GPU_WORKGROUP_BYTES),
                               .invocations = number(d, PT_GPU_INVOCATIONS),
                               .bindings = number(d, PT_GPU_BINDINGS),
                               .f16 = number(d, PT_GPU_F16) != 0,
                               .subgroups = number(d, PT_GPU_SUBGROUPS) != 0,
                               .subgroup_matrix = number(d, PT_GPU_SUBGROUP_MATRIX) != 0,
                               .software = number(d, PT_GPU_SOFTWARE) != 0};
    d->alignment = number(d, PT_GPU_STORAGE_ALIGNMENT);
    d->base.largest_buffer = number(d, PT_GPU_BUFFER_BYTES);
    d->base.own_memory = !d->limits.software;
    pt_gpu_words(d->gpu, PT_GPU_ADAPTER, d->adapter, sizeof d->adapter);
}

static pt_status open_device(gpu_device *d, const pt_webgpu_options *options, pt_error *err)
{
    char why[256] = "";
    d->gpu = pt_gpu_open(options->software, why, sizeof why);
    if (!d->gpu) return pt_fail(err, PT_UNSUPPORTED, "no GPU: %s", why);
    read_limits(d);
    d->options = *options;
    if (options->tuned) d->limits.software = false;
    pt_wg_choice_init(&d->choice, options->tuned);
    if (options->binding_bytes)
        d->limits.binding_bytes = pt_min_i64(d->limits.binding_bytes, options->binding_bytes);
    if (options->buffer_bytes)
        d->base.largest_buffer = pt_min_i64(d->base.largest_buffer, options->buffer_bytes);
    d->base.largest_tensor = d->limits.binding_bytes - PT_WG_BUFFER_UNIT;
    d->memory_bytes = options->memory_bytes;
    d->most_groups = options->groups ? options->groups : MOST_GROUPS;
    d->group_capacity = FIRST_GROUPS;
    d->groups = pt_alloc((size_t)d->group_capacity * sizeof *d->groups);
    if (!d->groups) return pt_fail(err, PT_NO_MEMORY, "no memory for device webgpu");
    return pt_wg_queue_init(&d->queue, d->gpu, d->limits.software, err);
}

pt_status pt_device_webgpu_new(pt_device **out, const pt_webgpu_options *options, pt_error *err)
{
    *out = NULL;
    gpu_device *d = pt_alloc(sizeof *d);
    if (!d) return pt_fail(err, PT_NO_MEMORY, "no memory for device webgpu");
    d->base.vtable = &gpu_vtable;
    d->base.name = "webgpu";
    d->base.detail = d->adapter;
    d->base.compute = PT_F32;
    d->base.packed = d->base.compiles = true;
    d->base.read_every = READ_EVERY;
    pt_status s = open_device(d, options, err);
    if (s) gpu_free(&d->base);
    else *out = &d->base;
    return s;
}
