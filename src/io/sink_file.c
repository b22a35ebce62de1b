/* The sink that writes a file. SPDX-License-Identifier: MIT */
#include "base/atomic_file.h"
#include "io/sink.h"

static pt_status append(void *ctx, const void *bytes, int64_t n, pt_error *err)
{
    return pt_atomic_file_write(ctx, bytes, n, err);
}

static pt_status patch(void *ctx, int64_t offset, const void *bytes, int64_t n, pt_error *err)
{
    return pt_atomic_file_patch(ctx, offset, bytes, n, err);
}

pt_sink pt_sink_to_file(struct pt_atomic_file *file)
{
    return (pt_sink){.write = append, .patch = patch, .ctx = file};
}
