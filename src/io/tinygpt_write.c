/* Writing .tinygpt, tensor by tensor.
 *
 * Whatever the caller's order, the encoder sees one stream of floats in stored order. Encoded bytes
 * go through one buffer to the sink, checksummed on the way.
 * SPDX-License-Identifier: MIT */
#include "base/hash.h"
#include "base/maths.h"
#include "io/bytes.h"
#include "io/tinygpt_internal.h"

enum { OUT_BYTES = 1 << 16, ROWS_AT_ONCE = 16 };

struct pt_tinygpt_writer {
    pt_sink sink;
    pt_tinygpt_config config;
    pt_tinygpt_dtype dtype;
    int64_t n_tensors;
    int64_t crc_at; /* in the file */
    uint32_t crc;   /* of the body bytes so far */
    bool failed;

    pt_tinygpt_tensor tensor; /* the one due */
    int64_t index;            /* its number */
    pt_tinygpt_part part;
    int64_t row;

    float *turned; /* ROWS_AT_ONCE stored rows of a transposed tensor */
    uint8_t *out;  /* OUT_BYTES */
    int64_t n_out;

    /* int4: scales are written as they come; nibbles come after all scales and are kept */
    uint8_t *nibbles;
    int64_t n_blocks;
    float block[PT_TINYGPT_BLOCK];
    int n_block;
};

/* ---- output ---- */

static pt_status flush(pt_tinygpt_writer *w, pt_error *err)
{
    int64_t n = w->n_out;
    w->n_out = 0;
    w->crc = pt_crc32c(w->crc, w->out, (size_t)n);
    return n ? w->sink.write(w->sink.ctx, w->out, n, err) : PT_OK;
}

/* Room for n (at most OUT_BYTES) bytes at *to. */
static pt_status reserve(pt_tinygpt_writer *w, int64_t n, uint8_t **to, pt_error *err)
{
    pt_status s = w->n_out + n > OUT_BYTES ? flush(w, err) : PT_OK;
    *to = w->out + w->n_out;
    w->n_out += n;
    return s;
}

static pt_status append(pt_tinygpt_writer *w, const uint8_t *bytes, int64_t n, pt_error *err)
{
    pt_status s = PT_OK;
    for (int64_t done = 0, k; done < n && s == PT_OK; done += k) {
        uint8_t *to;
        k = pt_min_i64(n - done, OUT_BYTES);
        s = reserve(w, k, &to, err);
        if (s == PT_OK) memcpy(to, bytes + done, (size_t)k);
    }
    return s;
}

/* ---- f16 ---- */

static pt_status append_half(pt_tinygpt_writer *w, const float *x, int64_t n, pt_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        uint16_t half = pt_half_from_float(x[i]);
        if ((half & 0x7fff) == 0x7c00 && pt_is_finite((double)x[i]))
            return pt_fail(err, PT_BAD_INPUT, "%s holds %g, too large for f16: write f32",
                           w->tensor.name, (double)x[i]);
        uint8_t *to;
        pt_status s = reserve(w, 2, &to, err);
        if (s) return s;
        pt_store_u16(to, half);
    }
    return PT_OK;
}

/* ---- int4 ---- */

/* The half nearest to x >= 0 (below 65520), ties away from zero: the rule of the original's
 * converter for scales. */
static uint16_t half_ties_away(float x)
{
    if (x < 0x1p-14f) return (uint16_t)pt_floor((double)x * 0x1p24 + 0.5); /* subnormal */
    return (uint16_t)((pt_float_bits(x) - (112u << 23) + 0x1000u) >> 13);
}

/* Halves go towards +infinity, as JavaScript's Math.round. */
static int round_half_up(double x)
{
    double floor = pt_floor(x);
    return (int)floor + (x - floor >= 0.5);
}

static double largest(const float *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        if (pt_fabs((double)x[i]) > most) most = pt_fabs((double)x[i]);
    return most;
}

/* Are all n values whole multiples, up to ±7, of one half-precision scale, the largest being 7? Such
 * a block was quantised before, and quantising loses nothing. */
static bool quantised_before(const float *x, int n, double most, int q[])
{
    double scale = most / 7;
    if (!(scale > 0) || scale > 65504) return false;
    if ((double)pt_float_from_half(pt_half_from_float((float)scale)) != scale) return false;
    for (int i = 0; i < n; i++) {
        double ratio = (double)x[i] / scale;
        q[i] = round_half_up(ratio);
        if ((double)q[i] * scale != (double)x[i]) return false;
    }
    return true;
}

static void quantise(const float *x, int n, double most, int q[])
{
    double inverse = 1 / (most / 7);
    for (int i = 0; i < n; i++) {
        int value = round_half_up((double)x[i] * inverse);
        q[i] = value > 7 ? 7 : value < -7 ? -7 : value;
    }
}

