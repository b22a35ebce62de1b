/* A .tinygpt file's tensors for other files. SPDX-License-Identifier: MIT */
#include "model/tinygpt_export.h"

#include "io/safetensors.h"
#include "model/facts.h"

float *pt_tinygpt_new_block(const pt_tinygpt *file, pt_error *err)
{
    const pt_tinygpt_info *info = pt_tinygpt_get(file);
    int64_t largest = 1;
    for (int64_t i = 0; i < info->n_tensors; i++)
        largest = pt_max_i64(largest, pt_tinygpt_tensor_at(&info->config, i).n);
    float *block = pt_alloc((size_t)largest * sizeof *block);
    if (!block) (void)pt_fail(err, PT_NO_MEMORY, "no memory to convert");
    return block;
}

pt_status pt_tinygpt_read_finite(const pt_tinygpt *file, int64_t tensor, pt_tinygpt_part part,
                                 float *block, pt_error *err)
{
    pt_status s = pt_tinygpt_read(file, tensor, part, block, err);
    if (s) return s;
    pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&pt_tinygpt_get(file)->config, tensor);
    int64_t bad = pt_facts_of(block, t.n).bad;
    if (bad == 0) return PT_OK;
    return pt_fail(err, PT_CORRUPT,
                   "%s: %lld values are not finite: the file is damaged or the run "
                   "that wrote it had diverged",
                   t.name, (long long)bad);
}

static pt_status put_weights(const pt_tinygpt *file, pt_safetensors_writer *writer, pt_error *err)
{
    const pt_tinygpt_info *info = pt_tinygpt_get(file);
    float *block = pt_tinygpt_new_block(file, err);
    pt_status s = block ? PT_OK : PT_NO_MEMORY;
    for (int64_t i = 0; i < info->n_tensors && s == PT_OK; i++) {
        int64_t bytes = pt_tinygpt_tensor_at(&info->config, i).n * (int64_t)sizeof *block;
        s = pt_tinygpt_read_finite(file, i, PT_TINYGPT_W, block, err);
        if (s == PT_OK) s = pt_safetensors_writer_put(writer, block, bytes, err);
    }
    pt_free(block);
    return s;
}

pt_status pt_tinygpt_to_safetensors(const pt_tinygpt *file, const pt_sink *sink, pt_error *err)
{
    const pt_tinygpt_info *info = pt_tinygpt_get(file);
    int64_t n = info->n_tensors;
    pt_safetensors_entry *entries = pt_alloc((size_t)n * sizeof *entries);
    pt_tinygpt_tensor *tensors = pt_alloc((size_t)n * sizeof *tensors);
    pt_safetensors_writer *writer = NULL;
    pt_status s = entries && tensors ? PT_OK : pt_fail(err, PT_NO_MEMORY, "no memory to convert");
    for (int64_t i = 0; i < n && s == PT_OK; i++) {
        tensors[i] = pt_tinygpt_tensor_at(&info->config, i);
        entries[i] = (pt_safetensors_entry){.name = tensors[i].name,
                                            .dtype = PT_F32,
                                            .rank = tensors[i].rank,
                                            .dim = {tensors[i].dim[0], tensors[i].dim[1]}};
    }
    if (s == PT_OK) s = pt_safetensors_writer_begin(&writer, entries, n, sink, err);
    pt_free(tensors);
    pt_free(entries);
    if (s == PT_OK) s = put_weights(file, writer, err);
    if (s == PT_OK) return pt_safetensors_writer_end(writer, err);
    pt_safetensors_writer_discard(writer);
    return s;
}
