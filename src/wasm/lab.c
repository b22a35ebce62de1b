/* Evaluating, sampling and looking inside. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "infer/likely.h"
#include "text/bytes.h"
#include "wasm/engine.h"

pt_status pt_lab_new(pt_lab **out, pt_device *device, const pt_model_config *config,
                     const pt_model *share, const pt_run_settings *settings, pt_error *err)
{
    *out = NULL;
    pt_lab *lab = pt_alloc(sizeof *lab);
    if (!lab) return pt_fail(err, PT_NO_MEMORY, "no memory for a model");
    lab->rows = settings->eval_rows;
    pt_model_options options = {.mode = PT_MODEL_EVALUATE,
                                .batch = lab->rows,
                                .weights = settings->weights,
                                .share = share};
    pt_status s = pt_model_new(&lab->model, device, config, &options, err);
    if (s == PT_OK) s = pt_scorer_new(&lab->scorer, lab->model, err);
    if (s == PT_OK) s = pt_session_new(&lab->session, lab->model, err);
    if (s == PT_OK && settings->inspect)
        s = pt_inspection_new(&lab->inspection, lab->model, 0, err);
    if (s) pt_lab_free(lab);
    else *out = lab;
    return s;
}

void pt_lab_free(pt_lab *lab)
{
    if (!lab) return;
    pt_inspection_free(lab->inspection);
    pt_session_free(lab->session);
    pt_scorer_free(lab->scorer);
    pt_model_free(lab->model);
    pt_free(lab->text);
    pt_strbuf_deinit(&lab->logits);
    pt_free(lab);
}

void pt_lab_plan(pt_lab *lab, pt_plan *plan)
{
    pt_model_plan(lab->model, plan, "lab.");
    pt_scorer_plan(lab->scorer, plan);
    pt_session_plan(lab->session, plan);
    if (lab->inspection) pt_inspection_plan(lab->inspection, plan);
}

pt_status pt_lab_bind(pt_lab *lab, const pt_plan *plan, pt_error *err)
{
    pt_status s = pt_model_bind(lab->model, plan, err);
    if (s) return s;
    pt_scorer_bind(lab->scorer, plan);
    s = pt_session_bind(lab->session, plan, err);
    if (s == PT_OK && lab->inspection) s = pt_inspection_bind(lab->inspection, plan, err);
    return s;
}

static pt_status need_lab(const pt_engine *e, pt_error *err)
{
    return e->lab ? PT_OK : pt_fail(err, PT_BAD_INPUT, "no model: train one or load a file");
}

static double deadline(double ms) { return pt_clock_seconds() + ms / 1000; }

/* A token for people: itself, or its byte where that is no character. */
static void put_token(pt_json_writer *w, int32_t id)
{
    char text[16];
    int byte = pt_bytes_decode(id);
    if (byte == '\n' || byte == '\t' || (byte >= ' ' && byte < 127)) {
        text[0] = (char)byte;
        pt_json_string_n(w, "text", text, 1);
        return;
    }
    pt_format(text, sizeof text, byte < 0 ? "<%d>" : "<0x%02X>", byte < 0 ? (int)id : byte);
    pt_json_string(w, "text", text);
}

static void put_likely(pt_json_writer *w, const char *key, const pt_likely *list, int64_t n)
{
    pt_json_begin_array(w, key);
    for (int64_t i = 0; i < n; i++) {
        pt_json_begin_object(w, NULL);
        pt_json_i64(w, "id", list[i].id);
        pt_json_double(w, "p", list[i].p);
        put_token(w, list[i].id);
        pt_json_end_object(w);
    }
    pt_json_end_array(w);
}

/* ---- evaluating ---- */

pt_status pt_engine_evaluate(pt_engine *e, const char *text, int64_t n, pt_error *err)
{
    pt_status s = need_lab(e, err);
    if (s) return s;
    pt_lab *lab = e->lab;
    lab->scoring = false;
    pt_free(lab->text);
    lab->text = pt_alloc((size_t)n);
    if (!lab->text)
        return pt_fail(err, PT_NO_MEMORY, "no memory for a text of %lld bytes", (long long)n);
    memcpy(lab->text, text, (size_t)n);
    s = pt_text_score_begin(&lab->score, lab->scorer, lab->model, pt_tokens_of_bytes(lab->text, n),
                            err);
    lab->scoring = s == PT_OK;
    return s;
}

