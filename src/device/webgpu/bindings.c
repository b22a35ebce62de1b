/* How one call reaches its tensors. SPDX-License-Identifier: MIT */
#include "device/webgpu/bindings.h"

/* A call while it is looked at. */
typedef struct placing {
    const pt_shader *shader;
    const pt_wg_call *call;
    int64_t alignment;
    int declared[PT_WG_MOST_TENSORS]; /* of each tensor: index of its declaration; -1: absent */
    int range[PT_WG_MOST_TENSORS];    /* of each tensor: index of its range */
    int leader
        [PT_WG_MOST_TENSORS]; /* of each range: the declaration whose variable stands for it */
    pt_wg_bindings *out;
    pt_error *err;
} placing;

static pt_gpu_range range_of(const placing *p, const pt_tensor *t)
{
    int64_t begin = t->offset / p->alignment * p->alignment;
    int64_t end = pt_round_up(t->offset + pt_max_i64(pt_tensor_bytes(t), 4), 16);
    end = pt_min_i64(end, pt_round_up(pt_max_i64(t->buffer->bytes, 1), PT_WG_BUFFER_UNIT));
    return (pt_gpu_range){
        .buffer = (uint32_t)t->buffer->handle, .offset = begin, .bytes = end - begin};
}

/* Joins the bytes with a range that they overlap: two writable bindings must not. false when there is none. */
static bool join(pt_wg_ranges *ranges, const pt_gpu_range *more, int *joined)
{
    for (int i = 0; i < ranges->n; i++) {
        pt_gpu_range *r = &ranges->range[i];
        if (r->buffer != more->buffer || more->offset >= r->offset + r->bytes ||
            r->offset >= more->offset + more->bytes)
            continue;
        int64_t begin = pt_min_i64(r->offset, more->offset);
        int64_t end = pt_max_i64(r->offset + r->bytes, more->offset + more->bytes);
        r->offset = begin;
        r->bytes = end - begin;
        *joined = i;
        return true;
    }
    return false;
}

static pt_status place_tensor(placing *p, int i)
{
    const pt_shader *shader = p->shader;
    const pt_tensor *t = p->call->tensor[i].tensor;
    int declared = pt_shader_tensor(shader, p->call->tensor[i].name);
    p->declared[i] = -1;
    if (declared < 0)
        return pt_fail(p->err, PT_INTERNAL, "shader %s has no tensor %s", shader->name,
                       p->call->tensor[i].name);
    if (!t || !pt_present(t)) return PT_OK;
    pt_wg_ranges *ranges = &p->out->ranges;
    pt_gpu_range range = range_of(p, t);
    if (!join(ranges, &range, &p->range[i])) {
        p->leader[ranges->n] = declared;
        ranges->range[p->range[i] = ranges->n++] = range;
    }
    p->declared[i] = declared;
    int leader = p->leader[p->range[i]];
    if (strcmp(shader->element[leader], shader->element[declared]) == 0) return PT_OK;
    return pt_fail(p->err, PT_INTERNAL, "shader %s: %s and %s share memory as other types",
                   shader->name, shader->tensor[declared], shader->tensor[leader]);
}

static pt_status check_sizes(const placing *p, const pt_wg_limits *limits)
{
    for (int i = 0; i < p->out->ranges.n; i++) {
        int64_t bytes = p->out->ranges.range[i].bytes;
        if (bytes > limits->binding_bytes)
            return pt_fail(p->err, PT_UNSUPPORTED,
                           "shader %s: %s takes %.2f GB, this GPU binds %.2f GB at once: choose a "
                           "smaller model, batch or context",
                           p->shader->name, p->shader->tensor[p->leader[i]], (double)bytes / 1e9,
                           (double)limits->binding_bytes / 1e9);
    }
    return PT_OK;
}

static pt_status find_offset(placing *p, int i)
{
    int declared = p->declared[i], range = p->range[i];
    pt_shader_use *use = p->out->use;
    if (declared < 0) return PT_OK;
    int64_t rest = p->call->tensor[i].tensor->offset - p->out->ranges.range[range].offset;
    int bytes = p->shader->element_bytes[declared];
    if (rest % bytes)
        return pt_fail(p->err, PT_INTERNAL, "shader %s: %s begins within an element",
                       p->shader->name, p->shader->tensor[declared]);
    use[declared].leader = p->leader[range];
    use[p->leader[range]].binding = range + 1;
    if (rest) use[declared].at = i;
    p->out->offset[i] = (uint32_t)(rest / bytes);
    return PT_OK;
}

pt_status pt_wg_bind(const pt_wg_limits *limits, int64_t alignment, const pt_shader *shader,
                     const pt_wg_call *call, pt_wg_bindings *out, pt_error *err)
{
    placing p = {.shader = shader, .call = call, .alignment = alignment, .out = out, .err = err};
    int n = 0;
    pt_status s = PT_OK;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < shader->n_tensors; i++) out->use[i] = (pt_shader_use){-1, 0, -1};
    while (s == PT_OK && n < PT_WG_MOST_TENSORS && call->tensor[n].name) s = place_tensor(&p, n++);
    if (s == PT_OK) s = check_sizes(&p, limits);
    for (int i = 0; i < n && s == PT_OK; i++) s = find_offset(&p, i);
    return s;
}
