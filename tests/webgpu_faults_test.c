/* A GPU that fails, through the command line: it is lost while it trains, evaluates and writes, and has no memory. Between the
 * program and the GPU stands tests/gpu_faults.c. Skipped without a library that offers webgpu.h (POSTTRAIN_WEBGPU).
 * SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "device/webgpu/matmul.h"
#include "device/webgpu/remembered.h"
#include "program.h"

#define STEPS 24

static pt_error err;
static char library[600]; /* of POSTTRAIN_WEBGPU */
static char faults[1100]; /* before it */

/* A fresh folder, in which the library stands behind the faults; false where there is none. */
static bool between(void)
{
    const char *named = getenv("POSTTRAIN_WEBGPU");
    if (!*library) snprintf(library, sizeof library, "%s", named ? named : "");
    snprintf(faults, sizeof faults, "%.*slibgpu_faults.so",
             (int)(strlen(program) - strlen("../posttrain")), program);
    if (!*library || access(faults, R_OK)) return false;
    fresh_folder();
    CHECK_INT(symlink(library, in_folder("libgpu_behind.so")), 0);
    setenv("POSTTRAIN_WEBGPU", faults, 1);
    setenv("LD_LIBRARY_PATH", in_folder(""), 1);
    unsetenv("GPU_FAULTS_LOSE");
    unsetenv("GPU_FAULTS_ROOM");
    unsetenv("GPU_FAULTS_REAL");
    return true;
}
#define NEEDS_FAULTS() \
    if (!between()) SKIP("no library that offers webgpu.h: make webgpu")

typedef struct curve {
    char step[STEPS + 1][48]; /* "loss grad_norm" as the log has them, of the last line of each */
    char val[STEPS + 1][24];
    int lines, resumed; /* of steps, and of `resumed` */
    int64_t lost_at;    /* of the last */
} curve;

static void read_event(curve *c, const pt_json *event)
{
    const char *type = pt_json_get_string(event, "type");
    int64_t step = 0;
    pt_json_get_i64(event, "step", &step);
    if (step < 0 || step > STEPS) return;
    if (strcmp(type, "step") == 0)
        c->lines++,
            snprintf(c->step[step], sizeof c->step[0], "%s %s", pt_json_get(event, "loss")->text,
                     pt_json_get(event, "grad_norm")->text);
    if (strcmp(type, "val") == 0)
        snprintf(c->val[step], sizeof c->val[0], "%s", pt_json_get(event, "val_loss")->text);
    if (strcmp(type, "resumed") == 0) c->resumed++, pt_json_get_i64(event, "lost_at", &c->lost_at);
}

static curve read_curve(const char *run)
{
    static char log[1 << 18];
    char path[600];
    curve c = {0};
    pt_arena arena = {0};
    snprintf(path, sizeof path, "%s/log.jsonl", run);
    size_t n = read_whole(path, log, sizeof log);
    for (char *line = log; line < log + n;) {
        char *end = strchr(line, '\n');
        const pt_json *event = NULL;
        CHECK(end != NULL);
        CHECK_OK(pt_json_parse(line, (size_t)(end - line), &arena, &event, &err), err);
        read_event(&c, event);
        line = end + 1;
    }
    pt_arena_deinit(&arena);
    return c;
}

#define MODEL                                                                                   \
    "--device", "webgpu-software", "--corpus", text_file(), "--layers", "1", "--d-model", "16", \
        "--heads", "2", "--ctx", "16", "--lr", "3e-4"
/* 52 dispatches a step. */
#define TRAIN(run, ...)                                                                      \
    RUN("train", MODEL, "--out", run, "--batch", "4", "--steps", "24", "--eval-every", "12", \
        "--eval-batches", "1", __VA_ARGS__)

/* Each step's last line and the weights are those of a run that nothing happened to. */
static void check_same(const char *run, const char *other)
{
    curve a = read_curve(run), b = read_curve(other);
    for (int i = 0; i <= STEPS; i++) {
        CHECK(i == 0 || *a.step[i]);
        CHECK_STR(a.step[i], b.step[i]);
        CHECK_STR(a.val[i], b.val[i]);
    }
    static char bytes[2][1 << 18];
    char path[600];
    size_t n[2];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/model.tinygpt", i ? other : run);
        n[i] = read_whole(path, bytes[i], sizeof bytes[0]);
    }
    const size_t body = 12 * 7664; /* weights and moments; before them is the time of saving */
    CHECK(n[0] > body && n[1] > body);
    CHECK(memcmp(bytes[0] + n[0] - body, bytes[1] + n[1] - body, body) == 0);
}

TEST(a_lost_gpu_is_opened_anew_and_costs_no_bit)
{
    NEEDS_FAULTS();
    const char *plain = kept("plain"), *lost = kept("lost");
    CHECK_INT(TRAIN(plain, "--quiet")->code, 0);
    setenv("GPU_FAULTS_LOSE", "460 430 200", 1);
    result *r = TRAIN(lost, "--save-every", "6");
    if (r->code) printf("%s", r->error);
    CHECK_INT(r->code, 0);
    CHECK(strstr(r->error, "the GPU was lost: it was taken away"));
    CHECK(strstr(r->error, "; it was opened anew, and the run goes on from step 6\n"));
    CHECK_INT(read_curve(lost).resumed, 3);
    check_same(lost, plain);
}