/* Finds the integers of the block under way and *most, seven times its scale. */
static pt_status choose_block(const pt_tinygpt_writer *w, int q[], double *most, pt_error *err)
{
    const float *x = w->block;
    int n = w->n_block;
    float half[PT_TINYGPT_BLOCK] = {0};
    bool finite = true, narrow = true;
    for (int i = 0; i < n; i++) {
        half[i] = pt_float_from_half(pt_half_from_float(x[i]));
        finite = finite && pt_is_finite((double)x[i]);
        narrow = narrow && pt_is_finite((double)half[i]);
    }
    *most = largest(x, n);
    if (finite && quantised_before(x, n, *most, q)) return PT_OK;
    if (!narrow)
        return pt_fail(err, PT_BAD_INPUT,
                       "%s holds numbers up to %g or NaN, too "
                       "large for int4: write f32",
                       w->tensor.name, *most);
    *most = largest(half, n);
    if (*most > 0) quantise(half, n, *most, q);
    return PT_OK;
}

/* Ends the block under way, full or the last of its tensor. */
static pt_status end_block(pt_tinygpt_writer *w, pt_error *err)
{
    int n = w->n_block, q[PT_TINYGPT_BLOCK] = {0};
    double most = 0;
    pt_status s = choose_block(w, q, &most, err);
    if (s) return s;
    uint8_t *nibbles = w->nibbles + PT_TINYGPT_BLOCK_BYTES * w->n_blocks++;
    memset(nibbles, 0, PT_TINYGPT_BLOCK_BYTES); /* also all of an all-zero block */
    for (int i = 0; i < n && most > 0; i++)
        nibbles[i / 2] = (uint8_t)(nibbles[i / 2] | (q[i] + 8) << (i % 2 ? 4 : 0));
    w->n_block = 0;
    uint8_t *to;
    s = reserve(w, 2, &to, err);
    if (s == PT_OK) pt_store_u16(to, half_ties_away((float)(most / 7)));
    return s;
}

static pt_status append_int4(pt_tinygpt_writer *w, const float *x, int64_t n, pt_error *err)
{
    pt_status s = PT_OK;
    for (int64_t i = 0; i < n && s == PT_OK; i++) {
        w->block[w->n_block++] = x[i];
        if (w->n_block == PT_TINYGPT_BLOCK) s = end_block(w, err);
    }
    return s;
}

/* ---- tensors ---- */

/* n numbers of the tensor due, in stored order. */
static pt_status encode(pt_tinygpt_writer *w, const float *x, int64_t n, pt_error *err)
{
    switch (w->dtype) {
    case PT_TINYGPT_F16: return append_half(w, x, n, err);
    case PT_TINYGPT_INT4: return append_int4(w, x, n, err);
    default: return append(w, (const uint8_t *)x, n * (int64_t)sizeof *x, err);
    }
}

static pt_status encode_zeros(pt_tinygpt_writer *w, int64_t n, pt_error *err)
{
    static const float zeros[1024];
    pt_status s = PT_OK;
    for (int64_t done = 0, k; done < n && s == PT_OK; done += k) {
        k = pt_min_i64(n - done, 1024);
        s = encode(w, zeros, k, err);
    }
    return s;
}

/* x [out,in] as [in,out]: each stored row is a column of x. */
static pt_status encode_transposed(pt_tinygpt_writer *w, const float *x, pt_error *err)
{
    int64_t n_out = w->tensor.dim[0], n_in = w->tensor.dim[1];
    pt_status s = PT_OK;
    for (int64_t i0 = 0, k; i0 < n_in && s == PT_OK; i0 += k) {
        k = pt_min_i64(ROWS_AT_ONCE, n_in - i0);
        for (int64_t o = 0; o < n_out; o++)
            for (int64_t i = 0; i < k; i++) w->turned[i * n_out + o] = x[o * n_in + i0 + i];
        s = encode(w, w->turned, k * n_out, err);
    }
    return s;
}

static void expect(pt_tinygpt_writer *w, int64_t index, pt_tinygpt_part part)
{
    w->index = index;
    w->part = part;
    w->row = 0;
    if (index < w->n_tensors) w->tensor = pt_tinygpt_tensor_at(&w->config, index);
}

static pt_status end_part(pt_tinygpt_writer *w, pt_error *err)
{
    pt_status s = w->n_block ? end_block(w, err) : PT_OK;
    if (w->dtype == PT_TINYGPT_F32 && w->part != PT_TINYGPT_V)
        expect(w, w->index, (pt_tinygpt_part)(w->part + 1));
    else expect(w, w->index + 1, PT_TINYGPT_W);
    return s;
}

static pt_status check_due(const pt_tinygpt_writer *w, int64_t index, pt_tinygpt_part part,
                           int64_t n_rows, pt_error *err)
{
    if (w->failed)
        return pt_fail(err, PT_BAD_INPUT, "the file cannot go on after an earlier error");
    if (w->index == w->n_tensors)
        return pt_fail(err, PT_BAD_INPUT, "tensor %lld comes after the last one", (long long)index);
    if (index != w->index || part != w->part)
        return pt_fail(err, PT_BAD_INPUT,
                       "part %d of tensor %lld comes where part %d of tensor "
                       "%lld (%s) is due",
                       (int)part, (long long)index, (int)w->part, (long long)w->index,
                       w->tensor.name);
    int64_t left = w->tensor.dim[0] - w->row;
    if (n_rows < 0 || n_rows > left || (w->tensor.transposed && n_rows != left))
        return pt_fail(err, PT_BAD_INPUT, "%s: %lld rows come where %lld are due", w->tensor.name,
                       (long long)n_rows, (long long)left);
    return PT_OK;
}