pt_status pt_engine_evaluate_poll(pt_engine *e, double ms, pt_error *err)
{
    pt_status s = need_lab(e, err);
    pt_lab *lab = e->lab;
    if (s == PT_OK && !lab->scoring) s = pt_fail(err, PT_BAD_INPUT, "nothing is being evaluated");
    if (s) return s;
    double until = deadline(ms);
    do s = pt_text_score_poll(&lab->score, err);
    while (pt_engine_goes_on(e, s, until));
    lab->scoring = s == PT_PENDING;
    if (s != PT_OK && s != PT_PENDING) return s;
    const pt_score *total = &lab->score.total;
    pt_json_writer w = pt_json_writer_begin(&e->out, 0);
    pt_json_begin_object(&w, NULL);
    if (s == PT_PENDING) {
        pt_json_i64(&w, "done", total->n_targets);
        pt_json_i64(&w, "total", lab->score.text.n - 1);
    } else {
        pt_json_i64(&w, "tokens", total->n_targets);
        pt_json_double(&w, "loss", pt_score_loss(total));
        pt_json_double(&w, "perplexity", pt_score_perplexity(total));
        pt_json_double(&w, "bits", pt_score_bits(total));
    }
    pt_json_end_object(&w);
    return s;
}

/* ---- sampling ---- */

/* The ids of a text of bytes, to be freed. */
static pt_status encode(const char *text, int64_t n, int32_t **ids, pt_error *err)
{
    *ids = pt_alloc((size_t)n * sizeof **ids);
    if (!*ids) return pt_fail(err, PT_NO_MEMORY, "no memory for %lld tokens", (long long)n);
    pt_bytes_encode((const uint8_t *)text, n, *ids);
    return PT_OK;
}

pt_status pt_engine_sample(pt_engine *e, const pt_json *settings, pt_error *err)
{
    pt_sample_settings o;
    int32_t *ids = NULL;
    pt_status s = need_lab(e, err);
    if (s == PT_OK) s = pt_sample_settings_read(settings, &o, err);
    if (s == PT_OK) s = encode(o.prompt, (int64_t)o.prompt_len, &ids, err);
    if (s == PT_OK)
        s = pt_session_start(e->lab->session, ids, (int64_t)o.prompt_len, &o.sampler, err);
    pt_free(ids);
    if (s) return s;
    e->lab->tokens_left = o.tokens;
    e->lab->top = o.top;
    e->lab->tell_logits = o.logits;
    e->lab->characters = (pt_utf8_stream){0};
    e->lab->sampling = true;
    return PT_OK;
}

static void put_sampled(pt_lab *lab, pt_json_writer *w, int32_t id)
{
    char text[16];
    pt_likely top[PT_MOST_TOP];
    size_t n = pt_utf8_stream_push(&lab->characters, (char)pt_bytes_decode(id), text);
    if (lab->tokens_left == 0) n += pt_utf8_stream_flush(&lab->characters, text + n);
    pt_json_begin_object(w, NULL);
    pt_json_i64(w, "id", id);
    pt_json_string_n(w, "text", text, n);
    pt_json_double(w, "p", pt_session_probability(lab->session, id));
    if (lab->top) put_likely(w, "top", top, pt_session_top(lab->session, lab->top, top));
    pt_json_end_object(w);
    if (lab->tell_logits)
        pt_strbuf_append(&lab->logits, (const char *)pt_session_logits(lab->session),
                         (size_t)lab->model->config.vocab * sizeof(float));
}

pt_status pt_engine_sample_poll(pt_engine *e, double ms, pt_error *err)
{
    pt_status s = need_lab(e, err);
    pt_lab *lab = e->lab;
    if (s == PT_OK && !lab->sampling) s = pt_fail(err, PT_BAD_INPUT, "nothing is being sampled");
    if (s) return s;
    double until = deadline(ms);
    pt_strbuf_clear(&lab->logits);
    pt_json_writer w = pt_json_writer_begin(&e->out, 0);
    pt_json_begin_array(&w, NULL);
    while (lab->tokens_left > 0) {
        int32_t id = 0;
        s = pt_session_poll(lab->session, &id, err);
        if (s == PT_OK) {
            lab->tokens_left--;
            put_sampled(lab, &w, id);
        } else if (s != PT_PENDING) {
            lab->sampling = false;
            return s;
        }
        if (!pt_engine_goes_on(e, PT_PENDING, until)) break;
    }
    pt_json_end_array(&w);
    if (lab->logits.failed) return pt_fail(err, PT_NO_MEMORY, "no memory for the logits");
    lab->sampling = lab->tokens_left > 0;
    return lab->sampling ? PT_PENDING : PT_OK;
}

/* The numbers of a list, to be freed. */
static pt_status read_logits(const pt_json *list, float **out, pt_error *err)
{
    *out = NULL;
    if (!list || list->type != PT_JSON_ARRAY || list->n_children < 1)
        return pt_fail(err, PT_BAD_INPUT, "logits must be a list of numbers");
    float *logits = *out = pt_alloc((size_t)list->n_children * sizeof *logits);
    if (!logits) return pt_fail(err, PT_NO_MEMORY, "no memory for the logits");
    for (const pt_json *v = list->child; v; v = v->next) {
        if (v->type != PT_JSON_NUMBER)
            return pt_fail(err, PT_BAD_INPUT, "logits must be a list of numbers");
        *logits++ = (float)v->number;
    }
    return PT_OK;
}

