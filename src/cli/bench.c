/* posttrain bench: how fast this machine computes, beside what it can do at most. SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/decimal.h"
#include "base/version.h"
#include "bench/bench.h"
#include "bench/machine.h"
#include "bench/steps.h"
#include "cli/cli.h"

/* threads: a smaller speed-up is told in words; within 3 % it is noise */
#define SLOWER 0.97

typedef struct bench_verb {
    pt_device_choice choice;
    const char *kind;
    bool json;
    int64_t array_mb;
    pt_bench_options options;
    pt_bench bench;
    pt_machine machine;
    char date[32];
    pid_t neighbour;
    pt_status printed; /* of the lines so far */
    pt_error *err;
} bench_verb;

static pt_status device_new(void *ctx, int threads, pt_device **out, pt_error *err)
{
    const bench_verb *v = ctx;
    pt_device_choice choice = v->choice;
    choice.threads = threads;
    return pt_device_choose(&choice, out, err);
}

/* ---- a busy process ---- */

static void keep_busy(pid_t parent)
{
    volatile double x = 1;
    while (getppid() == parent)
        for (int i = 0; i < 1000000; i++) x = x * 0.999999 + 0.1;
    _exit(0);
}

static pt_status neighbour(void *ctx, bool start, pt_error *err)
{
    bench_verb *v = ctx;
    if (!start) {
        if (v->neighbour <= 0) return PT_OK;
        kill(v->neighbour, SIGKILL);
        waitpid(v->neighbour, NULL, 0);
        v->neighbour = 0;
        return PT_OK;
    }
    pid_t parent = getpid();
    v->neighbour = fork();
    if (v->neighbour == 0) keep_busy(parent);
    if (v->neighbour < 0) return pt_fail(err, PT_UNSUPPORTED, "cannot start a second process");
    return PT_OK;
}

/* ---- for people ---- */

static void put_percent(pt_strbuf *text, double share)
{
    if (share > 0) pt_strbuf_printf(text, " %6.1f%%", 100 * share);
    else pt_strbuf_printf(text, " %7s", "-");
}

static void put_rate(pt_strbuf *text, double rate, double unit)
{
    if (rate > 0) pt_strbuf_printf(text, " %8.2f", rate / unit);
    else pt_strbuf_printf(text, " %8s", "-");
}

static void put_split(pt_strbuf *text, const pt_bench_row *row)
{
    double whole = row->split_rest;
    for (int op = 0; op < PT_OP_COUNT; op++)
        for (int pass = 0; pass < PT_PASS_COUNT; pass++) whole += row->split[op][pass];
    pt_strbuf_puts(text, "    ");
    for (int op = 0; op < PT_OP_COUNT; op++)
        for (int pass = 0; pass < PT_PASS_COUNT; pass++) {
            double share = row->split[op][pass] / whole;
            if (share < 0.005) continue;
            pt_strbuf_printf(text, "%s%s %.1f%%, ", pt_op_info_of((pt_op)op)->name,
                             pass == PT_BACKWARD ? " back" : "", 100 * share);
        }
    pt_strbuf_printf(text, "outside ops %.1f%%\n", 100 * row->split_rest / whole);
}

static void put_row(pt_strbuf *text, const bench_verb *v, const pt_bench_row *row)
{
    pt_strbuf_printf(text, "%-32s %-22s %3d %10.4f %10.4f %10.4f", row->name, row->shape,
                     row->threads, 1e3 * row->seconds.median, 1e3 * row->seconds.p10,
                     1e3 * row->seconds.p90);
    put_rate(text, row->flop_rate, 1e9);
    put_percent(text, row->of_peak);
    put_percent(text, row->of_beside);
    if (row->tokens > 0) {
        put_rate(text, row->bytes > 0 ? row->byte_rate : row->flop_rate_6n, 1e9);
        pt_strbuf_printf(text, " %9.0f", row->token_rate);
    } else {
        put_rate(text, row->byte_rate, 1e9);
        put_percent(text, row->of_bandwidth);
    }
    if (row->speed_up > 0)
        pt_strbuf_printf(text, "  %5.2fx%s", row->speed_up,
                         row->speed_up < SLOWER ? "  slower than 1 thread" : "");
    pt_strbuf_putc(text, '\n');
    if (row->has_split) put_split(text, row);
    (void)v;
}

