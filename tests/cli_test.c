/* The command line, end to end: what every verb promises, and what happens to bad input.
 * Runs the program that was built beside the tests.
 * SPDX-License-Identifier: MIT */
#include "program.h"

static pt_error err;

static result *train_tiny(const char *out, const char *extra, const char *value)
{
    return RUN("train", "--preset", "tiny", "--corpus", text_file(), "--steps", "12", "--batch",
               "4", "--lr", "3e-3", "--eval-every", "5", "--sample-every", "6", "--save-every", "5",
               "--out", out, "--json", extra, value);
}

static const pt_json *parse(const char *text, size_t n, pt_arena *arena)
{
    const pt_json *json = NULL;
    memset(&err, 0, sizeof err);
    CHECK_OK(pt_json_parse(text, n, arena, &json, &err), err);
    return json;
}

static double number(const pt_json *json, const char *key)
{
    double value = 0;
    CHECK(pt_json_get_double(json, key, &value));
    return value;
}

/* ---- the main job ---- */

static void check_log(const char *run)
{
    char path[600], *text = NULL;
    int64_t size = 0, steps = 0, evaluations = 0, samples = 0, saves = 0, metas = 0, ends = 0;
    size_t longest = 0;
    pt_arena arena = {0};
    snprintf(path, sizeof path, "%s/log.jsonl", run);
    CHECK_OK(pt_fs_read(path, 1 << 20, &text, &size, &err), err);
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        const pt_json *json = parse(line, (size_t)(end - line), &arena);
        const char *type = pt_json_get_string(json, "type");
        if (strcmp(type, "step") == 0) {
            CHECK_INT(number(json, "step"), ++steps);
            CHECK(number(json, "loss") > 0 && number(json, "grad_norm") > 0);
            size_t digits = pt_json_get(json, "loss")->text_len - 1; /* without the point */
            if (digits > longest) longest = digits;
        }
        evaluations += strcmp(type, "val") == 0;
        samples += strcmp(type, "sample") == 0;
        saves += strcmp(type, "save") == 0;
        metas += strcmp(type, "meta") == 0;
        ends += strcmp(type, "end") == 0;
    }
    CHECK_INT(longest, 9); /* significant digits of the losses */
    CHECK_INT(steps, 12);
    CHECK_INT(evaluations, 1 + 3); /* before the first step, at 5, 10 and 12 */
    CHECK_INT(samples, 1 + 2);
    CHECK_INT(saves, 2 + 2); /* the last step before and after it is looked at */
    CHECK_INT(metas, 1);
    CHECK_INT(ends, 1);
    pt_arena_deinit(&arena);
    pt_free(text);
}

