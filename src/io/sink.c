/* The sink that collects in memory, and what is due. SPDX-License-Identifier: MIT */
#include "io/sink.h"

static pt_status append(void *ctx, const void *bytes, int64_t n, pt_error *err)
{
    pt_strbuf *buf = ctx;
    pt_strbuf_append(buf, bytes, (size_t)n);
    if (buf->failed)
        return pt_fail(err, PT_NO_MEMORY, "no memory to hold %lld more bytes of a file in memory",
                       (long long)n);
    return PT_OK;
}

static pt_status patch(void *ctx, int64_t offset, const void *bytes, int64_t n, pt_error *err)
{
    pt_strbuf *buf = ctx;
    if (offset < 0 || n < 0 || n > (int64_t)buf->len || offset > (int64_t)buf->len - n)
        return pt_fail(err, PT_INTERNAL, "patch of %lld bytes at %lld of %lld", (long long)n,
                       (long long)offset, (long long)buf->len);
    if (n) memcpy(buf->data + offset, bytes, (size_t)n);
    return PT_OK;
}

pt_sink pt_sink_to_strbuf(pt_strbuf *buf)
{
    return (pt_sink){.write = append, .patch = patch, .ctx = buf};
}

pt_status pt_due_check(const pt_due *due, int64_t n, pt_error *err)
{
    if (due->failed)
        return pt_fail(err, PT_BAD_INPUT, "the file cannot go on after an earlier error");
    if (n < 0 || n > due->left)
        return pt_fail(err, PT_BAD_INPUT, "%lld bytes come where %lld are due", (long long)n,
                       (long long)due->left);
    return PT_OK;
}

pt_status pt_due_end(const pt_due *due, pt_error *err)
{
    if (due->failed)
        return pt_fail(err, PT_BAD_INPUT, "the file cannot be completed after an earlier error");
    if (due->left)
        return pt_fail(err, PT_BAD_INPUT, "the file ends with %lld bytes of data missing",
                       (long long)due->left);
    return PT_OK;
}
