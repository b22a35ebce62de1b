/* Fuzzing the .tinygpt reader and writer: what opens is decoded whole, written again with its header
 * passed through, and must then hold the same numbers.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/maths.h"
#include "io/tinygpt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "fuzz_tinygpt: %s\n", what);
    abort();
}

static float *read_part(const pt_tinygpt *file, int64_t tensor, int part)
{
    pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&pt_tinygpt_get(file)->config, tensor);
    float *x = malloc((size_t)t.n * sizeof *x);
    require(x != NULL, "memory");
    pt_error err = {0};
    require(pt_tinygpt_read(file, tensor, (pt_tinygpt_part)part, x, &err) == PT_OK, "read");
    return x;
}

/* NOT OK: the numbers do not fit into the dtype. */
static pt_status rewrite(const pt_tinygpt *file, pt_tinygpt_dtype dtype, pt_strbuf *out)
{
    const pt_tinygpt_info *info = pt_tinygpt_get(file);
    bool dated = pt_json_get(info->header, "savedAt") != NULL;
    pt_tinygpt_desc desc = {.config = info->config,
                            .dtype = dtype,
                            .step = info->step,
                            .from = info->header,
                            .saved_at = dated ? NULL : "2026-11-30T03:05:40.123Z"};
    pt_sink sink = pt_sink_to_strbuf(out);
    pt_tinygpt_writer *w;
    pt_error err = {0};
    pt_status s = pt_tinygpt_writer_begin(&w, &desc, &sink, &err);
    if (s) fprintf(stderr, "%s\n", err.message);
    require(s == PT_OK, "begin");
    int last = dtype == PT_TINYGPT_F32 ? PT_TINYGPT_V : PT_TINYGPT_W;
    for (int64_t i = 0; i < info->n_tensors && s == PT_OK; i++)
        for (int part = 0; part <= last && s == PT_OK; part++) {
            float *x = read_part(file, i, part);
            int64_t rows = pt_tinygpt_tensor_at(&info->config, i).dim[0];
            s = pt_tinygpt_writer_put(w, i, (pt_tinygpt_part)part, x, rows, &err);
            free(x);
        }
    if (s == PT_OK) return pt_tinygpt_writer_end(w, &err);
    require(s == PT_BAD_INPUT && err.message[0] != '\0', "refusal");
    pt_tinygpt_writer_discard(w);
    return s;
}

static void require_same(const pt_tinygpt *a, const pt_tinygpt *b, bool moments)
{
    const pt_tinygpt_info *info = pt_tinygpt_get(a), *again = pt_tinygpt_get(b);
    require(info->n_tensors == again->n_tensors && info->step == again->step, "shape");
    require(info->config.heads == again->config.heads, "heads");
    for (int64_t i = 0; i < info->n_tensors; i++)
        for (int part = 0; part < (moments ? 3 : 1); part++) {
            float *x = read_part(a, i, part), *y = read_part(b, i, part);
            int64_t n = pt_tinygpt_tensor_at(&info->config, i).n;
            for (int64_t k = 0; k < n; k++)
                require(pt_float_bits(x[k]) == pt_float_bits(y[k]) ||
                            (pt_is_nan((double)x[k]) && pt_is_nan((double)y[k])),
                        "number");
            free(x);
            free(y);
        }
}

static void check_rewriting(const pt_tinygpt *file, pt_tinygpt_dtype dtype, bool exact)
{
    pt_strbuf out = {0};
    if (rewrite(file, dtype, &out) == PT_OK) {
        pt_tinygpt *again;
        pt_error err = {0};
        pt_status s = pt_tinygpt_open(&again, (uint8_t *)out.data, (int64_t)out.len, &err);
        if (s) fprintf(stderr, "%s\n", err.message);
        require(s == PT_OK, "open again");
        require(pt_tinygpt_get(again)->has_crc, "checksum");
        require(pt_tinygpt_verify(again, &err) == PT_OK, "verify");
        require(pt_tinygpt_get(again)->dtype == dtype, "dtype");
        if (exact) require_same(file, again, dtype == PT_TINYGPT_F32);
        pt_tinygpt_close(again);
    } else {
        require(dtype != PT_TINYGPT_F32, "f32 holds everything");
    }
    pt_strbuf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pt_tinygpt *file;
    pt_error err = {0};
    pt_status s = pt_tinygpt_open(&file, data, (int64_t)size, &err);
    require((s == PT_OK) == (file != NULL), "a file or an error");
    if (s) {
        require(err.status == s && err.message[0] != '\0', "message");
        require(err.offset < (int64_t)size + 1, "offset");
        return 0;
    }
    const pt_tinygpt_info *info = pt_tinygpt_get(file);
    require(info->body_offset + info->body_bytes == (int64_t)size, "size");
    s = pt_tinygpt_verify(file, &err);
    require(s == PT_OK || (s == PT_CORRUPT && info->has_crc), "verify");
    check_rewriting(file, PT_TINYGPT_F32, true);
    check_rewriting(file, PT_TINYGPT_F16, info->dtype == PT_TINYGPT_F16);
    check_rewriting(file, PT_TINYGPT_INT4, false);
    pt_tinygpt_close(file);
    return 0;
}