TEST(a_gpu_that_is_lost_again_and_again_is_given_up)
{
    NEEDS_FAULTS();
    const char *plain = kept("plain"), *lost = kept("lost");
    CHECK_INT(TRAIN(plain, "--quiet")->code, 0);
    setenv("GPU_FAULTS_LOSE", "460 3 3 3", 1);
    result *r = TRAIN(lost, "--save-every", "6", "--quiet");
    CHECK_INT(r->code, 11);
    CHECK(strstr(r->error, ", 3 times without getting further: the GPU was lost: it was taken"));
    curve c = read_curve(lost);
    CHECK_INT(c.resumed, 2);
    CHECK(c.lost_at >= 6 && c.lines >= c.lost_at);
    unsetenv("GPU_FAULTS_LOSE");
    CHECK_INT(RUN("train", "--resume", lost, "--quiet")->code, 0);
    check_same(lost, plain);
}

/* As if all kernels had been tried on an earlier day, the last was wrong, and the simplest, whose trial takes no time, had won. */
static void remember_the_simplest(void)
{
    pt_device *d = NULL;
    pt_wg_choice choice = {0};
    pt_strbuf text = {0};
    int last = 0;
    setenv("POSTTRAIN_WEBGPU", library, 1);
    CHECK_OK(pt_device_webgpu_new(&d, &(pt_webgpu_options){.software = true, .tuned = true}, &err),
             err);
    pt_wg_choice_init(&choice, false);
    for (int i = 0; i < pt_wg_tile_count(); i++) {
        const pt_wg_tile *t = &pt_wg_tiles[i];
        bool contends = t->contends && !pt_wg_tile_approximate(t) && !pt_wg_tile_lacks(d, t);
        if (i == 0 || contends) choice.verdict[last = i] = PT_WG_RIGHT;
    }
    choice.verdict[last] = PT_WG_WRONG;
    pt_wg_choice_write(&choice, d->detail, &text);
    pt_device_free(d);
    CHECK_OK(pt_fs_make_folder(in_folder("cache/posttrain"), &err), err);
    FILE *f = fopen(in_folder("cache/posttrain/webgpu.json"), "wb");
    CHECK(f && fwrite(text.data, 1, text.len, f) == text.len && fclose(f) == 0);
    pt_strbuf_deinit(&text);
    setenv("XDG_CACHE_HOME", in_folder("cache"), 1);
    setenv("POSTTRAIN_WEBGPU", faults, 1);
}

/* Else it would go on with the simplest products, slowly and to other bits. */
TEST(a_gpu_opened_anew_has_its_kernels_chosen_again)
{
    NEEDS_FAULTS();
    const char *lost = kept("lost");
    remember_the_simplest();
    setenv("GPU_FAULTS_REAL", "1", 1);
    setenv("GPU_FAULTS_LOSE", "400", 1);
    result *r = RUN("train", MODEL, "--device", "webgpu", "--out", lost, "--batch", "4", "--steps",
                    "12", "--quiet");
    if (r->code) printf("%s", r->error);
    CHECK_INT(r->code, 0);
    CHECK_INT(read_curve(lost).resumed, 1);
    const char *first = strstr(r->error, " kernels for products failed their trial");
    CHECK(first && strstr(first, "opened anew"));
    CHECK(strstr(first + 1, " kernels for products failed their trial"));
}

TEST(text_and_losses_survive_one_loss)
{
    NEEDS_FAULTS();
    static char want[2][1 << 12];
    char model[600];
    const char *run = kept("run"), *text = kept("text.txt");
    CHECK_INT(TRAIN(run, "--quiet")->code, 0);
    snprintf(model, sizeof model, "%s/model.tinygpt", run);
#define SAMPLE()                                                                            \
    RUN("sample", model, "--max-tokens", "24", "--prompt", "ab", "--seed", "7", "--device", \
        "webgpu-software")
#define EVAL() RUN("eval", model, "--corpus", text, "--json", "--device", "webgpu-software")
    snprintf(want[0], sizeof want[0], "%.4000s", SAMPLE()->out);
    snprintf(want[1], sizeof want[1], "%.60s", EVAL()->out); /* the seconds come behind */
    CHECK(strlen(want[0]) == 24 && strstr(want[1], "\"loss\""));
    setenv("GPU_FAULTS_LOSE", "100", 1);
    result *r = SAMPLE();
    CHECK_INT(r->code, 0);
    CHECK_STR(r->out, want[0]);
    CHECK(strstr(r->error,
                 "posttrain: the GPU was lost: it was taken away; it is opened anew, once"));
    r = EVAL();
    CHECK_INT(r->code, 0);
    CHECK(strncmp(r->out, want[1], 60) == 0);
    CHECK(strstr(r->error, "opened anew, once"));
    setenv("GPU_FAULTS_LOSE", "100 100", 1);
    r = SAMPLE();
    CHECK_INT(r->code, 11);
    CHECK(strstr(r->error, "once\nposttrain: the GPU was lost: it was taken away\n"));
    CHECK(strncmp(r->out, want[0], r->n_out) == 0);
}

TEST(a_gpu_without_room_says_what_would_fit)
{
    NEEDS_FAULTS();
    const char *run = kept("run");
    setenv("GPU_FAULTS_ROOM", "10000000", 1);
    result *r = RUN("train", MODEL, "--out", run, "--batch", "1024", "--steps", "1");
    CHECK_INT(r->code, 3);
    CHECK(strstr(r->error, "on device webgpu, which gives "));
    CHECK(strstr(r->error, " would fit ("));
    CHECK(!pt_fs_exists(run));
    char batch[24], accum[24], *at = strstr(r->error, "--batch ");
    CHECK(at && strstr(at, " --accum "));
    snprintf(batch, sizeof batch, "%ld", strtol(at + strlen("--batch "), &at, 10));
    snprintf(accum, sizeof accum, "%ld", strtol(at + strlen(" --accum "), NULL, 10));
    r = RUN("train", MODEL, "--out", run, "--batch", batch, "--accum", accum, "--steps", "1");
    if (r->code) printf("%s", r->error);
    CHECK_INT(r->code, 0); /* the advice holds */
}

PT_PROGRAM_TEST_MAIN