TEST(train_evaluate_sample_inspect)
{
    fresh_folder();
    pt_arena arena = {0};
    const char *out = kept("run"), *model = kept("run/model.tinygpt");
    result *r = train_tiny(out, "--threads", "2");
    CHECK_INT(r->code, 0);
    const pt_json *json = parse(r->out, r->n_out, &arena);
    CHECK_INT(number(json, "step"), 12);
    CHECK_INT(number(json, "params"), 70464);
    CHECK(number(json, "train_loss") < 5.5 && number(json, "val_loss") > 0);
    CHECK(number(json, "tokens_per_second") > 0);
    CHECK_STR(pt_json_get_string(json, "run_dir"), out);
    check_log(out);
    const char *names[] = {"run/run.json", "run/model.tinygpt",
                           "run/checkpoints/step-00000005/model.tinygpt",
                           "run/checkpoints/step-00000010/manifest.json",
                           "run/checkpoints/step-00000012/manifest.json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK(pt_fs_size(in_folder(names[i])) > 0);

    r = RUN("eval", model, "--corpus", text_file(), "--json");
    CHECK_INT(r->code, 0);
    json = parse(r->out, r->n_out, &arena);
    CHECK_INT(number(json, "tokens"), 5999);
    CHECK_CLOSE(number(json, "bits_per_byte"), number(json, "loss") / PT_LN2, 1e-9);
    CHECK_CLOSE(pt_log(number(json, "perplexity")), number(json, "loss"), 1e-9);

    /* the run for its model */
    check_refused(RUN("sample", out, "--prompt", "call"), 4, "its model is '");
    check_refused(RUN("eval", out, "--corpus", text_file()), 4, "run/model.tinygpt'");

    char first[256];
    r = RUN("sample", model, "--prompt", "call", "--max-tokens", "60", "--seed", "9");
    CHECK_INT(r->code, 0);
    CHECK_INT(r->n_out, 60);
    memcpy(first, r->out, 61);
    r = RUN("sample", model, "--prompt=call", "--max-tokens=60", "--seed=9", "--threads=1");
    CHECK(memcmp(first, r->out, 61) == 0);
    r = RUN("sample", model, "--prompt", "", "--max-tokens", "3", "--temperature", "0");
    CHECK_INT(r->n_out, 3);

    r = RUN("inspect", model, "--json");
    CHECK_INT(r->code, 0);
    json = parse(r->out, r->n_out, &arena);
    CHECK_INT(number(json, "step"), 12);
    CHECK_STR(pt_json_get_string(pt_json_get(json, "checks"), "checksum"), "right");
    CHECK_INT(pt_json_get(json, "tensors")->n_children, 36);
    CHECK_INT(RUN("inspect", model)->code, 0);

    check_refused(train_tiny(out, "--threads", "2"), 8, "already holds a run");
    CHECK_INT(pt_fs_size(in_folder("run/model.tinygpt")), pt_fs_size(model));
    pt_arena_deinit(&arena);
}

TEST(the_same_run_gives_the_same_file)
{
    fresh_folder();
    CHECK_INT(train_tiny(kept("a"), "--threads", "1")->code, 0);
    CHECK_INT(train_tiny(kept("b"), "--threads", "3")->code, 0);
    static char a[1 << 20], b[1 << 20];
    size_t n = read_whole(in_folder("a/model.tinygpt"), a, sizeof a);
    size_t m = read_whole(in_folder("b/model.tinygpt"), b, sizeof b);
    size_t body = 12 * 70464 + 4; /* headers tell the time of saving */
    CHECK(n > body && m > body);
    CHECK(memcmp(a + n - body, b + m - body, body) == 0);
}

TEST(options_come_from_flag_then_config_then_preset)
{
    fresh_folder();
    pt_arena arena = {0};
    static const char config[] = "{\"steps\": 3, \"lr\": 0.001, \"batch\": 2, \"seed\": \"7\"}";
    put(kept("config.json"), config, sizeof config - 1);
    result *r = RUN("train", "--config", kept("config.json"), "--preset", "tiny", "--corpus",
                    text_file(), "--out", kept("run"), "--steps", "2", "--quiet");
    CHECK_INT(r->code, 0);
    static char text[8192];
    size_t n = read_whole(in_folder("run/run.json"), text, sizeof text);
    const pt_json *train = pt_json_get(parse(text, n, &arena), "train");
    CHECK_INT(number(train, "steps"), 2);
    CHECK_INT(number(train, "batch"), 2);
    CHECK_CLOSE(number(train, "lr"), 0.001, 0);
    CHECK_STR(pt_json_get_string(train, "seed"), "7");
    static const char wrong[] = "{\"stepz\": 3}";
    put(kept("wrong.json"), wrong, sizeof wrong - 1);
    check_refused(RUN("train", "--config", kept("wrong.json")), 2, "did you mean --steps");
    pt_arena_deinit(&arena);
}

TEST(logits_are_written_and_match_the_sampler)
{
    fresh_folder();
    CHECK_INT(train_tiny(kept("run"), "--threads", "2")->code, 0);
    const char *model = kept("run/model.tinygpt"), *out = kept("logits.safetensors");
    result *r = RUN("logits", model, "--ids", "99 97 108", "--out", out);
    CHECK_INT(r->code, 0);
    static char bytes[1 << 14];
    size_t n = read_whole(out, bytes, sizeof bytes);
    size_t data = 3 * 256 * 4;
    CHECK(n > data && strstr(bytes + 8, "\"logits\"") != NULL);
    const float *last = (const float *)(const void *)(bytes + n - 256 * 4);
    int best = 0;
    for (int i = 1; i < 256; i++)
        if (last[i] > last[best]) best = i;
    r = RUN("sample", model, "--prompt", "cal", "--max-tokens", "1", "--temperature", "0");
    CHECK_INT((unsigned char)r->out[0], best);
    check_refused(RUN("logits", model, "--ids", "99", "--out", out), 8, "logits.safetensors");
    put(kept("ids.json"), "[99, 97, 108]", 13);
    CHECK_INT(RUN("logits", model, "--ids-file", kept("ids.json"), "--out", out, "--force")->code,
              0);
    CHECK_INT(read_whole(out, bytes, sizeof bytes), n);
    check_refused(RUN("logits", model, "--ids", "256", "--out", kept("x.safetensors")), 2,
                  "vocabulary");
    check_refused(RUN("logits", model, "--ids", "1 -2", "--out", kept("x.safetensors")), 2,
                  "whole numbers");
    check_refused(RUN("logits", model, "--ids", "", "--out", kept("x.safetensors")), 2, "no ids");
    check_refused(RUN("logits", model, "--ids", "1", "--out", kept("x.txt")), 2, ".safetensors");
    check_refused(
        RUN("logits", model, "--ids", "18446744073709551617", "--out", kept("x.safetensors")), 2,
        "id number 0");
    put(kept("ids.json"), "[99, 97.5]", 10);
    check_refused(
        RUN("logits", model, "--ids-file", kept("ids.json"), "--out", kept("x.safetensors")), 2,
        "entry 1");
}

TEST(convert_keeps_the_model)
{
    fresh_folder();
    const char *f32 = "tests/golden/tiny-48.tinygpt", *half = kept("half.tinygpt");
    CHECK_INT(RUN("convert", f32, half, "--dtype", "f16")->code, 0);
    CHECK(pt_fs_size(half) < pt_fs_size(f32) / 4);
    CHECK_INT(RUN("convert", half, kept("four.tinygpt"), "--dtype", "int4", "--drop-corpus")->code,
              0);
    CHECK_INT(RUN("inspect", kept("four.tinygpt"))->code, 0);
    CHECK_INT(RUN("convert", f32, kept("m.safetensors"))->code, 0);
    CHECK(pt_fs_size(kept("m.safetensors")) > 4 * 70464);
    check_refused(RUN("convert", f32, half), 8, "half.tinygpt");
    check_refused(RUN("convert", f32, kept("x.bin")), 2, ".tinygpt or .safetensors");
    check_refused(RUN("convert", f32, kept("x.tinygpt"), "--dtype", "f8"), 2, "f8");
    char copy[64];
    result *r =
        RUN("sample", half, "--prompt", "Harbour:\n", "--max-tokens", "48", "--temperature", "0");
    memcpy(copy, r->out, 48);
    r = RUN("sample", f32, "--prompt", "Harbour:\n", "--max-tokens", "48", "--temperature", "0");
    CHECK(memcmp(copy, r->out, 48) == 0);
}

TEST(one_window_files_and_two_byte_files)
{
    fresh_folder();
    pt_arena arena = {0};
    const char *model = "tests/golden/tiny-48.tinygpt", *file = kept("t");
    put(file, "The ferry leaves before the rain.", 33);
    result *r = RUN("eval", model, "--corpus", file, "--json");
    CHECK_CLOSE(number(parse(r->out, r->n_out, &arena), "loss"), 2.1742221023849075, 2e-6);
    put(file, "ab", 2);
    r = RUN("eval", model, "--corpus", file, "--json");
    CHECK_INT(number(parse(r->out, r->n_out, &arena), "tokens"), 1);
    put(file, "a", 1);
    check_refused(RUN("eval", model, "--corpus", file), 2, "1 byte;");
    put(file, "", 0);
    check_refused(RUN("eval", model, "--corpus", file), 2, "0 bytes");
    pt_arena_deinit(&arena);
}

/* A descriptor that the caller closed must not become a file of the run. */
TEST(closed_descriptors_stay_closed)
{
    for (int closed = 1; closed <= 2; closed++) {
        fresh_folder();
        const char *text = text_file(), *out = kept("run");
        pid_t pid = fork();
        if (!pid) {
            const char *argv[] = {program,   "train", "--preset",       "tiny", "--corpus", text,
                                  "--steps", "3",     "--sample-every", "1",    "--json",   "--out",
                                  out,       NULL};
            union {
                const char **in;
                char **out;
            } cast = {argv};
            dup2(open(in_folder("stdout"), O_WRONLY | O_CREAT, 0644), 1);
            dup2(open(in_folder("stderr"), O_WRONLY | O_CREAT, 0644), 2);
            close(closed);
            execv(program, cast.out);
            _exit(127);
        }
        result *r = wait_for(pid);
        CHECK_INT(r->code, closed == 1 ? 4 : 0); /* the result could not be printed */
        pt_arena arena = {0};
        static char log[1 << 16];
        read_whole(in_folder("run/log.jsonl"), log, sizeof log);
        for (char *line = log, *end; (end = strchr(line, '\n')); line = end + 1)
            CHECK(pt_json_get_string(parse(line, (size_t)(end - line), &arena), "type") != NULL);
        pt_arena_deinit(&arena);
    }
}

TEST(a_corpus_that_shrinks_does_no_harm)
{
    fresh_folder();
    const char *text = text_file();
    pid_t pid = start((const char *const[]){"train", "--preset", "tiny", "--corpus", text,
                                            "--steps", "400", "--out", kept("run"), NULL});
    char log[4096] = "";
    for (int i = 0; i < 2000 && !strstr(log, "\"type\":\"step\""); i++) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        read_whole(in_folder("run/log.jsonl"), log, sizeof log);
    }
    put(text, "", 0);
    CHECK_INT(wait_for(pid)->code, 0);
}

