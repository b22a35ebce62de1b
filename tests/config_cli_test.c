/* --config: a file's options beside those of the command line, and a run repeated from its run.json.
 * SPDX-License-Identifier: MIT */
#include "program.h"

static pt_error err;
static pt_arena arena;

static const pt_json *read_run(const char *name)
{
    static char text[1 << 14];
    const pt_json *json = NULL;
    size_t n = read_whole(in_folder(name), text, sizeof text);
    pt_arena_deinit(&arena);
    CHECK_OK(pt_json_parse(text, n, &arena, &json, &err), err);
    return json;
}

static void check_member(const pt_json *json, const char *key, int64_t want)
{
    int64_t value = -1;
    CHECK(pt_json_get_i64(json, key, &value));
    CHECK_INT(value, want);
}

static const char *file_of(const char *text)
{
    put(kept("config.json"), text, strlen(text));
    return kept("config.json");
}

#define TRAIN(out, ...)                                                                    \
    RUN("train", "--corpus", text_file(), "--out", kept(out), "--quiet", "--threads", "1", \
        __VA_ARGS__)

static void check_ok(const result *r)
{
    if (r->code) printf("exit %d: %s", r->code, r->error);
    CHECK_INT(r->code, 0);
}

/* The model of a run, and what its log calls it. */
static void check_shape(const char *run, int64_t layers, int64_t width, int64_t ctx,
                        const char *name)
{
    static char log[1 << 16];
    char path[64], want[64];
    snprintf(path, sizeof path, "%s/run.json", run);
    const pt_json *model = pt_json_get(read_run(path), "model");
    check_member(model, "layers", layers);
    check_member(model, "d_model", width);
    check_member(model, "ctx", ctx);
    snprintf(path, sizeof path, "%s/log.jsonl", run);
    read_whole(in_folder(path), log, sizeof log);
    snprintf(want, sizeof want, "\"preset\":\"%s\"", name);
    if (!strstr(log, want)) printf("%.100s\n", log);
    CHECK(strstr(log, want) != NULL);
}

#define SHORT "--steps", "2", "--batch", "1", "--eval-batches", "1"

TEST(a_preset_on_the_command_line_is_a_whole_shape)
{
    fresh_folder();
    check_ok(TRAIN("one", "--depth", "1", "--ctx", "16", SHORT));
    const char *config = kept("one/run.json");
    check_ok(TRAIN("tiny", "--config", config, "--preset", "tiny"));
    check_shape("tiny", 2, 48, 32, "tiny");
    check_member(pt_json_get(read_run("tiny/run.json"), "train"), "steps", 2);
    check_ok(TRAIN("own", "--config", config, "--preset", "tiny", "--layers", "1"));
    check_shape("own", 1, 48, 32, "custom");
    config = kept("tiny/run.json");
    check_ok(TRAIN("deep", "--config", config, "--depth", "1", "--ctx", "8", "--lr", "1e-3"));
    check_shape("deep", 1, 64, 8, "depth");
    config = file_of("{\"preset\": \"tiny\", \"layers\": 1, \"ctx\": 8, \"steps\": 2}");
    check_ok(TRAIN("file", "--config", config, "--batch", "1"));
    check_shape("file", 1, 48, 8, "custom");
    check_refused(TRAIN("no", "--config", config, "--preset", "tiny", "--depth", "2"), 2,
                  "both choose a shape");
}

TEST(a_run_of_a_depth_stays_one)
{
    fresh_folder();
    check_ok(TRAIN("one", "--depth", "1", "--regime", "overtrained", "--ctx", "16", SHORT));
    check_shape("one", 1, 64, 16, "depth");
    const pt_json *said = pt_json_get(read_run("one/run.json"), "arguments");
    check_member(said, "depth", 1);
    CHECK_STR(pt_json_get_string(said, "regime"), "overtrained");
    CHECK(!pt_json_get(said, "preset"));
    const char *config = kept("one/run.json");
    check_ok(TRAIN("again", "--config", config));
    check_shape("again", 1, 64, 16, "depth");
    CHECK(!pt_json_get(pt_json_get(read_run("again/run.json"), "arguments"), "preset"));
    result *r = RUN("train", "--resume", kept("again"), "--steps", "2");
    check_ok(r);
    r = RUN("train", "--resume", kept("again"), "--depth", "1");
    check_ok(r);
    check_refused(RUN("train", "--resume", kept("again"), "--depth", "3"), 2,
                  "--depth is '3', the run's is '1'");
    check_refused(RUN("train", "--resume", kept("again"), "--preset", "small"), 2,
                  "--preset is for a new run");
    check_ok(TRAIN("preset", "--preset", "tiny", SHORT));
    said = pt_json_get(read_run("preset/run.json"), "arguments");
    CHECK(!pt_json_get(said, "depth") && !pt_json_get(said, "regime"));
    check_refused(RUN("train", "--resume", kept("preset"), "--depth", "3"), 2,
                  "--depth is for a new run");
}

TEST(a_mix_may_be_an_array_of_numbers)
{
    fresh_folder();
    const char *config = file_of("{\"mix\": [0.7, 3e-1]}");
    check_ok(TRAIN("run", "--corpus", text_file(), "--config", config, "--preset", "tiny", SHORT));
    CHECK_STR(pt_json_get_string(pt_json_get(read_run("run/run.json"), "arguments"), "mix"),
              "0.7,3e-1");
    check_ok(TRAIN("again", "--config", kept("run/run.json"), "--corpus", text_file()));
#define REFUSED(text, words) check_refused(TRAIN("no", "--config", file_of(text)), 2, words)
    REFUSED("{\"mix\": [0.7, \"x\"]}",
            "config.json: 'mix' is [0.7,\"x\"], which is nothing that --mix takes");
    REFUSED("{\"mix\": []}", "'mix' is [], which is nothing that --mix takes");
    REFUSED("{\"eval_every\": [1]}",
            "'eval_every' is [1], which is nothing that --eval-every takes");
    REFUSED("{\"prompt\": [1]}", "'prompt' is [1], which is nothing that --prompt takes");
}

PT_PROGRAM_TEST_MAIN
