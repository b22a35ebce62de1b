/* What is due between steps: saving, evaluating, sampling.
 * SPDX-License-Identifier: MIT */
#include "train/trainer_internal.h"

#include "base/clock.h"
#include "base/maths.h"
#include "base/version.h"
#include "text/bytes.h"

/* An evaluation or a sample is still to come after this step. */
static bool looks(const pt_trainer *t) { return (t->due & (DUE_EVALUATE | DUE_SAMPLE)) != 0; }

/* Saving comes first, so that a crash in an evaluation loses nothing. After the last step it comes again, as the
 * last file's header tells what that evaluation and sample came to. */
pt_status pt_trainer_choose_due(pt_trainer *t, pt_error *err)
{
    t->entered = false;
    bool failed = t->failure.status != PT_OK;
    if (t->stopping || failed) t->due = t->saver && t->saved_step != t->step ? DUE_SAVE : 0;
    if (failed && !t->due) {
        if (err && err->status == PT_OK) *err = t->failure;
        return t->failure.status;
    }
    if ((t->due & DUE_SAVE) && t->saved_step != t->step) t->phase = PHASE_SAVE;
    else if (t->due & DUE_EVALUATE) t->phase = PHASE_EVALUATE;
    else if (t->due & DUE_SAMPLE) t->phase = PHASE_SAMPLE;
    else if (t->due & DUE_SAVE) t->phase = PHASE_SAVE;
    else if (t->stopping || t->step >= t->options.steps) t->phase = PHASE_DONE;
    else {
        t->phase = PHASE_STEP;
        t->mark = pt_clock_seconds();
    }
    return PT_OK;
}

/* The run was asked to stop in the middle of looking: nothing is in flight, so it can. */
static pt_status give_up(pt_trainer *t)
{
    t->due = 0;
    t->phase = PHASE_DUE;
    return PT_OK;
}

static pt_status queue_evaluation(pt_trainer *t, pt_error *err)
{
    int64_t B = pt_min_i64(t->options.batch, t->eval_total - t->eval_done);
    pt_status s = pt_mixture_fill(&t->validate, t->eval_done, B, pt_scorer_ids(t->scorer),
                                  pt_scorer_targets(t->scorer), err);
    t->eval_done += B;
    return s ? s : pt_scorer_begin(t->scorer, B, t->T, err);
}

pt_status pt_trainer_evaluate(pt_trainer *t, pt_error *err)
{
    if (!t->entered) {
        t->entered = true;
        t->score = (pt_score){0};
        t->eval_done = 0;
        t->eval_total =
            pt_min_i64(pt_mixture_count(&t->validate), t->options.batch * t->options.eval_batches);
        return queue_evaluation(t, err);
    }
    pt_status s = pt_scorer_poll(t->scorer, &t->score, err);
    if (s) return s;
    if (t->stopping) return give_up(t);
    if (t->eval_done < t->eval_total) return queue_evaluation(t, err);
    double loss = pt_score_loss(&t->score);
    if (t->last_loss.step == t->step) {
        t->last_loss.val = loss;
        pt_trainer_add_history(t, true);
    }
    t->val_loss = loss;
    t->val_step = t->step;
    if (pt_is_nan(t->best.val) || loss < t->best.val)
        t->best = (pt_tinygpt_loss){t->step, loss, loss};
    t->due &= ~DUE_EVALUATE;
    t->phase = PHASE_DUE;
    return t->events.evaluated ? t->events.evaluated(t->events.ctx, t->step, loss, err) : PT_OK;
}

pt_status pt_trainer_sample(pt_trainer *t, pt_error *err)
{
    if (!t->entered) {
        t->entered = true;
        t->n_sample = 0;
        pt_sampler_options sampler = t->options.sampler;
        sampler.seed = t->options.seed;
        return pt_session_start(t->session, t->prompt, t->n_prompt, &sampler, err);
    }
    if (t->n_sample < t->options.sample_tokens) {
        int32_t id = 0;
        pt_status s = pt_session_poll(t->session, &id, err);
        if (s == PT_OK) t->sample[t->n_sample++] = (char)pt_bytes_decode(id);
        return s == PT_OK && t->stopping ? give_up(t) : s;
    }
    t->sample[t->n_sample] = 0;
    t->due &= ~DUE_SAMPLE;
    t->phase = PHASE_DUE;
    if (!t->events.sampled) return PT_OK;
    return t->events.sampled(t->events.ctx, t->step, t->sample, t->n_sample, err);
}

