/* Limits, errors and text of a run. SPDX-License-Identifier: MIT */
#include "text/jinja/run.h"

pt_status pt_jinja_refuse_at(pt_jinja_run *r, const char *file, int line, const char *fmt, ...)
{
    char message[220];
    va_list args;
    va_start(args, fmt);
    pt_vformat(message, sizeof message, fmt, args);
    va_end(args);
    pt_fail_at(r->err, PT_BAD_INPUT, -1, file, line, "template, line %d: %s", r->line, message);
    return PT_BAD_INPUT;
}

pt_status pt_jinja_charge(pt_jinja_run *r, int64_t steps)
{
    r->steps += steps;
    if (r->steps <= r->limit.max_steps) return PT_OK;
    return pt_jinja_refuse(r, "rendering takes more than %lld steps",
                           (long long)r->limit.max_steps);
}

static pt_status refuse_memory(pt_jinja_run *r)
{
    return pt_jinja_refuse(r, "rendering takes more than %lld bytes of memory",
                           (long long)r->limit.max_memory_bytes);
}

pt_status pt_jinja_take(pt_jinja_run *r, void *out_pointer, int64_t n, size_t element_bytes)
{
    int64_t bytes, total;
    void *taken = NULL;
    memcpy(out_pointer, &taken, sizeof taken);
    if (!pt_mul_i64(n, (int64_t)element_bytes, &bytes) ||
        !pt_add_i64(bytes, (int64_t)r->arena->used_bytes, &total) ||
        total > r->limit.max_memory_bytes)
        return refuse_memory(r);
    pt_status s = pt_jinja_charge(r, bytes / 1024);
    if (s) return s;
    taken = pt_arena_alloc(r->arena, (size_t)bytes);
    memcpy(out_pointer, &taken, sizeof taken);
    return taken ? PT_OK : pt_fail(r->err, PT_NO_MEMORY, "no memory to render a template");
}

pt_status pt_jinja_enter(pt_jinja_run *r)
{
    if (++r->depth <= PT_JINJA_MAX_DEPTH) return PT_OK;
    return pt_jinja_refuse(r, "nested more than %d levels deep", PT_JINJA_MAX_DEPTH);
}

void pt_jinja_put(pt_jinja_text *t, const char *bytes, size_t n)
{
    if (t->status) return;
    if ((int64_t)(t->buf.len + n) > t->run->limit.max_memory_bytes) {
        t->status = refuse_memory(t->run);
        return;
    }
    t->status = pt_jinja_charge(t->run, (int64_t)(n / 64));
    if (t->status) return;
    pt_strbuf_append(&t->buf, bytes, n);
    if (t->buf.failed)
        t->status = pt_fail(t->run->err, PT_NO_MEMORY, "no memory to render a template");
}

void pt_jinja_puts(pt_jinja_text *t, const char *bytes) { pt_jinja_put(t, bytes, strlen(bytes)); }

pt_status pt_jinja_text_end(pt_jinja_text *t, pt_status s, pt_jv *out)
{
    char *copy = NULL;
    if (!s) s = t->status;
    if (!s) s = pt_jinja_take(t->run, &copy, (int64_t)t->buf.len + 1, 1);
    if (!s && t->buf.len) memcpy(copy, t->buf.data, t->buf.len);
    *out = pt_jv_string(copy, s ? 0 : t->buf.len);
    pt_strbuf_deinit(&t->buf);
    return s;
}