pt_status pt_engine_odds(pt_engine *e, const pt_json *question, pt_error *err)
{
    pt_sampler sampler = {0};
    pt_sampler_options o;
    const pt_json *list = pt_json_get(question, "logits");
    float *logits = NULL;
    pt_likely *odds = NULL;
    int64_t n = 0;
    pt_status s = pt_odds_settings_read(pt_json_get(question, "settings"), &o, err);
    if (s == PT_OK) s = read_logits(list, &logits, err);
    if (s == PT_OK) s = pt_sampler_init(&sampler, list->n_children, err);
    if (s == PT_OK) odds = pt_alloc((size_t)list->n_children * sizeof *odds);
    if (s == PT_OK && !odds) s = pt_fail(err, PT_NO_MEMORY, "no memory for the odds");
    if (s == PT_OK) s = pt_sampler_odds(&sampler, &o, logits, odds, &n, err);
    if (s == PT_OK) {
        pt_json_writer w = pt_json_writer_begin(&e->out, 0);
        put_likely(&w, NULL, odds, n);
    }
    pt_sampler_deinit(&sampler);
    pt_free(logits);
    pt_free(odds);
    return s;
}

/* ---- looking inside ---- */

static pt_status need_inspection(const pt_engine *e, pt_error *err)
{
    pt_status s = need_lab(e, err);
    if (s || e->lab->inspection) return s;
    return pt_fail(err, PT_BAD_INPUT,
                   "there is no memory for looking inside: ask for it (inspect)");
}

pt_status pt_engine_look(pt_engine *e, const char *text, int64_t n, pt_error *err)
{
    int32_t *ids = NULL;
    pt_status s = need_inspection(e, err);
    if (s == PT_OK) s = encode(text, n, &ids, err);
    if (s == PT_OK) s = pt_inspection_run(e->lab->inspection, ids, n, err);
    if (s == PT_OK) {
        const pt_model_config *c = &e->lab->model->config;
        pt_json_writer w = pt_json_writer_begin(&e->out, 0);
        pt_json_begin_object(&w, NULL);
        pt_json_begin_array(&w, "tokens");
        for (int64_t i = 0; i < n; i++) {
            pt_json_begin_object(&w, NULL);
            pt_json_i64(&w, "id", ids[i]);
            put_token(&w, ids[i]);
            pt_json_end_object(&w);
        }
        pt_json_end_array(&w);
        pt_json_i64(&w, "layers", c->n_layers);
        pt_json_i64(&w, "heads", c->n_heads);
        pt_json_i64(&w, "vocab", c->vocab);
        pt_json_end_object(&w);
    }
    pt_free(ids);
    return s;
}

pt_status pt_engine_lens(pt_engine *e, int64_t layer, pt_error *err)
{
    pt_status s = need_inspection(e, err);
    return s == PT_OK ? pt_inspection_lens(e->lab->inspection, layer, err) : s;
}

pt_status pt_engine_attention(pt_engine *e, int64_t layer, pt_error *err)
{
    pt_status s = need_inspection(e, err);
    return s == PT_OK ? pt_inspection_attention(e->lab->inspection, layer, err) : s;
}

pt_status pt_engine_look_poll(pt_engine *e, double ms, pt_error *err)
{
    pt_status s = need_inspection(e, err);
    if (s) return s;
    double until = deadline(ms);
    do s = pt_inspection_poll(e->lab->inspection, err);
    while (pt_engine_goes_on(e, s, until));
    return s;
}

pt_status pt_engine_lens_top(pt_engine *e, int64_t k, pt_error *err)
{
    pt_likely top[PT_MOST_TOP];
    pt_status s = need_inspection(e, err);
    if (s) return s;
    int64_t T = pt_inspection_tokens(e->lab->inspection), V = e->lab->model->config.vocab;
    if (k < 1 || k > PT_MOST_TOP)
        return pt_fail(err, PT_BAD_INPUT, "top is %lld, it must be 1 to %d", (long long)k,
                       PT_MOST_TOP);
    if (pt_inspection_n_values(e->lab->inspection) != T * V)
        return pt_fail(err, PT_BAD_INPUT,
                       "the likeliest tokens are those of a lens: ask for one first");
    pt_json_writer w = pt_json_writer_begin(&e->out, 0);
    pt_json_begin_array(&w, NULL);
    for (int64_t t = 0; t < T; t++) {
        const float *row = pt_inspection_values(e->lab->inspection) + t * V;
        put_likely(&w, NULL, top, pt_likely_top(row, V, k, top));
    }
    pt_json_end_array(&w);
    return PT_OK;
}