/* ---- signals ---- */

static void check_interrupt(int number, int code)
{
    fresh_folder();
    const char *out = kept("run");
    pid_t pid = start((const char *const[]){"train", "--preset", "tiny", "--corpus", text_file(),
                                            "--steps", "1000000", "--out", out, NULL});
    char log[4096] = "";
    for (int i = 0; i < 2000 && !strstr(log, "\"type\":\"step\""); i++) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        read_whole(in_folder("run/log.jsonl"), log, sizeof log);
    }
    kill(pid, number);
    result *r = wait_for(pid);
    check_refused(r, code, "saved");
    CHECK(strstr(r->error, "stopping: the step under way is dropped"));
    CHECK(strstr(r->error, "saved;\nonce more stops at once and loses what is not saved\n"));
    CHECK(strstr(r->error, "go on with: posttrain train --resume /"));
    CHECK(pt_fs_size(in_folder("run/model.tinygpt")) > 12 * 70464);
    CHECK_INT(RUN("inspect", kept("run/model.tinygpt"))->code, 0);
}

/* Both arrive before the loop can look: who answers is the handler. */
static void check_second(const char *every, const char *line)
{
    fresh_folder();
    pid_t pid =
        start((const char *const[]){"train", "--preset", "tiny", "--corpus", text_file(), "--steps",
                                    "1000000", "--out", kept("run"), "--save-every", every, NULL});
    static char log[1 << 16];
    log[0] = 0;
    for (int i = 0; i < 2000 && !strstr(log, line); i++) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        read_whole(in_folder("run/log.jsonl"), log, sizeof log);
    }
    kill(pid, SIGSTOP);
    kill(pid, SIGHUP);
    kill(pid, SIGINT);
    kill(pid, SIGCONT);
    result *r = wait_for(pid);
    CHECK(r->code == 130 || r->code == 129);
    const char *first = strstr(r->error, "stopping: the step under way is dropped");
    CHECK(first && strstr(first, "stopped at once; --resume goes on from the newest checkpoint,\n"
                                 "or from the start where there is none\n"));
}

