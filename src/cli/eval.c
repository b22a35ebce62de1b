/* posttrain eval: the loss of a model on a text. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/platform.h"
#include "cli/corpus.h"
#include "cli/loaded.h"
#include "infer/text_score.h"

typedef struct eval_options {
    pt_device_choice device;
    pt_corpus_choice corpus;
    const char *weights;
    int64_t batch;
    bool json;
    pt_score total;
    double seconds; /* of scoring */
} eval_options;

static pt_status score_text(void *ctx, pt_loaded *l, pt_error *err)
{
    eval_options *o = ctx;
    const pt_tokens *text = o->corpus.data.source;
    pt_text_score score;
    pt_status s = pt_text_score_begin(&score, l->ready.scorer, l->ready.model, *text, err);
    if (s) return s;
    bool terminal = pt_stderr_is_terminal();
    double begun = pt_clock_seconds(), shown = begun;
    do {
        s = pt_text_score_poll(&score, err);
        if (!terminal || pt_clock_seconds() - shown < 0.5) continue;
        shown = pt_clock_seconds();
        pt_say("\r%3.0f %%", 100.0 * (double)score.next / (double)text->n);
    } while (s == PT_PENDING);
    if (terminal) pt_say("\r      \r");
    o->total = score.total;
    o->seconds = pt_clock_seconds() - begun;
    return s;
}

static pt_status report(const eval_options *o, const char *model, pt_error *err)
{
    const pt_score *total = &o->total;
    double loss = pt_score_loss(total);
    pt_strbuf text = {0};
    if (o->json) {
        pt_json_writer w = pt_json_writer_begin(&text, 0);
        pt_json_begin_object(&w, NULL);
        pt_json_double(&w, "loss", loss);
        pt_json_double(&w, "perplexity", pt_score_perplexity(total));
        pt_json_double(&w, "bits_per_byte", pt_score_bits(total));
        pt_json_i64(&w, "tokens", total->n_targets);
        pt_json_double(&w, "seconds", o->seconds);
        pt_json_string(&w, "model", model);
        pt_json_string(&w, "corpus", o->corpus.name);
        pt_json_string(&w, "weights", o->weights);
        pt_json_end_object(&w);
        pt_strbuf_putc(&text, '\n');
    } else {
        char n[32];
        pt_strbuf_printf(&text,
                         "loss           %.6f nats per byte\nperplexity     %.4f\n"
                         "bits per byte  %.4f\nbytes scored   %s in %.1f s\n",
                         loss, pt_score_perplexity(total), pt_score_bits(total),
                         pt_grouped(total->n_targets, n), o->seconds);
    }
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    eval_options o = {.device = {.device = "cpu"}, .weights = "f32", .batch = 16};
    pt_option options[] = {
        PT_CORPUS_OPTION(&o.corpus, "the text to score, as train takes it"),
        PT_SEPARATOR_OPTION(&o.corpus),
        {"batch", PT_OPTION_COUNT, &o.batch, "N", "windows per batch", NULL, false},
        PT_DEVICE_OPTIONS(&o.device),
        PT_WEIGHTS_OPTION(&o.weights),
        PT_JSON_OPTION(&o.json),
    };
    pt_command_line line = {
        .options = options, .n_options = sizeof options / sizeof options[0], .most_positional = 1};
    bool done = false;
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    s = pt_need_model(&line, err);
    if (s == PT_OK && (o.batch < 1 || o.batch > 65536))
        s = pt_fail(err, PT_BAD_INPUT, "--batch is %lld, it must be 1 to 65536",
                    (long long)o.batch);
    if (s == PT_OK) s = pt_corpus_choice_open(&o.corpus, err);
    pt_loaded_options open = {.path = line.positional[0],
                              .choice = &o.device,
                              .weights = o.weights,
                              .model = {.batch = o.batch, .scorer = true}};
    if (s == PT_OK) s = pt_loaded_do(&open, score_text, &o, err);
    if (s == PT_OK) s = report(&o, line.positional[0], err);
    pt_corpus_choice_close(&o.corpus);
    return s;
}

const pt_verb pt_verb_eval = {
    .name = "eval",
    .summary = "measure the loss of a model on a text",
    .usage = "posttrain eval MODEL --corpus PATH [options]",
    .details = "Every byte but the first is scored exactly once, in consecutive windows of the\n"
               "model's context; the last short window is included.\n\n"
               "Example:\n  posttrain eval runs/first/model.tinygpt --corpus held-out.txt\n",
    .manual = "Prints the loss in nats per byte, the perplexity (its exponential) and the loss in "
              "bits per byte. With --weights it tells what keeping them in f16 or int8 costs.\n",
    .run = run,
};
