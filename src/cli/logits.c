/* posttrain logits: the raw scores of every next token. SPDX-License-Identifier: MIT */
#include "base/atomic_file.h"
#include "cli/loaded.h"
#include "infer/row_logits.h"
#include "io/safetensors.h"

#define MAX_IDS (1 << 20)

typedef struct id_list {
    int32_t *ids;
    int64_t n;
} id_list;

typedef struct logits_options {
    pt_device_choice device;
    const char *ids, *ids_file, *out, *weights;
    bool force;
    id_list list;
} logits_options;

static pt_status add_id(id_list *list, int64_t id, pt_error *err)
{
    if (list->n == MAX_IDS) return pt_fail(err, PT_BAD_INPUT, "more than %d ids", MAX_IDS);
    if (id < 0 || id > INT32_MAX)
        return pt_fail(err, PT_BAD_INPUT, "id number %lld is not 0 to %d", (long long)list->n,
                       INT32_MAX);
    list->ids[list->n++] = (int32_t)id;
    return PT_OK;
}

/* "72 101 108", separated by spaces or commas. */
static pt_status ids_from_text(id_list *list, const char *text, pt_error *err)
{
    pt_status s = PT_OK;
    for (const char *p = text; *p && s == PT_OK;) {
        if (*p == ' ' || *p == ',' || *p == '\n' || *p == '\t') {
            p++;
            continue;
        }
        int64_t id = 0;
        const char *start = p;
        for (; *p >= '0' && *p <= '9'; p++)
            if (id <= INT32_MAX) id = id * 10 + (*p - '0');
        if (p == start)
            return pt_fail(err, PT_BAD_INPUT, "--ids: '%s' is not a list of whole numbers", text);
        s = add_id(list, id, err);
    }
    return s;
}

static pt_status ids_from_file(id_list *list, const char *path, pt_error *err)
{
    char *text = NULL;
    int64_t size = 0;
    pt_arena arena = {0};
    const pt_json *json = NULL;
    pt_status s = pt_fs_read(path, 64 << 20, &text, &size, err);
    if (s) return s;
    s = pt_json_parse(text, (size_t)size, &arena, &json, err);
    if (s == PT_OK && json->type != PT_JSON_ARRAY)
        s = pt_fail(err, PT_BAD_INPUT, "must hold a JSON list of ids");
    for (const pt_json *v = s ? NULL : json->child; v && s == PT_OK; v = v->next) {
        int64_t id = 0;
        if (!pt_json_to_i64(v, &id))
            s = pt_fail(err, PT_BAD_INPUT, "entry %lld is not a whole number", (long long)list->n);
        else s = add_id(list, id, err);
    }
    if (s) pt_error_prefix(err, "%s", path);
    pt_arena_deinit(&arena);
    pt_free(text);
    return s;
}

static pt_status write_result(const logits_options *o, const float *logits, int64_t V,
                              pt_error *err)
{
    pt_atomic_file *file = NULL;
    pt_status s = pt_open_output(&file, o->out, o->force, err);
    if (s) return s;
    pt_sink sink = pt_sink_to_file(file);
    pt_safetensors_entry entry = {
        .name = "logits", .dtype = PT_F32, .rank = 2, .dim = {o->list.n, V}, .data = logits};
    s = pt_safetensors_write(&entry, 1, NULL, &sink, err);
    if (s == PT_OK) return pt_atomic_file_commit(file, err);
    pt_atomic_file_discard(file);
    return s;
}

static pt_status compute(void *ctx, pt_loaded *l, pt_error *err)
{
    const logits_options *o = ctx;
    const id_list *list = &o->list;
    pt_row_logits row;
    int64_t V = l->ready.model->config.vocab;
    float *logits = pt_alloc((size_t)(list->n * V) * sizeof *logits);
    if (!logits) return pt_fail(err, PT_NO_MEMORY, "no memory for the logits");
    pt_status s = pt_row_logits_begin(&row, l->ready.model, list->ids, list->n, logits, err);
    if (s == PT_OK) do
            s = pt_row_logits_poll(&row, err);
        while (s == PT_PENDING);
    if (s == PT_OK) s = write_result(o, logits, V, err);
    pt_free(logits);
    return s;
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    logits_options o = {.device = {.device = "cpu"}, .weights = "f32"};
    pt_option options[] = {
        {"ids", PT_OPTION_TEXT, &o.ids, "LIST", "token ids, as \"72 101 108\"", NULL, false},
        {"ids-file", PT_OPTION_TEXT, &o.ids_file, "FILE", "a JSON list of ids", NULL, false},
        {"out", PT_OPTION_TEXT, &o.out, "FILE", "the .safetensors file to write", NULL, false},
        {"force", PT_OPTION_SWITCH, &o.force, NULL, "replace an existing file", NULL, false},
        PT_DEVICE_OPTIONS(&o.device),
        PT_WEIGHTS_OPTION(&o.weights),
    };
    pt_command_line line = {
        .options = options, .n_options = sizeof options / sizeof options[0], .most_positional = 1};
    bool done = false;
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    id_list *list = &o.list;
    list->ids = pt_alloc(MAX_IDS * sizeof *list->ids);
    if (!list->ids) s = pt_fail(err, PT_NO_MEMORY, "no memory for ids");
    if (s == PT_OK) s = pt_need_model(&line, err);
    if (s == PT_OK && (!o.ids == !o.ids_file))
        s = pt_fail(err, PT_BAD_INPUT, "give either --ids or --ids-file");
    if (s == PT_OK && !o.out) s = pt_fail(err, PT_BAD_INPUT, "where to? give --out FILE");
    if (s == PT_OK && !pt_str_ends(o.out, ".safetensors"))
        s = pt_fail(err, PT_BAD_INPUT, "%s: the name must end in .safetensors", o.out);
    if (s == PT_OK && o.ids) s = ids_from_text(list, o.ids, err);
    if (s == PT_OK && o.ids_file) s = ids_from_file(list, o.ids_file, err);
    if (s == PT_OK && !list->n)
        s = pt_fail(err, PT_BAD_INPUT, "no ids: give --ids \"72 101\" or --ids-file");
    pt_loaded_options open = {
        .path = line.positional[0], .choice = &o.device, .weights = o.weights};
    if (s == PT_OK) s = pt_loaded_do(&open, compute, &o, err);
    pt_free(list->ids);
    return s;
}

const pt_verb pt_verb_logits = {
    .name = "logits",
    .summary = "write the raw scores of every next token to a file",
    .usage = "posttrain logits MODEL --ids \"72 101 108\" --out FILE.safetensors",
    .details = "Writes one tensor, `logits` [T,V] f32: row t scores the token after ids[0..t].\n\n"
               "Example:\n"
               "  posttrain logits model.tinygpt --ids \"72 101\" --out scores.safetensors\n",
    .run = run,
};