TEST(a_second_signal_ends_at_once_and_says_so)
{
    check_second("0", "\"type\":\"step\"");
    CHECK(!pt_fs_exists(in_folder("run/model.tinygpt")));
    check_second("3", "\"type\":\"save\"");
    CHECK(pt_fs_exists(in_folder("run/model.tinygpt")));
}

TEST(an_interrupt_saves_and_exits_130) { check_interrupt(SIGINT, 130); }
TEST(a_termination_saves_and_exits_143) { check_interrupt(SIGTERM, 143); }
TEST(a_hang_up_saves_and_exits_129) { check_interrupt(SIGHUP, 129); }

/* ---- bad input ---- */

#define TRAIN(...) RUN("train", "--preset", "tiny", "--corpus", text_file(), __VA_ARGS__)

TEST(bad_words)
{
    fresh_folder();
    check_refused(RUN("tarin"), 2, "did you mean train");
    check_refused(RUN("xyzzy"), 2, "unknown verb");
    check_refused(RUN("eval", "m", "--corpsu", "x"), 2, "did you mean --corpus");
    check_refused(RUN("train", "--quantum"), 2, "unknown option --quantum");
    check_refused(RUN("train", "-x"), 2, "options begin with --");
    check_refused(RUN("train", "--steps"), 2, "--steps needs a value");
    check_refused(RUN("train", "--json=yes"), 2, "takes no value");
    check_refused(RUN("train", "stray"), 2, "one word too many");
    check_refused(TRAIN("--steps", "ten"), 2, "whole number");
    check_refused(TRAIN("--steps", "99999999999999999999"), 2, "whole number");
    check_refused(TRAIN("--lr", "fast"), 2, "a number");
    check_refused(TRAIN("--lr", "1e999"), 2, "a number");
    check_refused(TRAIN("--seed", "-1"), 2, "from 0");
    check_refused(TRAIN("--preset", "smal"), 2, "did you mean small");
    check_refused(TRAIN("--device", "gpu", "--out", kept("r")), 2, "did you mean cpu");
    check_refused(TRAIN("--device", "toaster", "--out", kept("r")), 2,
                  "cpu, webgpu, webgpu-software or ref");
    check_refused(TRAIN("--beta1", "1", "--out", kept("r")), 2, "0 to 0.9999999");
    check_refused(TRAIN("--eval-every", "9223372036854775807", "--out", kept("r")), 2,
                  "whole number");
    check_refused(TRAIN("--isa", "mmx", "--out", kept("r")), 2, "mmx");
    check_refused(TRAIN("--schedule", "wavy", "--out", kept("r")), 2, "constant, cosine or wsd");
    check_refused(RUN("train", "--preset", "tiny"), 2, "--corpus FILE");
    check_refused(TRAIN("--steps", "1"), 2, "--out DIR");
    check_refused(RUN("eval", "--corpus", "x"), 2, "which model");
    check_refused(TRAIN("--d-mlp", "300000", "--out", kept("r")), 2,
                  "262144"); /* before training */
    check_refused(RUN("a\nb\033[31m"), 2, "unknown verb 'a·b·[31m'");
    CHECK_INT(RUN("help", "train")->code, 0);
    CHECK(strstr(RUN("help", "data", "get")->out, "usage: posttrain data get NAME"));
    CHECK_INT(RUN("train", "--help-all")->code, 0);
    CHECK_INT(RUN("--help")->code, 0);
    CHECK_INT(RUN("train", "--help")->code, 0);
    CHECK_INT(RUN("--version")->code, 0);
    CHECK_INT(RUN("devices", "--json")->code, 0);
    CHECK(!pt_fs_exists(in_folder("r"))); /* nothing was left behind */
}

