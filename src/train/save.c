/* Writing a model under training to a sink. SPDX-License-Identifier: MIT */
#include "train/save.h"

#include "model/tinygpt_shape.h"

#define PIECE_BYTES (1 << 20) /* of tensors that may be written in pieces */

struct pt_saver {
    const pt_optimizer *optimizer;
    float *piece; /* the rows on their way, on the host */
    double *wide; /* the same, where the device computes in double */
    int64_t piece_elements;
    pt_tinygpt_writer *writer;
    pt_tinygpt_config shape;
    int64_t tensor, row, rows; /* where we are; rows: of the piece under way */
    pt_tinygpt_part part;
    bool downloading;
    pt_download download;
};

static bool wide_device(const pt_saver *s)
{
    return s->optimizer->model->device->compute == PT_F64;
}

/* Linear weights are transposed in the file and so come whole; the rest in pieces. */
static int64_t largest_piece(const pt_model *model)
{
    int64_t n = PIECE_BYTES / (int64_t)sizeof(float);
    for (int64_t i = 0; i < model->params.n; i++) {
        const pt_param *p = &model->params.list[i];
        bool embedding = pt_str_ends(p->name, "_embedding.weight");
        n = pt_max_i64(n, embedding ? p->dim[1] : p->n);
    }
    return n;
}

pt_status pt_saver_new(pt_saver **out, const pt_optimizer *optimizer, pt_error *err)
{
    *out = NULL;
    pt_tinygpt_config shape;
    pt_status can = pt_tinygpt_shape_of(&optimizer->model->config, &shape, err);
    if (can) return can;
    pt_saver *s = pt_alloc(sizeof *s);
    if (!s) return pt_fail(err, PT_NO_MEMORY, "no memory to save");
    s->optimizer = optimizer;
    s->shape = shape;
    s->piece_elements = largest_piece(optimizer->model);
    *out = s;
    return PT_OK;
}

pt_status pt_saver_bind(pt_saver *s, pt_error *err)
{
    s->piece = pt_alloc((size_t)s->piece_elements * sizeof *s->piece);
    s->wide = pt_alloc(wide_device(s) ? (size_t)s->piece_elements * sizeof *s->wide : 1);
    if (s->piece && s->wide) return PT_OK;
    return pt_fail(err, PT_NO_MEMORY, "no memory to save");
}

void pt_saver_plan(const pt_saver *s, pt_plan *plan)
{
    int64_t per_element = (int64_t)sizeof(float) + (wide_device(s) ? (int64_t)sizeof(double) : 0);
    /* the writer transposes one tensor at a time in a block of its own */
    pt_plan_add_host(plan, "saver", s->piece_elements * (per_element + (int64_t)sizeof(float)));
}

void pt_saver_free(pt_saver *s)
{
    if (!s) return;
    pt_tinygpt_writer_discard(s->writer);
    pt_free(s->piece);
    pt_free(s->wide);
    pt_free(s);
}

pt_status pt_saver_begin(pt_saver *s, const pt_tinygpt_desc *desc, const pt_sink *sink,
                         pt_error *err)
{
    pt_tinygpt_writer_discard(s->writer);
    s->writer = NULL;
    s->tensor = s->row = 0;
    s->part = PT_TINYGPT_W;
    s->downloading = false;
    pt_tinygpt_desc full = *desc;
    full.config = s->shape;
    full.dtype = PT_TINYGPT_F32;
    return pt_tinygpt_writer_begin(&s->writer, &full, sink, err);
}

static const pt_tensor *flat_of(const pt_saver *s)
{
    switch (s->part) {
    case PT_TINYGPT_M: return &s->optimizer->m;
    case PT_TINYGPT_V: return &s->optimizer->v;
    case PT_TINYGPT_W: break;
    }
    return &s->optimizer->model->weights.flat;
}

static pt_status begin_piece(pt_saver *s, const pt_tinygpt_tensor *t, pt_error *err)
{
    const pt_param *param = pt_params_find(&s->optimizer->model->params, t->name);
    if (!param) return pt_fail(err, PT_INTERNAL, "the model has no tensor %s", t->name);
    pt_tensor tensor = pt_param_tensor(param, flat_of(s));
    int64_t per_row = t->n / t->dim[0];
    s->rows = pt_min_i64(t->dim[0] - s->row, s->piece_elements / per_row);
    if (t->transposed) s->rows = t->dim[0];
    tensor = pt_slice(&tensor, s->row, s->rows);
    void *to = wide_device(s) ? (void *)s->wide : s->piece;
    pt_device *device = s->optimizer->model->device;
    pt_status status =
        pt_download_begin(device, &tensor, to, pt_tensor_bytes(&tensor), &s->download, err);
    if (status == PT_OK) status = pt_submit(device, err);
    s->downloading = status == PT_OK;
    return status;
}

static void advance(pt_saver *s, const pt_tinygpt_tensor *t)
{
    s->row += s->rows;
    if (s->row < t->dim[0]) return;
    s->row = 0;
    if (s->part != PT_TINYGPT_V) {
        s->part = (pt_tinygpt_part)(s->part + 1);
        return;
    }
    s->part = PT_TINYGPT_W;
    s->tensor++;
}

pt_status pt_saver_poll(pt_saver *s, pt_error *err)
{
    if (s->tensor == pt_tinygpt_n_tensors(&s->shape)) {
        pt_tinygpt_writer *writer = s->writer;
        s->writer = NULL;
        return pt_tinygpt_writer_end(writer, err);
    }
    pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&s->shape, s->tensor);
    pt_status status = s->downloading ? PT_OK : begin_piece(s, &t, err);
    if (status == PT_OK) status = pt_download_poll(s->optimizer->model->device, &s->download, err);
    if (status) return status;
    s->downloading = false;
    int64_t n = s->rows * (t.n / t.dim[0]);
    if (wide_device(s))
        for (int64_t i = 0; i < n; i++) s->piece[i] = (float)s->wide[i];
    status = pt_tinygpt_writer_put(s->writer, s->tensor, s->part, s->piece, s->rows, err);
    if (status) return status;
    advance(s, &t);
    return PT_PENDING;
}
