/* posttrain sample: text from a model. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "cli/loaded.h"
#include "infer/generation.h"

typedef struct sample_options {
    pt_device_choice device;
    const char *prompt, *weights;
    int64_t max_tokens;
    pt_sampler_options sampler;
    bool stats;
    size_t printed; /* bytes */
} sample_options;

/* Raw bytes to a file or pipe; to a terminal nothing that could drive it. */
static pt_status put(const char *bytes, size_t n, pt_error *err)
{
    if (!pt_stdout_is_terminal()) return pt_print(bytes, n, err);
    pt_strbuf safe = {0};
    pt_put_safely(&safe, bytes, n, "");
    pt_status s = pt_print_strbuf(&safe, err);
    pt_strbuf_deinit(&safe);
    return s;
}

/* Bytes from `at` on. After a loss of the device the same text is made again: what was printed of it is passed over. */
static pt_status put_new(sample_options *o, size_t at, const char *bytes, size_t n, pt_error *err)
{
    if (at + n <= o->printed) return PT_OK;
    size_t old = o->printed - at;
    o->printed = at + n;
    return put(bytes + old, n - old, err);
}

/* Whole characters as they come; what is incomplete at the end, as it is. */
static pt_status stream(void *ctx, pt_loaded *l, pt_error *err)
{
    sample_options *o = ctx;
    size_t at = 0;
    pt_generation g;
    char out[8];
    const char *prompt = o->prompt ? o->prompt : "";
    double begun = pt_clock_seconds(), first = begun;
    pt_generation_request request = {.prompt = prompt,
                                     .n_prompt = (int64_t)strlen(prompt),
                                     .max_tokens = o->max_tokens,
                                     .sampler = o->sampler};
    pt_status s = pt_generation_begin(&g, l->ready.session, &request, err);
    if (s) return s;
    do {
        size_t n = 0;
        int64_t made = g.made;
        s = pt_generation_poll(&g, out, &n, err);
        if (g.made == 1 && made == 0) first = pt_clock_seconds();
        if (n && put_new(o, at, out, n, err)) return PT_IO;
        at += n;
    } while (s == PT_PENDING);
    if (s == PT_OK && pt_stdout_is_terminal()) s = pt_print("\n", 1, err);
    double seconds = pt_clock_seconds() - first;
    if (s == PT_OK && o->stats && g.made > 1)
        pt_say("%lld tokens, first after %.0f ms, then %.0f per second\n", (long long)g.made,
               1000 * (first - begun), seconds > 0 ? (double)(g.made - 1) / seconds : 0.0);
    return s;
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    sample_options o = {.device = {.device = "cpu"},
                        .weights = "f32",
                        .max_tokens = 200,
                        .sampler = {.temperature = 0.8, .seed = 42}};
    pt_option options[] = {
        {"prompt", PT_OPTION_TEXT, &o.prompt, "TEXT", "text to continue", "a newline", false},
        {"max-tokens", PT_OPTION_COUNT, &o.max_tokens, "N", "bytes to write", NULL, false},
        {"temperature", PT_OPTION_REAL, &o.sampler.temperature, "X",
         "0 = always the likeliest; higher = wilder", NULL, false},
        {"top-k", PT_OPTION_COUNT, &o.sampler.top_k, "K", "only the K likeliest; 0 = all", NULL,
         false},
        {"top-p", PT_OPTION_REAL, &o.sampler.top_p, "P",
         "only the likeliest that make up P; 0 = all", NULL, false},
        {"min-p", PT_OPTION_REAL, &o.sampler.min_p, "P", "drop what is below P times the likeliest",
         NULL, false},
        {"repetition-penalty", PT_OPTION_REAL, &o.sampler.repetition_penalty, "X",
         "above 1: repeat less; 1 = off", "1", false},
        {"seed", PT_OPTION_SEED, &o.sampler.seed, "K", "same seed, same text", NULL, false},
        {"stats", PT_OPTION_SWITCH, &o.stats, NULL, "tell the speed on stderr", NULL, false},
        PT_DEVICE_OPTIONS(&o.device),
        PT_WEIGHTS_OPTION(&o.weights),
    };
    pt_command_line line = {
        .options = options, .n_options = sizeof options / sizeof options[0], .most_positional = 1};
    bool done = false;
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    s = pt_need_model(&line, err);
    if (s == PT_OK && o.max_tokens < 0)
        s = pt_fail(err, PT_BAD_INPUT, "--max-tokens is %lld, it must be at least 0",
                    (long long)o.max_tokens);
    if (s == PT_OK) s = pt_sampler_options_check(&o.sampler, err);
    pt_loaded_options open = {.path = line.positional[0],
                              .choice = &o.device,
                              .weights = o.weights,
                              .model = {.session = true}};
    return s ? s : pt_loaded_do(&open, stream, &o, err);
}

const pt_verb pt_verb_sample = {
    .name = "sample",
    .summary = "write text with a model",
    .usage = "posttrain sample MODEL [--prompt TEXT] [options]",
    .details = "Only the continuation goes to stdout, byte for byte. A prompt longer than the\n"
               "context keeps its end; past the context the window slides, and each token then\n"
               "costs a pass over the whole window.\n\n"
               "Examples:\n"
               "  posttrain sample model.tinygpt --prompt 'Call me ' --temperature 0\n"
               "  posttrain sample model.tinygpt --max-tokens 1000 --top-k 40 --seed 7\n",
    .manual =
        "Continues a prompt, one byte at a time, each drawn from the probabilities that the "
        "model gives to all bytes. The same model, prompt, options and seed give the same "
        "text. With --weights f16 or int8 linear layers, token embedding and head are kept in half "
        "or about a quarter of the memory, which is also what each token reads; int8 has a scale "
        "for every 32 weights of a row. Everything else, and all sums, stay f32.\n",
    .run = run,
};