TEST(words_of_options_are_checked)
{
    fresh_folder();
    check_refused(TRAIN("--schedule", "cosin"), 2, "did you mean cosine");
    check_refused(TRAIN("--recompute", "everything"), 2, "none, cheap or block");
    check_refused(TRAIN("--dtype=f8"), 2, "f32 or bf16");
    check_refused(TRAIN("--init", ""), 2, "default or upstream");
    check_refused(TRAIN("--schedule", "constant|cosine"), 2, "constant, cosine or wsd");
    check_refused(RUN("bench", "gem"), 2, "did you mean gemm");
    const result *ladder = RUN("bench", "matmul");
    check_refused(ladder, 2, "compares the kernels of a GPU: give --device webgpu");
    CHECK_STR(ladder->out, ""); /* before anything was measured */
    check_refused(RUN("help", "tarin"), 2, "did you mean train");
    check_refused(RUN("help", "data", "gt"), 2, "no verb 'data gt': see posttrain help data");
    check_refused(RUN("help", "train", "x"), 2, "no verb 'train x'");
    check_refused(RUN("help", "data", "get", "x"), 2, "one word too many");
    check_refused(RUN("help", "--completion", "csh"), 2, "bash, zsh or fish");
    put(kept("config.json"), "{\"schedule\": \"cosin\"}", 21);
    check_refused(RUN("train", "--config", kept("config.json")), 2, "config.json: --schedule is");
}