static void on_row(void *ctx, const pt_bench_row *row)
{
    bench_verb *v = ctx;
    pt_strbuf text = {0};
    put_row(&text, v, row);
    if (v->json) pt_say_strbuf(&text);
    else if (v->printed == PT_OK) v->printed = pt_print_strbuf(&text, v->err);
    pt_strbuf_deinit(&text);
}

static void put_limit(pt_strbuf *text, const pt_bench_limit *limit)
{
    const pt_bench_samples *f = &limit->flop_rate, *m = &limit->byte_rate,
                           *h = &limit->flop_rate_bf16;
    pt_strbuf_printf(text,
                     "%d thread%s: peak %.1f GFLOP/s (median %.1f, p10 %.1f, p90 %.1f), memory "
                     "%.1f GB/s (median %.1f, p10 %.1f, p90 %.1f)\n",
                     limit->threads, limit->threads == 1 ? "" : "s", f->most / 1e9, f->median / 1e9,
                     f->p10 / 1e9, f->p90 / 1e9, m->most / 1e9, m->median / 1e9, m->p10 / 1e9,
                     m->p90 / 1e9);
    if (h->n > 0)
        pt_strbuf_printf(text, "    bf16: peak %.1f GFLOP/s (median %.1f, p10 %.1f, p90 %.1f)\n",
                         h->most / 1e9, h->median / 1e9, h->p10 / 1e9, h->p90 / 1e9);
}

static void put_head(pt_strbuf *text, const bench_verb *v)
{
    char memory[32];
    bool steps = strcmp(v->kind, "train") == 0 || strcmp(v->kind, "threads") == 0;
    bool decode = strcmp(v->kind, "decode") == 0;
    pt_strbuf_printf(text, "%s; %d cores, %s, %s of memory; load %.2f; posttrain %s; %s\n",
                     v->machine.processor, v->machine.cores, v->bench.device->detail,
                     pt_megabytes(v->machine.memory_bytes, memory), v->machine.load, PT_VERSION,
                     v->date);
    if (v->bench.alone.threads) put_limit(text, &v->bench.alone);
    if (v->bench.all.threads > 1) put_limit(text, &v->bench.all);
    pt_strbuf_printf(text, "%-32s %-22s %3s %10s %10s %10s %8s %8s %8s %8s %9s\n", "", "", "thr",
                     "median ms", "p10", "p90", "GFLOP/s", "of peak", "beside",
                     steps ? "by 6N" : "GB/s", steps || decode ? "tok/s" : "of memory");
}

/* ---- for programs ---- */

static void json_samples(pt_json_writer *w, const char *key, const pt_bench_samples *s)
{
    pt_json_begin_object(w, key);
    pt_json_digits(w, "median", s->median, 6);
    pt_json_digits(w, "p10", s->p10, 6);
    pt_json_digits(w, "p90", s->p90, 6);
    pt_json_digits(w, "least", s->least, 6);
    pt_json_digits(w, "most", s->most, 6);
    pt_json_begin_array(w, "samples");
    for (int64_t i = 0; i < s->n; i++) pt_json_digits(w, NULL, s->value[i], 4);
    pt_json_end_array(w);
    pt_json_end_object(w);
}

static void json_split(pt_json_writer *w, const pt_bench_row *row)
{
    char name[48];
    pt_json_begin_object(w, "split_seconds");
    for (int op = 0; op < PT_OP_COUNT; op++)
        for (int pass = 0; pass < PT_PASS_COUNT; pass++) {
            if (row->split[op][pass] <= 0) continue;
            pt_format(name, sizeof name, "%s_%s", pt_op_info_of((pt_op)op)->name,
                      pass == PT_FORWARD ? "forward" : "backward");
            pt_json_digits(w, name, row->split[op][pass], 4);
        }
    pt_json_digits(w, "outside_ops", row->split_rest, 4);
    pt_json_end_object(w);
}

