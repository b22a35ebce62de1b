/* posttrain convert: a model file into another layout. SPDX-License-Identifier: MIT */
#include "base/atomic_file.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "io/safetensors.h"
#include "model/facts.h"

typedef struct convert_options {
    const char *dtype;
    bool force, drop_corpus;
} convert_options;

/* Decodes tensor by tensor; `block` holds the largest. */
static float *new_block(const pt_tinygpt_info *info, pt_error *err)
{
    int64_t largest = 1;
    for (int64_t i = 0; i < info->n_tensors; i++)
        largest = pt_max_i64(largest, pt_tinygpt_tensor_at(&info->config, i).n);
    float *block = pt_alloc((size_t)largest * sizeof *block);
    if (!block) (void)pt_fail(err, PT_NO_MEMORY, "no memory to convert");
    return block;
}

static pt_status read_finite(const pt_model_file *in, int64_t tensor, pt_tinygpt_part part,
                             float *block, pt_error *err)
{
    pt_status s = pt_tinygpt_read(in->file, tensor, part, block, err);
    pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&in->info->config, tensor);
    int64_t bad = s ? 0 : pt_facts_of(block, t.n).bad;
    if (bad)
        return pt_fail(err, PT_CORRUPT,
                       "%s: %lld values are not finite: the file is damaged or the run "
                       "that wrote it had diverged",
                       t.name, (long long)bad);
    return s;
}

static pt_status copy_tensors(pt_tinygpt_writer *writer, const pt_model_file *in, bool moments,
                              pt_error *err)
{
    float *block = new_block(in->info, err);
    pt_status s = block ? PT_OK : PT_NO_MEMORY;
    int parts = moments ? 3 : 1;
    for (int64_t i = 0; i < in->info->n_tensors && s == PT_OK; i++) {
        pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&in->info->config, i);
        for (int part = 0; part < parts && s == PT_OK; part++) {
            s = read_finite(in, i, (pt_tinygpt_part)part, block, err);
            if (s == PT_OK)
                s = pt_tinygpt_writer_put(writer, i, (pt_tinygpt_part)part, block, t.dim[0], err);
        }
    }
    pt_free(block);
    return s;
}

/* The header's "posttrain" object, with a note when moments are made up: from a file without any they
 * are zeros, which a run that goes on must know. */
static const pt_json *own_header(const pt_model_file *in, pt_tinygpt_dtype dtype, pt_arena *arena)
{
    const pt_json *own = pt_json_get(in->info->header, "posttrain");
    if (dtype != PT_TINYGPT_F32 || in->info->dtype == PT_TINYGPT_F32) return own;
    pt_strbuf text = {0};
    pt_json_writer w = pt_json_writer_begin(&text, 0);
    pt_json_begin_object(&w, NULL);
    for (const pt_json *m = own ? own->child : NULL; m; m = m->next) pt_json_value(&w, m->key, m);
    if (!pt_json_get(own, "momentsAreZero")) pt_json_bool(&w, "momentsAreZero", true);
    pt_json_end_object(&w);
    const pt_json *json = NULL;
    if (!text.failed) pt_json_parse(text.data, text.len, arena, &json, NULL);
    pt_strbuf_deinit(&text);
    return json;
}

static pt_status to_tinygpt(const convert_options *o, const pt_model_file *in,
                            pt_tinygpt_dtype dtype, const pt_sink *sink, pt_error *err)
{
    char now[32];
    pt_arena arena = {0};
    pt_clock_iso(pt_clock_unix_ms(), now);
    pt_tinygpt_desc desc = {.config = in->info->config,
                            .dtype = dtype,
                            .step = in->info->step,
                            .from = in->info->header,
                            .saved_at =
                                pt_json_get_string(in->info->header, "savedAt") ? NULL : now,
                            .drop_corpus = o->drop_corpus,
                            .posttrain = own_header(in, dtype, &arena)};
    pt_tinygpt_writer *writer = NULL;
    pt_status s = pt_tinygpt_writer_begin(&writer, &desc, sink, err);
    pt_arena_deinit(&arena);
    if (s == PT_OK) s = copy_tensors(writer, in, dtype == PT_TINYGPT_F32, err);
    if (s == PT_OK) return pt_tinygpt_writer_end(writer, err);
    pt_tinygpt_writer_discard(writer);
    return s;
}