/* In characters, not bytes. */
static void check_width(const char *what, const char *text)
{
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n"), columns = 0;
        for (size_t i = 0; i < n; i++) columns += ((unsigned char)line[i] & 0xC0) != 0x80;
        if (columns > 80) printf("%s: %.*s\n", what, (int)n, line);
        CHECK(columns <= 80);
        line += n + (line[n] == '\n');
    }
}

TEST(every_exit_status_is_told)
{
    fresh_folder();
    CHECK(strstr(RUN("--help")->out, "11 the device was lost; 70 internal\nerror") ||
          strstr(program_result.out, "11 the device was lost; 70 internal error"));
    CHECK(strstr(RUN("help", "--man")->out, "\n.B 11\nThe device was lost.\n"));
    CHECK(strstr(RUN("help", "--man", "train")->out, "\n.B 11\nThe device was lost.\n"));
    CHECK(strstr(program_result.out, "\n.B 70\nInternal error.\n"));
}

TEST(no_line_of_help_is_wider_than_a_terminal)
{
    static char names[sizeof((result *)0)->out];
    int n = 0;
    fresh_folder();
    memcpy(names, RUN("help", "--names")->out, sizeof names);
    for (char *name = names, *end; (end = strchr(name, '\n')); name = end + 1, n++) {
        char verb[64];
        *end = 0;
        snprintf(verb, sizeof verb, "%s", name);
        char *sub = strchr(verb, '-');
        if (sub) *sub++ = 0;
        check_width(name, RUN("help", name)->out);
        const result *r = sub ? RUN(verb, sub, "--help-all") : RUN(verb, "--help-all");
        CHECK(r->code == 0 && r->n_out > 100);
        check_width(name, r->out);
    }
    CHECK(n > 14);
    check_width("overview", RUN("help")->out);
}

TEST(several_texts_for_one_corpus_option)
{
    fresh_folder();
    check_refused(RUN("train", "--corpus", "a", "b", "--out", "x"), 2,
                  "give --corpus again for each, --corpus a --corpus b");
    check_refused(RUN("train", "a"), 2, "'a' is one word too many: see");
    CHECK(strstr(RUN("train", "--help")->out, "(may be given again)") != NULL);
    CHECK(strstr(RUN("help", "--man", "eval")->out, "\nMay be given again.") != NULL);
    check_refused(RUN("data", "shard", "a", "--shard-size", "1t"), 2, "k, m or g, not '1t'");
    check_refused(RUN("data", "shard", "a", "--shard-size", "1e9"), 2, "k, m or g, not '1e9'");
}

