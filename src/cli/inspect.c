/* posttrain inspect: what a model file holds. SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/table.h"
#include "model/facts.h"

typedef struct inspection {
    const pt_tinygpt_info *info;
    pt_tinygpt_tensor *tensors;
    pt_facts *facts;
    int64_t bad;       /* over all tensors */
    pt_status damaged; /* of the checksum */
} inspection;

static pt_status look_at_tensors(inspection *in, const pt_tinygpt *file, pt_error *err)
{
    int64_t n = in->info->n_tensors, largest = 1;
    in->tensors = pt_alloc((size_t)n * sizeof *in->tensors);
    in->facts = pt_alloc((size_t)n * sizeof *in->facts);
    if (!in->tensors || !in->facts) return pt_fail(err, PT_NO_MEMORY, "no memory to inspect");
    for (int64_t i = 0; i < n; i++) {
        in->tensors[i] = pt_tinygpt_tensor_at(&in->info->config, i);
        largest = pt_max_i64(largest, in->tensors[i].n);
    }
    float *w = pt_alloc((size_t)largest * sizeof *w);
    pt_status s = w ? PT_OK : pt_fail(err, PT_NO_MEMORY, "no memory to inspect");
    for (int64_t i = 0; i < n && s == PT_OK; i++) {
        s = pt_tinygpt_read(file, i, PT_TINYGPT_W, w, err);
        if (s) break;
        in->facts[i] = pt_facts_of(w, in->tensors[i].n);
        in->bad += in->facts[i].bad;
    }
    pt_free(w);
    return s;
}

static void write_config(pt_json_writer *w, const pt_tinygpt_config *c)
{
    pt_json_begin_object(w, "config");
    pt_json_i64(w, "layers", c->layers);
    pt_json_i64(w, "heads", c->heads);
    pt_json_i64(w, "d_model", c->d_model);
    pt_json_i64(w, "d_mlp", c->d_mlp);
    pt_json_i64(w, "ctx", c->ctx);
    pt_json_i64(w, "vocab", c->vocab);
    pt_json_end_object(w);
}

static void write_tensors(pt_json_writer *w, const inspection *in)
{
    pt_json_begin_array(w, "tensors");
    for (int64_t i = 0; i < in->info->n_tensors; i++) {
        const pt_tinygpt_tensor *t = &in->tensors[i];
        pt_json_begin_object(w, NULL);
        pt_json_string(w, "name", t->name);
        pt_json_begin_array(w, "shape");
        for (int k = 0; k < t->rank; k++) pt_json_i64(w, NULL, t->dim[k]);
        pt_json_end_array(w);
        pt_json_double(w, "l2", in->facts[i].l2);
        pt_json_double(w, "largest", in->facts[i].largest);
        pt_json_end_object(w);
    }
    pt_json_end_array(w);
}

static const char *checksum_word(const inspection *in)
{
    if (!in->info->has_crc) return "absent";
    return in->damaged ? "wrong" : "right";
}

static void write_json(const inspection *in, pt_strbuf *text)
{
    pt_json_writer w = pt_json_writer_begin(text, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "format", "tinygpt");
    pt_json_i64(&w, "version", in->info->version);
    pt_json_string(&w, "dtype", pt_tinygpt_dtype_name(in->info->dtype));
    pt_json_i64(&w, "step", in->info->step);
    pt_json_i64(&w, "params", in->info->n_params);
    write_config(&w, &in->info->config);
    pt_json_begin_object(&w, "checks");
    pt_json_string(&w, "checksum", checksum_word(in));
    pt_json_bool(&w, "finite", in->bad == 0);
    pt_json_bool(&w, "manifest", in->info->has_manifest);
    pt_json_end_object(&w);
    pt_json_value(&w, "final_loss", pt_json_get(in->info->header, "finalLoss"));
    pt_json_value(&w, "best_val", pt_json_get(in->info->header, "bestVal"));
    pt_json_value(&w, "posttrain", pt_json_get(in->info->header, "posttrain"));
    write_tensors(&w, in);
    pt_json_end_object(&w);
    pt_strbuf_putc(text, '\n');
}