/* Weights in true [out,in] order, f32, under their own names. */
static pt_status to_safetensors(const pt_model_file *in, const pt_sink *sink, pt_error *err)
{
    int64_t n = in->info->n_tensors;
    pt_safetensors_entry *entries = pt_alloc((size_t)n * sizeof *entries);
    pt_tinygpt_tensor *tensors = pt_alloc((size_t)n * sizeof *tensors);
    float *block = new_block(in->info, err);
    pt_safetensors_writer *writer = NULL;
    pt_status s =
        entries && tensors && block ? PT_OK : pt_fail(err, PT_NO_MEMORY, "no memory to convert");
    for (int64_t i = 0; i < n && s == PT_OK; i++) {
        tensors[i] = pt_tinygpt_tensor_at(&in->info->config, i);
        entries[i] = (pt_safetensors_entry){.name = tensors[i].name,
                                            .dtype = PT_F32,
                                            .rank = tensors[i].rank,
                                            .dim = {tensors[i].dim[0], tensors[i].dim[1]}};
    }
    if (s == PT_OK) s = pt_safetensors_writer_begin(&writer, entries, n, sink, err);
    for (int64_t i = 0; i < n && s == PT_OK; i++) {
        s = read_finite(in, i, PT_TINYGPT_W, block, err);
        if (s == PT_OK) s = pt_safetensors_writer_put(writer, block, tensors[i].n * 4, err);
    }
    if (s == PT_OK) s = pt_safetensors_writer_end(writer, err);
    else pt_safetensors_writer_discard(writer);
    pt_free(block);
    pt_free(tensors);
    pt_free(entries);
    return s;
}

static void pick_dtype(const char *name, const pt_tinygpt_info *info, pt_tinygpt_dtype *out)
{
    static const struct {
        const char *name;
        pt_tinygpt_dtype dtype;
    } known[] = {{"f32", PT_TINYGPT_F32}, {"f16", PT_TINYGPT_F16}, {"int4", PT_TINYGPT_INT4}};
    *out = info->dtype == PT_TINYGPT_F32_WEIGHTS ? PT_TINYGPT_F32 : info->dtype;
    for (size_t i = 0; name && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0) *out = known[i].dtype;
}

static pt_status convert(const convert_options *o, const char *from, const char *to, pt_error *err)
{
    pt_model_file in = {0};
    pt_atomic_file *file = NULL;
    pt_tinygpt_dtype dtype = PT_TINYGPT_F32;
    bool safetensors = pt_str_ends(to, ".safetensors");
    if (!safetensors && !pt_str_ends(to, ".tinygpt"))
        return pt_fail(err, PT_BAD_INPUT, "%s: the name must end in .tinygpt or .safetensors", to);
    if (safetensors && o->dtype && strcmp(o->dtype, "f32") != 0)
        return pt_fail(err, PT_UNSUPPORTED,
                       ".safetensors files are written in f32 only: leave --dtype out");
    pt_status s = pt_model_file_open(&in, from, err);
    if (s == PT_OK) pick_dtype(o->dtype, in.info, &dtype);
    if (s == PT_OK) s = pt_open_output(&file, to, o->force, err);
    if (s == PT_OK) {
        pt_sink sink = pt_sink_to_file(file);
        s = safetensors ? to_safetensors(&in, &sink, err) : to_tinygpt(o, &in, dtype, &sink, err);
        if (s == PT_OK) s = pt_atomic_file_commit(file, err);
        else pt_atomic_file_discard(file);
    }
    pt_model_file_close(&in);
    return s;
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    convert_options o = {0};
    pt_option options[] = {
        {"dtype", PT_OPTION_TEXT, &o.dtype, "f32|f16|int4", "what the weights are stored in",
         "as the input", false},
        {"drop-corpus", PT_OPTION_SWITCH, &o.drop_corpus, NULL,
         "leave the training text in the header out", NULL, false},
        {"force", PT_OPTION_SWITCH, &o.force, NULL, "replace an existing file", NULL, false},
    };
    pt_command_line line = {
        .options = options, .n_options = sizeof options / sizeof options[0], .most_positional = 2};
    bool done = false;
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    if (line.n_positional < 2)
        return pt_fail(err, PT_BAD_INPUT, "which files? posttrain convert IN.tinygpt OUT");
    return convert(&o, line.positional[0], line.positional[1], err);
}

const pt_verb pt_verb_convert = {
    .name = "convert",
    .summary = "write a model file in another layout",
    .usage = "posttrain convert IN.tinygpt OUT.tinygpt|OUT.safetensors [options]",
    .details = "f16 and int4 hold the weights alone: training cannot go on from them.\n\n"
               "Examples:\n"
               "  posttrain convert model.tinygpt small.tinygpt --dtype f16\n"
               "  posttrain convert model.tinygpt model.safetensors\n",
    .manual = "Writes a model with weights of another type, or as .safetensors, which other "
              "programs read. The output is never written over an existing file without --force.\n",
    .run = run,
};
