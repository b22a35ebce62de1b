/* For tests of .tinygpt: golden files, and a whole file written from an open one. Hosted only.
 * SPDX-License-Identifier: MIT */
#ifndef PT_IO_TEST_TINYGPT_H
#define PT_IO_TEST_TINYGPT_H

#include "base/fs.h"
#include "base/hash.h"
#include "base/test.h"
#include "io/tinygpt.h"

/* tests/golden/NAME, released at the end of the process. */
static inline pt_file_view golden(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "tests/golden/%s", name);
    pt_file_view view = {0};
    pt_error err = {0};
    CHECK_OK(pt_file_view_open(&view, path, &err), err);
    return view;
}

static inline pt_tinygpt *open_golden(const char *name)
{
    pt_file_view view = golden(name);
    pt_tinygpt *file = NULL;
    pt_error err = {0};
    CHECK_OK(pt_tinygpt_open(&file, view.data, view.size, &err), err);
    CHECK_OK(pt_tinygpt_verify(file, &err), err);
    return file;
}

static inline pt_status write_tensors(pt_tinygpt_writer *w, const pt_tinygpt *file,
                                      pt_tinygpt_dtype dtype, pt_error *err)
{
    const pt_tinygpt_info *info = pt_tinygpt_get(file);
    pt_status s = PT_OK;
    for (int64_t i = 0; i < info->n_tensors && s == PT_OK; i++) {
        pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&info->config, i);
        float *x = malloc((size_t)t.n * sizeof *x);
        int last = dtype == PT_TINYGPT_F32 ? PT_TINYGPT_V : PT_TINYGPT_W;
        for (int part = PT_TINYGPT_W; part <= last && s == PT_OK; part++) {
            s = pt_tinygpt_read(file, i, (pt_tinygpt_part)part, x, err);
            if (s == PT_OK)
                s = pt_tinygpt_writer_put(w, i, (pt_tinygpt_part)part, x, t.dim[0], err);
        }
        free(x);
    }
    return s;
}

/* Everything that `file` holds, as a new file of another dtype. */
static inline pt_status rewrite(const pt_tinygpt *file, pt_tinygpt_dtype dtype, pt_strbuf *out,
                                pt_error *err)
{
    const pt_tinygpt_info *info = pt_tinygpt_get(file);
    pt_tinygpt_desc desc = {
        .config = info->config, .dtype = dtype, .step = info->step, .from = info->header};
    pt_sink sink = pt_sink_to_strbuf(out);
    pt_tinygpt_writer *w;
    pt_status s = pt_tinygpt_writer_begin(&w, &desc, &sink, err);
    if (s) return s;
    s = write_tensors(w, file, dtype, err);
    if (s == PT_OK) return pt_tinygpt_writer_end(w, err);
    pt_tinygpt_writer_discard(w);
    return s;
}

#endif