/* The header's "posttrain" members: what the format itself has no place for. */
static const pt_json *own_header(const pt_trainer *t, pt_arena *arena)
{
    pt_strbuf text = {0};
    pt_json_writer w = pt_json_writer_begin(&text, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "version", PT_VERSION);
    pt_json_string(&w, "tokenizer", "bytes");
    if (t->model->config.gelu_tanh) pt_json_bool(&w, "geluTanh", true);
    if (t->options.bf16) pt_json_string(&w, "dtype", "bf16");
    pt_json_i64(&w, "accum", t->options.accum);
    pt_json_i64(&w, "windowTokens", t->T);
    pt_json_string(&w, "schedule", pt_schedule_name(t->options.schedule));
    pt_json_double(&w, "minLr", t->options.min_lr);
    pt_json_i64(&w, "warmup", t->options.warmup);
    if (t->schedule.kind == PT_SCHEDULE_WSD) {
        pt_json_i64(&w, "decaySteps", t->schedule.decay);
        pt_json_string(&w, "decayShape", pt_decay_shape_name(t->schedule.shape));
    }
    pt_trainer_write_settings(t, &w);
    pt_trainer_write_spikes(t, &w);
    pt_json_i64(&w, "nextSample", pt_trainer_first_sample(t, t->step + 1, 0));
    bool over = t->step >= t->options.steps && !looks(t) && !t->stopping && !t->failure.status;
    if (over) pt_json_bool(&w, PT_HEADER_FINISHED, true);
    pt_json_begin_array(&w, PT_HEADER_RECENT);
    for (int64_t i = t->n_recent; i > 0; i--)
        pt_json_double(&w, NULL, t->recent[(t->step - i + 1) % RECENT]);
    pt_json_end_array(&w);
    pt_json_end_object(&w);
    const pt_json *json = NULL;
    if (!text.failed) pt_json_parse(text.data, text.len, arena, &json, NULL);
    pt_strbuf_deinit(&text);
    return json;
}

static pt_status begin_save(pt_trainer *t, pt_error *err)
{
    pt_sink sink = {0};
    pt_status s = t->events.save_begin(t->events.ctx, t->step, &sink, err);
    if (s) return s;
    t->entered = true;
    char saved_at[32], sample_text[321] = "";
    pt_clock_iso(pt_clock_unix_ms(), saved_at);
    size_t n = pt_utf8_complete(t->sample, (size_t)pt_min_i64(320, t->n_sample));
    if (pt_utf8_valid(t->sample, n)) memcpy(sample_text, t->sample, n);
    pt_arena arena = {0};
    pt_tinygpt_run run = {.batch_size = t->options.batch,
                          .max_steps = t->options.steps,
                          .eval_every = t->options.eval_every,
                          .learning_rate = t->options.lr,
                          .grad_clip = t->options.clip,
                          .seed = t->options.seed,
                          .backend = t->device->name};
    pt_tinygpt_desc desc = {.step = t->step,
                            .run = &run,
                            .saved_at = saved_at,
                            .history = t->history,
                            .n_history = t->n_history,
                            .final_loss = t->last_loss.step == t->step ? &t->last_loss : NULL,
                            .best_val = pt_is_nan(t->best.val) ? NULL : &t->best,
                            .sample = sample_text,
                            .posttrain = own_header(t, &arena)};
    s = desc.posttrain ? pt_saver_begin(t->saver, &desc, &sink, err)
                       : pt_fail(err, PT_NO_MEMORY, "no memory for the header of a checkpoint");
    pt_arena_deinit(&arena);
    return s;
}

pt_status pt_trainer_save(pt_trainer *t, pt_error *err)
{
    bool begun = t->entered;
    pt_status s = begun ? pt_saver_poll(t->saver, err) : begin_save(t, err);
    if (s == PT_PENDING || (s == PT_OK && !begun)) return s;
    if (t->entered) {
        t->entered = false;
        pt_status end = t->events.save_end(t->events.ctx, t->step, s != PT_OK, s ? NULL : err);
        if (s == PT_OK) s = end;
    }
    if (t->step < t->options.steps || !looks(t)) t->due &= ~DUE_SAVE;
    t->saved_step = t->step;
    t->phase = PHASE_DUE;
    return s;
}
