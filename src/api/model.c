/* A trained model, of the public interface. SPDX-License-Identifier: MIT */
#include "api/api.h"
#include "base/fs.h"
#include "infer/generation.h"
#include "infer/loaded_model.h"
#include "infer/row_logits.h"
#include "infer/text_score.h"

struct posttrain_model {
    pt_device *device;
    pt_loaded_model loaded;
    int64_t step;
};

static pt_status read_file(posttrain_model *m, const char *path, const posttrain_options *o,
                           pt_error *err)
{
    pt_file_view view = {0};
    pt_tinygpt *file = NULL;
    pt_loaded_model_options options = {.batch = o->score_batch, .scorer = true, .session = true};
    if (o->score_batch < 1 || o->score_batch > 65536)
        return pt_fail(err, PT_BAD_INPUT, "score-batch is %lld, it must be 1 to 65536",
                       (long long)o->score_batch);
    if (!pt_weights_from_name(o->weights, &options.weights))
        return pt_fail(err, PT_BAD_INPUT, "weights is '%s', it must be f32, f16 or int8",
                       o->weights);
    pt_status s = pt_file_view_read(&view, path, err);
    if (s) return s;
    s = pt_tinygpt_open(&file, view.data, view.size, err);
    if (s == PT_OK) s = pt_tinygpt_verify(file, err);
    if (s == PT_OK) s = pt_loaded_model_open(&m->loaded, m->device, file, &options, err);
    if (s == PT_OK) m->step = pt_tinygpt_get(file)->step;
    if (s) pt_error_prefix(err, "%s", path);
    pt_tinygpt_close(file);
    pt_file_view_close(&view);
    return s;
}

posttrain_status posttrain_model_open(posttrain_model **out, const char *path,
                                      const posttrain_options *options)
{
    pt_error err = {0};
    posttrain_options *defaults = NULL;
    if (!out || !path) return pt_api_missing(__func__, !out ? "out" : "path");
    *out = NULL;
    if (!options && posttrain_options_new(&defaults)) return POSTTRAIN_NO_MEMORY;
    if (!options) options = defaults;
    posttrain_model *m = pt_alloc(sizeof *m);
    pt_status s = m ? PT_OK : pt_fail(&err, PT_NO_MEMORY, "no memory for a model");
    if (s == PT_OK) s = pt_api_device(options, &m->device, &err);
    if (s == PT_OK) s = read_file(m, path, options, &err);
    posttrain_options_free(defaults);
    if (s) posttrain_model_close(m);
    else *out = m;
    return pt_api_result(s, &err);
}

void posttrain_model_close(posttrain_model *model)
{
    if (!model) return;
    pt_loaded_model_close(&model->loaded);
    pt_device_free(model->device);
    pt_free(model);
}

int64_t posttrain_model_fact(const posttrain_model *model, posttrain_fact fact)
{
    if (!model) return -1;
    const pt_model_config *c = &model->loaded.model->config;
    switch (fact) {
    case POSTTRAIN_PARAMETERS: return model->loaded.model->params.n_params;
    case POSTTRAIN_LAYERS: return c->n_layers;
    case POSTTRAIN_HEADS: return c->n_heads;
    case POSTTRAIN_WIDTH: return c->d_model;
    case POSTTRAIN_CONTEXT: return c->ctx;
    case POSTTRAIN_VOCABULARY: return c->vocab;
    case POSTTRAIN_STEP: return model->step;
    }
    return -1;
}

static pt_status generate(pt_generation *g, posttrain_piece piece, void *ctx, pt_error *err)
{
    char out[8];
    pt_status s;
    do {
        size_t n = 0;
        s = pt_generation_poll(g, out, &n, err);
        if (n && piece(ctx, out, n)) return PT_OK;
    } while (s == PT_PENDING);
    return s;
}

posttrain_status posttrain_generate(posttrain_model *model, const char *prompt, size_t n,
                                    const posttrain_options *options, posttrain_piece piece,
                                    void *ctx)
{
    pt_error err = {0};
    pt_generation g;
    posttrain_options *defaults = NULL;
    if (!model || !piece || (n && !prompt))
        return pt_api_missing(__func__, !model ? "model" : !piece ? "piece" : "prompt");
    if (!options && posttrain_options_new(&defaults)) return POSTTRAIN_NO_MEMORY;
    const posttrain_options *o = options ? options : defaults;
    pt_generation_request request = {.prompt = prompt,
                                     .n_prompt = (int64_t)n,
                                     .max_tokens = o->max_tokens,
                                     .sampler = {.temperature = o->temperature,
                                                 .top_k = o->top_k,
                                                 .top_p = o->top_p,
                                                 .min_p = o->min_p,
                                                 .repetition_penalty = o->repetition_penalty,
                                                 .seed = (uint64_t)o->seed}};
    pt_status s = pt_sampler_options_check(&request.sampler, &err);
    if (s == PT_OK) s = pt_generation_begin(&g, model->loaded.session, &request, &err);
    if (s == PT_OK) s = generate(&g, piece, ctx, &err);
    posttrain_options_free(defaults);
    return pt_api_result(s, &err);
}

posttrain_status posttrain_score(posttrain_model *model, const char *text, size_t n, double *loss,
                                 double *perplexity)
{
    pt_error err = {0};
    pt_text_score score;
    if (!model || (n && !text)) return pt_api_missing(__func__, !model ? "model" : "text");
    pt_status s = pt_text_score_begin(&score, model->loaded.scorer, model->loaded.model,
                                      pt_tokens_of_bytes((const uint8_t *)text, (int64_t)n), &err);
    if (s == PT_OK) s = PT_PENDING;
    while (s == PT_PENDING) s = pt_text_score_poll(&score, &err);
    if (s == PT_OK && loss) *loss = pt_score_loss(&score.total);
    if (s == PT_OK && perplexity) *perplexity = pt_score_perplexity(&score.total);
    return pt_api_result(s, &err);
}

posttrain_status posttrain_logits(posttrain_model *model, const int32_t *ids, size_t n,
                                  float *logits)
{
    pt_error err = {0};
    pt_row_logits row;
    if (!model) return pt_api_missing(__func__, "model");
    int64_t context = model->loaded.model->config.ctx;
    if (n && n <= (size_t)context && (!ids || !logits)) /* longer ones are refused below */
        return pt_api_missing(__func__, !ids ? "ids" : "logits");
    pt_status s = pt_row_logits_begin(&row, model->loaded.model, ids, (int64_t)n, logits, &err);
    if (s == PT_OK) s = PT_PENDING;
    while (s == PT_PENDING) s = pt_row_logits_poll(&row, &err);
    return pt_api_result(s, &err);
}