static void write_text(const inspection *in, pt_strbuf *text)
{
    char n[32];
    const pt_tinygpt_config *c = &in->info->config;
    double loss = 0;
    const pt_json *final = pt_json_get(in->info->header, "finalLoss");
    const char *moments = in->info->dtype == PT_TINYGPT_F32 ? " with AdamW moments" : "";
    pt_strbuf_printf(text, ".tinygpt version %d, %s%s, step %lld, %s parameters\n",
                     in->info->version, pt_tinygpt_dtype_name(in->info->dtype), moments,
                     (long long)in->info->step, pt_grouped(in->info->n_params, n));
    pt_strbuf_printf(
        text, "layers %lld, width %lld, heads %lld, mlp %lld, context %lld, vocabulary %lld\n",
        (long long)c->layers, (long long)c->d_model, (long long)c->heads, (long long)c->d_mlp,
        (long long)c->ctx, (long long)c->vocab);
    if (pt_json_get_double(final, "train", &loss))
        pt_strbuf_printf(text, "training loss %.4f", loss);
    if (pt_json_get_double(final, "val", &loss))
        pt_strbuf_printf(text, ", validation loss %.4f", loss);
    if (final && final->type == PT_JSON_OBJECT) pt_strbuf_putc(text, '\n');
    pt_strbuf_printf(text, "checksum %s; %s\n\n", checksum_word(in),
                     in->bad ? "NOT all weights are finite" : "all weights are finite");
}

static pt_status write_facts(const inspection *in, pt_strbuf *text, pt_error *err)
{
    static const char *const titles[] = {"tensor", "shape", "l2 norm", "largest"};
    pt_table t = {
        .rows = in->info->n_tensors + 1, .columns = 4, .right = 0xe, .screen = pt_stdout_columns()};
    pt_status s = pt_table_begin(&t, err);
    if (s) return s;
    for (int k = 0; k < 4; k++) pt_table_text(&t, 0, k, titles[k]);
    for (int64_t i = 0; i < in->info->n_tensors; i++) {
        const pt_tinygpt_tensor *tensor = &in->tensors[i];
        pt_table_text(&t, i + 1, 0, tensor->name);
        if (tensor->rank == 2)
            pt_table_put(&t, i + 1, 1, "%lld x %lld", (long long)tensor->dim[0],
                         (long long)tensor->dim[1]);
        else pt_table_put(&t, i + 1, 1, "%lld", (long long)tensor->dim[0]);
        pt_table_put(&t, i + 1, 2, "%.5g", in->facts[i].l2);
        pt_table_put(&t, i + 1, 3, "%.5g", in->facts[i].largest);
    }
    pt_table_print(&t, text);
    pt_table_end(&t);
    return PT_OK;
}

/* Opens without insisting on the checksum: a damaged file is worth a look too. */
static pt_status inspect(const char *path, bool json, pt_error *err)
{
    pt_file_view view = {0};
    pt_tinygpt *file = NULL;
    pt_strbuf text = {0};
    inspection in = {0};
    pt_status s = pt_file_view_open(&view, path, err);
    if (s) return s;
    s = pt_tinygpt_open(&file, view.data, view.size, err);
    if (s) pt_error_prefix(err, "%s", path);
    if (s) goto done;
    in.info = pt_tinygpt_get(file);
    in.damaged = pt_tinygpt_verify(file, NULL);
    s = look_at_tensors(&in, file, err);
    if (s) goto done;
    if (json) write_json(&in, &text);
    else {
        write_text(&in, &text);
        s = write_facts(&in, &text, err);
    }
    if (s == PT_OK) s = pt_print_strbuf(&text, err);
    if (s == PT_OK && in.damaged)
        s = pt_fail(err, PT_CORRUPT, "%s: the checksum is wrong: the file is damaged", path);
    if (s == PT_OK && in.bad)
        s = pt_fail(err, PT_CORRUPT, "%s: %lld weights are not finite", path, (long long)in.bad);
done:
    pt_strbuf_deinit(&text);
    pt_free(in.tensors);
    pt_free(in.facts);
    pt_tinygpt_close(file);
    pt_file_view_close(&view);
    return s;
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    bool json = false, done = false;
    pt_option options[] = {
        PT_JSON_OPTION(&json),
    };
    pt_command_line line = {.options = options, .n_options = 1, .most_positional = 1};
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    s = pt_need_model(&line, err);
    return s == PT_OK ? inspect(line.positional[0], json, err) : s;
}

const pt_verb pt_verb_inspect = {
    .name = "inspect",
    .summary = "show what a model file holds, and check it",
    .usage = "posttrain inspect MODEL [--json]",
    .details = "Exits 5 when the file is damaged.\n\n"
               "Example:\n  posttrain inspect runs/first/model.tinygpt\n",
    .manual = "Prints format, sizes, losses and, for each tensor, shape, norm and largest value, "
              "and verifies the checksum. A damaged file is shown as far as it can be read.\n",
    .run = run,
};
