/* posttrain convert: a model file into another layout. SPDX-License-Identifier: MIT */
#include "base/atomic_file.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "model/tinygpt_export.h"

typedef struct convert_options {
    const char *dtype;
    bool force, drop_corpus;
} convert_options;

static pt_status copy_tensors(pt_tinygpt_writer *writer, const pt_model_file *in, bool moments,
                              pt_error *err)
{
    float *block = pt_tinygpt_new_block(in->file, err);
    pt_status s = block ? PT_OK : PT_NO_MEMORY;
    int parts = moments ? 3 : 1;
    for (int64_t i = 0; i < in->info->n_tensors && s == PT_OK; i++) {
        pt_tinygpt_tensor t = pt_tinygpt_tensor_at(&in->info->config, i);
        for (int part = 0; part < parts && s == PT_OK; part++) {
            s = pt_tinygpt_read_finite(in->file, i, (pt_tinygpt_part)part, block, err);
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
        s = safetensors ? pt_tinygpt_to_safetensors(in.file, &sink, err)
                        : to_tinygpt(o, &in, dtype, &sink, err);
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