TEST(the_program_tells_about_itself)
{
    fresh_folder();
    pt_arena arena = {0};
    result *r = RUN("-V", "--json");
    CHECK_INT(r->code, 0);
    const pt_json *json = parse(r->out, r->n_out, &arena);
    CHECK(pt_json_get_string(json, "revision")[0] && pt_json_get_string(json, "compiler")[0]);
    CHECK(pt_json_get(json, "isas_built")->n_children >= 1);
    CHECK(pt_json_get(json, "devices")->n_children >= 2);
    r = RUN("--version");
    CHECK(r->code == 0 && strncmp(r->out, "posttrain ", 10) == 0);
    CHECK(strstr(r->out, "\ninstruction sets  built in: base ") && strstr(r->out, " used here: "));
    check_width("--version", r->out);
    static char names[sizeof r->out];
    memcpy(names, RUN("help", "--names")->out, sizeof names);
    for (char *name = names, *end; (end = strchr(name, '\n')); name = end + 1) {
        *end = 0;
        r = RUN("help", "--man", name);
        CHECK_INT(r->code, 0);
        CHECK(strstr(r->out, "\n.SH SYNOPSIS\n") && strstr(r->out, "\n.SH SEE ALSO\n"));
        r = RUN("help", name);
        CHECK(r->code == 0 && strstr(r->out, "usage: posttrain ") != NULL);
    }
    pt_arena_deinit(&arena);
}

TEST(bad_sizes)
{
    fresh_folder();
    check_refused(TRAIN("--out", kept("r"), "--steps", "0"), 2, "steps is 0");
    check_refused(TRAIN("--out", kept("r"), "--batch", "-3"), 2, "batch is -3");
    check_refused(TRAIN("--out", kept("r"), "--accum", "0"), 2, "accum is 0");
    check_refused(TRAIN("--out", kept("r"), "--heads", "5"), 2, "multiple of heads");
    check_refused(TRAIN("--out", kept("r"), "--heads", "0"), 2, "heads is 0");
    check_refused(TRAIN("--out", kept("r"), "--layers", "1000000"), 2, "layers is 1000000");
    check_refused(TRAIN("--out", kept("r"), "--ctx", "0"), 2, "ctx");
    check_refused(TRAIN("--out", kept("r"), "--ctx", "6000"), 2, "at least 6001");
    check_refused(TRAIN("--out", kept("r"), "--threads", "-1"), 2, "--threads is -1");
    check_refused(TRAIN("--out", kept("r"), "--dropout", "1.5"), 2, "dropout is 1.5");
    check_refused(TRAIN("--out", kept("r"), "--batch", "1000000", "--d-model", "480"), 3, "memory");
    check_refused(TRAIN("--out", kept("r"), "--layers", "1024", "--d-model", "65536", "--heads",
                        "256", "--batch", "1000000"),
                  3, "memory");
    CHECK(!pt_fs_exists(in_folder("r")));
}