static void json_row(pt_json_writer *w, const pt_bench_row *row)
{
    const struct {
        const char *name;
        double value;
    } amounts[] = {{"flop", row->flop},
                   {"flop_6n", row->flop_6n},
                   {"bytes", row->bytes},
                   {"tokens", row->tokens},
                   {"params", row->params},
                   {"flop_per_second", row->flop_rate},
                   {"flop_per_second_6n", row->flop_rate_6n},
                   {"bytes_per_second", row->byte_rate},
                   {"tokens_per_second", row->token_rate},
                   {"of_peak", row->of_peak},
                   {"of_peak_beside", row->of_beside},
                   {"of_bandwidth", row->of_bandwidth},
                   {"speed_up", row->speed_up}};
    pt_json_begin_object(w, NULL);
    pt_json_string(w, "name", row->name);
    pt_json_string(w, "shape", row->shape);
    pt_json_i64(w, "threads", row->threads);
    pt_json_i64(w, "neighbours", row->neighbours);
    pt_json_string(w, "dtype", pt_dtype_name(row->dtype));
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++)
        if (amounts[i].value > 0) pt_json_digits(w, amounts[i].name, amounts[i].value, 10);
    json_samples(w, "seconds", &row->seconds);
    json_samples(w, "peak_beside", &row->beside);
    if (row->has_split) json_split(w, row);
    pt_json_end_object(w);
}

static void json_limit(pt_json_writer *w, const pt_bench_limit *limit)
{
    pt_json_begin_object(w, NULL);
    pt_json_i64(w, "threads", limit->threads);
    json_samples(w, "flop_per_second", &limit->flop_rate);
    if (limit->flop_rate_bf16.n > 0)
        json_samples(w, "flop_per_second_bf16", &limit->flop_rate_bf16);
    json_samples(w, "bytes_per_second", &limit->byte_rate);
    pt_json_end_object(w);
}

static void write_json(const bench_verb *v, pt_strbuf *text)
{
    pt_json_writer w = pt_json_writer_begin(text, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "bench", v->kind);
    pt_json_string(&w, "version", PT_VERSION);
    pt_json_string(&w, "date", v->date);
    pt_json_begin_object(&w, "machine");
    pt_json_string(&w, "processor", v->machine.processor);
    pt_json_i64(&w, "cores", v->machine.cores);
    pt_json_string(&w, "isa", v->bench.device->detail);
    pt_json_i64(&w, "memory_bytes", v->machine.memory_bytes);
    pt_json_double(&w, "load", v->machine.load);
    pt_json_end_object(&w);
    pt_json_double(&w, "seconds_per_figure", v->options.seconds);
    pt_json_i64(&w, "array_bytes", v->options.array_bytes);
    pt_json_begin_array(&w, "limits");
    json_limit(&w, &v->bench.alone);
    json_limit(&w, &v->bench.all);
    pt_json_end_array(&w);
    pt_json_begin_array(&w, "rows");
    for (int64_t i = 0; i < v->bench.n_rows; i++) json_row(&w, v->bench.rows[i]);
    pt_json_end_array(&w);
    pt_json_end_object(&w);
    pt_strbuf_putc(text, '\n');
}

/* ---- steps on demand ---- */

