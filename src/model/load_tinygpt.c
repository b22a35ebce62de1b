/* Weights from an open .tinygpt file into a model. SPDX-License-Identifier: MIT */
#include "model/load_tinygpt.h"

#include "base/maths.h"

static pt_status check_finite(const pt_tinygpt_tensor *t, const float *w, pt_error *err)
{
    for (int64_t i = 0; i < t->n; i++)
        if (!pt_is_finite((double)w[i]))
            return pt_fail(err, PT_CORRUPT,
                           "%s: element %lld is %f: the file is damaged or the "
                           "run that wrote it had diverged",
                           t->name, (long long)i, (double)w[i]);
    return PT_OK;
}

static int64_t largest_tensor(const pt_tinygpt_info *info)
{
    int64_t n = 0;
    for (int64_t i = 0; i < info->n_tensors; i++)
        n = pt_max_i64(n, pt_tinygpt_tensor_at(&info->config, i).n);
    return n;
}

pt_status pt_tinygpt_visit(const pt_tinygpt *file, const pt_params *params, bool moments,
                           pt_param_visitor visit, void *ctx, pt_error *err)
{
    const pt_tinygpt_info *info = pt_tinygpt_get(file);
    moments = moments && info->dtype == PT_TINYGPT_F32;
    int64_t largest = largest_tensor(info);
    float *block = pt_alloc((size_t)(moments ? 3 * largest : largest) * sizeof *block);
    if (!block)
        return pt_fail(err, PT_NO_MEMORY, "no memory to read a tensor of %lld", (long long)largest);
    float *w = block, *m = moments ? block + largest : NULL, *v = moments ? m + largest : NULL;
    pt_status s = PT_OK;
    for (int64_t i = 0; i < info->n_tensors && s == PT_OK; i++) {
        pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&info->config, i);
        const pt_param *p = pt_params_find(params, t.name);
        if (!p || p->n != t.n) s = pt_fail(err, PT_INTERNAL, "the model has no tensor %s", t.name);
        if (s == PT_OK) s = pt_tinygpt_read(file, i, PT_TINYGPT_W, w, err);
        if (s == PT_OK) s = check_finite(&t, w, err);
        if (s == PT_OK && moments) s = pt_tinygpt_read(file, i, PT_TINYGPT_M, m, err);
        if (s == PT_OK && moments) s = pt_tinygpt_read(file, i, PT_TINYGPT_V, v, err);
        if (s == PT_OK) s = visit(ctx, p - params->list, w, m, v, err);
    }
    pt_free(block);
    return s;
}

static pt_status set_weight(void *ctx, int64_t index, const float *w, const float *m,
                            const float *v, pt_error *err)
{
    (void)m, (void)v;
    return pt_model_set_weight(ctx, index, w, err);
}

pt_status pt_model_load_tinygpt(pt_model *model, const pt_tinygpt *file, pt_error *err)
{
    return pt_tinygpt_visit(file, &model->params, false, set_weight, model, err);
}