TEST(bad_files)
{
    fresh_folder();
    const char *empty = kept("empty"), *model = "tests/golden/tiny-48.tinygpt";
    put(empty, "", 0);
    check_refused(RUN("train", "--preset", "tiny", "--corpus", empty, "--out", kept("r")), 2,
                  "empty");
    put(empty, "short", 5);
    check_refused(RUN("train", "--preset", "tiny", "--corpus", empty, "--out", kept("r")), 2,
                  "5 bytes");
    check_refused(RUN("train", "--preset", "tiny", "--corpus", kept("none"), "--out", kept("r")), 7,
                  "none");
    check_refused(RUN("train", "--preset", "tiny", "--corpus", "/", "--out", kept("r")), 4,
                  "folder");
    check_refused(TRAIN("--out", "/proc/nowhere/run"), 7, "/proc/nowhere");
    check_refused(RUN("eval", kept("none"), "--corpus", empty), 7, "none");
    check_refused(RUN("eval", empty, "--corpus", empty), 2, "not a .tinygpt");
    check_refused(RUN("sample", "/", "--prompt", "x"), 4, "folder");
    check_refused(RUN("inspect", "/dev/zero"), 4, "it is no regular file"); /* endless */
    check_refused(TRAIN("--out", empty), 8, "is a file");

    static char half[1 << 18];
    size_t m = read_whole("tests/golden/tiny-48-fp16.tinygpt", half, sizeof half);
    half[m - 1] = 0x7e; /* the last weight becomes NaN */
    put(kept("nan.tinygpt"), half, m);
    check_refused(RUN("convert", kept("nan.tinygpt"), kept("x.tinygpt")), 5, "not finite");
    check_refused(RUN("sample", kept("nan.tinygpt")), 5, "nan");
    CHECK(!pt_fs_exists(in_folder("x.tinygpt")));

    static char bytes[1 << 20];
    size_t n = read_whole(model, bytes, sizeof bytes);
    put(kept("cut.tinygpt"), bytes, n / 2);
    check_refused(RUN("eval", kept("cut.tinygpt"), "--corpus", text_file()), 5, "cut.tinygpt");
    bytes[n] = 0;
    put(kept("long.tinygpt"), bytes, n + 1);
    check_refused(RUN("sample", kept("long.tinygpt"), "--prompt", "x"), 5, "long.tinygpt");
    CHECK(!pt_fs_exists(in_folder("r")));
}

TEST(a_flipped_bit_is_noticed)
{
    fresh_folder();
    CHECK_INT(train_tiny(kept("run"), "--threads", "2")->code, 0);
    static char bytes[1 << 20];
    const char *path = kept("flipped.tinygpt");
    size_t n = read_whole(in_folder("run/model.tinygpt"), bytes, sizeof bytes);
    bytes[n - 1000] ^= 1;
    put(path, bytes, n);
    check_refused(RUN("sample", path, "--prompt", "x"), 5, "flipped.tinygpt");
    check_refused(RUN("inspect", path), 5, "checksum is wrong");
}

TEST(planned_memory_is_what_is_used)
{
    if (PT_SANITIZED) SKIP("a sanitizer uses memory of its own");
    fresh_folder();
    pt_arena arena = {0};
    result *r = RUN("train", "--preset", "reference", "--corpus", text_file(), "--steps", "6",
                    "--eval-every", "2", "--sample-every", "3", "--save-every", "2", "--out",
                    kept("run"), "--json", "--quiet");
    CHECK_INT(r->code, 0);
    const pt_json *json = parse(r->out, r->n_out, &arena);
    double planned = number(json, "planned_bytes"), used = number(json, "peak_rss_bytes");
    if (!(used <= 1.03 * planned + 8e6)) printf("planned %.0f, used %.0f\n", planned, used);
    CHECK(used <= 1.03 * planned + 8e6);
    CHECK(used >= 0.8 * planned);
    pt_arena_deinit(&arena);
}

TEST(memory_is_the_programs_own)
{
    if (PT_SANITIZED) SKIP("a sanitizer uses memory of its own");
    fresh_folder();
    const size_t n = (size_t)256 << 20;
    char *ours = pt_alloc(n);
    CHECK(ours);
    for (size_t i = 0; i < n; i += 4096) ours[i] = 1;
    pt_arena arena = {0};
    result *r = RUN("train", "--preset", "tiny", "--corpus", text_file(), "--steps", "2", "--out",
                    kept("run"), "--json", "--quiet");
    pt_free(ours);
    CHECK_INT(r->code, 0);
    double used = number(parse(r->out, r->n_out, &arena), "peak_rss_bytes");
    if (!(used < (double)n / 2)) printf("used %.0f\n", used);
    CHECK(used > 1e6 && used < (double)n / 2);
    pt_arena_deinit(&arena);
}

PT_PROGRAM_TEST_MAIN