pt_status pt_tinygpt_writer_put(pt_tinygpt_writer *w, int64_t index, pt_tinygpt_part part,
                                const float *rows, int64_t n_rows, pt_error *err)
{
    pt_status s = check_due(w, index, part, n_rows, err);
    int64_t n = s == PT_OK ? n_rows * w->tensor.dim[1] : 0;
    if (s == PT_OK && !rows) s = encode_zeros(w, n, err);
    else if (s == PT_OK && w->tensor.transposed) s = encode_transposed(w, rows, err);
    else if (s == PT_OK) s = encode(w, rows, n, err);
    if (s == PT_OK) {
        w->row += n_rows;
        if (w->row == w->tensor.dim[0]) s = end_part(w, err);
    }
    w->failed = s != PT_OK;
    return s;
}

/* ---- the file ---- */

static pt_status allocate(pt_tinygpt_writer *w, pt_error *err)
{
    int64_t widest = pt_max_i64(w->config.d_model, w->config.d_mlp);
    int64_t blocks = 0;
    if (w->dtype == PT_TINYGPT_INT4) blocks = pt_tinygpt_blocks_before(&w->config, w->n_tensors);
    w->out = pt_alloc(OUT_BYTES);
    w->turned = pt_alloc((size_t)(ROWS_AT_ONCE * widest) * sizeof *w->turned);
    w->nibbles = pt_alloc((size_t)(PT_TINYGPT_BLOCK_BYTES * blocks));
    if (w->out && w->turned && w->nibbles) return PT_OK;
    return pt_fail(err, PT_NO_MEMORY, "no memory to write a .tinygpt file");
}

static pt_status begin(pt_tinygpt_writer *w, const pt_tinygpt_desc *desc, pt_error *err)
{
    pt_strbuf text = {0};
    pt_status s = pt_tinygpt_header_text(desc, &text, &w->crc_at, err);
    if (s == PT_OK) {
        w->config = desc->config;
        w->dtype = desc->dtype;
        w->n_tensors = pt_tinygpt_n_tensors(&w->config);
        s = allocate(w, err);
    }
    if (s == PT_OK) {
        uint8_t prefix[PT_TINYGPT_PREFIX], step[4];
        memcpy(prefix, "TGPT", 4);
        pt_store_u32(prefix + 4, PT_TINYGPT_VERSION);
        pt_store_u32(prefix + 8, (uint32_t)text.len);
        pt_store_u32(step, (uint32_t)desc->step);
        s = w->sink.write(w->sink.ctx, prefix, sizeof prefix, err);
        if (s == PT_OK) s = w->sink.write(w->sink.ctx, text.data, (int64_t)text.len, err);
        if (s == PT_OK) s = append(w, step, sizeof step, err);
        w->crc_at += PT_TINYGPT_PREFIX;
        expect(w, 0, PT_TINYGPT_W);
    }
    pt_strbuf_deinit(&text);
    return s;
}

pt_status pt_tinygpt_writer_begin(pt_tinygpt_writer **out, const pt_tinygpt_desc *desc,
                                  const pt_sink *sink, pt_error *err)
{
    *out = NULL;
    pt_tinygpt_writer *w = pt_alloc(sizeof *w);
    if (!w) return pt_fail(err, PT_NO_MEMORY, "no memory to write a .tinygpt file");
    w->sink = *sink;
    pt_status s = begin(w, desc, err);
    if (s) pt_tinygpt_writer_discard(w);
    else *out = w;
    return s;
}

static pt_status end(pt_tinygpt_writer *w, pt_error *err)
{
    if (w->failed)
        return pt_fail(err, PT_BAD_INPUT, "the file cannot be completed after an earlier error");
    if (w->index != w->n_tensors)
        return pt_fail(err, PT_BAD_INPUT, "the file ends where tensor %lld (%s) is due",
                       (long long)w->index, w->tensor.name);
    pt_status s = append(w, w->nibbles, PT_TINYGPT_BLOCK_BYTES * w->n_blocks, err);
    if (s == PT_OK) s = flush(w, err);
    if (s) return s;
    char digits[9];
    pt_format(digits, sizeof digits, "%08x", (unsigned)w->crc);
    return w->sink.patch(w->sink.ctx, w->crc_at, digits, 8, err);
}

pt_status pt_tinygpt_writer_end(pt_tinygpt_writer *w, pt_error *err)
{
    pt_status s = end(w, err);
    pt_tinygpt_writer_discard(w);
    return s;
}

void pt_tinygpt_writer_discard(pt_tinygpt_writer *w)
{
    if (!w) return;
    pt_free(w->out);
    pt_free(w->turned);
    pt_free(w->nibbles);
    pt_free(w);
}