/* Runs as many steps (on a GPU: times those that are read together) as a line of stdin says, and prints what each took. */
static pt_status answer(pt_bench_steps *steps, int64_t n, pt_error *err)
{
    pt_strbuf text = {0};
    pt_json_writer w = pt_json_writer_begin(&text, 0);
    pt_status s = PT_OK;
    pt_json_begin_array(&w, NULL);
    for (int64_t i = 0; i < n && s == PT_OK; i++) {
        double before = pt_clock_seconds();
        s = pt_bench_steps_call(steps, err);
        pt_json_digits(&w, NULL, (pt_clock_seconds() - before) / (double)steps->each, 6);
    }
    pt_json_end_array(&w);
    pt_strbuf_putc(&text, '\n');
    if (s == PT_OK) s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

static pt_status print_about(const pt_device *device, const pt_bench_steps *steps, pt_error *err)
{
    pt_strbuf text = {0};
    pt_json_writer w = pt_json_writer_begin(&text, 0);
    pt_json_begin_object(&w, NULL);
    pt_json_string(&w, "version", PT_VERSION);
    pt_json_string(&w, "isa", device->detail);
    pt_json_i64(&w, "parameters", pt_trainer_n_params(steps->trainer));
    pt_json_digits(&w, "flop", pt_bench_step_flop(&steps->config, steps->B, steps->T), 17);
    pt_json_end_object(&w);
    pt_strbuf_putc(&text, '\n');
    pt_status s = pt_print_strbuf(&text, err);
    pt_strbuf_deinit(&text);
    return s;
}

/* For bench/peers.py, which lets programs take turns: a run that waits to be told how many steps to do. */
static pt_status serve_steps(const bench_verb *v, pt_error *err)
{
    char word[24];
    int n_presets;
    const pt_preset *presets[16];
    pt_device *device = NULL;
    pt_bench_steps steps = {0};
    pt_status s = pt_bench_presets(v->options.presets, "reference", presets, &n_presets, err);
    if (s == PT_OK && n_presets != 1) s = pt_fail(err, PT_BAD_INPUT, "steps takes one preset");
    if (s == PT_OK) s = pt_device_choose(&v->choice, &device, err);
    if (s == PT_OK) s = pt_get_ready(device, false, err);
    if (s == PT_OK)
        s = pt_bench_steps_begin(&steps, device, presets[0], v->options.bf16 ? PT_BF16 : PT_F32,
                                 err);
    for (int i = 0; i < 3 && s == PT_OK; i++) s = pt_bench_steps_call(&steps, err);
    if (s == PT_OK) s = print_about(device, &steps, err);
    while (s == PT_OK && fgets(word, sizeof word, stdin)) {
        double n = 0;
        size_t length = strcspn(word, "\n");
        bool whole = length && pt_decimal_to_double(word, length, &n) == length;
        if (!whole || n < 1 || n > 1e6)
            s = pt_fail(err, PT_BAD_INPUT, "a line must be a number of steps, 1 to 1000000");
        else s = answer(&steps, (int64_t)n, err);
    }
    pt_bench_steps_end(&steps);
    pt_device_free(device);
    return s;
}

/* ---- the verb ---- */

typedef pt_status (*kind_fn)(pt_bench *bench, pt_error *err);

static pt_status find_kind(const char *word, const char *device, kind_fn *out, pt_error *err)
{
    static const char *const names[] = {"gemm", "matmul", "ops", "train", "threads", "decode"};
    static const kind_fn kinds[] = {pt_bench_gemm,  pt_bench_matmul,  pt_bench_ops,
                                    pt_bench_train, pt_bench_threads, pt_bench_decode};
    if (!word)
        return pt_fail(err, PT_BAD_INPUT,
                       "bench what? give gemm, matmul, ops, train, threads or decode");
    for (int i = 0; i < 6; i++)
        if (strcmp(word, names[i]) == 0) *out = kinds[i];
    if (*out == pt_bench_matmul && strcmp(device, "webgpu") != 0)
        return pt_fail(err, PT_BAD_INPUT,
                       "bench matmul compares the kernels of a GPU: give --device webgpu (gemm is "
                       "for the processor)");
    return PT_OK;
}

static pt_status measure(bench_verb *v, kind_fn kind, pt_error *err)
{
    pt_device *device = NULL;
    pt_strbuf text = {0};
    v->machine = pt_machine_read();
    pt_clock_iso(pt_clock_unix_ms(), v->date);
    pt_status s = pt_device_choose(&v->choice, &device, err);
    if (s == PT_OK) s = pt_get_ready(device, v->json, err);
    if (s == PT_OK) s = pt_bench_begin(&v->bench, device, &v->options, err);
    if (s == PT_OK) put_head(&text, v);
    if (s == PT_OK && v->json) pt_say_strbuf(&text);
    else if (s == PT_OK) s = pt_print_strbuf(&text, err);
    pt_strbuf_clear(&text);
    if (s == PT_OK) s = kind(&v->bench, err);
    if (s == PT_OK) s = v->printed;
    if (s == PT_OK && v->bench.n_rows == 0)
        s = pt_fail(err, PT_BAD_INPUT, "--only '%s' matches no figure", v->options.only);
    if (s == PT_OK && v->json) {
        write_json(v, &text);
        s = pt_print_strbuf(&text, err);
    }
    (void)neighbour(v, false, NULL);
    pt_strbuf_deinit(&text);
    pt_bench_end(&v->bench);
    pt_device_free(device);
    return s;
}

static pt_status run(const pt_verb *verb, int argc, char **argv, pt_error *err)
{
    bench_verb v = {.choice = {.device = "cpu"}, .array_mb = 256, .err = err};
    bool done = false;
    const char *dtype = "f32";
    v.options = (pt_bench_options){.seconds = 0.5,
                                   .ctx = &v,
                                   .device_new = device_new,
                                   .neighbour = neighbour,
                                   .ready = on_row};
    pt_option options[] = {
        {"seconds", PT_OPTION_REAL, &v.options.seconds, "X", "seconds of work per figure", NULL,
         false},
        {"only", PT_OPTION_TEXT, &v.options.only, "TEXT", "figures whose name or shape has it",
         "all", false},
        {"preset", PT_OPTION_TEXT, &v.options.presets, "LIST",
         "presets of train, threads and decode: tiny,xl", "see below", false},
        {"dtype", PT_OPTION_TEXT, &dtype, "f32|bf16", "activations of train, threads and steps",
         "f32", false},
        {"device", PT_OPTION_TEXT, &v.choice.device, "cpu|webgpu", "what is measured", NULL, false},
        {"threads", PT_OPTION_COUNT, &v.choice.threads, "N", "threads to use; 0 = all", "0", false},
        {"isa", PT_OPTION_TEXT, &v.choice.isa, "ISA", "instruction set: see posttrain devices",
         "the best", false},
        {"array-mb", PT_OPTION_COUNT, &v.array_mb, "N",
         "size of each of three arrays, for memory bandwidth", NULL, false},
        {"json", PT_OPTION_SWITCH, &v.json, NULL, "one JSON object with all samples on stdout",
         NULL, false},
    };
    pt_command_line line = {.options = options,
                            .n_options = sizeof options / sizeof options[0],
                            .most_positional = 1,
                            .first = "gemm|matmul|ops|train|threads|decode|steps"};
    pt_status s = pt_verb_parse(verb, &line, argc, argv, &done, err);
    if (s || done) return s;
    kind_fn kind = NULL;
    v.kind = line.positional[0];
    v.options.bf16 = strcmp(dtype, "bf16") == 0;
    v.options.array_bytes = v.array_mb < 65537 ? v.array_mb * 1000000 : INT64_MAX;
    if (v.kind && strcmp(v.kind, "steps") == 0) return serve_steps(&v, err);
    s = find_kind(v.kind, v.choice.device, &kind, err);
    return s == PT_OK ? measure(&v, kind, err) : s;
}

const pt_verb pt_verb_bench = {
    .name = "bench",
    .summary = "measure how fast this machine computes and trains",
    .usage = "posttrain bench gemm|matmul|ops|train|threads|decode|steps [options]",
    .details =
        "gemm: the products of training steps, in f32 and bf16. matmul: each kernel of a GPU "
        "(--device webgpu). ops: "
        "every op. train: whole steps "
        "of tiny, small,\n"
        "medium, large, xl, reference and gpt2, and where their time goes. threads: a step of\n"
        "reference with 1 to N threads, alone and beside a busy process, against 1 thread.\n"
        "decode: a token of reference and gpt2, one text, with weights in f32 and, where the "
        "device\n"
        "has that, f16 and int8; GB/s counts the weights that each token reads.\n"
        "steps: waits for numbers of steps on stdin, answers with their seconds.\n\n"
        "peak: the best rate of fused multiply-adds on registers. beside: the rate as a share of "
        "the\n"
        "peak measured between its blocks, which other load lowers too. of memory: a share of the\n"
        "best a = b + s c; above 100 % the data stays in cache. GFLOP/s of a step counts the "
        "products\n"
        "that are needed, by 6N six times parameters times tokens.\n\n"
        "Example:\n  posttrain bench train --preset small,xl --threads 1\n",
    .run = run,
};
